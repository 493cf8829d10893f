"""The schema of the first release as a whole: a script of SQL per dialect, which no change of the models alters."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "baseline_2"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables."""
    connection = op.get_bind()
    script = Path(__file__).with_name(f"baseline.{connection.dialect.name}.sql").read_text(encoding="utf-8")
    for statement in script.split(";\n\n"):
        connection.exec_driver_sql(statement.rstrip().removesuffix(";"))
