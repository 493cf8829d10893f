"""The schema before the first release as a whole: the tables of the models, and the index of words beside them.

Until that release a change of the tables is a baseline of another name, which refuses the databases of this one.
"""

from alembic import op
from sqlalchemy import Index
from sqlalchemy.schema import CreateIndex, CreateTable

from runtime.storage.tables import METADATA

revision = "baseline_3"
down_revision = None
branch_labels = None
depends_on = None

LEXICAL_INDEX = {
    "sqlite": [
        """CREATE VIRTUAL TABLE memory_terms USING fts5(
            scope, terms, content='', columnsize=0, tokenize='unicode61 remove_diacritics 0'
        )"""
    ],
    "postgresql": [
        """CREATE TABLE memory_terms (
            chunk_row_id BIGINT PRIMARY KEY REFERENCES memory_chunks (row_id) ON DELETE CASCADE,
            terms TSVECTOR NOT NULL
        )""",
        "CREATE INDEX ix_memory_terms_terms ON memory_terms USING gin (terms)",
    ],
}
"""What SQLAlchemy cannot say, by dialect."""


def upgrade() -> None:
    """Make all tables."""
    connection = op.get_bind()
    for table in METADATA.sorted_tables:
        connection.execute(CreateTable(table))
        for index in sorted(table.indexes, key=_order):
            index.dialect_options[connection.dialect.name]["where"] = index.dialect_options["sqlite"]["where"]
            connection.execute(CreateIndex(index))
    for statement in LEXICAL_INDEX[connection.dialect.name]:
        connection.exec_driver_sql(statement)


def _order(index: Index) -> tuple[bool, str]:
    """Of indexes that cost alike SQLite takes the one made last: that must be the one of few rows."""
    return index.dialect_options["sqlite"]["where"] is not None, index.name or ""
