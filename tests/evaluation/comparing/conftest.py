"""What tests of evaluation share."""

import random
from contextlib import ExitStack

import pytest

from registry.store.database import Database
from tests.evaluation.comparing.compared import Undone


@pytest.fixture
def many(task):
    """Nine systems of random answers to 80 items in 20 documents."""
    rng = random.Random(4)
    task.gold = {f"i{n}": rng.choice("xyz") for n in range(80)}
    task.documents = {k: f"d{n % 20}" for n, k in enumerate(task.gold)}
    task.systems = {f"s{n}": {k: v if rng.random() < 0.4 + 0.06 * n else "x" for k, v in task.gold.items()}
                    for n in range(9)}
    return task


@pytest.fixture
def undone(scored):
    """Bring a task in, and open its registry for comparisons of which nothing is kept."""
    with ExitStack() as stack:
        def bring(task, *options):
            scored(task, *options)
            return Undone(stack.enter_context(Database("registry.duckdb").writing(dry_run=True)))

        yield bring
