"""Tasks of random boards, many of them extreme, to check that no printed interval leaves the range of its metric.

    python -m tests.evaluation.comparing.random_boards [BOARDS]

Runs so many boards (500 unless given), prints every interval outside of its range, and exits with 1 if there is one.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from registry.cli.app import app
from registry.metrics import METRICS
from registry.values import parse

SETS, SYSTEMS = 4, 3
CLASSES = np.array(["one", "two", "three"])
LABELS = ("LabelF", "BalancedAccuracy", "MCC", "Kappa", "Accuracy")
SCORES = ('Mean"\noptions = { low = 0, high = 10 }\nid = "mean', "MAE", "Pearson", "RMSE")
LINES = ("BLEU", "chrF", "TER", 'WER"\noptions = { references = ["reference"] }\nid = "wer')
DEFAULT_TESTS = ('test = "permutation"', 'test = "permutation"\nunit = "cluster"', 'test = "bootstrap"',
                 'test = "bootstrap"\ninterval = "basic"')
MEAN_TESTS = ('test = "t"', 'test = "bootstrap(variant=studentized)"')


def labels(rng, n):
    """Answers of systems that are always, mostly or hardly ever right: (gold, answers of each system)."""
    gold = CLASSES[[0, 1, 2, *rng.choice(3, n - 3, p=(0.8, 0.15, 0.05))]]
    right = rng.random((SYSTEMS, n)) < rng.choice([0, 0.3, 0.9, 0.98, 1], (SYSTEMS, 1))
    return gold, np.where(right, gold, CLASSES[rng.integers(0, 3, (SYSTEMS, n))])


def scores(rng, n):
    """Numbers from 0 to 10, many of them at the ends."""
    drawn = np.round(10 * rng.beta(*rng.choice([0.05, 0.5, 5], 2), (SYSTEMS + 1, n)), 2)
    return drawn[0], np.where(rng.random((SYSTEMS, n)) < rng.choice([0, 0.5, 1], (SYSTEMS, 1)), drawn[0], drawn[1:])


def lines(rng, n):
    """Sentences of up to nine words; a system has some, all or none of the words."""
    words = np.array([f"w{k}" for k in range(30)])
    gold = [words[rng.integers(0, 30, rng.integers(1, 10))] for _ in range(n)]
    rates = rng.choice([0, 0.1, 0.6, 1], SYSTEMS)
    return [" ".join(line) for line in gold], [[" ".join(np.where(rng.random(len(line)) < rate, "x", line))
                                                for line in gold] for rate in rates]


KINDS = ((labels, "labels", LABELS, DEFAULT_TESTS), (scores, "scores", SCORES, DEFAULT_TESTS),
         (scores, "scores", SCORES[:2], MEAN_TESTS), (lines, "lines", LINES, DEFAULT_TESTS[:1] + DEFAULT_TESTS[2:]))


def write_tasks(folder, seed):
    """Write a task of each kind; return the manifests and the number of their boards."""
    rng, manifests, boards = np.random.default_rng([52, seed]), [], 0
    for number, (draw, reader, metrics, tests) in enumerate(KINDS):
        task = folder / f"task{number}-{seed}"
        task.mkdir()
        parts = [f'manifest = 1\n[task]\nid = "{task.name}"\nversion = "1"\n[significance]\nseed = 1\nresamples = 199\n'
                 f"{tests[rng.integers(len(tests))]}"]
        parts += [f'[[metric]]\nname = "{name}"' for name in metrics]
        for set_number in range(SETS):
            gold, answers = draw(rng, int(rng.integers(4, 30)))
            parts.append(_write_set(task, f"set{set_number}", reader, gold, answers))
        (task / "task.toml").write_text("\n".join(parts) + "\n")
        manifests.append(task / "task.toml")
        boards += SETS * len(metrics)
    return manifests, boards


def _write_set(task, name, reader, gold, answers):
    """Write the files of one test set; return its part of the manifest."""
    options = {"labels": 'options = { columns = ["item", "label", "document"] }\ncluster = "document"',
               "scores": 'options = { gold = "score", attributes = ["document"] }\ncluster = "document"',
               "lines": f'references = [{{ name = "reference", path = "{name}.gold" }}]'}[reader]
    parts = [f'[[test_set]]\nname = "{name}"\ngold = "{name}.gold"\nformat = "{reader}"\n{options}']
    _write_answers(task / f"{name}.gold", reader, gold, documents=True)
    for n, values in enumerate(answers):
        _write_answers(task / f"{name}.s{n}", reader, values)
        own = {"labels": '\noptions = { columns = ["item", "label"] }',
               "scores": "\noptions = { }"}.get(reader, "")
        parts.append(f'[[submit]]\nfile = "{name}.s{n}"\nsystem = "s{n}"\ntest_set = "{name}"{own}')
    return "\n".join(parts)


def _write_answers(path, reader, values, *, documents=False):
    rows = [str(value) if reader == "lines" else "\t".join([f"i{n}", str(value), *[f"d{n // 3}"] * documents])
            for n, value in enumerate(values)]
    header = ["\t".join(["item", "score", *["document"] * documents])] if reader == "scores" else []
    path.write_text("\n".join([*header, *rows]) + "\n")


def read_intervals(registry):
    """Yield (place, low, high, lowest, highest) of all intervals of scores and differences that a registry prints.

    Args:
        registry: Runs a command and returns what it prints as JSON.
    """
    for command in ("board", "pairs"):
        for row in registry(command):
            low, high = parse("metric", METRICS, row["metric_name"]).score_range
            if command == "pairs":
                low, high = low - high, high - low
            place = " ".join(str(row.get(key)) for key in (
                "task", "test_set", "metric", "signature", "system", "system_a", "system_b"))
            if row["ci_low"] is not None:
                yield place, row["ci_low"], row["ci_high"], low, high


def outside(intervals):
    """Return the intervals that leave their range."""
    return [(place, low, high) for place, low, high, lowest, highest in intervals
            if not lowest <= low <= high <= highest]


def run(*arguments):
    """Run a command in this process; return its JSON."""
    result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert not result.exit_code, result.output
    return json.loads(result.stdout)


def main(wanted=500):
    """Check boards until there are so many."""
    boards = checked = seed = 0
    faults = []
    while boards < wanted:
        with tempfile.TemporaryDirectory() as folder:
            manifests, more = write_tasks(Path(folder), seed)
            for manifest in manifests:
                db = manifest.with_suffix(".duckdb")
                run("run", manifest, "--db", db, "--format", "json")
                intervals = list(read_intervals(lambda command, db=db: run(command, "--db", db, "--format", "json")))
                checked += len(intervals)
                faults += outside(intervals)
        boards, seed = boards + more, seed + 1
    print(*faults, f"{boards} boards, {checked} intervals, {len(faults)} outside of the range", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
