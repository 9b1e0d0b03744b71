"""The scores of examples that Eval Arena takes: JSON Lines, one for every benchmark, model and example.

Where a model has answered an example several times, its score there is the share of answers that were right. That is
one graded score, and no runs: a line says how many answers were right, not which, so that nothing tells what would
belong to the same run. Items are what is paired, and a share says all that a mean over them needs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

from registry.errors import InputError
from registry.importers.base import (
    Collected,
    Place,
    Run,
    ScoredImporter,
    check_known,
    find_files,
    get_member,
    make_duplicate_error,
    read_objects,
    suggest_across,
    to_score,
)
from registry.manifest.folder import TaskFolder

_NAMES = ("benchmark_id", "model", "example_id")
_NEAR = 1e-3  # how far a share may be from what it was rounded to
_COUNTS = ("count", "N")  # older files call it N


class EvalArena(ScoredImporter):
    """Eval Arena: JSON Lines of benchmark, model, example, and the share of right answers.

    Attributes:
        benchmarks: Those to take; without any all.
    """

    name = "eval-arena"

    benchmarks: tuple[str, ...] = ()

    def read(self, path: Path) -> TaskFolder:
        collected, known = Collected(path, self.missing, self.better), dict[str, None]()
        found: dict[tuple[str, str], Run] = defaultdict(dict)
        for file in find_files(path, lambda name: name.removesuffix(".gz").endswith(".jsonl"), "file called *.jsonl"):
            for entry, place in read_objects(collected.load(file), nan=True):
                benchmark, model, example = (
                    str(get_member(entry, key, of=(str, int), place=place)) for key in _NAMES)
                known[benchmark] = None
                if self.benchmarks and benchmark not in self.benchmarks:
                    continue
                run = found[benchmark, model]
                if example in run:
                    raise make_duplicate_error(f"{example} ({benchmark}, {model})", place, run[example][1])
                run[example] = (_to_share(entry, place), place)
        check_known(self.benchmarks, known, "benchmark", path)
        for (benchmark, model), run in found.items():
            collected.add(benchmark, model, "1", run)
        if not collected.test_sets:
            raise InputError("no line has a score", path=path)
        return collected.make_task(then=suggest_across(
            {name: name for name in collected.test_sets}, "--option benchmarks=NAME"))


def _to_share(entry: dict[str, Any], place: Place) -> float | None:
    """Return the share of correct answers; None if there is no answer."""
    share = entry.get("pass1")
    counts = [entry[name] for name in _COUNTS if entry.get(name) is not None]
    for name, value in (("pass1", share), *(("count", count) for count in counts)):
        if value is not None and to_score(value) is None and not (isinstance(value, float) and math.isnan(value)):
            raise place.error(f"{name!r} is {str(value)[:40]!r}; expected a number")
    share = None if share is None else to_score(share)
    if share is not None and not 0 <= share <= 1:
        raise place.error(f"'pass1' is {share}; expected a share, from 0 to 1")
    if not counts:
        if share is None and "pass1" not in entry:
            raise place.error("no key 'pass1', and no 'count'")
        return share
    count, right = to_score(counts[0]), to_score(entry.get("correct"))
    if count is None or count < 1 or count % 1:
        raise place.error(f"'count' is {counts[0]}; expected how often the model has answered")
    if right is None:
        right = None if share is None else round(share * count)
    if right is None:
        return None
    if not 0 <= right <= count or right % 1 or (share is not None and abs(right / count - share) > _NEAR):
        raise place.error(f"{right:g} of {count:g} answers are right, but 'pass1' is {share}")
    return right / count
