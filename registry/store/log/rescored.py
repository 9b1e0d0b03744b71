"""What the log says of scores that were computed anew by other code, and became others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import Connection

from registry.store.log.journal import entries

Key = tuple[int, int]  # scoring, metric


class Rescoring(NamedTuple):
    """What one run computed anew that became another score.

    Attributes:
        run_id: The run.
        scores: Each by its scoring and metric, with its digest before and after.
        otherwise: The digests of the code that scores the same statistics otherwise, by the metrics' names.
        results: The digests of the results that rested on the former scores, by those of the comparisons.
    """

    run_id: int
    scores: list[tuple[int, int, str, str]]
    otherwise: Mapping[str, str]
    results: Mapping[str, str]


def changes(connection: Connection) -> list[Rescoring]:
    """What was computed anew and became another score, from the first time to the last."""
    return [Rescoring(of.run_id, **{key: of.details[key] for key in ("scores", "otherwise", "results")})
            for of in entries(connection, "rescore")]


def scored_by(connection: Connection, metric: str) -> str:
    """What results by a metric are found by, beside their statistics.

    It is the metric's name, with the digest of the code where other code has scored the same statistics otherwise.
    """
    found = [change.otherwise[metric] for change in changes(connection) if metric in change.otherwise]
    return f"{metric} by {found[-1]}" if found else metric


def since(connection: Connection, run_id: int, keys: Iterable[Key]) -> bool:
    """Whether any of some scores is another one by now than at the end of a run."""
    wanted, before, after = set(keys), dict[Key, str](), dict[Key, str]()
    for change in changes(connection):
        for scoring_id, metric_id, was, is_ in change.scores if change.run_id > run_id else ():
            if (key := (scoring_id, metric_id)) in wanted:
                before.setdefault(key, was)
                after[key] = is_
    return before != after
