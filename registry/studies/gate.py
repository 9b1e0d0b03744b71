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

from registry.errors import InputError, UnknownNameError, counted, listed
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import Request, build_request
from registry.significance.base import Observed
from registry.significance.intervals import influences, standard_errors
from registry.significance.margins import MarginTest, compare_with_margin
from registry.significance.multiple import adjust
from registry.store import catalog
from registry.store.catalog import Member, TaskRow
from registry.studies.gate_looks import GateCase, GateSubject, compute_level, number_looks, spend_alpha
from registry.studies.run import choose_metrics
from registry.studies.study import BoardStudy, Choice, Finding, Row, choose_keys, option

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
                               "Efron and Tibshirani 1993, section 12.5; looks: Lan and DeMets 1983")
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
    looks: int = option(1, "Number of tests of the candidate, each one on more units.", metavar="K")
    look: int | None = option(None, "The number of this test; it uses the first part of the units.", metavar="N")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise InputError(f"--margin {self.margin:g}: expected a number above 0")
        if self.margin is not None and self.superior:
            raise InputError("--margin accepts a loss and --superior requires a gain; give one of them")
        if self.attempts < 1:
            raise InputError(f"--attempts {self.attempts}: expected 1 or more")
        if self.looks < 1:
            raise InputError(f"--looks {self.looks}: expected 1 or more")
        if self.look is None and self.looks > 1:
            raise InputError(f"--looks {self.looks}: the number of this look is missing; add --look 1 for the first")
        if self.look is not None and self.looks == 1:
            raise InputError(f"--look {self.look}: the number of looks is missing; add --looks")
        if self.look is not None and not 1 <= self.look <= self.looks:
            raise InputError(f"--look {self.look}: expected a number from 1 to {self.looks}, the number of looks")

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the base and of the candidate."""
        return self.base, self.candidate

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterator[GateSubject]:
        """Yield the boards of both systems, reduced to these systems.

        Raises:
            UnknownNameError: No board has a system of this name.
            InputError: A name is ambiguous, or no board has both systems, or the candidate lacks a test set.
        """
        keys = choose_keys(connection, task, request, choice)
        systems = {member.submission_id: member for key in keys for member in key.members}
        for name in self.systems:
            if not any(matches(member, name) for member in systems.values()):
                raise UnknownNameError("system", name, sorted({member.system for member in systems.values()}))
        reduced = [pair for key in keys if (pair := self._select_pair(key)) is not None]
        if not reduced:
            raise InputError(f"{self.base} and {self.candidate} are on no test set together")
        compared = {key.name for key in reduced}
        if absent := [key.name for key in keys if key.name not in compared
                      and any(matches(member, self.base) for member in key.members)]:
            raise InputError(f"{self.candidate} has no score on {listed(absent, 4)}, where {self.base} has one; submit "
                             "and score it there, or select test sets by --test-set")
        chosen = [member.submission_id for member in reduced[0].members]
        attributes = catalog.submission_attributes(connection, chosen)
        yield GateSubject(self, tuple(reduced), {systems[n].name: values for n, values in attributes.items()}, request,
                          self.look or 1, self.looks)

    def list_items(self, connection: Connection, choice: Choice) -> list[Row]:
        """Return the items that this look needs, each with the first look that tests it.

        The items depend on the test sets of the base; the candidate need not be stored.
        """
        (task,) = catalog.tasks(connection, choice.task)
        metrics = choose_metrics(connection, task, choice.metric, every=True)
        request = build_request(task, {}, metrics)
        items: set[tuple[int, str, str]] = set()
        for key in choose_keys(connection, task, request, choice):
            if any(matches(member, self.base) for member in key.members):
                numbers = number_looks(connection, key, request, self.looks).tolist()
                names = catalog.item_keys(connection, key.gold.gold_revision_id)
                items |= {(number, key.test_set.name, name) for number, name in zip(numbers, names, strict=True)
                          if number <= (self.look or 1)}
        if not items:
            raise UnknownNameError("system", self.base, ())
        return [{"look": number, "test_set": test_set, "item": name} for number, test_set, name in sorted(items)]

    def _select_pair(self, key: BoardKey) -> BoardKey | None:
        """Reduce a leaderboard to the candidate and the base system of this gate.

        The result is None if the leaderboard lacks one of the two systems.
        """
        names = self.candidate, self.base
        members = [[member for member in key.members if matches(member, name)] for name in names]
        for name, matching in zip(names, members, strict=True):
            if len(matching) > 1:
                full_names = listed([member.submission for member in matching], 4)
                raise InputError(f"{key.name}: {name} is the name of {len(matching)} systems; give one of {full_names}")
        if not all(members) or members[0] == members[1]:
            return None
        return replace(key, members=[members[0][0], members[1][0]], family=None)

    def run(self, case: GateCase) -> Finding:
        """Test all criteria, and combine them."""
        total = case.request.significance.alpha / self.attempts
        looks: list[Row] = [
            {"look": look, "level": compute_level(total, look, self.looks), "alpha": total,
             "spent": spend_alpha(total, look / self.looks), "criteria": case.criteria, "scores": digest}
            for look, digest in enumerate(case.digests, 1)]
        alpha = looks[-1]["level"]
        compared = [self._compare(board, case) for board in case.boards]
        tested = [n for n, (_, test) in enumerate(compared) if test is not None]
        losses = [test.p_non_inferior for _, test in compared if test is not None]
        adjusted = dict(zip(tested, adjust(np.array(losses), "holm").tolist() if losses else (), strict=True))
        rows = [self._make_row(row, test, adjusted.get(n), alpha, compute_level(total, self.looks, self.looks))
                for n, (row, test) in enumerate(compared)]
        verdicts = [row["verdict"] for row in rows]
        verdict = "fail" if "fail" in verdicts else "pass" if all(v == "pass" for v in verdicts) else "undecided"
        rows = [row | {"gate": verdict, "alpha": alpha, "look": self.look, "looks": self.looks} for row in rows]
        return Finding({"criteria": rows, "looks": looks}, self._describe(verdict, rows, alpha, total))

    def _compare(self, board: Board, case: GateCase) -> tuple[Row, MarginTest | None]:
        """Test one criterion of the gate.

        Returns:
            The row of the criterion without its verdict, and the test if there are enough units.
        """
        matrix = board.matrix.by_unit
        if matrix.runs is not None:
            raise InputError('the gate requires fixed runs; set runs = "fixed"')
        observed = Observed.compare(matrix, [(0, 1)])[0]
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
                "base": scores[1], "candidate": scores[0], "difference": observed.difference,
                "standard_error": float(standard_errors(gains)), "margin": self.margin, "units": matrix.n_units,
                "test": "none: too few units" if test is None else test.method,
                "base_submission": board.members[1].submission,
                "candidate_submission": board.members[0].submission}, test

    def _make_row(self, row: Row, test: MarginTest | None, p_loss: float | None, alpha: float, last: float) -> Row:
        """Add the p-values and the verdict to the row of a criterion; `last` is the level of the last look."""
        p = test.p_inferior if test is not None and (self.superior or self.margin is not None) else None
        verdict = ("fail" if p_loss is not None and p_loss <= alpha else
                   "pass" if p is not None and p <= alpha else "undecided")
        needed = None if verdict != "undecided" or self.margin is None else _count_needed_units(
            row["standard_error"], row["units"], self.margin, last)
        return row | {"p_value": p, "p_loss": p_loss, "verdict": verdict, "needed_units": needed}

    def _describe(self, verdict: str, rows: list[Row], alpha: float, total: float) -> list[str]:
        level = f"{100 * alpha:.3g} %"
        accepted = "" if self.margin is None else f" by more than {self.margin:g}"
        names = {kind: listed([f"{row['metric']} on {row['test_set']}" for row in rows if row["verdict"] == kind], 4)
                 for kind in VERDICTS}
        each = f"{names['pass']}, at {level}" if len(rows) == 1 else f"all {len(rows)} criteria, each at {level}"
        if verdict == "fail":
            sentences = [f"fail: {self.candidate} is worse than {self.base}{accepted}, by {names['fail']} (at {level} "
                         f"after Holm's correction over {counted(len(rows), 'criterion', 'criteria')})."]
        elif verdict == "pass":
            gain = "is better than" if self.superior else f"is not worse{accepted} than"
            sentences = [f"pass: {self.candidate} {gain} {self.base}, by {each}."]
        else:
            sentences = [f"undecided: by {names['undecided']}, the data show neither that {self.candidate} is good "
                         f"enough nor that it is worse than {self.base}{accepted}."]
            if self.margin is None and not self.superior:
                sentences.append("Without a margin or a required gain, the gate cannot pass; declare one of them.")
        if self.look is not None:
            sentences.append(f"Look {self.look} of {self.looks} has the level {level}; the levels of all looks add up "
                             f"to {100 * total:.3g} %.")
            if verdict == "undecided" and self.look < self.looks:
                sentences.append(f"For look {self.look + 1}, score the items that `--look {self.look + 1} --items` "
                                 "prints.")
        needed = [row for row in rows if row["needed_units"] is not None]
        if verdict == "undecided" and needed:
            most = max(needed, key=lambda row: row["needed_units"])
            sentences.append(f"If both systems are equally good, a power of {100 * _POWER:g} % needs "
                             f"{most['needed_units']:,} units on {most['test_set']} (now {most['units']:,}).")
        return sentences


def matches(member: Member, name: str) -> bool:
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
