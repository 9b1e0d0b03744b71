"""Statistics of all systems of a leaderboard for each item."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags, Floats, Ints
from registry.errors import InputError, counted
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.comparing.settings import Request
from registry.evaluation.ingest.gold import find_split_cluster
from registry.evaluation.matrices import Counts, Steps, build_joint_matrix, build_matrix, compute_scores
from registry.evaluation.scoring.label_codes import load_labels
from registry.evaluation.scoring.measure import LabelNumbers, average_runs, order_by_content
from registry.families import FAMILIES, PLACES, SMALLEST
from registry.identity import canonical_json, digest_array, digest_json
from registry.manifest import Significance
from registry.metrics import METRICS, ConfusionMetric, JointMetric, Metric
from registry.metrics.sets import MatchMetric
from registry.missing import MissingPolicy
from registry.significance import JointMatrix, Matrix, StatisticMatrix
from registry.significance.matrix import CompactStatistics, additive
from registry.store import catalog
from registry.store.catalog import Member
from registry.store.statistics import StoredStatistics, load_named_answers, load_responses
from registry.values import parse

_TIE_SEARCH_LIMIT = 2**24  # items times systems above which ties are not counted
_COLUMNS = FAMILIES["prf"].columns


@dataclass(frozen=True, eq=False)
class Board:
    """A leaderboard with the statistics from which scores and tests are computed.

    Attributes:
        key: Properties that identify the leaderboard.
        metric: The metric.
        members: The submissions on the leaderboard, best first; submissions with equal scores in the order of names.
        digests: For each member, a digest of its statistics and of the clusters and strata, [members].
        items: Index of each item in the gold; items are sorted by their names, [items].
        matrix: The statistics by item and member, or by answer and member after `split_into_responses`.
        scores: Score of each member, [members].
        run_scores: For each member the scores of its runs, [runs].
        rounded_ties: Number of items for which rounding makes different statistics of two members equal.
    """

    key: BoardKey
    metric: Metric
    members: list[Member]
    digests: list[str]
    items: Ints
    matrix: Matrix
    scores: Floats
    run_scores: list[Floats]
    rounded_ties: int = 0


def load_board(connection: Connection, key: BoardKey, request: Request, max_bytes: int = 2**30) -> Board | None:
    """Load the statistics of a leaderboard; return None if it has no items.

    Args:
        connection: Connection to read from.
        key: Properties that identify the leaderboard.
        request: The requested comparison.
        max_bytes: Memory for the statistics; larger statistics are in a temporary file.

    Raises:
        InputError: The unit is the cluster, but the test set declares no clusters; or items lack the attribute that
            defines the strata; or the metric needs an answer of every system to every item.
    """
    settings = key.with_unit(request).significance
    if settings.unit == "cluster" and key.test_set.cluster_attribute is None:
        raise InputError(f"test set {key.test_set.name!r} declares no cluster, the item attribute that "
                         'groups its items; add the key cluster to its [[test_set]], or set unit = "item"')
    metric = parse("metric", METRICS, key.metric.name)
    first_item, n_items = catalog.item_ids(connection, key.gold.gold_revision_id)
    stored = StoredStatistics(
        connection, metric.family, key.metric.metric_id, [m.scoring_id for m in key.members], first_item, n_items)
    items = _select_items(connection, key, stored, first_item)
    if not len(items):
        return None
    stored.take(items)
    unequal = not stored.present[items].all()  # some members lack items that others have
    if metric.family in ("confusion", "pair") and unequal:
        raise InputError(f"{key.name}: {metric.name} needs an answer of every system to every item, but "
                         'the setting missing = "own" leaves out different items for each system; set missing = "drop"')
    units, strata = _load_groups(connection, key, settings, first_item + items)
    labels: LabelNumbers | None = None
    examples: Sequence[Floats] = stored
    if isinstance(metric, ConfusionMetric):
        labels = load_labels(connection, key.gold.gold_revision_id)
        examples = [labels.count_classes(metric, stored[0][:0])]  # without items: counts are whole numbers
    steps = Steps.choose(metric, examples, min(key.scores[member.scoring_id].step for member in key.members))
    if 0 < steps.largest < SMALLEST:
        raise InputError(f"{key.name}: values of {metric.name} are too small (at most {steps.largest:.2g}), because "
                         f"they are rounded to {PLACES} decimal places; multiply all values by the same power of ten")
    collector = _MemberCollector(metric, steps, labels, has_random_runs=settings.runs == "random")
    if collector.has_random_runs:
        factors_by_submission = catalog.replicate_factors(connection, [member.submission_id for member in key.members])
        collector.stored_factors = [factors_by_submission.get(member.submission_id, ()) for member in key.members]
    averages = average_runs(map(collector.add, stored), len(key.members), steps, max_bytes)
    runs = tuple(statistics * averages.multiple for statistics in collector.runs) or None
    factors = tuple(collector.factors) if any(collector.factors) else None
    contents = [[digest] for digest in collector.digests] if collector.digests else averages.digests
    groups = [None if units is None else digest_array(units), *([] if strata is None else [digest_array(strata)])]
    if isinstance(metric, JointMetric):
        kinds = _load_judgment_groups(connection, key, metric, first_item + items)
        matrix: Matrix = build_joint_matrix(metric, averages, kinds, [member.system for member in key.members])
        # The score of a system depends on the judgments of all systems.
        groups += [*map(digest_array, kinds.values()), digest_json(sorted(map(canonical_json, contents)))]
    else:
        matrix = replace(build_matrix(metric, averages, units, strata, runs=runs, unequal=unequal), factors=factors)
    return _sort_members(Board(
        key, metric, key.members, [digest_json([*content, *groups]) for content in contents], items, matrix,
        matrix.scores(), collector.scores,
        steps.count_new_ties(stored) if len(stored) * len(items) <= _TIE_SEARCH_LIMIT else 0))


@dataclass
class _MemberCollector:
    """Collector of scores, digests and runs of the submissions on a leaderboard.

    Submissions are added one by one, because the statistics of all of them may not fit into memory.

    Attributes:
        metric: The metric.
        steps: Step sizes, such as 0.01; statistics are counted in steps, so that they are whole numbers.
        labels: Numbers of the labels if the metric is a `ConfusionMetric`; otherwise None.
        has_random_runs: True if the test needs the statistics of each run.
        scores: For each member the scores of its runs, [runs].
        runs: For each member the statistics of its runs, counted in steps, [items, runs, columns]; empty if the test
            does not need them.
        stored_factors: For each member the factors of its runs, such as the prompt, in the order of the database.
        factors: For each member the factors of its runs in the order of `runs`.
        digests: For each member a digest of its runs; empty if a digest of the averages over runs is sufficient.
    """

    metric: Metric
    steps: Steps
    labels: LabelNumbers | None
    has_random_runs: bool
    scores: list[Floats] = field(default_factory=list)
    runs: list[Floats] = field(default_factory=list)
    stored_factors: Sequence[tuple[dict[str, str], ...]] = ()
    factors: list[tuple[dict[str, str], ...]] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)

    def add(self, stored: Floats) -> Floats:
        """Add the statistics of the next submission, and return them in additive form.

        Args:
            stored: The statistics in their stored form, [items, runs, columns].

        Returns:
            The statistics in the form whose sums give the score, [items, runs, columns].
        """
        statistics = stored
        if self.labels is not None:
            assert isinstance(self.metric, ConfusionMetric)
            statistics = self.labels.count_classes(self.metric, stored)
            codes = self.labels.decode(stored)
            self.digests.append(digest_array(codes[:, order_by_content(codes)]))
        if self.has_random_runs:
            order = order_by_content(statistics)
            ordered = statistics[:, order]
            factors = self.stored_factors[len(self.factors)]
            self.factors.append(tuple(factors[n] for n in order) if factors else ())
            self.runs.append(self.steps.to_steps(ordered))
            if self.labels is None:
                self.digests.append(digest_array(ordered))
            if factors:
                self.digests[-1] = digest_json([self.digests[-1], self.factors[-1]])
        self.scores.append(compute_scores(self.metric, Counts.from_statistics(statistics, self.steps)))
        return statistics


def _select_items(connection: Connection, key: BoardKey, stored: StoredStatistics, first_item: int) -> Ints:
    """Return indices of the items that count for a leaderboard, sorted by item name."""
    may_lack = np.array([MissingPolicy(m.missing).lets_items_differ for m in key.members])[stored.of_present]
    is_selected: Flags = (stored.present | may_lack).all(axis=1)
    if len(set(stored.of_present.tolist())) == len(key.members):
        is_selected &= stored.present.any(axis=1)
    if key.facet is not None:
        values = catalog.item_attribute(connection, key.gold.gold_revision_id, key.facet[0])
        is_selected &= np.array([values.get(first_item + n) == key.facet[1] for n in range(len(is_selected))])
    keys = catalog.item_keys(connection, key.gold.gold_revision_id)
    return np.array(sorted(np.flatnonzero(is_selected), key=lambda n: keys[n]), dtype=np.int64)


def _sort_members(board: Board) -> Board:
    losses = board.scores if board.matrix.lower_is_better else -board.scores
    order = sorted(range(len(board.members)),
                   key=lambda n: (np.isnan(board.scores[n]), losses[n], board.members[n].name))
    statistics = board.matrix.statistics
    if isinstance(statistics, CompactStatistics):
        statistics.reorder(order)
    else:
        statistics = np.ascontiguousarray(statistics[:, order])
    matrix = board.matrix
    if isinstance(matrix, JointMatrix):
        matrix = replace(matrix, systems=matrix.systems[order])
    runs = board.matrix.runs and tuple(board.matrix.runs[n] for n in order)
    factors = board.matrix.factors and tuple(board.matrix.factors[n] for n in order)
    return replace(
        board, members=[board.members[n] for n in order], digests=[board.digests[n] for n in order],
        matrix=replace(matrix, statistics=statistics, runs=runs, factors=factors), scores=board.scores[order],
        run_scores=[board.run_scores[n] for n in order])


def _load_values(connection: Connection, key: BoardKey, attribute: str, item_ids: Ints) -> list[str]:
    """Return the value of an attribute for each item.

    Raises:
        InputError: Some items lack the attribute.
    """
    values = catalog.item_attribute(connection, key.gold.gold_revision_id, attribute)
    if incomplete_items := [int(item) for item in item_ids if int(item) not in values]:
        place = f"of test set {key.test_set.name!r}"
        raise InputError(
            f"{counted(len(incomplete_items), f'item {place} has', f'items {place} have')} no attribute {attribute!r}; "
            "if a column of the files has it, keep the column: `registry quick --attribute COLUMN --keep TASK`, or the "
            "option `attributes` of the gold's reader in the manifest")
    return [values[int(item)] for item in item_ids]


def _number_values(values: Sequence[str]) -> Ints:
    """Number the sorted distinct values from 0: b, a, b -> 1, 0, 1."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def load_values(connection: Connection, board: Board, attribute: str) -> list[str]:
    """Return the value of an attribute for each item of a leaderboard.

    Raises:
        InputError: Some items lack the attribute.
    """
    first_item, _ = catalog.item_ids(connection, board.key.gold.gold_revision_id)
    return _load_values(connection, board.key, attribute, first_item + board.items)


