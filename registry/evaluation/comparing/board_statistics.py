"""The boards of a task: where systems are compared, and their statistics there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.errors import InputError, MismatchError, counted
from registry.evaluation.comparing.settings import Request
from registry.evaluation.ingest.gold import split_cluster
from registry.evaluation.matrices import Steps, matrix_of, scores_of
from registry.evaluation.scoring.label_codes import Labels
from registry.evaluation.scoring.run_averages import averaged, in_order_of_content, unchanged
from registry.identity import digest_array, digest_json
from registry.manifest import Significance
from registry.metrics import METRICS, ConfusionMetric, Metric
from registry.significance import StatisticMatrix
from registry.store import catalog, models, statistics
from registry.store.catalog import AnyRow
from registry.values import parse

_VALUES = 2**20  # that change places at once


@dataclass(frozen=True)
class Place:
    """One board: a test set, track, facet and metric, and who takes part; `scores` are by scoring."""

    task: AnyRow
    test_set: AnyRow
    gold: AnyRow
    metric: AnyRow
    track: str | None
    facet: tuple[str, str] | None
    members: list[AnyRow]
    scores: dict[int, AnyRow]

    @property
    def facet_name(self) -> str | None:
        """The facet as boards show it, `attribute=value`."""
        return None if self.facet is None else "=".join(self.facet)

    @property
    def name(self) -> str:
        """The board's name for people."""
        return board_name(self.task.slug, self.test_set.name, self.track, self.facet_name, self.metric.alias)

    def digest(self, request: Request, *, drawn: bool = True) -> str:
        """The identity of a comparison here: everything that its numbers depend on, and nothing else.

        They depend on what governs random draws only where something was `drawn`. Fixed runs go without saying.
        """
        request = request.of_family(len(self.members))
        unused = set() if drawn else {"seed", "resamples", "resolve", "interval", "confidence"}
        unused |= {"runs"} if request.significance.runs == "fixed" else set()
        return digest_json({
            "task": [self.task.slug, self.task.version], "test_set": self.test_set.name, "gold": self.gold.digest,
            "track": self.track, "facet": self.facet, "metric": [self.metric.alias, self.metric.name],
            "members": sorted([m.name, m.kind, self.scores[m.scoring_id].digest, self.scores[m.scoring_id].n_items]
                              for m in self.members),
            "cluster": self.test_set.cluster_attribute if request.significance.unit == "cluster" else None,
            "significance": request.significance.model_dump(mode="json", exclude=unused, exclude_none=True),
            "rank_baselines": request.rank_baselines,
        })


@dataclass(frozen=True, eq=False)
class Board:
    """A place with its statistics.

    Attributes:
        place: Where it is.
        metric: What it is scored by.
        members: Who takes part, best first, ties by name.
        digests: Of every member's statistics here, units included.
        items: Which items of the gold take part, by their numbers in it, in the order of their keys.
        matrix: The statistics, members as systems and these items as rows, unless answers are (`by_response`).
        scores: [members].
        run_scores: Of every member's runs, [runs].
    """

    place: Place
    metric: Metric
    members: list[AnyRow]
    digests: list[str]
    items: NDArray[np.int64]
    matrix: StatisticMatrix
    scores: NDArray[np.float64]
    run_scores: list[NDArray[np.float64]]


def board_name(task: str, test_set: str, track: str | None, facet: str | None, metric: str) -> str:
    """What people call the board of a metric at a place."""
    return ", ".join(filter(None, (f"{task}/{test_set}", track, facet, metric)))


def places(connection: Connection, task_row: AnyRow, request: Request) -> Iterator[Place]:
    """List every board of a task that has members.

    Raises:
        MismatchError: A submission is not scored yet.
    """
    for test_set in catalog.test_sets(connection, task_row.task_id):
        members = catalog.ranked(connection, test_set.test_set_id)
        if not members:
            continue
        gold = catalog.get(connection, models.gold_revision, gold_revision_id=test_set.gold_revision_id)
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
                    yield Place(task_row, test_set, gold, metric, track, facet, of_track, scores)


