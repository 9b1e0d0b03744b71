"""The leaderboards of a task by what tells them apart: test set, track, facet and metric, and who takes part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from registry.errors import MismatchError
from registry.evaluation.comparing.directions import OBSERVED, has_one_sided
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.evaluation.comparing.settings import Request
from registry.evaluation.resolve import unit_of
from registry.identity import digest_json, salt_digest
from registry.manifest import significance_with
from registry.manifest.fields import is_in_family
from registry.significance.multiple import GATEKEEPING
from registry.store import catalog
from registry.store.catalog import DeclaredMetric, GoldRevisionRow, Member, ScoreRow, TaskRow, TestSetRow


@dataclass(frozen=True)
class BoardFamily:
    """Several boards whose pairs are corrected as one family.

    Attributes:
        boards: Their names without the task's, the primary metric's first.
        digests: The identities of the boards by themselves, but for what governs random draws.
        pairs: How many pairs have a share of alpha from the beginning: all; under gatekeeping those by the first
            metric.
        absent: Names that the family declares, and that no board has yet.
    """

    boards: tuple[str, ...]
    digests: tuple[str, ...]
    pairs: int
    absent: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoardKey:
    """One board: a test set, track, facet and metric, and who takes part; `scores` are by scoring.

    `family` are the boards that it is corrected together with, where there are such.
    """

    task: TaskRow
    test_set: TestSetRow
    gold: GoldRevisionRow
    metric: DeclaredMetric
    track: str | None
    facet: tuple[str, str] | None
    members: list[Member]
    scores: dict[int, ScoreRow]
    family: BoardFamily | None = None

    @property
    def facet_name(self) -> str | None:
        """The facet as boards show it, `attribute=value`."""
        return None if self.facet is None else "=".join(self.facet)

    @property
    def items(self) -> str:
        """What boards of the same systems on the same items have in common: all but the metric."""
        return ", ".join(filter(None, (self.test_set.name, self.track, self.facet_name)))

    @property
    def name(self) -> str:
        """The board's name for people."""
        return LeaderboardKey(self.task.slug, self.test_set.name, self.track, self.facet_name, self.metric.alias).name

    @property
    def gold_digest(self) -> str:
        """The digest of the gold that signatures show, salted if the task hides or has hidden something."""
        return salt_digest(self.gold.digest, self.task.salt)

    def with_unit(self, request: Request) -> Request:
        """Return the request with the unit of this board, as `unit_of` defines it.

        Raises:
            InputError: The test set declares clusters, and the test is one of single items or responses.
        """
        unit = unit_of(request.significance, self.test_set.name, self.test_set.cluster_attribute)
        return replace(request, significance=significance_with(request.significance, {"unit": unit}))

    def request(self, request: Request) -> Request:
        """What is asked of this board, with its unit, and numbers in the place of `resamples = "auto"`.

        A board without the candidate is two-sided, and does not record the candidate.
        """
        request = self.with_unit(request)
        own = math.comb(len(self.members), 2)
        settings = request.significance
        if settings.alternative != "two-sided" and not has_one_sided(self.members, settings):
            request = replace(request, significance=significance_with(settings, {"alternative": "two-sided"}))
        return request.of_family(len(self.members), 0 if self.family is None else self.family.pairs - own)

    def asked(self, request: Request) -> dict[str, Any]:
        """What is asked of this board, as JSON, beside what tells it from others and who takes part."""
        unused = {"family"} if request.significance.family == "board" else set()
        return {"task_version": self.task.version, "cluster": self.test_set.cluster_attribute,
                "rank_baselines": request.rank_baselines, **({} if request.rank_late else {"rank_late": False}),
                "significance": request.significance.model_dump(mode="json", exclude=unused, exclude_none=True),
                **_direction(request),
                **({} if self.family is None else {"family": asdict(self.family)})}

    def digest(self, request: Request, *, drawn: bool = True) -> str:
        """The identity of a comparison here: everything that its numbers depend on, and nothing else.

        They depend on what governs random draws only where something was `drawn`. Fixed runs go without saying, and so
        does a family of this board alone.
        """
        request = self.request(request)
        unused = {"family"} | (set() if drawn else {
            "seed", "resamples", "resolve", "precision", "interval", "confidence"})
        unused |= {"precision"} if request.significance.resolve is None else set()
        unused |= {"runs"} if request.significance.runs == "fixed" else set()
        return salt_digest(digest_json({
            "task": [self.task.slug, self.task.version], "test_set": self.test_set.name, "gold": self.gold.digest,
            "track": self.track, "facet": self.facet, "metric": [self.metric.alias, self.metric.name],
            "members": sorted([m.name, m.kind, self.scores[m.scoring_id].digest, self.scores[m.scoring_id].n_items]
                              for m in self.members),
            "cluster": self.test_set.cluster_attribute if request.significance.unit == "cluster" else None,
            "significance": request.significance.model_dump(mode="json", exclude=unused, exclude_none=True),
            "rank_baselines": request.rank_baselines, **_direction(request),
            **({} if request.rank_late else {"late": sorted(m.name for m in self.members if m.late)}),
            **({} if self.family is None else {"family": [self.family.digests, self.family.absent]}),
        }), self.task.salt)


