"""The statistics of a leaderboard: those of all its systems, by item."""

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
from registry.evaluation.ingest.gold import split_cluster
from registry.evaluation.matrices import Counts, Steps, matrix_of, scores_of
from registry.evaluation.scoring.label_codes import stored_labels
from registry.evaluation.scoring.measure import LabelNumbers, averaged, order_of_content
from registry.families import FAMILIES, PLACES, SMALLEST
from registry.identity import canonical_json, digest_array, digest_json
from registry.manifest import Significance
from registry.metrics import METRICS, ConfusionMetric, Metric
from registry.metrics.sets import MatchMetric
from registry.missing import MissingPolicy
from registry.significance import Matrix, StatisticMatrix
from registry.significance.matrix import CompactStatistics, additive
from registry.store import catalog
from registry.store.catalog import Member
from registry.store.statistics import StoredStatistics, load_named_answers, load_responses
from registry.values import parse

_LOOKED_AT = 2**24  # scores of items by systems, among which ties are looked for


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
        rounded_ties: In how many items different statistics of two members count as equal, because all are rounded.
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


def load(connection: Connection, key: BoardKey, request: Request, most: int = 2**30) -> Board | None:
    """Load a board's statistics; None where no item is left of it.

    Args:
        connection: To read from.
        key: The board.
        request: What it is tested by.
        most: The bytes that statistics may take in memory; more are in a temporary file.

    Raises:
        InputError: Clusters are asked for, but the test set declares none; or strata that items do not have.
    """
    settings = key.with_unit(request).significance
    if settings.unit == "cluster" and key.test_set.cluster_attribute is None:
        raise InputError(f"test set {key.test_set.name!r} declares no cluster, the item attribute that "
                         "groups its items; add the key cluster to its [[test_set]], or take items for units")
    metric = parse("metric", METRICS, key.metric.name)
    first, n_items = catalog.item_ids(connection, key.gold.gold_revision_id)
    stored = StoredStatistics(
        connection, metric.family, key.metric.metric_id, [m.scoring_id for m in key.members], first, n_items)
    items = _items(connection, key, stored, first)
    if not len(items):
        return None
    stored.take(items)
    unequal = not stored.present[items].all()  # some members lack items that others have
    if metric.family in ("confusion", "pair") and unequal:
        raise InputError(f"{key.name}: {metric.name} needs an answer of every system to every item; take another "
                         'policy for missing items than "own"')
    units, strata = _groups(connection, key, settings, first + items)
    labels: LabelNumbers | None = None
    like: Sequence[Floats] = stored
    if isinstance(metric, ConfusionMetric):
        labels = stored_labels(connection, key.gold.gold_revision_id)
        like = [labels.counted(metric, stored[0][:0])]  # counts of labels are whole
    steps = Steps.of(metric, like, min(key.scores[member.scoring_id].step for member in key.members))
    if 0 < steps.largest < SMALLEST:
        raise InputError(f"{key.name}: the largest {metric.name} statistic is {steps.largest:.2g}, and statistics are "
                         f"counted to the {PLACES}th decimal place; multiply all values by the same power of ten")
    members = _Members(metric, steps, labels, random_runs=settings.runs == "random")
    if members.random_runs:
        known = catalog.replicate_factors(connection, [member.submission_id for member in key.members])
        members.named = [known.get(member.submission_id, ()) for member in key.members]
    averages = averaged(map(members.look_at, stored), len(key.members), steps, most)
    runs = tuple(of_member * averages.multiple for of_member in members.runs) or None
    factors = tuple(members.factors) if any(members.factors) else None
    matrix = replace(matrix_of(metric, averages, units, strata, runs=runs, unequal=unequal), factors=factors)
    contents = averages.digests if not members.digests else [[digest] for digest in members.digests]
    groups = [None if units is None else digest_array(units), *([] if strata is None else [digest_array(strata)])]
    return _best_first(Board(key, metric, key.members, [digest_json([*content, *groups]) for content in contents],
                             items, matrix, matrix.scores(), members.scores,
                             steps.count_new_ties(stored) if len(stored) * len(items) <= _LOOKED_AT else 0))


