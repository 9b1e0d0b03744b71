"""The memory and the time that large comparisons take: a million items of F1, and labels of twenty classes.

Registries are made of one small import, whose submission SQL then multiplies: reading is measured elsewhere.

    python -m tests.benchmarks.memory (f1|labels) SYSTEMS ITEMS RESAMPLES MEMORY [TEST]

measures another size, without limits.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

from tests.benchmarks.figures import Figure
from tests.benchmarks.leaderboard import command

CLASSES = 20
MANIFEST = """manifest = 1
[task]
id = "large"
version = "1"
[[test_set]]
name = "test"
gold = "gold"
format = "{reader}"
[[metric]]
name = "{metric}"
[significance]
seed = 1
[[submit]]
file = "answers"
team = "team"
system = "s0"
"""
# The catalog rows of the first submission again under new ids, and statistics at random.
SYSTEMS = """
INSERT INTO system SELECT n, team_id, 's' || (n - 1), pseudonym FROM system, range(2, {systems} + 1) AS new(n);
INSERT INTO submission SELECT submission.* REPLACE (n AS submission_id, n AS system_id, digest || n AS digest)
FROM submission, range(2, {systems} + 1) AS new(n);
INSERT INTO submission_source SELECT submission_source.* REPLACE (n AS submission_id)
FROM submission_source, range(2, {systems} + 1) AS new(n);
INSERT INTO scoring SELECT scoring.* REPLACE (n AS scoring_id, n AS submission_id)
FROM scoring, range(2, {systems} + 1) AS new(n);
INSERT INTO score SELECT score.* REPLACE (n AS scoring_id, digest || n AS digest)
FROM score, range(2, {systems} + 1) AS new(n);
INSERT INTO replicate_score SELECT replicate_score.* REPLACE (n AS scoring_id)
FROM replicate_score, range(2, {systems} + 1) AS new(n);
"""
# A unit's gold answers are 1 to 4; a system finds and invents some of them.
F1 = """
INSERT INTO statistics_prf
SELECT {n}, metric_id, 0, item_id, hits, hits + (random() * 1.5)::INTEGER, gold FROM (
    SELECT metric_id, item_id, 1 + item_id % 4 AS gold,
        least(1 + item_id % 4, floor(random() * (1.5 + item_id % 4 + {n} / 400)))::INTEGER AS hits
    FROM statistics_prf WHERE scoring_id = 1)
"""
# How often pairs were drawn, and of how many systems.
DRAWN = """
SELECT resamples, count(DISTINCT statistics)
FROM pair_request JOIN (SELECT pair_request_id, unnest([statistics_a, statistics_b]) AS statistics FROM pair_result)
    USING (pair_request_id)
GROUP BY resamples ORDER BY resamples
"""
LABELS = """
INSERT INTO statistics_confusion SELECT {n}, metric_id, 0, item_id, gold_label,
    CASE WHEN random() < 0.7 + {n} / 1000 THEN gold_label ELSE 1 + floor(random() * {classes})::INTEGER END
FROM statistics_confusion WHERE scoring_id = 1
"""


def run():
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        figures += measured(Path(folder), "f1", 200, 1_000_000, 10_000, "2G", "bootstrap", most=4)
    with tempfile.TemporaryDirectory() as folder:
        figures += measured(Path(folder), "labels", 48, 50_000, "auto", "2G", "permutation", most=1.5)
    return figures


def measured(folder, kind, systems, items, resamples, memory, test, most=None):
    """Compare all systems; `most` is the limit in GiB."""
    db = made(folder, kind, systems, items)
    cost = command("compare", "large", "--test", test, "--resamples", resamples, "--memory", memory, "--db", db)
    with duckdb.connect(str(db)) as connection:
        steps = connection.execute(DRAWN).fetchall()
    seconds = sum(products(columns(kind, some), items, draws) for draws, some in steps)
    beside = f"{seconds:.0f} s of float32 products"
    drawn = " and ".join(f"{draws:,} draws of {some}" for draws, some in steps)
    yield Figure(f"{systems} systems x {items:,} {kind}, {test}, {drawn}, --memory {memory}", str(cost),
                 f"< {most:g} GiB; {beside}" if most else beside, cost.memory < most if most else None)


def columns(kind, systems):
    """How many columns the statistics of so many systems have; the gold's labels are the same for all."""
    return systems * 3 if kind == "f1" else (2 * systems + 1) * CLASSES


def products(columns, items, draws):
    """The processor time of the products of so many columns with counts, told by a small one."""
    rng = np.random.default_rng(0)
    some = rng.integers(0, 4, (columns, 2048)).astype(np.float32)
    counts = rng.integers(0, 4, (2048, 512)).astype(np.float32)
    began = time.process_time()
    some @ counts
    return (time.process_time() - began) * items / 2048 * draws / 512


def made(folder, kind, systems, items):
    """Make a registry of so many systems, whose statistics are random; returns its file."""
    rng = random.Random(1)
    if kind == "labels":
        reader, metric, lines = "labels", "LabelF", [f"i{n}\tc{rng.randrange(CLASSES)}\n" for n in range(items)]
    else:
        reader, metric = "responses", "SetF"
        lines = [f'{{"item": "i{n}", "answers": {["abcd"[:1 + n % 4]]}}}\n'.replace("'", '"') for n in range(items)]
    for name in ("gold", "answers"):
        (folder / name).write_text("".join(lines))
    (folder / "task.toml").write_text(MANIFEST.format(reader=reader, metric=metric))
    db = folder / "large.duckdb"
    command("apply", folder / "task.toml", "--db", db)
    command("score", "large", "--db", db)
    with duckdb.connect(str(db)) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(SYSTEMS.format(systems=systems))
        statistics = LABELS if kind == "labels" else F1
        for n in range(2, systems + 1):
            connection.execute(statistics.format(n=n, classes=CLASSES))
    return db


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        kind, systems, items, resamples, memory, *test = sys.argv[1:]
        for figure in measured(Path(scratch), kind, int(systems), int(items), resamples, memory,
                               *(test or ["permutation"])):
            print(f"{figure.what}  {figure.measured}  {figure.beside}", flush=True)
