"""Details of two systems: the items on which they differ, the detectable difference, and a sentence for a paper."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags, Floats
from registry.boards.leaderboard import Leaderboard, PairDecision
from registry.boards.results import is_corrected, summarise_for_paper
from registry.errors import counted
from registry.evaluation.comparing.board_statistics import load_board
from registry.evaluation.comparing.settings import build_request
from registry.metrics import ConfusionMetric
from registry.rendering.table import format_p_value, make_number_format
from registry.significance.base import Observed
from registry.significance.intervals import influences, standard_errors
from registry.significance.matrix import Matrix, StatisticMatrix, additive
from registry.significance.power import ExactMcNemar, MatchedTDesign
from registry.significance.resampling.scores import resampling_refusal
from registry.significance.units import has_binary_units
from registry.store.catalog import TaskRow
from registry.studies.study import Choice, choose_keys

POWER = 0.8  # of the smallest detectable difference (Cohen 1988)
_ROUNDING = 1e-9  # smaller shares of the largest influence are rounding errors


@dataclass(frozen=True)
class PairDetails:
    """Details of a pair of systems that need the statistics of items.

    Attributes:
        n_units: The number of units, such as items.
        n_discordant: The number of units in which the statistics of the systems differ.
        for_a, for_b: The numbers of units with a result in favour of A, and of B. Both are 0 if the score is not
            computed from sums over units.
        is_outweighed: True if no more units favour A than B, but a unit in favour of A has a larger effect on the
            difference, on average.
        only_a, only_b: The numbers of items on which only A, and only B, has the correct label; None if items have no
            single labels, or if a system has several runs.
        detectable: The smallest true difference that a two-sided test at the board's alpha, without correction, detects
            with a power of `POWER`; None if no difference can be detected.
    """

    n_units: int
    n_discordant: int
    for_a: int
    for_b: int
    detectable: float | None
    is_outweighed: bool = False
    only_a: int | None = None
    only_b: int | None = None


def add_details(connection: Connection, task_row: TaskRow, board: Leaderboard) -> Leaderboard:
    """Return a leaderboard with a sentence for a paper and, for two systems, other sentences about their comparison.

    Numbers that cannot be computed are left out.
    """
    if len(board.standings) != 2 or len(board.decisions) != 1:
        return replace(board, details=(*board.details, *introduce_summary(board)))
    if board.comparison.runs == "random":
        described = describe_random_runs(board)
    else:
        details = _measure_pair(connection, task_row, board)
        described = [] if details is None else describe_details(board, details)
    return replace(board, details=(*board.details, *described, *describe_limits(board)))


def describe_limits(board: Leaderboard) -> list[str]:
    """Return sentences about the limits of a pair that was selected from a larger board, and has warnings of its own.

    The list is empty for other boards.
    """
    if len(board.decisions) != 1 or board.comparison.n_systems == 2:
        return []
    decision = board.decisions[0]
    is_unresolved = decision.row["resolved"] is False
    sentences = ["The decision about this pair depends on simulation error."] if is_unresolved else []
    own = [message for message in decision.row["messages"] if message.code in board.warnings.codes]
    return [*sentences, *(f"About this pair: {message.finding[0].lower()}{message.finding[1:]}" for message in own)]


def _measure_pair(connection: Connection, task_row: TaskRow, board: Leaderboard) -> PairDetails | None:
    """Measure how two systems differ, and which difference could be detected.

    If items are correct or incorrect, the power is that of McNemar's exact test. Otherwise it is the power of a t test
    with the standard error of the difference of the scores.

    Returns:
        The numbers; None if the registry has no items, or if the systems have several runs or different items.
    """
    comparison = board.comparison
    settings = {key: getattr(comparison, key) for key in ("alpha", "seed", "confidence")}
    unit = "cluster" if comparison.unit == "cluster" else "item"
    request = build_request(task_row, {**settings, "unit": unit}, (board.metric,))
    choice = Choice(board.task, board.metric, board.test_set)
    keys = choose_keys(connection, task_row, request, choice, every_facet=True)
    key = next((key for key in keys if (key.track, key.facet_name) == (board.track, board.facet)), None)
    if key is None:
        return None
    submissions = [standing.submission for standing in board.standings]
    members = [member for member in key.members if member.submission in submissions]
    loaded = load_board(connection, replace(key, members=members), request)
    if loaded is None or loaded.matrix.unequal:
        return None
    matrix = loaded.matrix.by_unit
    names = [member.submission for member in loaded.members]
    if matrix.runs is not None or resampling_refusal(matrix) or sorted(names) != sorted(submissions):
        return None
    pair = (names.index(submissions[0]), names.index(submissions[1]))
    details = _measure(matrix, pair, comparison.alpha)
    if not isinstance(loaded.metric, ConfusionMetric) or loaded.metric.classes is not None or any(
            len(scores) > 1 for scores in loaded.run_scores):
        return details
    a, b = (_find_correct(additive(loaded.matrix), place) for place in pair)
    return replace(details, only_a=int(np.sum(a & ~b)), only_b=int(np.sum(b & ~a)))


def _find_correct(labels: StatisticMatrix, place: int) -> Flags:
    """Flag the items whose label is correct, from counts of correct, predicted and gold items per class, [items]."""
    return np.asarray(labels.statistics[:, place][:, ::3].any(axis=1))


def _measure(matrix: Matrix, pair: tuple[int, int], alpha: float) -> PairDetails:
    observed = Observed.compare(matrix, [pair])[0]
    n = matrix.n_units
    if observed.is_mean and has_binary_units(observed):
        design: ExactMcNemar | MatchedTDesign = ExactMcNemar(alpha, observed.n_discordant / n)
    else:
        gains = np.subtract(*influences(matrix)[:, list(pair)].T)
        design = MatchedTDesign(alpha, float(standard_errors(gains)) * math.sqrt(n))
    detectable = design.find_detectable(n, POWER) if observed.n_discordant else math.nan
    if detectable > matrix.score_range[1] - matrix.score_range[0]:
        detectable = math.nan
    effects = _compute_swap_effects(observed) if isinstance(matrix, StatisticMatrix) else np.empty(0)
    least = _ROUNDING * np.nanmax(np.abs(effects), initial=0.0)
    gains, losses = effects[effects > least], -effects[effects < -least]
    return PairDetails(n, observed.n_discordant, len(gains), len(losses),
                       None if math.isnan(detectable) else detectable,
                       0 < len(gains) <= len(losses) and bool(gains.mean() > losses.mean()))


def _compute_swap_effects(observed: Observed) -> Floats:
    """Return how much each unit contributes to the difference of two systems.

    Units are items or clusters. The contribution of a unit is the decrease of the difference if the two systems
    exchange their results in this unit. Units with equal results are left out.
    """
    matrix = additive(observed.matrix)
    a, b = observed.a, observed.b
    moved = (a - b)[(a != b).any(axis=1)]
    swapped = matrix.difference(matrix.score(a.sum(axis=0) - moved), matrix.score(b.sum(axis=0) + moved))
    return np.asarray(observed.difference - swapped)


def describe_details(board: Leaderboard, details: PairDetails) -> list[str]:
    """Return sentences about the comparison of two systems, for the notes of a board.

    The sentences name the units in which the systems differ and the smallest detectable difference. The last sentence
    is a summary that authors can copy into a paper. With too few units for any significant result, only the first
    sentence is returned.

    Args:
        board: A leaderboard with two systems.
        details: Numbers of units and the detectable difference.
    """
    decision, comparison = board.decisions[0], board.comparison
    a, b = (board.standings[place].display_name for place in (decision.a, decision.b))
    units = counted(details.n_units, comparison.unit)
    favours = f": {details.for_a:,} favour {a}, {details.for_b:,} favour {b}" if details.for_a + details.for_b else ""
    sentences = [f"The systems differ on {details.n_discordant:,} of {units}{favours}."]
    if details.is_outweighed and decision.difference:
        unit = "A cluster" if comparison.unit == "cluster" else "An item"
        sentences.append(f"{unit} that favours {a} changes the difference more, on average.")
    if details.only_a is not None and details.only_b is not None and details.n_discordant:
        both_wrong = "; items on which both are wrong can favour one of them, too" * (
            comparison.unit == "item" and details.only_a + details.only_b < details.n_discordant)
        sentences.append(f"{a} alone is correct on {counted(details.only_a, 'item')}, {b} alone on "
                         f"{details.only_b:,}{both_wrong}.")
    format_score = make_number_format(board.decimals)
    level = f"{100 * comparison.alpha:g} %"
    if note := _explain_interval(board, decision):
        sentences.append(note)
    if "too-few-units" in board.warnings.codes:
        return sentences  # no result can be significant
    if details.detectable is None:
        sentences.append(f"This test set detects no true difference with {100 * POWER:g} % power at {level}.")
    elif float(detectable := format_score(details.detectable)):  # 0 if the systems differ by a constant
        sentences.append(f"This test set detects a true difference of {detectable} or more with {100 * POWER:g} % "
                         f"power at {level}.")
    if decision.p_value is not None and is_corrected(board, decision):
        sentences.append(f"If you planned this comparison alone before you saw any score, you may report p without the "
                         f"correction for {counted(comparison.family_size, 'pair')}.")
    return [*sentences, *introduce_summary(board)]


def introduce_summary(board: Leaderboard) -> list[str]:
    """Return the summary of a leaderboard that authors can copy; the list is empty if there is none."""
    summary = summarise_for_paper(board)
    return [f"For the paper: {summary}"] if summary else []


def describe_random_runs(board: Leaderboard) -> list[str]:
    """Return sentences about two systems whose runs are random, for the notes of a board."""
    if "too-few-runs" in board.warnings.codes or not (summary := introduce_summary(board)):
        return []
    return ["The smallest difference that this test set detects is not computed for random runs, because it depends on "
            "their number, too.", *summary]


def _explain_interval(board: Leaderboard, decision: PairDecision) -> str:
    """Return a sentence if the interval of a pair contradicts its decision; otherwise, the sentence is empty.

    The reason is the correction, or that intervals and p-values use different methods.
    """
    low, high, p_value = decision.row["ci_low"], decision.row["ci_high"], decision.p_value
    if low is None or high is None or p_value is None:
        return ""
    if (low > 0 or high < 0) != (p_value <= 1 - board.comparison.confidence):
        verb = "includes" if low <= 0 <= high else "leaves out"
        return "" if decision.row["alternative"] != "two-sided" else (
            f"The confidence interval {verb} 0 although p = {format_p_value(p_value)}, because intervals and p-values "
            "use different methods; the p-value decides.")
    if low <= 0 <= high or decision.significant or not is_corrected(board, decision):
        return ""
    return (f"The confidence interval leaves out 0 although the difference is not significant: the interval is about "
            f"this pair alone, the p-value is corrected for {counted(board.comparison.family_size, 'pair')}.")
