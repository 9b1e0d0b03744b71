"""List the leaderboards of a task, and which of them are corrected together.

A leaderboard is identified by its test set, track, facet, metric and members.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from registry.errors import MismatchError
from registry.evaluation.comparing.directions import OBSERVED, has_one_sided
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.evaluation.comparing.settings import Request
from registry.evaluation.metric_ids import load_metrics
from registry.evaluation.resolve import choose_unit
from registry.identity import digest_json, salt_digest
from registry.manifest import update_significance
from registry.manifest.fields import is_in_family
from registry.metrics import METRICS
from registry.significance.multiple import GATEKEEPING
from registry.store import catalog
from registry.store.catalog import DeclaredMetric, GoldRevisionRow, Member, ScoreRow, TaskRow, TestSetRow
from registry.values import parse


@dataclass(frozen=True)
class BoardFamily:
    """Leaderboards that form a family: their p-values are corrected together.

    Attributes:
        boards: Names of the leaderboards without the task's id; leaderboards of the primary metric come first.
        digests: For each leaderboard, a digest of its data and settings, without family and seed.
        pairs: Number of pairs that share alpha. These are the pairs of all leaderboards. With the correction
            `gatekeeping`, which tests one metric after the other, they are the pairs of one metric.
        absent: Leaderboards that the manifest declares for the family, but that do not exist yet.
    """

    boards: tuple[str, ...]
    digests: tuple[str, ...]
    pairs: int
    absent: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoardKey:
    """The properties that identify one leaderboard, with its submissions and scores.

    Attributes:
        task, test_set, gold, metric, track: With `facet`, these identify the leaderboard.
        facet: Attribute and value of the items on the leaderboard, such as ("genre", "blog"); None: all items.
        members: The submissions on the leaderboard.
        scores: The score of each member, by the id (`scoring_id`) of the row that joins the member with the gold.
        family: All leaderboards that are corrected together with this one; None if it is corrected alone.
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
        """The subset of items as `attribute=value`; None if all items count."""
        return None if self.facet is None else "=".join(self.facet)

    @property
    def item_set(self) -> str:
        """Name of the items and systems on the leaderboard: `test set, track, facet`.

        Leaderboards that differ only in the metric have the same `item_set`.
        """
        return ", ".join(filter(None, (self.test_set.name, self.track, self.facet_name)))

    @property
    def name(self) -> str:
        """The name of the leaderboard in tables and messages."""
        return LeaderboardKey(self.task.slug, self.test_set.name, self.track, self.facet_name, self.metric.alias).name

    @property
    def gold_digest(self) -> str:
        """Digest of the gold, which the signature of a result contains.

        If the task has a salt, the digest is salted, so that nobody can confirm a guess of hidden gold.
        """
        return salt_digest(self.gold.digest, self.task.salt)

    def with_unit(self, request: Request) -> Request:
        """Return a copy of the request that names the unit of permutation or resampling.

        The unit is the item, the cluster or the response (a single answer).

        Raises:
            InputError: The test set declares clusters, and the test can use only items or responses as units.
        """
        unit = choose_unit(request.significance, self.test_set.name, self.test_set.cluster_attribute)
        return replace(request, significance=update_significance(request.significance, {"unit": unit}))

    def resolve_request(self, request: Request) -> Request:
        """Replace the defaults in a request by the values for this leaderboard.

        The result names the unit that is permuted or resampled, and has a number instead of `resamples = "auto"`. If no
        pair on the leaderboard has a declared direction, the tests become two-sided.
        """
        request = self.with_unit(request)
        n_pairs = math.comb(len(self.members), 2)
        settings = request.significance
        if settings.alternative != "two-sided" and not has_one_sided(self.members, settings):
            request = replace(request, significance=update_significance(settings, {"alternative": "two-sided"}))
        return request.resolve_resamples(len(self.members), 0 if self.family is None else self.family.pairs - n_pairs)

    def describe_request(self, request: Request) -> dict[str, Any]:
        """Return the settings of a comparison as a JSON object, to store them."""
        unused = {"family"} if request.significance.family == "board" else set()
        return {"task_version": self.task.version, "cluster": self.test_set.cluster_attribute,
                "rank_baselines": request.rank_baselines, **({} if request.rank_late else {"rank_late": False}),
                "significance": request.significance.model_dump(mode="json", exclude=unused, exclude_none=True),
                **_describe_direction(request),
                **({} if self.family is None else {"family": asdict(self.family)})}

    def digest(self, request: Request, *, is_random: bool = True) -> str:
        """Return the digest that identifies the comparison of these systems.

        The digest is computed from all data and settings on which the numbers of the comparison depend.

        Args:
            request: The request.
            is_random: True if the numbers depend on random numbers, and so on settings such as the seed.
        """
        request = self.resolve_request(request)
        unused = {"family"} | (set() if is_random else {
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
            "rank_baselines": request.rank_baselines, **_describe_direction(request),
            **({} if request.rank_late else {"late": sorted(m.name for m in self.members if m.late)}),
            **({} if self.family is None else {"family": [self.family.digests, self.family.absent]}),
        }), self.task.salt)