@dataclass
class _Members:
    """What is found out of a board's members one after the other, since all of their statistics take much room.

    Attributes:
        metric, steps: What they are scored by and counted in.
        labels: Of the confusion family.
        random_runs: Whether the runs themselves are kept.
        scores: Of every member's runs, [runs].
        runs: The statistics of every member's runs in steps, [items, runs, columns], if they are kept.
        named: What tells each member's runs apart, as they are stored; empty where only their number does.
        factors: The same in the order of `runs`.
        digests: Of members' runs, where these tell members apart: averages would not, or are none of what is stored.
    """

    metric: Metric
    steps: Steps
    labels: LabelNumbers | None
    random_runs: bool
    scores: list[Floats] = field(default_factory=list)
    runs: list[Floats] = field(default_factory=list)
    named: Sequence[tuple[dict[str, str], ...]] = ()
    factors: list[tuple[dict[str, str], ...]] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)

    def look_at(self, stored: Floats) -> Floats:
        """Look at the next member, [items, runs, columns]; returns its statistics as they add up."""
        statistics = stored
        if self.labels is not None:
            assert isinstance(self.metric, ConfusionMetric)
            statistics = self.labels.counted(self.metric, stored)
            codes = self.labels.coded(stored)
            self.digests.append(digest_array(codes[:, order_of_content(codes)]))
        if self.random_runs:
            order = order_of_content(statistics)
            ordered = statistics[:, order]
            named = self.named[len(self.factors)]
            self.factors.append(tuple(named[n] for n in order) if named else ())
            self.runs.append(self.steps.counted(ordered))
            if self.labels is None:
                self.digests.append(digest_array(ordered))
            if named:
                self.digests[-1] = digest_json([self.digests[-1], self.factors[-1]])
        self.scores.append(scores_of(self.metric, Counts.of(statistics, self.steps)))
        return statistics


def _items(connection: Connection, key: BoardKey, stored: StoredStatistics, first: int) -> Ints:
    """The items that are left of a board, by their numbers in the gold, whose `first` has that id, in order of keys."""
    may_lack = np.array([MissingPolicy(m.missing).lets_items_differ for m in key.members])[stored.of_present]
    kept: Flags = (stored.present | may_lack).all(axis=1)
    if len(set(stored.of_present.tolist())) == len(key.members):
        kept &= stored.present.any(axis=1)
    if key.facet is not None:
        values = catalog.item_attribute(connection, key.gold.gold_revision_id, key.facet[0])
        kept &= np.array([values.get(first + n) == key.facet[1] for n in range(len(kept))])
    keys = catalog.item_keys(connection, key.gold.gold_revision_id)
    return np.array(sorted(np.flatnonzero(kept), key=lambda n: keys[n]), dtype=np.int64)


def _best_first(board: Board) -> Board:
    """The same board, its members in the order of their scores, ties by name."""
    towards = board.scores if board.matrix.lower_is_better else -board.scores
    order = sorted(range(len(board.members)),
                   key=lambda n: (np.isnan(board.scores[n]), towards[n], board.members[n].name))
    held = board.matrix.statistics
    if isinstance(held, CompactStatistics):
        held.reorder(order)
    else:
        held = np.ascontiguousarray(held[:, order])
    runs = board.matrix.runs and tuple(board.matrix.runs[n] for n in order)
    factors = board.matrix.factors and tuple(board.matrix.factors[n] for n in order)
    return replace(
        board, members=[board.members[n] for n in order], digests=[board.digests[n] for n in order],
        matrix=replace(board.matrix, statistics=held, runs=runs, factors=factors), scores=board.scores[order],
        run_scores=[board.run_scores[n] for n in order])


def _numbered(connection: Connection, key: BoardKey, attribute: str, item_ids: Ints) -> Ints:
    """The number of each item's value of an attribute, in the order of the values."""
    values = catalog.item_attribute(connection, key.gold.gold_revision_id, attribute)
    if lacking := [int(item) for item in item_ids if int(item) not in values]:
        of = f"of test set {key.test_set.name!r}"
        raise InputError(f"{counted(len(lacking), f'item {of} has', f'items {of} have')} no attribute {attribute!r}")
    _, numbers = np.unique([values[int(item)] for item in item_ids], return_inverse=True)
    return numbers.astype(np.int64)


