"""Alembic's entry: the registry hands over its own connection."""

import duckdb_sqlalchemy.alembic_impl  # noqa: F401  (tells alembic how DuckDB does it)
from alembic import context

from registry.store import models

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=models.metadata, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
