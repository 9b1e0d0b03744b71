"""Check that the requested test applies to every leaderboard."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.errors import InputError, combine_errors
from registry.evaluation.comparing.board_keys import BoardKey, load_compared_keys
from registry.evaluation.comparing.board_statistics import Board, load_board, load_clusters, split_into_responses
from registry.evaluation.comparing.directions import check_candidate, explain_missing_direction
from registry.evaluation.comparing.settings import Request
from registry.evaluation.resolve import explain_refusal, resolve_significance
from registry.evaluation.scoring.label_codes import load_labels
from registry.judged import FEW_FOR_T, FEW_LABELLED, LABELLED, is_random
from registry.manifest import Significance
from registry.messages import BoardWarning, Message
from registry.metrics import ConfusionMetric, JudgedMean, Mean
from registry.significance import (
    CORRECTIONS,
    Bootstrap,
    Fisher,
    JointMatrix,
    PairTest,
    Permutation,
    PredictionPowered,
    RankSum,
    Sign,
    Wilcoxon,
)
from registry.significance.diagnostics.assumptions import is_categorical, misuses
from registry.significance.diagnostics.evidence import SystemPairs, board_warnings
from registry.significance.diagnostics.exchangeability import compute_effective_units
from registry.significance.diagnostics.judges import find_favoured, find_rare_errors, get_judged_items
from registry.significance.diagnostics.rare_outcomes import FEW_IN_CLASS, SOME_IN_CLASS
from registry.significance.diagnostics.samples import warn_of_mixed_scales
from registry.significance.effects import measure_design_effects
from registry.significance.intervals import influences
from registry.significance.matrix import Matrix
from registry.significance.multiple import estimate_draw_bytes, estimate_resampling_error
from registry.store import catalog
from registry.store.catalog import ComparisonRow, Member, TaskRow

# Messages about classes with few items: smallest number of items, and number that is no longer few.
_CLASS_SIZES = {"rare-class": (1, FEW_IN_CLASS), "rare-class-errors": (FEW_IN_CLASS, SOME_IN_CLASS)}


@dataclass
class VettedBoard:
    """A leaderboard that was checked before its systems are compared.

    Attributes:
        key: Properties that identify the leaderboard.
        digest: Digest that identifies the comparison of its systems.
        stored: The stored comparison; None if it is not stored yet.
        loaded: The leaderboard with its statistics; None if these are too large for memory or no longer needed here.
    """

    key: BoardKey
    digest: str
    stored: ComparisonRow | None
    loaded: Board | None = None

    def take_board(self, connection: Connection, request: Request) -> Board | None:
        """Return the leaderboard with its statistics, and release them from this object.

        The caller then decides how long they stay in memory. Statistics that are not in memory are loaded. The result
        is None if there are no items.
        """
        board, self.loaded = self.loaded, None
        return board or load_tested_board(connection, self.key, request)


@dataclass
class VettedTask:
    """The leaderboards of a task, which were checked before systems are compared.

    Attributes:
        boards: The leaderboards.
        refusals: Errors about leaderboards that cannot be tested.
        warnings: Warnings about leaderboards.
    """

    boards: list[VettedBoard] = field(default_factory=list)
    refusals: list[InputError] = field(default_factory=list)
    warnings: list[BoardWarning] = field(default_factory=list)

    def raise_refusals(self) -> None:
        """Raise one error that lists all refused leaderboards, if there are any."""
        if self.refusals:
            raise combine_errors(self.refusals)


def vet(connection: Connection, task_row: TaskRow, request: Request) -> VettedTask:
    """Check that the requested test applies to each leaderboard of a task.

    The result has the errors and warnings about single leaderboards. The data of leaderboards with a stored comparison
    are not checked again.

    Raises:
        UnknownNameError: The test, the correction or the candidate is unknown.
        InputError: Several systems have the candidate's name.
        MismatchError: A submission is not scored yet.
    """
    vetted = VettedTask()
    free_bytes = request.execution.memory // 2  # larger leaderboards are loaded again later
    keys = load_compared_keys(connection, task_row, request)
    check_candidate([key.members for key in keys], request.significance)
    for key in keys:
        digest = key.digest(request)
        vetted_board = VettedBoard(key, digest, catalog.find(connection, ComparisonRow, digest=digest))
        vetted.boards.append(vetted_board)
        if reason := explain_missing_direction(key.members, request.significance):
            vetted.refusals.append(InputError(f"{key.name}: {reason}", category="board"))
            continue
        if vetted_board.stored is not None:
            continue
        try:
            if (board := load_tested_board(connection, key, request)) is None:
                vetted.warnings.append(BoardWarning(key.name, Message("empty-board")))
                continue
            n_bytes = sum(array.nbytes for array in (board.matrix.statistics, *(board.matrix.runs or ())))
            if n_bytes <= free_bytes:
                vetted_board.loaded = board
                free_bytes -= n_bytes
            vetted.warnings += [BoardWarning(key.name, _name_rare_classes(connection, board, warning)) for warning in (
                *_warn_of_clustered_units(connection, board, request), *_check_board(board, request),
                *_warn_of_extra_classes(connection, board))]
        except InputError as error:
            vetted.refusals.append(InputError(error.message, path=error.path, category="board"))
    return vetted


def load_tested_board(connection: Connection, key: BoardKey, request: Request) -> Board | None:
    """Load the statistics of a leaderboard, by items or by single answers.

    Statistics are by single answers if the test permutes answers.

    Returns:
        The leaderboard; None if it has no items.
    """
    board = load_board(connection, key, request, request.execution.memory // 2)
    unit = key.with_unit(request).significance.unit
    return split_into_responses(connection, board) if board and unit == "response" else board


def _check_board(board: Board, request: Request) -> list[Message]:
    """Check that the test applies to a leaderboard, and return warnings.

    A warning says that the data may violate an assumption of the test.

    Raises:
        InputError: The test does not apply to the leaderboard, or its correction needs too much memory.
    """
    key = board.key
    settings, matrix = key.resolve_request(request).significance, board.matrix.by_unit
    test, overall = resolve_significance(settings)
    if reason := explain_refusal(test, overall, matrix):
        raise InputError(f"{key.name}: {reason}")
    n_pairs = math.comb(len(board.members), 2) if key.family is None else key.family.pairs
    n_bytes = estimate_draw_bytes(n_pairs, settings.draws)
    if CORRECTIONS[settings.correction].function is None and n_bytes > request.execution.memory:
        raise InputError(f"{key.name}: correction {settings.correction!r} needs {n_bytes / 2**30:.1f} GiB of memory "
                         "for the resamples of all pairs; increase --memory, reduce --resamples, or use "
                         "--correction holm")
    if isinstance(matrix, JointMatrix):
        return list(matrix.warnings)
    warnings = [*misuses(test, matrix), *_warn_of_shaffer(settings.correction, test, matrix),
                *_warn_of_joint_resamples(settings, test, matrix, n_pairs)]
    if settings.runs == "fixed" and (n_with_runs := sum(len(scores) > 1 for scores in board.run_scores)):
        warnings.append(Message("fixed-runs", {"systems": n_with_runs}))
    warnings += _check_judged(board, test)
    if board.rounded_ties:
        warnings.append(Message(
            "rounded-ties", {"items": board.rounded_ties, "rounding": float(board.matrix.rounding)}))
    if isinstance(board.metric.original, Mean):
        mixed = warn_of_mixed_scales(list(map(_name_system, board.members)), board.scores.tolist())
        warnings += [] if mixed is None else [mixed]
    return warnings


def _warn_of_clustered_units(connection: Connection, board: Board, request: Request) -> Iterator[Message]:
    """Warn if the test ignores the clusters that the test set declares.

    If the test permutes or resamples items, the warning contains the design effect: the factor by which clusters
    increase the variance of differences.
    """
    unit, attribute = board.key.with_unit(request).significance.unit, board.key.test_set.cluster_attribute
    if unit == "cluster" or attribute is None or len(board.members) < 2:
        return
    clusters = load_clusters(connection, board, attribute)
    parameters: dict[str, Any] = {"unit": unit, "attribute": attribute, "clusters": int(clusters.max()) + 1}
    if unit == "item":
        effects = measure_design_effects(influences(board.matrix), clusters)[np.triu_indices(len(board.members), 1)]
        if len(defined_effects := effects[~np.isnan(effects)]):
            parameters |= {"factor": float(np.median(defined_effects)), "largest": float(defined_effects.max()),
                           "pairs_known": len(defined_effects)}
    yield Message("clustered-units", parameters)


def _warn_of_joint_resamples(settings: Significance, test: PairTest, matrix: Matrix, n_pairs: int) -> Iterator[Message]:
    """Warn if there are too few units for a correction by joint bootstrap resamples.

    With few units (items or clusters), the family-wise error rate of such a correction is larger than alpha.
    """
    if CORRECTIONS[settings.correction].function is not None or not isinstance(test, Bootstrap) or n_pairs < 2:
        return
    units = compute_effective_units(matrix)
    if (error_rate := estimate_resampling_error(units, n_pairs, settings.alpha)) > 1.2 * settings.alpha:
        yield Message("known-errors", {"correction": settings.correction, "units": float(units), "pairs": n_pairs,
                                       "percent": 100 * error_rate})


def _warn_of_shaffer(correction: str, test: PairTest, matrix: Matrix) -> Iterator[Message]:
    """Warn if the test violates an assumption of Shaffer's correction.

    The correction assumes that if A equals C and B equals C, then A equals B. Tests of ranks violate this: A and B can
    each be better than C in half of the items, while A is better than B in most items. Fisher's test violates it
    because it compares each pair of systems on other data: the answers that only one of the two systems gives.
    """
    is_by_rank = isinstance(test, Sign | Wilcoxon | RankSum) and not is_categorical(matrix)
    if correction == "shaffer" and (is_by_rank or isinstance(test, Fisher)):
        yield Message("shaffer-not-transitive", {"test": test.name})


def _name_system(member: Member) -> str:
    return member.system if member.team == member.system else f"{member.team}/{member.system}"


def _warn_of_extra_classes(connection: Connection, board: Board) -> Iterator[Message]:
    """Warn about classes that a system predicts although the gold does not have them.

    Such a warning is only for metrics that average over these classes, too.
    """
    metric = board.metric.original
    if not (isinstance(metric, ConfusionMetric) and metric.includes_system_classes):
        return
    sums = board.matrix.statistics.sum(axis=0)
    _, predicted, gold = np.moveaxis(sums.reshape(len(sums), -1, 3), -1, 0)
    labels = _load_classes(connection, board, metric)
    for member, is_extra in zip(board.members, (predicted > 0) & (gold == 0), strict=True):
        if is_extra.any():
            yield Message("extra-classes", {"system": _name_system(member), "classes": int(is_extra.sum()),
                                            "metric": metric.title, "labels": labels[is_extra].tolist()})


def _name_rare_classes(connection: Connection, board: Board, message: Message) -> Message:
    """Add the labels of rare classes to a message about them, and return other messages without change."""
    metric = board.metric.original
    if message.code not in _CLASS_SIZES or not isinstance(metric, ConfusionMetric):
        return message
    least, most = _CLASS_SIZES[message.code]
    sizes = board.matrix.statistics[:, 0, 2::3].sum(axis=0) / board.matrix.multiple
    labels = _load_classes(connection, board, metric)[(sizes >= least) & (sizes < most)]
    return message.with_parameters(labels=labels.tolist())


def _load_classes(connection: Connection, board: Board, metric: ConfusionMetric) -> NDArray[np.str_]:
    """Return the labels of a metric's classes, in the order of the statistics."""
    return np.array(metric.classes or sorted(load_labels(connection, board.key.gold.gold_revision_id).numbers))