def clusters_of(connection: Connection, board: Board, attribute: str) -> Ints:
    """Return the number of each item's cluster, [items], where items of one cluster share the attribute's value."""
    first, _ = catalog.item_ids(connection, board.key.gold.gold_revision_id)
    return _numbered(connection, board.key, attribute, first + board.items)


def _groups(connection: Connection, key: BoardKey, settings: Significance,
            item_ids: Ints) -> tuple[Ints | None, Ints | None]:
    """The numbers of each item's unit and of its stratum, where they are asked for; a unit must lie in one stratum."""
    units = strata = None
    if settings.unit == "cluster" and key.test_set.cluster_attribute is not None:
        units = _numbered(connection, key, key.test_set.cluster_attribute, item_ids)
    if settings.strata is not None:
        strata = _numbered(connection, key, settings.strata, item_ids)
        if units is not None and split_cluster(units.tolist(), strata.tolist()) is not None:
            raise InputError(f"a {key.test_set.cluster_attribute} of test set {key.test_set.name!r} has items of "
                             f"several {settings.strata!r}: strata must keep clusters whole")
    return units, strata


_COLUMNS = FAMILIES["prf"].columns


def by_response(connection: Connection, board: Board) -> Board:
    """The same board with every distinct answer, of the gold or accepted by a system, as a row of its statistics.

    Answers are in the order of their digests, which depends on nothing else.

    Raises:
        InputError: The metric does not count distinct answers, or a system has several runs.
    """
    key, matrix, metric = board.key, board.matrix, board.metric
    if max(len(scores) for scores in board.run_scores) > 1:
        raise InputError(f"{key.name}: single responses are not averaged over runs; take permutation")
    uncounted = InputError(f"{key.name}: {metric!r} does not count distinct answers; take permutation")
    if not isinstance(metric, MatchMetric):
        raise uncounted
    first, _ = catalog.item_ids(connection, key.gold.gold_revision_id)
    answers, types = load_named_answers(connection, key.gold.gold_revision_id), metric.types()
    typed = np.flatnonzero(np.array([type_ in (types or (type_,)) for _, _, type_ in answers.names], dtype=bool))
    responses = load_responses(connection, [m.scoring_id for m in board.members], answers.ids[typed])
    accepted = metric.accept([answers.names[n] for n in typed.tolist()], responses.given, responses.scores)
    there = np.isin(answers.items[typed], first + board.items) & (answers.in_gold[typed] | accepted.any(axis=1))
    kept, accepted = typed[there], accepted[there]
    digests = [hashlib.sha256(canonical_json([*answers.names[n], bool(answers.in_gold[n])]).encode()).digest()
               for n in kept.tolist()]
    order = np.array(sorted(range(len(digests)), key=digests.__getitem__), dtype=np.int64)
    contents = np.frombuffer(b"".join(sorted(digests)), dtype=np.uint8).reshape(-1, 32)
    given, in_gold = accepted[order], answers.in_gold[kept[order]]
    items = np.unique(answers.items[kept[order]], return_inverse=True)[1]
    rows = np.zeros((len(order), len(board.members), len(_COLUMNS)))
    rows[:, :, 0], rows[:, :, 1], rows[:, :, 2] = given & in_gold[:, None], given, in_gold[:, None]
    if not np.array_equal(rows.sum(axis=0), matrix.statistics.sum(axis=0)):
        raise uncounted
    return replace(
        board, digests=[digest_array(contents[given[:, n] | in_gold]) + digest_array(given[given[:, n] | in_gold, n])
                        for n in range(len(board.members))],
        matrix=StatisticMatrix(rows, additive(matrix).score, lower_is_better=matrix.lower_is_better,
                               quotient=matrix.quotient, family=matrix.family, answers_to=items,
                               score_range=matrix.score_range))
