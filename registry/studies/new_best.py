"""New bests of a board that stays open, and the corrected score of the best one.

All versions of all systems are tested in their order of submission. Each one is tested against all earlier ones, and
alpha is spent over time, so that the chance of any false new best is bounded. The score of the best one is corrected
for its selection.
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
    Shown,
    find_new_bests,
    find_new_bests_by_ladder,
    run_ladder,
    run_ladder_by_errors,
)
from registry.significance.rank_sets import Influences, correct_winner
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.studies.study import BoardStudy, BoardSubject, Case, Choice, Finding, Row, option

_MANY_UNITS = 200  # of about equal weight, from which on the winner's interval was seen to hold (docs/studies.md)
_SKEWED = 0.015  # the squared skewness over the units from which on it is not: some 50 units that are wrong


def make_winner_rows(board: Board, alpha: float) -> tuple[list[Row], list[Message]]:
    """The best one's score with both intervals, and why to doubt them."""
    influences = Influences.of(board.matrix)
    found = correct_winner(influences, alpha)
    if found is None:
        return [], []
    sign = -1 if board.matrix.lower_is_better else 1
    low, high = sorted((sign * found.low, sign * found.high))
    corrected_low, corrected_high = sorted((sign * found.corrected_low, sign * found.corrected_high))
    member = board.members[found.system]
    row: Row = {"system": member.system, "submission": member.name, "of": len(board.members),
                "score": sign * found.score, "error": found.error, "low": low, "high": high,
                "corrected": sign * found.corrected, "corrected_low": corrected_low, "corrected_high": corrected_high}
    return [row], [*_doubts_of_winner(influences, found.system)]


def _doubts_of_winner(influences: Influences, best: int) -> Iterator[Message]:
    """Where the best one's error is not known well enough, as it is of few units, or of a system that hardly ever errs.

    A score that is high by luck has a small error then, and its interval is too short where the truth is.
    """
    if influences.n_units < _MANY_UNITS:
        yield Message("winner-few-units", {"units": influences.n_units, "least": _MANY_UNITS})
    of = influences.of_units[:, best]
    if (of**3).sum() < 0 and (of**3).sum() ** 2 > _SKEWED * (of**2).sum() ** 3:
        yield Message("winner-skewed")


def describe_winner(winner: list[Row]) -> Iterator[str]:
    """The best one's score with both intervals, in a sentence."""
    for row in winner:
        yield (f"{row['submission']} has the best score of {row['of']}, {row['score']:.4f} ({row['low']:.4f} to "
               f"{row['high']:.4f}); corrected for that choice, {row['corrected']:.4f} ({row['corrected_low']:.4f} to "
               f"{row['corrected_high']:.4f}), unless submissions were chosen by the scores of earlier ones.")


_DRAWS = 100_000
_USUAL_STEP = 0.01  # of a Ladder


