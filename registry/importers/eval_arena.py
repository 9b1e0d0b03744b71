"""Importer of scores in the format of Eval Arena.

The format is JSON Lines with one line per benchmark, model and example. If a model has answered an example several
times, its score is the share of correct answers. The answers do not become runs, because a line has only the number of
correct answers: nobody can know which answers to different examples belong to the same run. Tests do not need runs
here, because the mean over items needs only the shares.
"""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

from registry.errors import InputError
from registry.importers.base import (
    Place,
    Run,
    ScoreCollection,
    ScoredImporter,
    add_score,
    check_known,
    find_files,
    get_member,
    read_objects,
    suggest_across,
    to_score,
)
from registry.manifest.folder import TaskFolder

_NAMES = ("benchmark_id", "model", "example_id")
_ROUNDING = 1e-3  # largest rounding error of a share
_COUNTS = ("count", "N")  # older files call it N


class EvalArena(ScoredImporter):
    """Eval Arena: JSON Lines with a share of correct answers for every example.

    This importer makes a test set for each benchmark; the score of an item is the share of correct answers.

    Attributes:
        benchmarks: Names of the benchmarks to import; empty for all.
    """

    name = "eval-arena"

    benchmarks: tuple[str, ...] = ()

    def read(self, path: Path) -> TaskFolder:
        collection, known_benchmarks = ScoreCollection(path, self.missing, self.better), dict[str, None]()
        runs: dict[tuple[str, str], Run] = defaultdict(dict)
        for file in find_files(path, lambda name: name.removesuffix(".gz").endswith(".jsonl"), "file called *.jsonl"):
            for entry, place in read_objects(collection.load(file), nan=True):
                benchmark, model, example = (
                    str(get_member(entry, key, kind=(str, int), place=place)) for key in _NAMES)
                known_benchmarks[benchmark] = None
                if not self.benchmarks or benchmark in self.benchmarks:
                    add_score(runs[benchmark, model], example, _to_share(entry, place), place,
                              f"{example} ({benchmark}, {model})")
        check_known(self.benchmarks, known_benchmarks, "benchmark", path)
        for (benchmark, model), run in runs.items():
            collection.add_run(benchmark, model, "1", run)
        if not collection.test_sets:
            raise InputError("no line has a score", path=path)
        return collection.make_task(advice=suggest_across(
            {name: name for name in collection.test_sets}, "--option benchmarks=NAME"))


def _to_share(entry: dict[str, Any], place: Place) -> float | None:
    """Return the share of a model's answers to one example that are correct.

    Args:
        entry: Parsed line of the file.
        place: File and line, for errors.

    Returns:
        The share, from 0 to 1; None if the line counts no answers.
    """
    share = entry.get("pass1")
    counts = [entry[name] for name in _COUNTS if entry.get(name) is not None]
    for name, value in (("pass1", share), *(("count", count) for count in counts)):
        if value is not None and to_score(value) is None and not (isinstance(value, float) and math.isnan(value)):
            raise place.error(f"{name!r} is {str(value)[:40]!r}; expected a number")
    share = None if share is None else to_score(share)
    if share is not None and not 0 <= share <= 1:
        raise place.error(f"'pass1' is {share}; expected a share from 0 to 1")
    if not counts:
        if share is None and "pass1" not in entry:
            raise place.error("the keys 'pass1' and 'count' are missing; add one of them")
        return share
    count, correct = to_score(counts[0]), to_score(entry.get("correct"))
    if count is None or count < 1 or count % 1:
        raise place.error(f"'count' is {counts[0]}; expected the number of answers")
    if correct is None:
        correct = None if share is None else round(share * count)
    if correct is None:
        return None
    if not 0 <= correct <= count or correct % 1 or (share is not None and abs(correct / count - share) > _ROUNDING):
        raise place.error(f"{correct:g} of {count:g} answers are correct, but 'pass1' is {share}")
    return correct / count
