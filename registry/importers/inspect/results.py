"""What the results of an Inspect log say of its samples, held against the means of the scores that were read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from registry.importers.scored import Run, mean, near, number

_MEANS = {"accuracy", "mean"}
_OF_SPREAD = {"stderr", "bootstrap_stderr", "std", "var"}


def unlike_the_results(header: Any, runs: Mapping[tuple[str, int], Run], reducer: str | None) -> Iterator[str]:
    """Say which scores of a log's results are not the means over samples and epochs that the runs make.

    Args:
        header: Of the log.
        runs: By scorer, or scorer and key, and by epoch.
        reducer: By which epochs are reduced to one score; None where each is a run.
    """
    of_scorer: dict[str, list[Run]] = defaultdict(list)
    for (scorer, _), run in runs.items():
        of_scorer[scorer].append(run)
    task, model = header["eval"]["task"], header["eval"]["model"]
    results = header.get("results")
    scores = results.get("scores") if isinstance(results, dict) else None
    for score in scores if isinstance(scores, list) else []:
        name = isinstance(score, dict) and _run_of(score, of_scorer)
        if not name:
            continue
        called, by = f"'{task}.{name}'", score.get("reducer") or "mean"
        if by != (reducer or "mean"):
            if reducer is None:
                yield (f"epochs of {called} are runs here, while the log reduces them by {by!r} too; "
                       f"--option {quote(f'reducer={by}')} takes that")
            continue
        metrics = score.get("metrics")
        for metric, value in _numbers(metrics if isinstance(metrics, dict) else {}):
            own = _mean(of_scorer[name]) if metric in _MEANS and by == "mean" else value
            if metric not in _MEANS | _OF_SPREAD:
                yield f"{metric!r} of {called} is no mean of its samples, and not taken"
            elif own is not None and not near(own, value):
                yield f"{called} is {own:.6g} over the samples of {model!r}, while its log says {value:.6g}"


def _run_of(score: Mapping[str, Any], runs: Mapping[str, Sequence[Run]]) -> str | None:
    """What a score of the results is called here: the scorer, or the scorer with the key that it is of."""
    name, scorer = score.get("name"), score.get("scorer")
    if not isinstance(scorer, str):
        return None
    return next((known for known in (f"{scorer}.{name}", scorer) if known in runs), None)


def _numbers(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for metric, of in metrics.items():
        value = number(of.get("value")) if isinstance(of, dict) else None
        if value is not None:
            yield metric.rpartition("/")[2], value


def _mean(runs: Sequence[Run]) -> float | None:
    """The mean over samples of the means over their epochs."""
    of_item: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for item, (score, _) in run.items():
            if isinstance(score, float):
                of_item[item].append(score)
    return mean([mean(scores) for scores in of_item.values()]) if of_item else None
