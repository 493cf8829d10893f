"""What tells the index of a project on a Chroma server from those of other databases."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the id and draw one for every project; its collections of before on a server are not taken over."""
    op.add_column("projects", sa.Column("index_id", sa.Text(), server_default=sa.text("''"), nullable=False))
    projects = sa.table("projects", sa.column("project_id", sa.Text()), sa.column("index_id", sa.Text()))
    connection = op.get_bind()
    for project_id in connection.scalars(sa.select(projects.c.project_id)).all():
        connection.execute(
            projects.update().where(projects.c.project_id == project_id).values(index_id=uuid.uuid4().hex)
        )