def _check_judged(board: Board, test: PairTest) -> Iterator[Message]:
    """Yield warnings if people labelled few of the items that a model has judged.

    Raises:
        InputError: People labelled different items of different systems, and the test does not allow that. For example,
            a permutation test would swap labelled and unlabelled items.
    """
    if not isinstance(board.metric.original, JudgedMean):
        return
    is_labelled = board.matrix.statistics[:, :, LABELLED] > 0
    differs = bool((is_labelled != is_labelled[:, :1]).any())
    if (isinstance(test, PredictionPowered) and differs
            and not is_random(get_judged_items(board.matrix).get_statistics(0))):
        raise InputError(f"{board.key.name}: people labelled different items for different systems, so the "
                         "probability that an item is labelled for both systems of a pair is unknown; use --test "
                         "bootstrap")
    if isinstance(test, Permutation) and differs:
        raise InputError(f"{board.key.name}: people labelled different items for different systems, so a "
                         "permutation test would find false differences; use --test bootstrap or --test "
                         "prediction-powered")
    min_labelled = FEW_FOR_T if test == PredictionPowered() else FEW_LABELLED
    if (n_labelled := int(is_labelled.sum(axis=0).min())) < min_labelled:
        yield Message("few-judged-items", {"items": n_labelled, "least": min_labelled})
    pairs = SystemPairs.every(board.matrix.by_unit)
    yield from board_warnings((find_favoured(pairs), find_rare_errors(pairs)), len(board.members))
