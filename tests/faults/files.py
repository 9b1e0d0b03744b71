"""Files that a disk or a copy has spoiled: bits that are flipped, and ends that are cut off.

`verify` begins by reading every block of every table, each of which has a checksum. A flip that it does not find, and
that opening the file does not find, must be in no block that anything is in: all tables then hold what they held.
"""

import os
import random
import sys

import duckdb

from registry.store.database import CONFIG, Database
from registry.store.session import find_unreadable
from tests.faults.prepared import held

FOUND, HARMLESS, WRONG, CRASHED = range(4)


def damaged(content, rng):
    """A copy with one bit flipped."""
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1:]


def flips(path, folder, n, seed):
    """Flip one bit of a registry, `n` times; counts what came of it."""
    rng, content = random.Random(seed), path.read_bytes()
    return _counted(path, folder, (damaged(content, rng) for _ in range(n)))


def cuts(path, folder, n, seed):
    """Cut a registry's end off at `n` places; counts what came of it."""
    rng, content = random.Random(seed), path.read_bytes()
    return _counted(path, folder, (content[:rng.randrange(len(content))] for _ in range(n)))


def _counted(path, folder, contents):
    before, counts = _held(path), [0] * 4
    spoiled = folder / "spoiled.duckdb"
    for content in contents:
        spoiled.write_bytes(content)
        counts[_in_a_process(lambda: _judged(spoiled, before))] += 1
        for left in folder.glob("spoiled.duckdb*"):
            left.unlink()
    return dict(zip(("found", "in no live block", "wrong", "crashed"), counts, strict=True))


def _in_a_process(judge):
    """What `judge` says, in a forked process: DuckDB may end one that reads a spoiled file."""
    if not (pid := os.fork()):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        os._exit(judge())
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status if status in (FOUND, HARMLESS, WRONG) else CRASHED


def _judged(path, before):
    try:
        with Database(path).reading(CONFIG | {"threads": 1}) as connection:
            if find_unreadable(connection):
                return FOUND
    except Exception:
        return FOUND
    try:
        return HARMLESS if _held(path) == before else WRONG
    except Exception:
        return WRONG


def _held(path):
    with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as connection:
        return held(connection)