def load(connection: Connection, place: Place, asked: Significance) -> Board | None:
    """Load a board's statistics; None where no item is left of it.

    Raises:
        InputError: Clusters are asked for, but the test set declares none; or strata that items do not have.
    """
    if asked.unit == "cluster" and place.test_set.cluster_attribute is None:
        raise InputError(f"test set {place.test_set.name!r} declares no cluster, the item attribute that "
                         "groups its items; add the key cluster to its [[test_set]], or take items for units")
    metric = parse("metric", METRICS, place.metric.name)
    gold_revision_id = place.gold.gold_revision_id
    first, n_items = catalog.item_ids(connection, gold_revision_id)
    loaded, present = statistics.load_statistics(
        connection, metric.family, place.metric.metric_id, [m.scoring_id for m in place.members], first, n_items)
    lacks_own = np.repeat([m.missing == "own" for m in place.members], [of.shape[1] for of in loaded])
    kept = (present | lacks_own).all(axis=1) & present.any(axis=1)
    if place.facet is not None:
        values = catalog.item_attribute(connection, gold_revision_id, place.facet[0])
        kept &= np.array([values.get(first + n) == place.facet[1] for n in range(n_items)])
    keys = catalog.item_keys(connection, gold_revision_id)
    order = np.array(sorted(np.flatnonzero(kept), key=lambda n: keys[n]), dtype=np.int64)
    if not len(order):
        return None
    if metric.family in ("confusion", "pair") and not present[order].all():
        raise InputError(f"{place.name}: {metric.name} needs an answer of every system to every item; take another "
                         'policy for missing items than "own"')
    units = None
    if asked.unit == "cluster":
        units = _numbered(connection, place, place.test_set.cluster_attribute, first + order)
    runs = [of_system[order] for of_system in loaded]
    named, expanded = None, unchanged
    if isinstance(metric, ConfusionMetric):
        labels = Labels.of(connection, gold_revision_id)
        named = [in_order_of_content(labels.coded(of_system)) for of_system in runs]
        expanded = partial(labels.counted, metric)
    kept = runs if named is None else [expanded(runs[0][:0])]  # counts of labels are whole
    steps = Steps.of(metric, kept, min(place.scores[member.scoring_id].step for member in place.members))
    averages = averaged(runs, steps, expanded)
    ordered = [in_order_of_content(expanded(of)) for of in runs] if asked.runs == "random" else None
    matrix = matrix_of(
        metric, averages.statistics, units, _strata(connection, place, asked.strata, first + order, units),
        steps=steps, multiple=averages.multiple, unequal=not present[order].all(),
        runs=None if ordered is None else tuple(steps.counted(of) * averages.multiple for of in ordered))
    scores = matrix.scores()
    towards = scores if matrix.lower_is_better else -scores
    best_first = sorted(range(len(place.members)),
                        key=lambda n: (np.isnan(scores[n]), towards[n], place.members[n].name))
    groups = [None if units is None else digest_array(units)]
    groups += [] if matrix.strata is None else [digest_array(matrix.strata)]
    by_run = named or ordered
    contents = averages.digests if by_run is None else [[digest_array(of_system)] for of_system in by_run]
    _reorder(averages.statistics, best_first)
    return Board(
        place, metric, [place.members[n] for n in best_first],
        [digest_json([*contents[n], *groups]) for n in best_first], order,
        replace(matrix, runs=matrix.runs and tuple(matrix.runs[n] for n in best_first)), scores[best_first],
        [scores_of(metric, steps.counted(expanded(runs[n])), steps) for n in best_first])


def _reorder(statistics: NDArray[np.float64], systems: Sequence[int]) -> None:
    """Put the systems of statistics [items, systems, columns] in this order, without room for a second array."""
    some = max(1, _VALUES // statistics[0].size)
    for at in range(0, len(statistics), some):
        statistics[at:at + some] = statistics[at:at + some, list(systems)]


def _numbered(connection: Connection, place: Place, attribute: str, item_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each item's value of an attribute, in the order of the values."""
    values = catalog.item_attribute(connection, place.gold.gold_revision_id, attribute)
    if lacking := [int(item) for item in item_ids if int(item) not in values]:
        of = f"of test set {place.test_set.name!r}"
        raise InputError(f"{counted(len(lacking), f'item {of} has', f'items {of} have')} no attribute {attribute!r}")
    _, numbers = np.unique([values[int(item)] for item in item_ids], return_inverse=True)
    return numbers.astype(np.int64)


def _strata(connection: Connection, place: Place, attribute: str | None, item_ids: NDArray[np.int64],
            units: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """The number of each item's stratum; a unit must lie in one."""
    if attribute is None:
        return None
    strata = _numbered(connection, place, attribute, item_ids)
    if units is not None and split_cluster(units.tolist(), strata.tolist()) is not None:
        raise InputError(f"a {place.test_set.cluster_attribute} of test set {place.test_set.name!r} has items of "
                         f"several {attribute!r}: strata must keep clusters whole")
    return strata
