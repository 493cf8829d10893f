"""Runs the migrations on the connection that `runner` hands over; Alembic loads this file by itself."""

from alembic import context

from runtime.storage.migrations.runner import is_ours
from runtime.storage.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    # SQLite alters a table by copying it, which must happen as a whole.
    render_as_batch=True,
    include_name=is_ours,
)
with context.begin_transaction():
    context.run_migrations()
