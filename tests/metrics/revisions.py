"""What every metric gives on the samples, as digests by its revision; `python -m tests.metrics.revisions` writes them.

A metric whose digest differs from that in `revisions.json` computes something else: it needs another revision.
"""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from registry.errors import InputError
from registry.evaluation.ingest.declared import expand_submissions
from registry.evaluation.ingest.fit import join
from registry.evaluation.resolve import resolve
from registry.evaluation.scoring.measure import score_single_run
from registry.identity import digest, short
from registry.items import index_by_key
from registry.manifest import load_manifest
from registry.metrics import METRICS
from registry.missing import MissingPolicy
from registry.quick.make import make
from registry.quick.plan import Request
from tests.conftest import ROOT

FILE = Path(__file__).with_name("revisions.json")
NEEDED = {"P": {"cutoff": 5}, "R": {"cutoff": 5}, "Success": {"cutoff": 5}, "IPrec": {"recall": 0.4}}
# of statistics of others, which are declared; of a Java program; of judgments, estimated for a whole board
UNPINNED = {"Formula", "Recorded", "METEOR", "WinRate", "BradleyTerry", "AdjustedMean"}
_MOST = 40  # items of a test set


def measured():
    """Return the revision and the digest of every metric, by its name."""
    given = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, gold, systems in (("parsing", "gold.conllu", "submissions"), ("retrieval", "qrels.txt", "runs")):
            sample = ROOT / "sample_data" / name  # without a manifest
            made = make([sample / systems], Request(gold=str(sample / gold)))
            with made.folder.write(Path(folder) / name, name):
                pass
        folders = [ROOT / "sample_data", ROOT / "tests/fuzz/seeds", Path(folder)]
        for manifest in [path for each in folders for path in sorted(each.glob("*/task.toml"))]:
            for takes, joined in _samples(manifest):
                given.setdefault(takes, []).append(joined)
    found = {}
    for name in sorted(set(METRICS) - UNPINNED):
        metric = METRICS[name](**NEEDED.get(name, {}))
        numbers = [numbers for items, answers in given[metric.takes]
                   if (numbers := _numbers(metric, items, answers)) is not None]
        assert numbers, f"no sample for {name}"
        found[name] = [metric.revision, short(digest(json.dumps(numbers).encode()))]
    return found


def _samples(manifest):
    task = resolve(load_manifest(manifest)[0], manifest, manifest.parent)
    for one in list(expand_submissions(task))[:2]:
        reader = task.readers[one.test_set.name]
        entries = reader.read_gold(task.gold_documents(one.test_set))
        items = list(index_by_key(entries, "gold", reader.repeated).values())
        policies = replace(one.policies, metrics=())  # of which some have no worst value
        joined = join(items, one.read_answers(one.documents[0]), one.reader, policies, one.documents[0])
        yield reader.gives, (items[:_MOST], joined.select(np.arange(len(items)) < _MOST))


def _numbers(metric, items, answers):
    """The statistics and the score of a sample, to 12 digits; None if the metric does not take it."""
    try:
        metric.check_gold(items)
        statistics = metric.corpus_statistics(items, answers)
        score = score_single_run(items, answers, MissingPolicy.WORST, {"": metric})[""]
    except (InputError, TypeError):  # as scores without a gold, of which there are no errors
        return None
    return [float(f"{value:.12g}") for value in [*np.asarray(statistics, dtype=float).ravel().tolist(), score]]


if __name__ == "__main__":
    FILE.write_text(json.dumps(measured(), indent=1) + "\n")
