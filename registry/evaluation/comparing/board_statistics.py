"""The statistics of a leaderboard: those of all its systems, aligned by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.errors import InputError, counted
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.ingest.gold import split_cluster
from registry.evaluation.matrices import Steps, matrix_of, scores_of
from registry.evaluation.scoring.label_codes import Labels
from registry.evaluation.scoring.run_averages import averaged, in_order_of_content, unchanged
from registry.identity import digest_array, digest_json
from registry.manifest import Significance
from registry.metrics import METRICS, ConfusionMetric, Metric
from registry.significance import StatisticMatrix
from registry.store import catalog, statistics
from registry.store.row_types import Member
from registry.values import parse

_VALUES = 2**20  # that change places at once


@dataclass(frozen=True, eq=False)
class Board:
    """A board with its statistics.

    Attributes:
        key: Which board it is.
        metric: What it is scored by.
        members: Who takes part, best first, ties by name.
        digests: Of every member's statistics here, units included.
        items: Which items of the gold take part, by their numbers in it, in the order of their keys.
        matrix: The statistics, members as systems and these items as rows, unless answers are (`by_response`).
        scores: [members].
        run_scores: Of every member's runs, [runs].
    """

    key: BoardKey
    metric: Metric
    members: list[Member]
    digests: list[str]
    items: NDArray[np.int64]
    matrix: StatisticMatrix
    scores: NDArray[np.float64]
    run_scores: list[NDArray[np.float64]]


def load(connection: Connection, key: BoardKey, asked: Significance) -> Board | None:
    """Load a board's statistics; None where no item is left of it.

    Raises:
        InputError: Clusters are asked for, but the test set declares none; or strata that items do not have.
    """
    if asked.unit == "cluster" and key.test_set.cluster_attribute is None:
        raise InputError(f"test set {key.test_set.name!r} declares no cluster, the item attribute that "
                         "groups its items; add the key cluster to its [[test_set]], or take items for units")
    metric = parse("metric", METRICS, key.metric.name)
    gold_revision_id = key.gold.gold_revision_id
    first, n_items = catalog.item_ids(connection, gold_revision_id)
    loaded, present = statistics.load_statistics(
        connection, metric.family, key.metric.metric_id, [m.scoring_id for m in key.members], first, n_items)
    lacks_own = np.repeat([m.missing == "own" for m in key.members], [of.shape[1] for of in loaded])
    kept = (present | lacks_own).all(axis=1) & present.any(axis=1)
    if key.facet is not None:
        values = catalog.item_attribute(connection, gold_revision_id, key.facet[0])
        kept &= np.array([values.get(first + n) == key.facet[1] for n in range(n_items)])
    keys = catalog.item_keys(connection, gold_revision_id)
    order = np.array(sorted(np.flatnonzero(kept), key=lambda n: keys[n]), dtype=np.int64)
    if not len(order):
        return None
    if metric.family in ("confusion", "pair") and not present[order].all():
        raise InputError(f"{key.name}: {metric.name} needs an answer of every system to every item; take another "
                         'policy for missing items than "own"')
    units = None
    if asked.unit == "cluster" and key.test_set.cluster_attribute is not None:
        units = _numbered(connection, key, key.test_set.cluster_attribute, first + order)
    runs = [of_system[order] for of_system in loaded]
    named, expanded = None, unchanged
    if isinstance(metric, ConfusionMetric):
        labels = Labels.of(connection, gold_revision_id)
        named = [in_order_of_content(labels.coded(of_system)) for of_system in runs]
        expanded = partial(labels.counted, metric)
    kept = runs if named is None else [expanded(runs[0][:0])]  # counts of labels are whole
    steps = Steps.of(metric, kept, min(key.scores[member.scoring_id].step for member in key.members))
    averages = averaged(runs, steps, expanded)
    ordered = [in_order_of_content(expanded(of)) for of in runs] if asked.runs == "random" else None
    matrix = matrix_of(
        metric, averages.statistics, units, _strata(connection, key, asked.strata, first + order, units),
        steps=steps, multiple=averages.multiple, unequal=not present[order].all(),
        runs=None if ordered is None else tuple(steps.counted(of) * averages.multiple for of in ordered))
    scores = matrix.scores()
    towards = scores if matrix.lower_is_better else -scores
    best_first = sorted(range(len(key.members)),
                        key=lambda n: (np.isnan(scores[n]), towards[n], key.members[n].name))
    groups = [None if units is None else digest_array(units)]
    groups += [] if matrix.strata is None else [digest_array(matrix.strata)]
    by_run = named or ordered
    contents = averages.digests if by_run is None else [[digest_array(of_system)] for of_system in by_run]
    _reorder(averages.statistics, best_first)
    return Board(
        key, metric, [key.members[n] for n in best_first],
        [digest_json([*contents[n], *groups]) for n in best_first], order,
        replace(matrix, runs=matrix.runs and tuple(matrix.runs[n] for n in best_first)), scores[best_first],
        [scores_of(metric, steps.counted(expanded(runs[n])), steps) for n in best_first])


def _reorder(statistics: NDArray[np.float64], systems: Sequence[int]) -> None:
    """Put the systems of statistics [items, systems, columns] in this order, without room for a second array."""
    some = max(1, _VALUES // statistics[0].size)
    for at in range(0, len(statistics), some):
        statistics[at:at + some] = statistics[at:at + some, list(systems)]


def _numbered(connection: Connection, key: BoardKey, attribute: str, item_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each item's value of an attribute, in the order of the values."""
    values = catalog.item_attribute(connection, key.gold.gold_revision_id, attribute)
    if lacking := [int(item) for item in item_ids if int(item) not in values]:
        of = f"of test set {key.test_set.name!r}"
        raise InputError(f"{counted(len(lacking), f'item {of} has', f'items {of} have')} no attribute {attribute!r}")
    _, numbers = np.unique([values[int(item)] for item in item_ids], return_inverse=True)
    return numbers.astype(np.int64)


def _strata(connection: Connection, key: BoardKey, attribute: str | None, item_ids: NDArray[np.int64],
            units: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """The number of each item's stratum; a unit must lie in one."""
    if attribute is None:
        return None
    strata = _numbered(connection, key, attribute, item_ids)
    if units is not None and split_cluster(units.tolist(), strata.tolist()) is not None:
        raise InputError(f"a {key.test_set.cluster_attribute} of test set {key.test_set.name!r} has items of "
                         f"several {attribute!r}: strata must keep clusters whole")
    return strata
