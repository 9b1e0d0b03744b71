"""What every query needs and none has to do again, done where processes for queries are forked, before the first one.

Only the process that forks imports this. What SQLAlchemy's dialect asks DuckDB once a process takes as long as the rest
of a short query; it is asked of a database in memory, which is closed again: no thread of DuckDB and no file is there
when a process is forked. Objects that all of them share are not looked through for garbage, which would copy them.
"""

import gc
from pathlib import Path

import registry.query.sql
import registry.store.database  # noqa: F401
from registry.store.files import CONFINED_CONFIG, connecting

with connecting(Path(":memory:"), read_only=False, config=CONFINED_CONFIG, patience=0):
    pass
gc.freeze()
