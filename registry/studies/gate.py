"""A gate for a new version of a system: is the candidate good enough to replace the base?

A criterion is a metric on a test set. The gate passes if every criterion passes at alpha (an intersection-union test,
which needs no correction). It fails if some criterion shows a loss beyond the margin after Holm's correction (a
union-intersection test). Otherwise it is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError, MismatchError, UnknownNameError, counted, listed
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import Request
from registry.significance.base import Observed
from registry.significance.intervals import influences, standard_errors
from registry.significance.margins import MarginTest, compare_with_margin
from registry.significance.multiple import adjust
from registry.store import catalog
from registry.store.catalog import Member, TaskRow
from registry.studies.study import BoardStudy, BoardSubject, Case, Choice, Finding, Row, choose_keys, option

VERDICTS = ("pass", "fail", "undecided")
_POWER = 0.8


class Gate(BoardStudy):
    """Test whether a candidate is good enough to replace a base system.

    The candidate must pass by every metric on every test set.

    Without a margin, the gate can fail or stay undecided, but only `--superior` lets it pass.
    """

    name: ClassVar[str] = "gate"
    title: ClassVar[str] = "Is the candidate good enough?"
    citation: ClassVar[str] = ("Berger 1982; Hsueh, Liu and Chen 2001; Waudby-Smith and Ramdas 2024; "
                               "Efron and Tibshirani 1993, section 12.5")
    task: ClassVar = "all"
    choice: ClassVar = ("metric", "test_set", "track")
    settings: ClassVar = ("alpha", "unit", "resamples", "seed")
    scope: ClassVar = "test sets"
    every_metric: ClassVar[bool] = True
    supports_responses: ClassVar[bool] = False
    base: str = option("", "The system to replace.")
    candidate: str = option("", "The new system.")
    margin: float | None = option(None, "The largest loss of score that is accepted.", metavar="D")
    superior: bool = option(False, "Pass only if the candidate is significantly better.")
    attempts: int = option(1, "Number of candidates that are tried; alpha is divided by it.", metavar="N")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise InputError(f"--margin {self.margin:g}: expected a number above 0")
        if self.margin is not None and self.superior:
            raise InputError("--margin accepts a loss and --superior requires a gain; give one of them")
        if self.attempts < 1:
            raise InputError(f"--attempts {self.attempts}: expected 1 or more")

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterator[BoardSubject]:
        """Yield the boards of both systems, reduced to these systems.

        Raises:
            UnknownNameError: No board has a system of this name.
            MismatchError: A name is ambiguous, or no board has both systems.
        """
        keys = choose_keys(connection, task, request, choice)
        systems = {member.submission_id: member for key in keys for member in key.members}
        for name in (self.base, self.candidate):
            if not any(_matches(member, name) for member in systems.values()):
                raise UnknownNameError("system", name, sorted({member.system for member in systems.values()}))
        reduced = [pair for key in keys if (pair := self._select_pair(key)) is not None]
        if not reduced:
            raise MismatchError(f"{self.base} and {self.candidate} are on no test set together")
        compared = {key.name for key in reduced}
        if absent := [key.name for key in keys if key.name not in compared
                      and any(_matches(member, self.base) for member in key.members)]:
            raise InputError(f"{self.candidate} has no score on {listed(absent, 4)}, where {self.base} has one; submit "
                             "and score it there, or select test sets by --test-set")
        chosen = [member.submission_id for member in reduced[0].members]
        attributes = catalog.submission_attributes(connection, chosen)
        yield BoardSubject(self, tuple(reduced), {systems[n].name: values for n, values in attributes.items()}, request)

    def _select_pair(self, key: BoardKey) -> BoardKey | None:
        """Reduce a leaderboard to the base system and the candidate of this gate.

        The result is None if the leaderboard lacks one of the two systems.
        """
        members = [[member for member in key.members if _matches(member, name)]
                   for name in (self.base, self.candidate)]
        for name, matches in zip((self.base, self.candidate), members, strict=True):
            if len(matches) > 1:
                names = listed([member.submission for member in matches], 4)
                raise MismatchError(f"{key.name}: {name} is the name of {len(matches)} systems; give one of {names}")
        if not all(members) or members[0] == members[1]:
            return None
        return replace(key, members=[members[0][0], members[1][0]], family=None)

    def run(self, case: Case) -> Finding:
        """Test all criteria, and combine them."""
        alpha = case.request.significance.alpha / self.attempts
        compared = [self._compare(board, case) for board in case.boards]
        tested = [n for n, (_, test) in enumerate(compared) if test is not None]
        losses = [test.p_non_inferior for _, test in compared if test is not None]
        adjusted = dict(zip(tested, adjust(np.array(losses), "holm").tolist() if losses else (), strict=True))
        rows = [self._make_row(row, test, adjusted.get(n), alpha) for n, (row, test) in enumerate(compared)]
        verdicts = [row["verdict"] for row in rows]
        verdict = "fail" if "fail" in verdicts else "pass" if all(v == "pass" for v in verdicts) else "undecided"
        rows = [row | {"gate": verdict, "alpha": alpha} for row in rows]
        return Finding({"criteria": rows}, self._describe(verdict, rows, alpha))

    def _compare(self, board: Board, case: Case) -> tuple[Row, MarginTest | None]:
        """Test one criterion of the gate.

        Returns:
            The row of the criterion without its verdict, and the test if there are enough units.
        """
        matrix = board.matrix.by_unit
        if matrix.runs is not None:
            raise InputError('the gate requires fixed runs; set runs = "fixed"')
        candidate = [_matches(member, self.candidate) for member in board.members].index(True)
        observed = Observed.compare(matrix, [(candidate, 1 - candidate)])[0]
        low, high = matrix.score_range
        if self.margin is not None and self.margin >= high - low:
            raise InputError(
                f"--margin {self.margin:g}: scores of {board.key.metric.alias} are from {low:g} to {high:g}, so "
                f"{self.margin:g} points of 100 are {self.margin * (high - low) / 100:g}")
        test = None if math.isnan(observed.difference) else compare_with_margin(
            observed, self.margin or 0.0, case.settings)
        scores = matrix.observed.tolist()
        gains = np.subtract(*influences(matrix).T)
        return {"metric": board.key.metric.alias, "test_set": board.key.test_set.name, "track": board.key.track,
                "base": scores[1 - candidate], "candidate": scores[candidate], "difference": observed.difference,
                "standard_error": float(standard_errors(gains)), "margin": self.margin, "units": matrix.n_units,
                "test": "none: too few units" if test is None else test.method}, test

    def _make_row(self, row: Row, test: MarginTest | None, p_loss: float | None, alpha: float) -> Row:
        """Add the p-values and the verdict to the row of a criterion."""
        p = test.p_inferior if test is not None and (self.superior or self.margin is not None) else None
        verdict = ("fail" if p_loss is not None and p_loss <= alpha else
                   "pass" if p is not None and p <= alpha else "undecided")
        needed = None if verdict != "undecided" or self.margin is None else _count_needed_units(
            row["standard_error"], row["units"], self.margin, alpha)
        return row | {"p_value": p, "p_loss": p_loss, "verdict": verdict, "needed_units": needed}

    def _describe(self, verdict: str, rows: list[Row], alpha: float) -> list[str]:
        level = f"{100 * alpha:.3g} %"
        accepted = "" if self.margin is None else f" by more than {self.margin:g}"
        names = {kind: listed([f"{row['metric']} on {row['test_set']}" for row in rows if row["verdict"] == kind], 4)
                 for kind in VERDICTS}
        each = f"{names['pass']}, at {level}" if len(rows) == 1 else f"all {len(rows)} criteria, each at {level}"
        if verdict == "fail":
            return [f"fail: {self.candidate} is worse than {self.base}{accepted}, by {names['fail']} (at {level} after "
                    f"Holm's correction over {counted(len(rows), 'criterion', 'criteria')})."]
        if verdict == "pass":
            gain = "is better than" if self.superior else f"is not worse{accepted} than"
            return [f"pass: {self.candidate} {gain} {self.base}, by {each}."]
        sentences = [f"undecided: by {names['undecided']}, the data show neither that {self.candidate} is good enough "
                     f"nor that it is worse than {self.base}{accepted}."]
        if self.margin is None and not self.superior:
            sentences.append("Without a margin or a required gain, the gate cannot pass; declare one of them.")
        needed = [row for row in rows if row["needed_units"] is not None]
        if needed:
            most = max(needed, key=lambda row: row["needed_units"])
            sentences.append(f"If both systems are equally good, a power of {100 * _POWER:g} % needs "
                             f"{most['needed_units']:,} units on {most['test_set']} (now {most['units']:,}).")
        return sentences


def _matches(member: Member, name: str) -> bool:
    """Return True if a name means a submission.

    A name is `system`, `team/system` or `team/system@version`.
    """
    return name in (member.system, f"{member.team}/{member.system}", member.submission)


def _count_needed_units(error: float, units: int, margin: float, alpha: float) -> int | None:
    """Return the number of units with which two equally good systems pass the gate.

    They pass with a power of 80 %, by the normal approximation.
    """
    from scipy.special import ndtri

    if not error or not math.isfinite(error):
        return None
    needed = (float(ndtri(1 - alpha)) + float(ndtri(_POWER))) * error / margin
    return math.ceil(units * needed**2)
