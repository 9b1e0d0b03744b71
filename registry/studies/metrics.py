"""Metrics judged by people: which metric agrees best with human scores of the same outputs?

One metric of a test set has people's scores, and the other metrics are compared with it, on the outputs that people
scored. Tests of two metrics swap whole items or clusters (`significance/metric_agreement.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Floats, Ints
from registry.errors import InputError, UnknownNameError, counted, listed
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.comparing.board_statistics import Board, load_values
from registry.evaluation.comparing.settings import Request
from registry.messages import Message
from registry.significance.correlations import PairMatrix
from registry.significance.matrix import StatisticMatrix
from registry.significance.metric_agreement import (
    MEASURES,
    HumanScores,
    Measure,
    MetricComparison,
    TieCalibratedAccuracy,
    compare_metrics,
)
from registry.significance.multiple import (
    CORRECTIONS,
    adjust,
    count_required_draws,
    count_required_units,
    explain_too_few_units,
)
from registry.significance.ranks import assign_letters, find_groups, rank
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.studies.study import (
    BoardStudy,
    BoardSubject,
    Case,
    Choice,
    Finding,
    Parts,
    Row,
    choose_keys,
    is_named,
    name_systems,
    option,
)

_SHOWN = ("spa", "accuracy", "acc-eq-by-item", "kendall-by-item", "pearson", "pearson-of-means")  # of every metric
_ITEM_ATTRIBUTES = ("segment", "position", "domain")  # of scores in the files of mt-metrics-eval
_LEAST_SYSTEMS = 5  # with fewer, another system may reverse the order of metrics
_MOST_PAIRS = 2**26  # pairs of outputs of a tie-calibrated accuracy: 3 GB
_MOST_NAMED = 5


class Metrics(BoardStudy):
    """Agreement of metrics with people's scores of the same systems and items.

    `--human` names the metric that has people's scores. The table `metrics` has one row per other metric: its agreement
    by the measure of `--measure`, the difference from the best metric with an adjusted p-value, the ranks that the
    tests do not rule out, and other measures. Metrics that share a letter of `group` do not differ significantly. The
    table `pairs` has the tests of all pairs of metrics. A test swaps the standardised scores of two metrics in random
    items, or in clusters if the test set has them. Only outputs that people scored count, and systems that all metrics
    scored. If another test set of the task has people's scores, `--human` names it, too (`scores/human`); the metrics
    of both test sets are compared, for items and systems of the same names. Without `--human`, the participants of a
    task are metrics, and its gold is people's scores, as in the files of mt-metrics-eval.

    Measures of systems: `spa` (soft pairwise accuracy), `accuracy` (pairwise accuracy), `pearson-of-means`,
    `spearman-of-means`, `kendall-of-means`. Measures of single outputs: `acc-eq` (accuracy with tie calibration),
    `pearson`, `spearman` and `kendall` of all outputs, or with `-by-item` or `-by-system` the average over items or
    systems.
    """

    name: ClassVar[str] = "metrics"
    title: ClassVar[str] = "Which metric agrees best with people?"
    citation: ClassVar[str] = ("Deutsch, Dror and Roth 2021; measure=spa: Thompson et al. 2024; measure=accuracy: "
                               "Kocmi et al. 2021; measure=acc-eq-by-item: Deutsch, Foster and Freitag 2023")
    choice: ClassVar = ("test_set", "track", "facet")
    settings: ClassVar = ("unit", "alpha", "resamples", "seed")
    default_settings = MappingProxyType({"resamples": 9999})
    every_metric: ClassVar[bool] = True
    allows_unequal_items: ClassVar[bool] = True
    supports_responses: ClassVar[bool] = False
    human: str = option("", "The metric that has people's scores; if another test set has it, TEST_SET/METRIC.",
                        metavar="METRIC")
    measure: str = option("spa", "The measure of agreement that decides the order and is tested.", metavar="NAME")
    metrics: tuple[str, ...] = option((), "Compare only this metric; can be repeated. Default: all metrics.",
                                      name="metric", metavar="METRIC")
    single_scores: bool = option(False, "Swap single scores instead of whole items or clusters, to reproduce published "
                                 "results (PERM-BOTH). Not valid if metrics score all outputs for some items too high.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.measure not in MEASURES:
            raise UnknownNameError("measure", self.measure, MEASURES)

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterator[BoardSubject]:
        """Yield the boards of all metrics on the same items and systems together; that of people's scores is first.

        Without `--human`, yield the boards of correlations with people's scores, whose participants are metrics.

        Raises:
            UnknownNameError: The task has no metric of a name.
            InputError: No metric has people's scores, or there is no other metric.
        """
        keys = choose_keys(connection, task, request, replace(choice, test_set=None))
        test_sets = list(dict.fromkeys(key.test_set.name for key in keys))
        if choice.test_set is not None and choice.test_set not in test_sets:
            raise UnknownNameError(f"test set of {task.slug}", choice.test_set, test_sets)
        names = list(dict.fromkeys(key.metric.alias for key in keys))
        if not self.human and any(key.metric.family == "pair" for key in keys):
            yield from self._find_correlations(connection, keys, choice, request)
            return
        people_set, _, human = self.human.rpartition("/")
        if keys and not self.human:
            raise InputError(f"name the metric that has people's scores, such as --human {names[0]}; the metrics of "
                             f"{task.slug} are {listed(names, _MOST_NAMED)}")
        for name in (human, *self.metrics):
            if keys and name not in names:
                raise UnknownNameError(f"metric of {task.slug}", name, names)
        if people_set and people_set not in test_sets:
            raise UnknownNameError(f"test set of {task.slug}", people_set, test_sets)
        people = {(people_set or key.test_set.name, key.track, key.facet): key for key in keys
                  if key.metric.alias == human and key.test_set.name == (people_set or key.test_set.name)}
        places = dict.fromkeys((key.test_set.name, key.track, key.facet) for key in keys)
        for test_set, track, facet in places:
            board = people.get((people_set or test_set, track, facet))
            is_selected = choice.test_set in (None, test_set) and (test_set != people_set or len(test_sets) == 1)
            if board is not None and is_selected:
                others = [key for key in keys if key.test_set.name in (test_set, people_set)
                          and (key.track, key.facet) == (track, facet) and key is not board]
                yield self._make_subject(board, others, request)

    def _find_correlations(self, connection: Connection, keys: Sequence[BoardKey], choice: Choice,
                           request: Request) -> Iterator[OutputsSubject]:
        """Yield one board of a correlation per test set, track and facet; its items are outputs of systems."""
        found: dict[str, BoardKey] = {}
        for key in keys:
            if key.metric.family == "pair" and choice.test_set in (None, key.test_set.name):
                found.setdefault(key.item_set, key)
        for key in found.values():
            names = [name for name in ("system", *_ITEM_ATTRIBUTES)
                     if catalog.item_attribute(connection, key.gold.gold_revision_id, name)]
            if len(names) < 2 or names[0] != "system":
                raise InputError(f"{key.name}: items have no attributes 'system' and 'segment'; name the metric with "
                                 "people's scores by --human")
            yield OutputsSubject(self, (self._select_metrics(key),), {}, request, names[1])

    def _select_metrics(self, key: BoardKey) -> BoardKey:
        for name in self.metrics:
            if not any(is_named(member, name) for member in key.members):
                raise UnknownNameError(f"metric of {key.name}", name, sorted({member.system for member in key.members}))
        return replace(key, family=None, members=[
            member for member in key.members
            if not self.metrics or any(is_named(member, name) for name in self.metrics)])

    def _make_subject(self, people: BoardKey, others: Sequence[BoardKey], request: Request) -> MetricsSubject:
        """Return the boards of people's scores and of the other metrics, with the systems that all of them have."""
        boards = [people, *(key for key in others if key.metric.alias in self.metrics
                            or not (self.metrics or key.metric.family == "pair"))]
        if refused := [key for key in boards if key.metric.family == "pair"]:
            raise InputError(f"{refused[0].name}: a correlation has no score of a single item; name another metric")
        if len(boards) < 2:
            place = people.test_set.name
            raise InputError(f"{place} has no metric to compare with {self.human}; if another test set has metrics of "
                             f"the same outputs, write --human {place}/{people.metric.alias}")
        systems = [{(member.team, member.system) for member in key.members} for key in boards]
        shared = set.intersection(*systems)
        if len(shared) < 2:
            raise InputError(f"{people.name}: fewer than two systems have scores by people and by all metrics; select "
                             "metrics by --metric")
        return MetricsSubject(self, tuple(
            replace(key, family=None, members=[m for m in key.members if (m.team, m.system) in shared])
            for key in boards), {}, request, tuple(sorted(system for _, system in set.union(*systems) - shared)))

    def run(self, case: JudgedCase) -> Finding:
        measure, alpha = MEASURES[self.measure], case.request.significance.alpha
        data = case.scores
        _check(data, measure)
        comparison = compare_metrics(HumanScores(data.human), data.metrics, measure, case.settings, data.units,
                                     swap_single_scores=self.single_scores)
        correction = CORRECTIONS[case.request.significance.correction]
        correction = correction if correction.function else CORRECTIONS["holm"]
        adjusted = adjust(comparison.p_values, correction.name)
        rows = _make_rows(data, comparison, measure, adjusted, alpha)
        pairs = [_make_pair_row(data, comparison, n, adjusted) for n in range(len(comparison.pairs))]
        return Finding({"metrics": rows, "pairs": pairs}, [
            _answer(data.people, measure, rows, alpha), *_explain(self, case, data, comparison, correction.title)],
            list(_warn(data, comparison, case, correction.name)))


