"""Runs the migrations on the connection of `runner`, or compares the tables with those of a new database.

Alembic loads this file by itself: `runner` upgrades with it, `alembic revision --autogenerate` writes a revision.
"""

from alembic import context
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from runtime.storage.migrations.runner import comparison_options, new_database
from runtime.storage.records import METADATA


def run(connection: Connection) -> None:
    """Run Alembic's command: an upgrade or a comparison."""
    context.configure(
        connection=connection,
        target_metadata=METADATA,
        # SQLite alters a table by copying it, which must happen as a whole.
        render_as_batch=True,
        **comparison_options(),
    )
    with context.begin_transaction():
        context.run_migrations()


connection = context.config.attributes.get("connection")
if connection is not None:
    run(connection)
else:
    with new_database(ScriptDirectory.from_config(context.config)) as connection:
        run(connection)