def load_clusters(connection: Connection, board: Board, attribute: str) -> Ints:
    """Return the cluster of each item as a number from 0, [items].

    Items with the same value of `attribute` form a cluster.
    """
    return _number_values(load_values(connection, board, attribute))


def _load_groups(connection: Connection, key: BoardKey, settings: Significance,
                 item_ids: Ints) -> tuple[Ints | None, Ints | None]:
    """Return the cluster and the stratum of each item, as two arrays, [items].

    Clusters and strata are numbered from 0. An array is None if the settings do not use clusters or strata.
    """
    units = strata = None
    if settings.unit == "cluster" and key.test_set.cluster_attribute is not None:
        units = _number_values(_load_values(connection, key, key.test_set.cluster_attribute, item_ids))
    if settings.strata is not None:
        strata = _number_values(_load_values(connection, key, settings.strata, item_ids))
        if units is not None and find_split_cluster(units.tolist(), strata.tolist()) is not None:
            raise InputError(f"a {key.test_set.cluster_attribute} of test set {key.test_set.name!r} has items of "
                             f"several {settings.strata!r}, but all items of a cluster must be in the same stratum; "
                             'name another attribute in strata, or set unit = "item"')
    return units, strata


def _load_judgment_groups(connection: Connection, key: BoardKey, metric: JointMetric,
                          item_ids: Ints) -> dict[str, Ints]:
    """Return the attributes that make judgments dependent, such as the voter, as numbers from 0.

    Attributes that the judgments do not have are absent.
    """
    groups = {}
    for attribute in metric.groups:
        if values := catalog.item_attribute(connection, key.gold.gold_revision_id, attribute):
            groups[attribute] = _number_values([values.get(item, "") for item in item_ids.tolist()])
    return groups


