"""Preparation for all queries.

The process from which query processes are forked imports this module once.

SQLAlchemy queries DuckDB for some facts at the first connection of each process, which takes as long as the rest of a
short query. This module makes the first connection, to a database in memory. The connection is closed again, because a
forked process must not inherit threads or files of DuckDB. All objects that exist now are excluded from garbage
collection, because the collection would copy their memory into each forked process.
"""

import gc
from pathlib import Path

import registry.query.sql
import registry.store.database  # noqa: F401
from registry.store.files import CONFINED_CONFIG, connecting

with connecting(Path(":memory:"), read_only=False, config=CONFINED_CONFIG, patience=0):
    pass
gc.freeze()
