"""New bests of an open leaderboard, and the corrected score of the best submission.

All versions of all systems are tested in the order of submission, each against all earlier ones. Alpha is spent over
time, so that the probability of any false new best is bounded. The score of the best submission is corrected for its
selection.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from sqlalchemy import Connection

from registry.arrays import Flags, Floats
from registry.errors import InputError, counted
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import Request
from registry.manifest.load import decode_manifest
from registry.messages import Message
from registry.significance import PairResult
from registry.significance.diagnostics.assumptions import one_sided_misuses
from registry.significance.histories import (
    NewBests,
    ShownScores,
    find_new_bests,
    find_new_bests_by_ladder,
    run_ladder,
    run_ladder_by_errors,
)
from registry.significance.rank_sets import Influences, correct_winner
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.studies.study import BoardStudy, BoardSubject, Case, Choice, Finding, Row, option

_MANY_UNITS = 200  # units of similar weight from which the winner's interval holds in simulation (docs/studies.md)
_SKEWED = 0.015  # squared skewness / units above which it does not hold: about 50 incorrect units


def make_winner_rows(board: Board, alpha: float) -> tuple[list[Row], list[Message]]:
    """Return a table row about the best submission, and warnings about its intervals.

    The best of many submissions has a high score partly by chance. So the row has two intervals of its score: a plain
    one, and one that is corrected for this selection. The result is empty if no submission can be selected.
    """
    influences = Influences.compute(board.matrix)
    winner = correct_winner(influences, alpha)
    if winner is None:
        return [], []
    sign = -1 if board.matrix.lower_is_better else 1
    low, high = sorted((sign * winner.low, sign * winner.high))
    corrected_low, corrected_high = sorted((sign * winner.corrected_low, sign * winner.corrected_high))
    member = board.members[winner.system]
    row: Row = {"system": member.system, "submission": member.name, "of": len(board.members),
                "score": sign * winner.score, "error": winner.error, "low": low, "high": high,
                "corrected": sign * winner.corrected, "corrected_low": corrected_low, "corrected_high": corrected_high}
    return [row], [*_warn_of_winner(influences, winner.system)]


def _warn_of_winner(influences: Influences, best: int) -> Iterator[Message]:
    """Warn if the confidence interval of the best score may be too short.

    This happens if there are few units, or if the system is almost always correct. In both cases a score that is high
    by chance has a small standard error.
    """
    if influences.n_units < _MANY_UNITS:
        yield Message("winner-few-units", {"units": influences.n_units, "least": _MANY_UNITS})
    values = influences.values[:, best]
    if (values**3).sum() < 0 and (values**3).sum() ** 2 > _SKEWED * (values**2).sum() ** 3:
        yield Message("winner-skewed")


_RESAMPLES = 100_000
_DEFAULT_STEP = 0.01  # improvement of the score that a Ladder requires


class NewBest(BoardStudy):
    """Submissions that are significantly better than all earlier ones.

    Each version that scores higher than all earlier ones is tested against each of them, and alpha is spent over time.
    With --release scores the error is bounded if no submission was selected by the scores of earlier ones. A Ladder
    shows a new score only if it improves by a step (Blum and Hardt 2015): with --release ladder submissions may be
    selected by the scores that a Ladder with this --step showed, and by nothing else. The table `winner` has the score
    of the best submission with its plain interval, and with the hybrid interval, which is corrected for the selection.
    The table `ladder` has the scores that a Ladder may show.
    """

    name: ClassVar[str] = "new-best"
    title: ClassVar[str] = "Which submissions were new bests?"
    citation: ClassVar[str] = ("Wiens and Dmitrienko 2005; Blum and Hardt 2015; Andrews, Kitagawa and McCloskey 2024, "
                               "section 5")
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    min_systems: ClassVar = 1
    every_metric: ClassVar = True
    supports_responses: ClassVar = False
    default_settings = MappingProxyType({"resamples": _RESAMPLES})  # so that p-values can be as small as their levels
    submissions: int = option(200, "Number of submissions over which alpha is spent; later ones are never new bests.",
                              minimum=2)
    release: Literal["scores", "ladder"] = option("scores", "What submitters could see of earlier submissions.")
    step: float | None = option(None, "Smallest improvement that the Ladder shows; 0 for the standard error of the "
                                "difference. By default the step of the task, or 0.01.", minimum=0)
    lowest: float = option(0.0, "The lowest possible score of the metric.")
    highest: float = option(1.0, "The highest possible score of the metric.")

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterator[BoardSubject]:
        declared = decode_manifest(task.manifest).board.step if self.step is None else self.step
        for subject in super().find_subjects(connection, task, request, choice):
            yield from _add_history(connection, subject, _DEFAULT_STEP if declared is None else declared)

    def run(self, case: Case) -> Finding:
        matrix = case.board.matrix.by_unit
        if reason := case.test.refusal(matrix):
            raise InputError(reason)
        assert isinstance(case.subject, HistorySubject)  # from `find_subjects`
        history = _History.test_versions(case, case.subject)
        shown = self._run_ladder(history) if self.release == "ladder" else None
        alpha, values = case.request.significance.alpha, (self.highest - self.lowest) / self._get_rounding_step(history)
        if shown is None:
            new_bests = find_new_bests(history.claims, alpha, self.submissions)
        else:
            new_bests = find_new_bests_by_ladder(history.claims, shown.raised, alpha, self.submissions,
                                                 math.floor(values + 1e-9) + 2)
        rows = list(history.make_rows(new_bests, shown))
        warnings = [*history.warn_of_left_out(), *_warn_of_few_resamples(rows), *one_sided_misuses(case.test, matrix)]
        winner, winner_warnings = make_winner_rows(case.board, case.request.significance.alpha)
        tables: dict[str, list[Row]] = {"history": rows, "winner": winner}
        if shown is not None:  # public rows: submissions that raised the Ladder's score, and the new score
            previous = [math.nan, *(row["shown"] for row in rows)]
            tables["ladder"] = [{key: row[key] for key in ("place", "system", "submission", "shown")}
                                for value, row in zip(previous, rows, strict=False)
                                if not math.isnan(row["shown"]) and row["shown"] != value]
        return Finding(tables, [*self._describe(rows, case), *map(_describe_winner, winner)],
                       [*warnings, *winner_warnings])

    def _run_ladder(self, history: _History) -> ShownScores:
        sign = -1 if history.board.matrix.lower_is_better else 1
        scores = history.scores[~np.isnan(history.scores)]
        if self.lowest >= self.highest or (len(scores) and not self.lowest <= scores.min() <= scores.max()
                                           <= self.highest):
            raise InputError(f"some scores are outside the range from {self.lowest:g} to {self.highest:g}; set the "
                             "range of the metric by --lowest and --highest")
        if history.step:
            shown = run_ladder(sign * history.scores, history.step)
        else:
            shown = run_ladder_by_errors(sign * history.scores, history.compute_error, self._get_rounding_step(history))
        # A submission that was left out may have raised the shown score.
        return ShownScores(sign * shown.scores, shown.raised | history.is_left_out)

    def _get_rounding_step(self, history: _History) -> float:
        """Return the unit to which the Ladder rounds scores, such as 0.01.

        A Ladder shows a new score only if it improves by a step (Blum and Hardt 2015).
        """
        return history.step or (self.highest - self.lowest) / history.board.matrix.n_units

    def _describe(self, rows: list[Row], case: Case) -> list[str]:
        new, alpha = [row["submission"] for row in rows if row["new_best"]], case.request.significance.alpha
        summary = (f"{counted(len(new), 'submission is a new best', 'submissions are new bests')}, significantly "
                   f"better than all earlier ones{': ' + ', '.join(new) if new else ''}.")
        bound = (f"The probability that any of the first {self.submissions} submissions is a false new best is at most "
                 f"{100 * alpha:g} %, if p-values are valid down to these small levels")
        if self.release == "ladder":
            return [summary, f"{bound}. Submitters may have used the scores that the Ladder showed, but neither other "
                             "scores nor these decisions."]
        return [summary, f"{bound}, and if no submission was selected by the scores of earlier ones. If submitters saw "
                         "these scores, nothing is guaranteed: a majority vote over 199 random submissions, weighted "
                         "by their scores, is a false new best in 95 % of cases."]


def _describe_winner(row: Row) -> str:
    return (f"{row['submission']} has the best score of {row['of']}, {row['score']:.4f} ({row['low']:.4f} to "
            f"{row['high']:.4f}); corrected for this selection {row['corrected']:.4f} ({row['corrected_low']:.4f} to "
            f"{row['corrected_high']:.4f}), if no submission was selected by the scores of earlier ones.")


@dataclass(frozen=True, eq=False)
class HistorySubject(BoardSubject):
    """A leaderboard with all submitted versions of all systems, in order of time.

    Attributes:
        order: Names of the submissions in the order of submission. The name of a withdrawn or unscored submission is
            empty; it counts, because alpha was spent on it.
        step: Smallest improvement that the Ladder shows (Blum and Hardt 2015).
    """

    order: tuple[str, ...]
    step: float

    @property
    def identity(self) -> Mapping[str, Any]:
        places = sorted((name, n) for n, name in enumerate(self.order) if name)
        return {**super().identity, "places": places, "submitted": len(self.order), "step": self.step}


@dataclass(frozen=True, eq=False)
class _History:
    """All submissions in the order of time, each with its test against earlier ones.

    Attributes:
        board: Leaderboard of the submissions that are scored and not withdrawn.
        step: Smallest improvement that the Ladder shows.
        members: Index of each submission on the board, or -1 if it is withdrawn or unscored, [submissions].
        scores: Score of each submission, nan if it is withdrawn or unscored, [submissions].
        is_highest: True for each submission that scores higher than all earlier ones, [submissions].
        log_p: Largest log p-value against all earlier submissions, or, if `is_highest` is False, only against the best
            earlier one, [submissions].
        tests: Index of the earlier submission with this p-value, and its test, or None, [submissions].
    """

    board: Board
    step: float
    members: list[int]
    scores: Floats
    is_highest: Flags
    log_p: Floats
    tests: list[tuple[int, PairResult] | None]

    @classmethod
    def test_versions(cls, case: Case, subject: HistorySubject) -> _History:
        """Test every submission against earlier submissions, and return all results."""
        indices = {member.name: n for n, member in enumerate(case.board.members)}
        members = [indices.get(name, -1) for name in subject.order]
        scores = np.array([case.board.scores[n] if n >= 0 else np.nan for n in members])
        log_p = np.full(len(members), np.nan)
        tests: list[tuple[int, PairResult] | None] = [None] * len(members)
        signed = -scores if case.board.matrix.lower_is_better else scores
        is_highest = signed > np.fmax.accumulate(np.concatenate([[-np.inf], signed]))[:-1]
        opponents = list(_find_opponents(signed, is_highest))
        pairs = [(members[n], members[earlier]) for n, earlier in opponents]
        results = case.test.run(case.board.matrix.by_unit, pairs,
                                replace(case.settings, alternative="greater")) if pairs else []
        for (n, earlier), result in zip(opponents, results, strict=True):
            log = result.log10_p * math.log(10)
            if tests[n] is None or not log <= log_p[n]:
                log_p[n], tests[n] = log, (earlier, result)
        return cls(case.board, subject.step, members, scores, is_highest, log_p, tests)

    @property
    def claims(self) -> Floats:
        """Log p-value of the claim that a submission is a new best, [submissions].

        A new best is better than all earlier submissions. The value is 0 if an earlier submission scores as high.
        """
        return np.where(self.is_highest, self.log_p, 0.0)

    @cached_property
    def is_left_out(self) -> Flags:
        """True for each submission that is withdrawn or unscored, [submissions]."""
        return np.array(self.members) < 0

    @cached_property
    def _influences(self) -> Influences:
        return Influences.compute(self.board.matrix)

    def compute_error(self, n: int, earlier: int) -> float:
        """Return the standard error of the difference of submissions `n` and `earlier`."""
        influences, pair = self._influences, [self.members[n], self.members[earlier]]
        return math.sqrt(float(influences.centred_squares[pair[0], pair[1]] + influences.runs[pair].sum()))

    def warn_of_left_out(self) -> Iterator[Message]:
        """Warn if withdrawn or unscored submissions are left out."""
        if n := int(self.is_left_out.sum()):
            yield Message("submissions-left-out", {"n": n})

    def make_rows(self, new_bests: NewBests, shown: ShownScores | None) -> Iterator[Row]:
        """Yield a table row for each submission: its score, its test, and the decision.

        The decision is whether it is significantly better than all earlier submissions.

        Args:
            new_bests: The decisions.
            shown: The scores that a Ladder leaderboard showed; None if the Ladder is not used.
        """
        board = self.board
        for n, index in enumerate(self.members):
            if index < 0:
                continue
            earlier, test = self.tests[n] or (None, None)
            level = new_bests.log_levels[n]
            yield {"place": n + 1, "system": board.members[index].system, "submission": board.members[index].name,
                   "score": float(self.scores[n]),
                   "against": "" if earlier is None else board.members[self.members[earlier]].name,
                   "p_value": math.exp(self.log_p[n]), "log10_p": self.log_p[n] / math.log(10),
                   "method": test.method if test else "", "resamples": test.resamples if test else None,
                   "log10_level": level / math.log(10) if level > -math.inf else math.nan,
                   "new_best": bool(new_bests.declared[n]),
                   "shown": float(shown.scores[n]) if shown else math.nan}


def _find_opponents(scores: Floats, is_highest: Flags) -> Iterator[tuple[int, int]]:
    """Yield the pairs of submissions to test: a submission and an earlier one.

    A submission that scores higher than all earlier ones is paired with each of these. Any other submission is paired
    only with the best earlier one. `scores` are in order of time; higher is better.
    """
    scored = np.flatnonzero(~np.isnan(scores))
    for n, submission in enumerate(scored[1:], 1):
        earlier = scored[:n]
        opponents = earlier if is_highest[submission] else earlier[[scores[earlier].argmax()]]
        yield from ((int(submission), int(opponent)) for opponent in opponents)


def _add_history(connection: Connection, subject: BoardSubject, step: float) -> Iterator[HistorySubject]:
    """Yield a leaderboard with all submitted versions; nothing if none is scored.

    Args:
        connection: Connection to the registry.
        subject: The leaderboard with the current versions.
        step: Smallest improvement that the Ladder shows.
    """
    (key,) = subject.keys
    versions = [version for version in catalog.all_versions(connection, key.test_set.test_set_id)
                if version[0].track == key.track]
    scores = catalog.scores(connection, key.metric.metric_id,
                            [member.scoring_id for member, _ in versions if member.scoring_id])
    members = [member for member, is_withdrawn in versions if not is_withdrawn and member.scoring_id in scores]
    if members:
        order = tuple(member.name if member in members else "" for member, _ in versions)
        yield HistorySubject(subject.study, (replace(key, members=members, scores=scores),), subject.attributes,
                             subject.request, order, step)


def _warn_of_few_resamples(rows: list[Row]) -> Iterator[Message]:
    """Warn if simulated p-values cannot be as small as their significance levels.

    The smallest simulated p-value is about 1 / resamples.
    """
    limited = [row for row in rows if row["resamples"] and not math.isnan(row["log10_level"])
              and -math.log10(row["resamples"] + 1) > row["log10_level"]]
    if limited:
        yield Message("resamples-above-level", {
            "p_values": len(limited), "log10_level": float(min(row["log10_level"] for row in limited))})
