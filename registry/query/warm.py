"""Preparation that all queries share, done once in the process that forks others.

SQLAlchemy's dialect asks DuckDB some questions once in each process, which takes as long as the rest of a short query.
Here it asks a database in memory, which is closed again: a fork must have no threads and files of DuckDB. Objects that
exist now are excluded from garbage collection, which would copy their memory into each fork.
"""

import gc
from pathlib import Path

import registry.query.sql
import registry.store.database  # noqa: F401
from registry.store.files import CONFINED_CONFIG, connecting

with connecting(Path(":memory:"), read_only=False, config=CONFINED_CONFIG, patience=0):
    pass
gc.freeze()