class NewBest(BoardStudy):
    """Test each version that scores higher than all before it against each of these, spending alpha over time.

    With --release scores the error is bounded where no submission was chosen by the scores of earlier ones. With
    --release ladder it is bounded also where submissions were chosen by what a Ladder with this --step showed, and
    nothing else was seen. The table `winner` has the score of the best one with its plain interval, and with the hybrid
    one, which is corrected for its having won; `ladder` is what may be shown where a Ladder is all that is.
    """

    name: ClassVar[str] = "new-best"
    title: ClassVar[str] = "Which submissions were new bests?"
    citation: ClassVar[str] = ("Wiens and Dmitrienko 2005; Blum and Hardt 2015; Andrews, Kitagawa and McCloskey 2024, "
                               "section 5")
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    min_systems: ClassVar = 1
    every_metric: ClassVar = True
    supports_responses: ClassVar = False
    default_settings = MappingProxyType({"resamples": _DRAWS})  # so that p-values can be as small as their levels
    submissions: int = option(200, "Number of submissions over which alpha is spent; later ones are never new bests.",
                              minimum=2)
    release: Literal["scores", "ladder"] = option("scores", "What submitters saw of earlier submissions.")
    step: float | None = option(None, "By how much a score must be better for the Ladder to show it; 0: by the "
                                "standard error of the difference. The task's if none is given, else 0.01.", minimum=0)
    lowest: float = option(0.0, "The lowest score of the metric; the Ladder's values are counted from it.")
    highest: float = option(1.0, "The highest score of the metric.")

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterator[BoardSubject]:
        declared = decode_manifest(task.manifest).board.step if self.step is None else self.step
        for subject in super().find_subjects(connection, task, request, choice):
            yield from _with_history(connection, subject, _USUAL_STEP if declared is None else declared)

    def run(self, case: Case) -> Finding:
        matrix = case.board.matrix.by_unit
        if reason := case.test.refusal(matrix):
            raise InputError(reason)
        assert isinstance(case.subject, HistorySubject)  # as `subjects` gives them
        history = _History.of(case, case.subject)
        shown = self._shown(history) if self.release == "ladder" else None
        alpha, values = case.request.significance.alpha, (self.highest - self.lowest) / self._grain(history)
        found = find_new_bests(history.claims, alpha, self.submissions) if shown is None else find_new_bests_by_ladder(
            history.claims, shown.raised, alpha, self.submissions, math.floor(values + 1e-9) + 2)
        rows = list(history.rows(found, shown))
        warnings = [*history.left_out(), *_too_few_draws(rows), *one_sided_misuses(case.test, matrix)]
        winner, doubts = make_winner_rows(case.board, case.request.significance.alpha)
        tables: dict[str, list[Row]] = {"history": rows, "winner": winner}
        if shown is not None:  # the public part: submissions that raised the Ladder's score, and its new value
            before = [math.nan, *(row["shown"] for row in rows)]
            tables["ladder"] = [{key: row[key] for key in ("place", "system", "submission", "shown")}
                                for value, row in zip(before, rows, strict=False)
                                if not math.isnan(row["shown"]) and row["shown"] != value]
        return Finding(tables, [*self._reading(rows, case), *describe_winner(winner)], [*warnings, *doubts])

    def _shown(self, history: _History) -> Shown:
        sign = -1 if history.board.matrix.lower_is_better else 1
        scores = history.scores[~np.isnan(history.scores)]
        if self.lowest >= self.highest or (len(scores) and not self.lowest <= scores.min() <= scores.max()
                                           <= self.highest):
            raise InputError(f"scores are not all from {self.lowest:g} to {self.highest:g}; --lowest and --highest say "
                             "between which the metric lies")
        if history.step:
            found = run_ladder(sign * history.scores, history.step)
        else:
            found = run_ladder_by_errors(sign * history.scores, history.error, self._grain(history))
        return Shown(sign * found.scores, found.raised | history.is_left_out)  # what was left out may have been shown

    def _grain(self, history: _History) -> float:
        """What the Ladder rounds scores to."""
        return history.step or (self.highest - self.lowest) / history.board.matrix.n_units

    def _reading(self, rows: list[Row], case: Case) -> list[str]:
        new, alpha = [row["submission"] for row in rows if row["new_best"]], case.request.significance.alpha
        said = [f"{counted(len(new), 'submission is a new best', 'submissions are new bests')}, each better than all "
                f"before it{': ' + ', '.join(new) if new else ''}."]
        bound = (f"The chance that any of the first {self.submissions} is falsely called a new best is "
                 f"{100 * alpha:g} % or less, as far as p-values as small as their levels hold")
        if self.release == "ladder":
            return [*said, f"{bound}, also where submitters chose them by what the Ladder showed, and saw nothing "
                           "else: neither scores nor these decisions."]
        return [*said, f"{bound}, where none was chosen by the scores of earlier ones. Where submitters saw these, "
                       "nothing is guaranteed: a majority vote over 199 random submissions, taken by their scores, is "
                       "falsely called a new best in 95 % of cases."]


@dataclass(frozen=True, eq=False)
class HistorySubject(BoardSubject):
    """A board of all versions.

    Attributes:
        order: Their names in the order in which they came; empty where one is withdrawn or not scored, and counts
            all the same: alpha was spent on it.
        step: The Ladder's.
    """

    order: tuple[str, ...]
    step: float

    @property
    def identity(self) -> Mapping[str, Any]:
        """What the board is identified by, and the order of time."""
        places = sorted((name, n) for n, name in enumerate(self.order) if name)
        return {**super().identity, "places": places, "submitted": len(self.order), "step": self.step}