@dataclass(frozen=True, eq=False)
class MetricScores:
    """Scores of single outputs by people and by metrics, for the items that all metrics scored.

    Attributes:
        people: Name of people's scores.
        names: Names of the metrics.
        human: People's scores, [items, systems]; higher is better; nan if people or a metric did not score an output.
        metrics: Scores of the metrics, [metrics, items, systems]; higher is better.
        units: Cluster of each item, [items]; None: items are independent.
        n_uncounted: Number of outputs that people scored, but not all metrics.
        not_means: Metrics whose score on the board is not the mean of the items' scores.
        lacking: Systems that are left out, because a metric did not score them.
    """

    people: str
    names: list[str]
    human: Floats
    metrics: Floats
    units: Ints | None
    n_uncounted: int = 0
    not_means: Sequence[str] = ()
    lacking: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class JudgedCase(Case):
    """Scores of the same outputs by people and by metrics, with the boards that have them."""

    scores: MetricScores


@dataclass(frozen=True, eq=False)
class MetricsSubject(BoardSubject):
    """Boards of the same items and systems, one per metric; the first one has people's scores.

    Attributes:
        lacking: Systems that a metric did not score.
    """

    lacking: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the test set, track and facet, or of two test sets."""
        item_sets = dict.fromkeys(key.item_set for key in self.keys)
        return f"{self.keys[0].task.slug}/{' and '.join(item_sets)}"

    def load(self, connection: Connection, parts: Parts) -> JudgedCase | None:
        """Load the boards, and arrange the scores of all metrics by the same items and systems.

        Raises:
            InputError: No item has scores by people and by all metrics.
        """
        case = super().load(connection, parts)
        if case is None:
            return None
        if case.boards[0].key is not self.keys[0]:
            raise InputError(f"{self.keys[0].name}: no item has scores by people")
        items = []
        for board in case.boards:
            names = catalog.item_keys(connection, board.key.gold.gold_revision_id)
            items.append([names[n] for n in board.items.tolist()])
        return JudgedCase(case.boards, self, parts, self._arrange(case.boards, items))

    def _arrange(self, boards: Sequence[Board], items: Sequence[Sequence[str]]) -> MetricScores:
        people, *others = boards
        shared = set.intersection(*map(set, items))
        if not shared:
            raise InputError(f"{self.name}: no item has scores by people and by all metrics; items of two test sets "
                             "need the same names")
        places = [{item: n for n, item in enumerate(names)} for names in items]
        rows = [np.array([place[item] for item in items[0] if item in shared]) for place in places]
        systems = [(member.team, member.system) for member in people.members]
        scores = np.stack([_score_outputs(board, systems)[chosen] for board, chosen in zip(boards, rows, strict=True)])
        human = np.where(np.isnan(scores).any(axis=0), np.nan, scores[0])
        units = next((board.matrix.units[chosen] for board, chosen in zip(boards, rows, strict=True)
                      if board.matrix.units is not None), None)
        keys = [board.key for board in others]
        counts = Counter(key.metric.alias for key in keys)
        names = [key.metric.alias if counts[key.metric.alias] == 1 else f"{key.test_set.name}/{key.metric.alias}"
                 for key in keys]
        return MetricScores(
            people.key.metric.alias, names, human, np.nan_to_num(scores[1:]),
            None if units is None else np.unique(units, return_inverse=True)[1],
            int(np.count_nonzero(np.isnan(human)) - np.count_nonzero(np.isnan(scores[0]))),
            [name for name, board in zip(names, others, strict=True) if not board.matrix.is_mean], self.lacking)


@dataclass(frozen=True, eq=False)
class OutputsSubject(BoardSubject):
    """Board of a correlation with people's scores, whose participants are metrics and whose items are outputs.

    Attributes:
        item_attribute: Attribute that numbers the items of the systems, such as `segment`.
    """

    item_attribute: str

    @property
    def name(self) -> str:
        """Name of the test set, track and facet."""
        return f"{self.keys[0].task.slug}/{self.keys[0].item_set}"

    def load(self, connection: Connection, parts: Parts) -> JudgedCase | None:
        """Load the board, and arrange its outputs by items and systems.

        Raises:
            InputError: A cluster has only some of the outputs for an item.
        """
        case = super().load(connection, parts)
        if case is None:
            return None
        matrix = case.board.matrix
        assert isinstance(matrix, PairMatrix)
        items, systems = (np.unique(load_values(connection, case.board, name), return_inverse=True)[1]
                          for name in (self.item_attribute, "system"))
        scores = np.full((len(case.board.members) + 1, items.max() + 1, systems.max() + 1), np.nan)
        scores[:, items, systems] = np.concatenate([matrix.y[:, None], matrix.x], axis=1).T
        units = None
        if matrix.units is not None:
            units = np.zeros(items.max() + 1, dtype=np.int64)
            units[items] = matrix.units
            if (units[items] != matrix.units).any():
                raise InputError(f"{self.name}: clusters by {case.board.key.test_set.cluster_attribute!r} divide the "
                                 f"outputs for a {self.item_attribute}, which are swapped together; add --unit item")
        return JudgedCase(case.boards, self, parts, MetricScores(
            "people", name_systems(case.board.members), scores[0], np.nan_to_num(scores[1:]), units))


def _score_outputs(board: Board, systems: Sequence[tuple[str, str]]) -> Floats:
    """Return the scores of single outputs, [items, systems]; higher is better, and nan if there is no score."""
    matrix = board.matrix
    if not isinstance(matrix, StatisticMatrix) or matrix.judged is not None:
        raise InputError(f"{board.key.name}: this metric has no score of a single item; name another metric")
    members = [(member.team, member.system) for member in board.members]
    scores = replace(matrix, units=None, strata=None).unit_scores()
    if matrix.unequal:  # an item that a system lacks has no statistics
        scores[~np.concatenate([block.any(axis=2) for block in matrix.by_block()])] = np.nan
    return np.asarray(scores[:, [members.index(system) for system in systems]] * (-1 if matrix.lower_is_better else 1))


def _check(data: MetricScores, measure: Measure) -> None:
    if not (~np.isnan(data.human)).any():
        raise InputError("people and all metrics scored no output together; leave out metrics by --metric")
    if isinstance(measure, TieCalibratedAccuracy) and measure.grouping != "item":
        counts = (~np.isnan(data.human)).sum(axis=0)
        n_pairs = math.comb(int(counts.sum()), 2) if measure.grouping == "none" else sum(
            math.comb(n, 2) for n in counts.tolist())
        if n_pairs > _MOST_PAIRS:
            raise InputError(f"--measure {measure.name} compares {n_pairs:,} pairs of outputs, which need too much "
                             "memory; use --measure acc-eq-by-item")


def _make_rows(data: MetricScores, comparison: MetricComparison, measure: Measure, adjusted: Floats,
               alpha: float) -> list[Row]:
    """Return the table of metrics, the best one first."""
    human, agreement = HumanScores(data.human), comparison.agreement
    wins = np.zeros((len(agreement), len(agreement)), dtype=bool)
    p_values = np.full(wins.shape, np.nan)
    for (a, b), difference, p in zip(comparison.pairs, comparison.differences, adjusted, strict=True):
        p_values[a, b] = p_values[b, a] = p
        wins[(a, b) if difference > 0 else (b, a)] = p <= alpha
    ranks = rank(agreement, wins)
    differ = (wins | wins.T)[np.ix_(ranks.order, ranks.order)]
    letters = assign_letters(find_groups(differ), len(agreement))
    best = ranks.order[0]
    rows = []
    for place, n in enumerate(ranks.order.tolist()):
        others = {name.replace("-", "_"): MEASURES[name].compute(human, data.metrics[n])
                  for name in _SHOWN if name != measure.name}
        rows.append({"metric": data.names[n], "rank": int(ranks.rank[n]), "rank_low": int(ranks.low[n]),
                     "rank_high": int(ranks.high[n]), "group": letters[place], "agreement": float(agreement[n]),
                     "behind_best": float(agreement[best] - agreement[n]), "p_best": float(p_values[best, n]),
                     measure.name.replace("-", "_"): float(agreement[n]), **others})
    columns = [name.replace("-", "_") for name in dict.fromkeys((*_SHOWN, measure.name))]
    leading = list(rows[0])[:8]
    return [{key: row[key] for key in (*leading, *columns)} for row in rows]


def _make_pair_row(data: MetricScores, comparison: MetricComparison, n: int, adjusted: Floats) -> Row:
    (a, b), difference = comparison.pairs[n], float(comparison.differences[n])
    if difference < 0:
        a, b, difference = b, a, -difference
    return {"metric_a": data.names[a], "metric_b": data.names[b], "difference": difference,
            "p_value": float(comparison.p_values[n]), "p_adjusted": float(adjusted[n])}


def _answer(human: str, measure: Measure, rows: Sequence[Row], alpha: float) -> str:
    """Return the sentence that answers the question of the study."""
    best, others = rows[0], rows[1:]
    if math.isnan(best["agreement"]):
        return f"No metric can be compared with {human}: the {measure.title} is undefined."
    text = f"{best['metric']} agrees best with {human} ({measure.title} {best['agreement']:.4f})"
    if not others:
        return f"{text}; there is no other metric."
    better = [row["metric"] for row in others if row["p_best"] <= alpha]
    unclear = [row["metric"] for row in others if not row["p_best"] <= alpha]
    if not unclear:
        return f"{text}, significantly better than {'all others' if len(others) > 1 else better[0]}."
    shown = f"significantly better than {listed(better, _MOST_NAMED)}, but " if better else "but "
    return f"{text}, {shown}not significantly better than {listed(unclear, _MOST_NAMED)}."


def _explain(study: Metrics, case: JudgedCase, data: MetricScores, comparison: MetricComparison,
             correction: str) -> Iterator[str]:
    n_items, n_systems = data.human.shape
    n_judged = int(np.count_nonzero(~np.isnan(data.human)))
    yield (f"{n_judged:,} of {counted(n_items * n_systems, 'output')} have a score by people: "
           f"{counted(n_items, 'item')}, {counted(n_systems, 'system')}."
           f"{' Only these outputs count.' * (n_judged < n_items * n_systems)}")
    if data.n_uncounted:
        yield f"{counted(data.n_uncounted, 'more output')} do not count, because a metric has no score of them."
    if data.lacking:
        yield f"Systems without scores by all metrics are left out: {listed(data.lacking, _MOST_NAMED)}."
    if data.not_means:
        yield (f"The score of a system by {listed(data.not_means, _MOST_NAMED)} is the mean of its items' scores here, "
               "which is not the score on the board.")
    if comparison.pairs:
        units = "items" if data.units is None else "clusters"
        swapped = "single scores" if study.single_scores else units
        draws = "all permutations" if comparison.is_exact else f"{case.settings.resamples:,} permutations"
        yield (f"P-values are two-sided, from {draws} that swap the standardised scores of two metrics in random "
               f"{swapped}, with {correction} over {counted(len(comparison.pairs), 'pair')}. They generalise to other "
               f"{units}, but not to other systems or other annotators.")


def _warn(data: MetricScores, comparison: MetricComparison, case: JudgedCase, correction: str) -> Iterator[Message]:
    (n_items, n_systems), alpha = data.human.shape, case.request.significance.alpha
    if n_systems < _LEAST_SYSTEMS:
        yield Message("few-judged-systems", {"systems": n_systems, "least": _LEAST_SYSTEMS})
    n_pairs = len(comparison.pairs)
    unit, n_units = ("item", n_items) if data.units is None else ("cluster", int(data.units.max()) + 1)
    needed_units = count_required_units(n_pairs, correction, alpha, two_sided=True) if n_pairs else 0
    if n_units < needed_units:
        yield explain_too_few_units(n_units, needed_units, unit, two_sided=True)
    elif n_pairs and not comparison.is_exact:
        needed = count_required_draws(np.full(n_pairs, np.nan), correction, alpha)
        if needed > case.settings.resamples:
            yield Message("too-few-resamples", {"simulated": n_pairs, "differences": n_pairs,
                                                "resamples": case.settings.resamples, "needed": needed})