def _direction(request: Request) -> dict[str, str]:
    """Return where one-sided tests get their direction from; nothing if there are none."""
    if request.alternative == OBSERVED:
        return {"direction": OBSERVED}
    return {} if request.alternative == "two-sided" else {"direction": "declared"}


def board_keys(connection: Connection, task_row: TaskRow, request: Request) -> Iterator[BoardKey]:
    """List every board of a task that has members.

    Raises:
        MismatchError: A submission is not scored yet.
    """
    for test_set in catalog.test_sets(connection, task_row.task_id):
        members = catalog.load_ranked(connection, test_set.test_set_id)
        if not members:
            continue
        gold = catalog.get(connection, GoldRevisionRow, gold_revision_id=test_set.gold_revision_id)
        facets = [(name, value) for name in request.facets.get(test_set.name, []) for value in sorted(set(
            catalog.item_attribute(connection, gold.gold_revision_id, name).values()))]
        for metric in catalog.task_metrics(connection, task_row.task_id):
            if request.metrics is not None and metric.alias not in request.metrics:
                continue
            scores = catalog.scores(connection, metric.metric_id, [m.scoring_id for m in members])
            if stale := [m.name for m in members if m.scoring_id not in scores]:
                raise MismatchError(f"{stale[0]} is not scored by {metric.alias} yet; `registry score` does it")
            for track in sorted({m.track for m in members}, key=lambda t: (t is not None, t)):
                of_track = [m for m in members if m.track == track]
                for facet in (None, *facets):
                    yield BoardKey(task_row, test_set, gold, metric, track, facet, of_track, scores)


def compared_keys(connection: Connection, task_row: TaskRow, request: Request) -> list[BoardKey]:
    """The boards that are to be compared: those that are asked for, and all in their families; a family together.

    Raises:
        MismatchError: A submission is not scored yet.
    """
    meant = request.significance.family
    if meant == "board":
        return list(board_keys(connection, task_row, request))
    every = list(board_keys(connection, task_row, replace(request, metrics=None)))
    alone = [key for key in every if not _is_meant(key, meant)]
    together = [key for key in every if _is_meant(key, meant)]
    together.sort(key=lambda key: not key.metric.is_primary)  # in the order of gatekeeping
    absent = () if meant == "task" else tuple(
        name.removeprefix(f"{task_row.slug}/") for name in meant if not any(_is_meant(key, [name]) for key in together))
    if len(together) + len(absent) > 1:
        family = _family_of(together, request, absent)
        together = [replace(key, family=family) for key in together]

    def asked_for(keys: Sequence[BoardKey]) -> bool:
        return request.metrics is None or any(key.metric.alias in request.metrics for key in keys)

    return [*(together if asked_for(together) else ()), *(key for key in alone if asked_for([key]))]


def _family_of(keys: Sequence[BoardKey], request: Request, absent: tuple[str, ...]) -> BoardFamily:
    """The family of several boards, which are in the order of gatekeeping and of no family yet."""
    of_items = {key.items: math.comb(len(key.members), 2) for key in keys}
    pairs = of_items.values() if request.significance.correction == GATEKEEPING else (
        math.comb(len(key.members), 2) for key in keys)
    return BoardFamily(tuple(key.name.removeprefix(f"{key.task.slug}/") for key in keys),
                  tuple(key.digest(request, drawn=False) for key in keys), sum(pairs), absent)


class _OfBoard(Protocol):
    @property
    def key(self) -> BoardKey: ...


Board = TypeVar("Board", bound=_OfBoard)


def families(boards: Iterable[Board]) -> Iterator[list[Board]]:
    """The boards of each family, from boards of which those of one family follow each other."""
    for family, group in groupby(boards, key=lambda board: board.key.family):
        of_family = list(group)
        yield from [of_family] if family is not None else ([board] for board in of_family)


def _is_meant(key: BoardKey, family: str | list[str]) -> bool:
    return is_in_family(family, key.task.slug, key.name, key.metric.alias)