@dataclass(frozen=True, eq=False)
class _History:
    """Submissions in the order of time; what is withdrawn or not scored has undefined scores.

    Attributes:
        board: With all that are not left out.
        step: The Ladder's.
        members: [submissions], the place of each on the board; -1 of what was left out.
        scores: [submissions].
        is_highest: [submissions], whether each scores higher than all before it.
        log_p: [submissions], against all before; of what is no record against the best before.
        tests: [submissions], the place in time of the earlier one with that p-value, and its test; None where there is
            none.
    """

    board: Board
    step: float
    members: list[int]
    scores: Floats
    is_highest: Flags
    log_p: Floats
    tests: list[tuple[int, PairResult] | None]

    @classmethod
    def of(cls, case: Case, subject: HistorySubject) -> _History:
        on_board = {member.name: n for n, member in enumerate(case.board.members)}
        members = [on_board.get(name, -1) for name in subject.order]
        scores = np.array([case.board.scores[n] if n >= 0 else np.nan for n in members])
        log_p = np.full(len(members), np.nan)
        tests: list[tuple[int, PairResult] | None] = [None] * len(members)
        signed = -scores if case.board.matrix.lower_is_better else scores
        is_highest = signed > np.fmax.accumulate(np.concatenate([[-np.inf], signed]))[:-1]
        opponents = list(_opponents(signed, is_highest))
        asked = replace(case.settings, alternative="greater")
        pairs = [(members[n], members[before]) for n, before in opponents]
        results = case.test.run(case.board.matrix.by_unit, pairs, asked) if pairs else []
        for (n, before), result in zip(opponents, results, strict=True):
            log = result.log10_p * math.log(10)
            if tests[n] is None or not log <= log_p[n]:
                log_p[n], tests[n] = log, (before, result)
        return cls(case.board, subject.step, members, scores, is_highest, log_p, tests)

    @property
    def claims(self) -> Floats:
        """`log_p` of those that score higher than all before, and 0 of others: those are new bests by no test."""
        return np.where(self.is_highest, self.log_p, 0.0)

    @cached_property
    def is_left_out(self) -> Flags:
        """Which are withdrawn or not scored, [submissions]."""
        return np.array(self.members) < 0

    @cached_property
    def _influences(self) -> Influences:
        return Influences.of(self.board.matrix)

    def error(self, n: int, before: int) -> float:
        """The standard error of the difference of two submissions."""
        of, places = self._influences, [self.members[n], self.members[before]]
        return math.sqrt(float(of.centred_squares[places[0], places[1]] + of.runs[places].sum()))

    def left_out(self) -> Iterator[Message]:
        """Return a message if some are."""
        if n := int(self.is_left_out.sum()):
            yield Message("submissions-left-out", {"n": n})

    def rows(self, found: NewBests, shown: Shown | None) -> Iterator[Row]:
        """A row for each that is not left out."""
        board = self.board
        for n, of in enumerate(self.members):
            if of < 0:
                continue
            before, test = self.tests[n] or (None, None)
            yield {"place": n + 1, "system": board.members[of].system, "submission": board.members[of].name,
                   "score": float(self.scores[n]),
                   "against": "" if before is None else board.members[self.members[before]].name,
                   "p_value": math.exp(self.log_p[n]), "log10_p": self.log_p[n] / math.log(10),
                   "method": test.method if test else "", "resamples": test.resamples if test else None,
                   "log10_level": found.log_levels[n] / math.log(10) if found.log_levels[n] > -math.inf else math.nan,
                   "new_best": bool(found.declared[n]),
                   "shown": float(shown.scores[n]) if shown else math.nan}


def _opponents(scores: Floats, is_highest: Flags) -> Iterator[tuple[int, int]]:
    """Whom each is tested against: all before it, or the best of these where it does not score higher."""
    scored = np.flatnonzero(~np.isnan(scores))
    for n, place in enumerate(scored[1:], 1):
        before = scored[:n]
        against = before if is_highest[place] else before[[scores[before].argmax()]]
        yield from ((int(place), int(other)) for other in against)


def _with_history(connection: Connection, subject: BoardSubject, step: float) -> Iterator[HistorySubject]:
    """The subject with all versions that were submitted; nothing where none is scored."""
    (key,) = subject.keys
    submitted = [of for of in catalog.all_versions(connection, key.test_set.test_set_id) if of[0].track == key.track]
    scores = catalog.scores(connection, key.metric.metric_id, [of.scoring_id for of, _ in submitted if of.scoring_id])
    members = [of for of, is_withdrawn in submitted if not is_withdrawn and of.scoring_id in scores]
    if members:
        order = tuple(of.name if of in members else "" for of, _ in submitted)
        yield HistorySubject(subject.study, (replace(key, members=members, scores=scores),), subject.attributes,
                             subject.request, order, step)


def _too_few_draws(rows: list[Row]) -> Iterator[Message]:
    """Warn of p-values that cannot be as small as their levels."""
    barred = [row for row in rows if row["resamples"] and not math.isnan(row["log10_level"])
              and -math.log10(row["resamples"] + 1) > row["log10_level"]]
    if barred:
        yield Message("resamples-above-level", {
            "p_values": len(barred), "log10_level": float(min(row["log10_level"] for row in barred))})
