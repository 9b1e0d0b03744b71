"""Labels and TREC runs read, against the rate that is asked for on a core and beside the readers of other programs.

Those check nothing but, in a run, that no document occurs twice.
"""

import csv
import statistics
import time

import numpy as np
import pytrec_eval

from registry.readers import Document, Labels, Trec
from tests.benchmarks.figures import Figure

LINES = 200_000
WANTED = 500_000  # lines per second


def run():
    """Made-up files, the same for both programs."""
    rng = np.random.default_rng(0)
    labels = "".join(f"item-{n}\tlabel-{k}\n" for n, k in enumerate(rng.integers(0, 9, LINES)))
    gold = "".join(f"item-{n}\tlabel-{k}\tdocument-{n // 25}\tnews\n" for n, k in enumerate(
        rng.integers(0, 9, LINES)))
    with_attributes = Labels(columns=("item", "label", "document", "domain"))
    run = "".join(f"{401 + n // 1000} Q0 FT{d:09d}-{n} {n % 1000 + 1} {s:.6f} aspen\n" for n, (d, s) in enumerate(
        zip(rng.integers(0, 10**9, LINES), rng.random(LINES) * 20, strict=True)))
    return [
        _figure("labels", lambda: Labels().read_answers(Document("f", labels.encode())),
                "the csv module's", lambda: list(csv.reader(labels.splitlines(), delimiter="\t"))),
        _figure("gold labels with attributes",
                lambda: with_attributes.read_gold({"gold": Document("f", gold.encode())}),
                "the csv module's", lambda: list(csv.reader(gold.splitlines(), delimiter="\t"))),
        _figure("documents of a TREC run", lambda: Trec().read_answers(Document("f", run.encode())),
                "pytrec_eval's parse_run", lambda: pytrec_eval.parse_run(run.splitlines())),
    ]


def _figure(what, ours, program, peer):
    rates = [(_rate(ours), _rate(peer)) for _ in range(6)][1:]
    mine, other = (statistics.median(column) for column in zip(*rates, strict=True))
    return Figure(f"read {LINES:,} {what}", f"{mine:,.0f} lines/s of CPU", f">= {WANTED:,}; {program} {other:,.0f}",
                  mine >= WANTED)


def _rate(function):
    start = time.process_time()
    function()
    return LINES / (time.process_time() - start)
