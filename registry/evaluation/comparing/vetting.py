"""Whether what is asked for can be tested on every board: said of all boards before anything is tested on one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError, together
from registry.evaluation.comparing.board_keys import BoardKey, compared_keys
from registry.evaluation.comparing.board_statistics import Board, by_response, clusters_of, load
from registry.evaluation.comparing.directions import check_candidate, explain_refusal
from registry.evaluation.comparing.settings import Request
from registry.evaluation.resolve import refusal, resolve_significance
from registry.judged import FEW_FOR_T, FEW_LABELLED, LABELLED, is_random
from registry.manifest import Significance
from registry.messages import BoardWarning, Message
from registry.metrics import ConfusionMetric, JudgedMean, Mean
from registry.significance import (
    CORRECTIONS,
    Bootstrap,
    Fisher,
    PairTest,
    Permutation,
    PredictionPowered,
    RankSum,
    Sign,
    Wilcoxon,
)
from registry.significance.diagnostics.assumptions import is_categorical, misuses
from registry.significance.diagnostics.evidence import SystemPairs, board_warnings
from registry.significance.diagnostics.exchangeability import even_units
from registry.significance.diagnostics.judges import favoured, judged_items, rare_errors
from registry.significance.diagnostics.samples import mixed_scales
from registry.significance.effects import measure_design_effects
from registry.significance.intervals import influences
from registry.significance.matrix import Matrix
from registry.significance.multiple import estimate_draw_bytes, estimate_resampling_error
from registry.store import catalog
from registry.store.catalog import ComparisonRow, Member, TaskRow

_KEPT = 2  # boards are handed on to be tested up to this part of the memory; others are loaded again


@dataclass
class VettedBoard:
    """A board that was looked at.

    Attributes:
        key: Which board it is.
        digest: Of its comparison.
        there: The comparison, if it is there already.
        loaded: The board to be tested, as long as it is kept.
    """

    key: BoardKey
    digest: str
    there: ComparisonRow | None
    loaded: Board | None = None

    def taken(self, connection: Connection, request: Request) -> Board | None:
        """Give the board, which is kept no longer; None where no item is left of it."""
        board, self.loaded = self.loaded, None
        return board or tested_board(connection, self.key, request)


@dataclass
class Vetted:
    """All boards of a task, why some cannot be tested as is asked for, and what a reader must be warned of."""

    boards: list[VettedBoard] = field(default_factory=list)
    refusals: list[InputError] = field(default_factory=list)
    warnings: list[BoardWarning] = field(default_factory=list)

    def require(self) -> None:
        """Raise what speaks against testing, of all boards at once."""
        if self.refusals:
            raise together(self.refusals)


def vet(connection: Connection, task_row: TaskRow, request: Request) -> Vetted:
    """Look at every board whose comparison is not there yet.

    Raises:
        UnknownNameError: The test, the correction or the candidate is not known.
        InputError: Several systems have the candidate's name.
        MismatchError: A submission is not scored yet.
    """
    vetted, room = Vetted(), request.execution.memory // _KEPT
    keys = compared_keys(connection, task_row, request)
    check_candidate([key.members for key in keys], request.significance)
    for key in keys:
        digest = key.digest(request)
        of = VettedBoard(key, digest, catalog.find(connection, ComparisonRow, digest=digest))
        vetted.boards.append(of)
        if reason := explain_refusal(key.members, request.significance):
            vetted.refusals.append(InputError(f"{key.name}: {reason}", category="board"))
            continue
        if of.there is not None:
            continue
        try:
            if (board := tested_board(connection, key, request)) is None:
                vetted.warnings.append(BoardWarning(key.name, Message("empty-board")))
                continue
            size = sum(array.nbytes for array in (board.matrix.statistics, *(board.matrix.runs or ())))
            if size <= room:
                of.loaded = board
                room -= size
            vetted.warnings += [BoardWarning(key.name, warning) for warning in (
                *_of_clustered_items(connection, board, request), *_warnings(board, request))]
        except InputError as error:
            vetted.refusals.append(InputError(error.message, path=error.path, category="board"))
    return vetted


def tested_board(connection: Connection, key: BoardKey, request: Request) -> Board | None:
    """Load a board by the units that are tested; None where no item is left of it."""
    board = load(connection, key, request, request.execution.memory // 2)
    unit = key.with_unit(request).significance.unit
    return by_response(connection, board) if board and unit == "response" else board


def _warnings(board: Board, request: Request) -> list[Message]:
    """What the assumptions of the test do not cover."""
    n = len(board.members)
    settings, matrix = board.key.request(request).significance, board.matrix.by_unit
    test, overall = resolve_significance(settings)
    if reason := refusal(test, overall, matrix):
        raise InputError(f"{board.key.name}: {reason}")
    pairs = math.comb(n, 2) if board.key.family is None else board.key.family.pairs
    size = estimate_draw_bytes(pairs, settings.draws)
    if CORRECTIONS[settings.correction].function is None and size > request.execution.memory:
        raise InputError(f"{board.key.name}: correction {settings.correction!r} keeps the draws of all pairs, which "
                         f"take {size / 2**30:.1f} GiB; allow more with --memory, draw fewer with --resamples, or take "
                         "holm")
    return [*misuses(test, matrix), *_of_shaffer(settings.correction, test, matrix),
            *_of_joint_resamples(settings, test, matrix, pairs), *_of_fixed_runs(board, settings),
            *_of_judged(board, test), *_of_rounding(board), *_of_scales(board), *_of_given_classes(board)]


def _of_clustered_items(connection: Connection, board: Board, request: Request) -> Iterator[Message]:
    """Warn if items or responses of declared clusters are tested one by one; of items, report the design effect."""
    unit, attribute = board.key.with_unit(request).significance.unit, board.key.test_set.cluster_attribute
    if unit == "cluster" or attribute is None or len(board.members) < 2:
        return
    clusters = clusters_of(connection, board, attribute)
    parameters: dict[str, Any] = {"unit": unit, "attribute": attribute, "clusters": int(clusters.max()) + 1}
    if unit == "item":
        effects = measure_design_effects(influences(board.matrix), clusters)[np.triu_indices(len(board.members), 1)]
        if len(known := effects[~np.isnan(effects)]):
            parameters |= {"factor": float(np.median(known)), "largest": float(known.max()), "pairs_known": len(known)}
    yield Message("clustered-units", parameters)


def _of_joint_resamples(settings: Significance, test: PairTest, matrix: Matrix, pairs: int) -> Iterator[Message]:
    """Warn of corrections by resamples whose standard errors stay the same, where the largest of many is decisive."""
    if CORRECTIONS[settings.correction].function is None and isinstance(test, Bootstrap):
        units = even_units(matrix)
        if pairs > 1 and (wrong := estimate_resampling_error(units, pairs, settings.alpha)) > 1.2 * settings.alpha:
            yield Message("known-errors", {"correction": settings.correction, "units": float(units), "pairs": pairs,
                                           "percent": 100 * wrong})


def _of_shaffer(correction: str, test: PairTest, matrix: Matrix) -> Iterator[Message]:
    """Warn of Shaffer's correction of hypotheses of which two can be true and the third is not.

    Each of two systems may be as likely to win a unit as to lose it against a third one, and one of the two win most
    units against the other. What only one of two systems accepts is another set for each pair. Scores of which two
    equal a third one are equal.
    """
    of_ranks = isinstance(test, Sign | Wilcoxon | RankSum) and not is_categorical(matrix)
    if correction == "shaffer" and (of_ranks or isinstance(test, Fisher)):
        yield Message("shaffer-not-transitive", {"test": test.name})


def _of_fixed_runs(board: Board, settings: Significance) -> Iterator[Message]:
    """Say what results do not cover where systems have several runs that are taken as they are."""
    several = sum(len(scores) > 1 for scores in board.run_scores)
    if several and settings.runs == "fixed":
        yield Message("fixed-runs", {"systems": several})


def _of_rounding(board: Board) -> Iterator[Message]:
    """Warn of ties that only rounding makes."""
    if board.rounded_ties:
        yield Message("rounded-ties", {"items": board.rounded_ties, "rounding": float(board.matrix.rounding)})


def _called(member: Member) -> str:
    return member.system if member.team == member.system else f"{member.team}/{member.system}"


def _of_scales(board: Board) -> Iterator[Message]:
    """Warn of scores in percent next to fractions."""
    if isinstance(board.metric.original, Mean) and (
            warning := mixed_scales(list(map(_called, board.members)), board.scores.tolist())) is not None:
        yield warning


def _of_given_classes(board: Board) -> Iterator[Message]:
    """Warn of classes that only a system has, if the metric averages over them for that system alone."""
    metric = board.metric.original
    if not (isinstance(metric, ConfusionMetric) and metric.counts_given_classes):
        return
    sums = board.matrix.statistics.sum(axis=0)
    _, predicted, gold = np.moveaxis(sums.reshape(len(sums), -1, 3), -1, 0)
    for member, n in zip(board.members, ((predicted > 0) & (gold == 0)).sum(axis=1).tolist(), strict=True):
        if n:
            yield Message("extra-classes", {"system": _called(member), "classes": n, "metric": metric.title})


def _of_judged(board: Board, test: PairTest | None) -> Iterator[Message]:
    """Say where people looked at few items; refuse what cannot do with different items of some systems than of others.

    A swap gives either system about half of what people said of both, as if they had looked at equally many items.
    """
    if not isinstance(board.metric.original, JudgedMean):
        return
    looked = board.matrix.statistics[:, :, LABELLED] > 0
    if isinstance(test, PredictionPowered) and (looked != looked[:, :1]).any() and not is_random(
            judged_items(board.matrix).of(0)):
        raise InputError(f"{board.key.name}: people looked at other items of some systems than of others, and with "
                         "what probability at both of a pair is not known: take bootstrap")
    if isinstance(test, Permutation) and (looked != looked[:, :1]).any():
        raise InputError(f"{board.key.name}: people looked at other items of some systems than of others, and swaps "
                         "would find differences where there are none: take bootstrap or prediction-powered")
    few = FEW_FOR_T if test == PredictionPowered() else FEW_LABELLED
    if (least := int(looked.sum(axis=0).min())) < few:
        yield Message("few-judged-items", {"items": least, "least": few})
    pairs = SystemPairs.every(board.matrix.by_unit)
    yield from board_warnings((favoured(pairs), rare_errors(pairs)), len(board.members))
