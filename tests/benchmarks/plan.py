"""The time that a plan foresees against the time that the comparison takes, for real tasks and made ones.

Both are of the processors: what else a machine does changes how long one waits, and neither of them.
"""

import random
import tempfile
import time
from pathlib import Path

from registry.cli.pipeline import resolved
from registry.evaluation.comparing.compare import compare
from registry.evaluation.comparing.plan import plan
from registry.evaluation.comparing.settings import declared_request
from registry.evaluation.comparing.vetting import vet
from registry.evaluation.ingest.apply import apply
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.scoring.score import score
from registry.significance import Execution
from registry.store import catalog
from registry.store.database import Database
from registry.store.log.journal import Journal
from registry.store.session import writing
from tests.benchmarks.figures import Figure
from tests.conftest import REAL_DATA, ROOT

HEADER = """manifest = 1
[task]
id = "made"
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "{format}"
options = {{ columns = ["item", "{column}"] }}
[[metric]]
name = "{metric}"
[significance]
seed = 1
[[submit]]
file = "systems/{{system}}.tsv"
"""
REAL = ("krennppv", "semeval2018-arc", "wnut17", "wordalign", "wordsim-rg", "conll2018-fro_srcmf", "wmt22-cs-en")


def run():
    """Real tasks, and made ones whose scores are counted, have many digits, or are of classes."""
    figures = []
    for name in REAL:
        if (REAL_DATA / name).is_dir():
            manifest = ROOT / "tests" / "real_data" / f"{name}.toml"
            figures.append(_one(name, manifest, REAL_DATA / name, {}))
            if name in ("wnut17", "semeval2018-arc"):
                figures.append(_one(f"{name}, bootstrap", manifest, REAL_DATA / name, {"test": "bootstrap"}))
    with tempfile.TemporaryDirectory() as folder:
        for what, made, given in (
                ("60 systems x 2,000 right or wrong", _right_or_wrong(60, 2000), {}),
                ("12 systems x 100 scores of five decimals", _scores(12, 100, 5), {}),
                ("20 systems x 2,000 scores of nine decimals", _scores(20, 2000, 9), {}),
                ("20 systems x 5,000 labels of 10 classes", _classes(20, 5000), {"resamples": 20_000})):
            where = Path(folder) / what.replace(" ", "-")
            figures.append(_one(what, made(where), None, given))
    return figures


def _one(what, manifest, root, given):
    task, content = resolved(manifest, root)
    how = Execution(processes=False)
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "registry.duckdb")
        journal = Journal("run", {})
        with writing(database, journal, create=True) as session:
            ingest = Ingest(session.connection, journal, task)
            apply(ingest, content)
            score(ingest, Execution(processes=True))
            (row,) = catalog.tasks(session.connection, ingest.slug)
            request = declared_request(row, given, execution=how)
            begun = time.process_time()
            vetted = vet(session.connection, row, request)
            planned = plan(session.connection, vetted, request)
            planning = time.process_time() - begun
            begun, begun_wall = time.process_time(), time.perf_counter()
            compare(session.connection, journal, row, request, vetted)
            taken, wall = time.process_time() - begun, time.perf_counter() - begun_wall
    foreseen = planned.processor_seconds
    return Figure(f"plan of {what}: {planned.pairs:,} pairs, {planned.of_method('monte-carlo'):,} drawn",
                  f"foreseen {foreseen:.1f} s",
                  f"taken {taken:.1f} s of processors, {wall:.1f} s on the clock; planned in {planning:.1f} s",
                  taken / 3 <= foreseen <= 3 * taken if max(taken, foreseen) > 1 else None)


def _written(folder, gold, systems, **header):
    (folder / "systems").mkdir(parents=True)
    for name, values in (("gold", gold), *((f"systems/s{n:03}", of) for n, of in enumerate(systems))):
        (folder / f"{name}.tsv").write_text("".join(f"i{n:05}\t{value}\n" for n, value in enumerate(values)))
    (folder / "task.toml").write_text(HEADER.format(**header))
    return folder / "task.toml"


def _labels(systems, items, labels, metric):
    def write(folder):
        rng = random.Random(1)
        gold = rng.choices(labels, k=items)
        answers = [[rng.choice(labels) if rng.random() < 0.2 + n / 400 else label for label in gold]
                   for n in range(systems)]
        return _written(folder, gold, answers, format="labels", column="label", metric=metric)

    return write


def _right_or_wrong(systems, items):
    return _labels(systems, items, "ab", "Accuracy")


def _classes(systems, items):
    return _labels(systems, items, "abcdefghij", "LabelF")


def _scores(systems, items, places):
    def write(folder):
        rng = random.Random(1)
        scores = [[f"{rng.random():.{places}f}" for _ in range(items)] for _ in range(systems)]
        return _written(folder, [0] * items, scores, format="scores", column="score", metric="Mean")

    return write