def split_into_responses(connection: Connection, board: Board) -> Board:
    """Return the leaderboard with statistics of single answers instead of items.

    Tests can then permute single answers, such as spans. There is a row for each distinct answer of the gold or of a
    system. Rows are sorted by the digest of the answer, so that their order does not depend on the database.

    Raises:
        InputError: The metric does not count distinct answers, or a system has several runs.
    """
    key, matrix, metric = board.key, board.matrix, board.metric
    if max(len(scores) for scores in board.run_scores) > 1:
        raise InputError(f"{key.name}: a system has several runs, but a test of single answers needs one run per "
                         'system; set test = "permutation" and unit = "item"')
    unsuitable = InputError(f"{key.name}: {metric!r} does not score single answers, so they cannot be the "
                            'units of the test; set test = "permutation" and unit = "item"')
    if not isinstance(metric, MatchMetric):
        raise unsuitable
    first_item, _ = catalog.item_ids(connection, key.gold.gold_revision_id)
    answers, types = load_named_answers(connection, key.gold.gold_revision_id), metric.types()
    typed = np.flatnonzero(np.array([type_ in (types or (type_,)) for _, _, type_ in answers.names], dtype=bool))
    responses = load_responses(connection, [m.scoring_id for m in board.members], answers.ids[typed])
    accepted = metric.accept([answers.names[n] for n in typed.tolist()], responses.given, responses.scores)
    is_counted = np.isin(answers.items[typed], first_item + board.items) & (
        answers.in_gold[typed] | accepted.any(axis=1))
    indices, accepted = typed[is_counted], accepted[is_counted]
    digests = [hashlib.sha256(canonical_json([*answers.names[n], bool(answers.in_gold[n])]).encode()).digest()
               for n in indices.tolist()]
    order = np.array(sorted(range(len(digests)), key=digests.__getitem__), dtype=np.int64)
    contents = np.frombuffer(b"".join(sorted(digests)), dtype=np.uint8).reshape(-1, 32)
    predicted, in_gold = accepted[order], answers.in_gold[indices[order]]
    items = np.unique(answers.items[indices[order]], return_inverse=True)[1]
    rows = np.zeros((len(order), len(board.members), len(_COLUMNS)))
    rows[:, :, 0], rows[:, :, 1], rows[:, :, 2] = predicted & in_gold[:, None], predicted, in_gold[:, None]
    if not np.array_equal(rows.sum(axis=0), matrix.statistics.sum(axis=0)):
        raise unsuitable
    member_digests = []
    for n in range(len(board.members)):
        is_relevant = predicted[:, n] | in_gold
        member_digests.append(digest_array(contents[is_relevant]) + digest_array(predicted[is_relevant, n]))
    return replace(
        board, digests=member_digests,
        matrix=StatisticMatrix(rows, additive(matrix).score, lower_is_better=matrix.lower_is_better,
                               quotient=matrix.quotient, family=matrix.family, answers_to=items,
                               score_range=matrix.score_range))