def _describe_direction(request: Request) -> dict[str, str]:
    """Return `{"direction": "declared"}` or `"observed"`; {} if tests are two-sided.

    The direction of one-sided tests is declared in advance, or chosen by the observed difference.
    """
    if request.alternative == OBSERVED:
        return {"direction": OBSERVED}
    return {} if request.alternative == "two-sided" else {"direction": "declared"}


def load_board_keys(connection: Connection, task_row: TaskRow, request: Request) -> Iterator[BoardKey]:
    """Yield all leaderboards of a task: one per test set, metric, track and facet.

    Leaderboards without submissions are left out. If the request names metrics, only their leaderboards are returned.

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
        for metric in load_metrics(connection, task_row, test_set.name):
            if request.metrics is not None and metric.alias not in request.metrics:
                continue
            scores = catalog.scores(connection, metric.metric_id, [m.scoring_id for m in members])
            if stale := [m.name for m in members if m.scoring_id not in scores]:
                raise MismatchError(f"{stale[0]} is not scored by {metric.alias} yet; run `registry score`")
            scored = _leave_out_unscored(members, metric, scores)
            for track in sorted({m.track for m in scored}, key=lambda track: (track is not None, track)):
                in_track = [m for m in scored if m.track == track]
                for facet in (None, *facets):
                    yield BoardKey(task_row, test_set, gold, metric, track, facet, in_track, scores)


def _leave_out_unscored(members: list[Member], metric: DeclaredMetric, scores: Mapping[int, ScoreRow]) -> list[Member]:
    """Leave out systems without any score in the column of a metric, such as a system whose costs are unknown.

    If no system has such a score, all are returned, and `compare` warns that there is no leaderboard.
    """
    if parse("metric", METRICS, metric.name).column is None:
        return members
    return [member for member in members if scores[member.scoring_id].n_items] or members


def load_compared_keys(connection: Connection, task_row: TaskRow, request: Request) -> list[BoardKey]:
    """Return the requested leaderboards, and others whose p-values they affect.

    If p-values of several leaderboards are corrected together, these leaderboards are a family. The family comes first.

    Raises:
        MismatchError: A submission is not scored yet.
    """
    declared = request.significance.family
    if declared == "board":
        return list(load_board_keys(connection, task_row, request))
    keys = list(load_board_keys(connection, task_row, replace(request, metrics=None)))
    single = [key for key in keys if not _is_in_family(key, declared)]
    members = [key for key in keys if _is_in_family(key, declared)]
    members.sort(key=lambda key: not key.metric.is_primary)  # gatekeeping starts with the primary metric
    absent = () if declared == "task" else tuple(
        name.removeprefix(f"{task_row.slug}/") for name in declared
        if not any(_is_in_family(key, [name]) for key in members))
    if len(members) + len(absent) > 1:
        family = _make_family(members, request, absent)
        members = [replace(key, family=family) for key in members]

    def is_requested(keys: Sequence[BoardKey]) -> bool:
        return request.metrics is None or any(key.metric.alias in request.metrics for key in keys)

    return [*(members if is_requested(members) else ()), *(key for key in single if is_requested([key]))]


def _make_family(keys: Sequence[BoardKey], request: Request, absent: tuple[str, ...]) -> BoardFamily:
    """Make a family: leaderboards whose p-values are corrected together.

    Args:
        keys: The leaderboards in the order in which `gatekeeping` tests them, not yet assigned to a family.
        request: The request.
        absent: Leaderboards that the manifest declares for the family, but that do not exist.
    """
    by_item_set = {key.item_set: math.comb(len(key.members), 2) for key in keys}
    n_pairs = by_item_set.values() if request.significance.correction == GATEKEEPING else (
        math.comb(len(key.members), 2) for key in keys)
    return BoardFamily(tuple(key.name.removeprefix(f"{key.task.slug}/") for key in keys),
                  tuple(key.digest(request, is_random=False) for key in keys), sum(n_pairs), absent)


class _HasKey(Protocol):
    @property
    def key(self) -> BoardKey: ...


Board = TypeVar("Board", bound=_HasKey)


def group_by_family(boards: Iterable[Board]) -> Iterator[list[Board]]:
    """Yield groups of leaderboards whose p-values are corrected together.

    A leaderboard that is corrected alone is a group. The leaderboards of a group must be consecutive in `boards`.
    """
    for family, group in groupby(boards, key=lambda board: board.key.family):
        if family is None:
            yield from ([board] for board in group)
        else:
            yield list(group)


def _is_in_family(key: BoardKey, family: str | list[str]) -> bool:
    return is_in_family(family, key.task.slug, key.name, key.metric.alias)
