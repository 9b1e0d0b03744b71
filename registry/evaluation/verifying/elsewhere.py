"""Which runs computed elsewhere: by other code, other versions, on another platform, or on what is not known."""

from __future__ import annotations

import json

from sqlalchemy import Connection, select

from registry.provenance import Code, code, environment
from registry.store import models

_ALIKE = ("python", "platform", "vectors", "blas", "numpy", "scipy", "sacrebleu")


def runs_elsewhere(connection: Connection) -> set[int]:
    """The runs whose numbers need not be the same here to the last bit."""
    here, this, found = environment(), code(), set()
    for run in connection.execute(select(models.run)):
        there = json.loads(run.environment)
        if any(there.get(name) != here.get(name) for name in _ALIKE) or this != Code(
                run.code_version, run.code_revision, run.code_dirty):
            found.add(int(run.run_id))
    return found
