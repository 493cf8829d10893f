"""Whether the quote behind a state change stands in its scene, and where.

The states of before came from records that the scenes still hold: their quotes are looked for once, by the
rule by which scenes are stored since. What an author or presence says has no quote and owes none.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from novelgen.records.evidence import QuoteFinder

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_SCENES = sa.table(
    "scenes",
    sa.column("scene_id", sa.Text()),
    sa.column("text", sa.Text()),
    sa.column("record", sa.JSON()),
    sa.column("record_origin", sa.Text()),
)
_STATES = sa.table(
    "state_changes",
    sa.column("scene_id", sa.Text()),
    sa.column("entity_id", sa.Text()),
    sa.column("attribute", sa.Text()),
    sa.column("origin", sa.Text()),
    sa.column("kind", sa.Text()),
    sa.column("verified", sa.Boolean()),
    sa.column("span_start", sa.Integer()),
    sa.column("span_end", sa.Integer()),
)


def upgrade() -> None:
    """Add verification and span, and look for the quotes of stored records."""
    op.add_column(
        "state_changes", sa.Column("verified", sa.Boolean(), server_default=sa.true(), nullable=False)
    )
    op.add_column("state_changes", sa.Column("span_start", sa.Integer(), nullable=True))
    op.add_column("state_changes", sa.Column("span_end", sa.Integer(), nullable=True))
    connection = op.get_bind()
    with_record = sa.select(_SCENES).where(_SCENES.c.record_origin.in_(("extracted", "supplied")))
    for scene in connection.execute(with_record).all():
        _locate(connection, scene)


def _locate(connection: sa.Connection, scene: sa.Row[Any]) -> None:
    finder = QuoteFinder(scene.text)
    for change in (scene.record or {}).get("state_changes", ()):
        span = finder.find(change.get("evidence"))
        is_owed = scene.record_origin == "extracted" or bool(change.get("evidence"))
        if span is None and not is_owed:
            continue
        start, end = (None, None) if span is None else (span.start, span.end)
        connection.execute(
            sa.update(_STATES)
            .where(
                _STATES.c.scene_id == scene.scene_id,
                _STATES.c.entity_id == change["entity_id"],
                _STATES.c.attribute.in_(list(change.get("changes", {}))),
                _STATES.c.origin == "record",
                _STATES.c.kind == "explicit",
            )
            .values(verified=span is not None, span_start=start, span_end=end)
        )
