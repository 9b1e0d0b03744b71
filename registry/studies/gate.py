"""A gate for a new version of a system: is the candidate good enough to replace the base?

A criterion is a metric on a test set, or the average of a metric over test sets. The gate passes if every criterion
passes at alpha (an intersection-union test, which needs no correction). It fails if some criterion shows a loss beyond
the margin after Holm's correction (a union-intersection test). Otherwise it is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError, UnknownNameError, counted, listed
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import Request, build_request
from registry.significance.base import Observed
from registry.significance.margins import (
    MarginTest,
    compare_with_margin,
    compute_error,
    compute_gains,
    count_needed_units,
)
from registry.significance.multiple import adjust
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.studies.gate_looks import GateCase, GateSubject, compute_level, number_looks, spend_alpha
from registry.studies.run import choose_metrics
from registry.studies.study import BoardStudy, Choice, Finding, Row, choose_keys, is_named, option
from registry.studies.suites import stack_strata


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
    reference: str = option("", "A release that the candidate must not be worse than either, by the same margin.")
    expected: float = option(0.0, "The true difference for which the output says how many units suffice.", metavar="D")
    average: bool = option(False, "Test the average over the test sets instead of each test set.")
    attempts: int = option(1, "Number of candidates that are tried; alpha is divided by it.", metavar="N")
    looks: int = option(1, "Number of tests of the candidate, each one on more units.", metavar="K")
    look: int | None = option(None, "The number of this test; it uses the first part of the units.", metavar="N")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise InputError(f"--margin {self.margin:g}: expected a number above 0")
        if self.margin is not None and self.superior:
            raise InputError("--margin accepts a loss and --superior requires a gain; give one of them")
        if self.reference and self.reference in (self.base, self.candidate):
            raise InputError(f"--reference {self.reference}: the gate tests this system already; name another one")
        if self.expected + (self.margin or 0.0) < 0:
            raise InputError(f"--expected {self.expected:g}: a candidate that is so much worse should not pass; "
                             f"expected {-(self.margin or 0.0):g} or more")
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
    def opponents(self) -> tuple[str, ...]:
        """Names of the systems that the candidate is compared with: the base, and the reference if there is one."""
        return (self.base, self.reference) if self.reference else (self.base,)

    def find_subjects(self, connection: Connection, task: TaskRow, request: Request,
                      choice: Choice) -> Iterator[GateSubject]:
        """Yield the boards of the candidate and each opponent, reduced to these two systems.

        Raises:
            UnknownNameError: No board has a system of this name.
            InputError: A name is ambiguous, or no board has both systems, or the candidate lacks a test set.
        """
        keys = choose_keys(connection, task, request, choice)
        systems = {member.submission_id: member for key in keys for member in key.members}
        for name in (*self.opponents, self.candidate):
            if not any(is_named(member, name) for member in systems.values()):
                raise UnknownNameError("system", name, sorted({member.system for member in systems.values()}))
        pairs = [(name, self._select_pair(key, name)) for key in keys for name in self.opponents]
        reduced = [pair for _, pair in pairs if pair is not None]
        for name in self.opponents:
            compared = {pair.name for opponent, pair in pairs if opponent == name and pair is not None}
            if not compared:
                raise InputError(f"{name} and {self.candidate} are on no test set together")
            if absent := [key.name for key in keys if key.name not in compared
                          and any(is_named(member, name) for member in key.members)]:
                raise InputError(f"{self.candidate} has no score on {listed(absent, 4)}, where {name} has one; submit "
                                 "and score it there, or select test sets by --test-set")
        attributes = catalog.submission_attributes(
            connection, sorted({member.submission_id for key in reduced for member in key.members}))
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
            if any(is_named(member, self.base) for member in key.members):
                numbers = number_looks(connection, key, request, self.looks).tolist()
                names = catalog.item_keys(connection, key.gold.gold_revision_id)
                items |= {(number, key.test_set.name, name) for number, name in zip(numbers, names, strict=True)
                          if number <= (self.look or 1)}
        if not items:
            raise UnknownNameError("system", self.base, ())
        return [{"look": number, "test_set": test_set, "item": name} for number, test_set, name in sorted(items)]

    def _select_pair(self, key: BoardKey, opponent: str) -> BoardKey | None:
        """Reduce a leaderboard to the candidate and one opponent.

        The result is None if the leaderboard lacks one of the two systems.
        """
        names = self.candidate, opponent
        members = [[member for member in key.members if is_named(member, name)] for name in names]
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
        level, last = looks[-1]["level"], compute_level(total, self.looks, self.looks)
        criteria = [self._test_criterion(boards, case) for boards in self._group_boards(case.boards)]
        losses = [1.0 if test is None else test.p_non_inferior for _, _, test in criteria]
        adjusted = adjust(np.array(losses), "holm").tolist()
        rows = []
        for (row, observed, test), p_loss in zip(criteria, adjusted, strict=True):
            p = test.p_inferior if test is not None and (self.superior or self.margin is not None) else None
            verdict = "fail" if p_loss <= level else "pass" if p is not None and p <= level else "undecided"
            needed = None if verdict != "undecided" or p is None else count_needed_units(
                observed, self.margin or 0.0, self.expected, last, row["test"])
            rows.append(row | {"p_value": p, "p_loss": None if test is None else p_loss, "verdict": verdict,
                               "needed_units": needed})
        verdicts = [row["verdict"] for row in rows]
        verdict = "fail" if "fail" in verdicts else "pass" if all(v == "pass" for v in verdicts) else "undecided"
        rows = [row | {"gate": verdict, "alpha": level, "look": self.look, "looks": self.looks} for row in rows]
        return Finding({"criteria": rows, "looks": looks}, self._describe(verdict, rows, total))

    def _group_boards(self, boards: Sequence[Board]) -> list[list[Board]]:
        """Group the leaderboards by criterion: each one alone, or all test sets of a metric and opponent together."""
        if not self.average:
            return [[board] for board in boards]
        groups: dict[tuple[str, str | None, str], list[Board]] = {}
        for board in boards:
            groups.setdefault((board.key.metric.alias, board.key.track, self._name_opponent(board)), []).append(board)
        if single := [f"{metric} (only {group[0].key.test_set.name})" for (metric, *_), group in groups.items()
                      if len(group) < 2]:
            raise InputError(f"--average: two or more test sets are required for {listed(single, 4)}; leave it out")
        return list(groups.values())

    def _name_opponent(self, board: Board) -> str:
        return next(name for name in self.opponents if is_named(board.members[1], name))

    def _test_criterion(self, boards: Sequence[Board], case: GateCase) -> tuple[Row, Observed, MarginTest | None]:
        """Test one criterion of the gate.

        Returns:
            The row of the criterion without its verdict, the data, and the test if there are enough units.
        """
        if any(board.matrix.runs is not None for board in boards):
            raise InputError('the gate requires fixed runs; set runs = "fixed"')
        board = boards[0]
        matrix = stack_strata(boards, [[0, 1]] * len(boards)) if self.average else board.matrix.by_unit
        observed = Observed.compare(matrix, [(0, 1)])[0]
        low, high = board.matrix.score_range
        if self.margin is not None and self.margin >= high - low:
            raise InputError(
                f"--margin {self.margin:g}: scores of {board.key.metric.alias} are from {low:g} to {high:g}, so "
                f"{self.margin:g} points of 100 are {self.margin * (high - low) / 100:g}")
        test = None if math.isnan(observed.difference) else compare_with_margin(
            observed, self.margin or 0.0, case.settings)
        scores = matrix.observed.tolist()
        return {"metric": board.key.metric.alias, "test_set": "average" if self.average else board.key.test_set.name,
                "track": board.key.track, "against": self._name_opponent(board),
                "base": scores[1], "candidate": scores[0], "difference": observed.difference,
                "standard_error": compute_error(compute_gains(observed), matrix.unit_strata), "margin": self.margin,
                "units": matrix.n_units, "test": "none: too few units" if test is None else test.method,
                "base_submission": board.members[1].submission,
                "candidate_submission": board.members[0].submission}, observed, test

    def _describe(self, verdict: str, rows: list[Row], total: float) -> list[str]:
        level = f"{100 * rows[0]['alpha']:.3g} %"
        accepted = "" if self.margin is None else f" by more than {self.margin:g}"
        chosen = [row for row in rows if row["verdict"] == verdict]
        names = listed([f"{row['metric']} on {'average' if self.average else row['test_set']}" for row in chosen], 4)
        opponents = " and ".join(name for name in self.opponents if any(row["against"] == name for row in chosen))
        each = f"{names}, at {level}" if len(rows) == 1 else f"all {len(rows)} criteria, each at {level}"
        if verdict == "fail":
            sentences = [f"fail: {self.candidate} is worse than {opponents}{accepted}, by {names} (at {level} after "
                         f"Holm's correction over {counted(len(rows), 'criterion', 'criteria')})."]
        elif verdict == "pass":
            gain = "is better than" if self.superior else f"is not worse{accepted} than"
            sentences = [f"pass: {self.candidate} {gain} {opponents}, by {each}."]
        else:
            sentences = [f"undecided: by {names}, the data show neither that {self.candidate} is good enough nor that "
                         f"it is worse than {opponents}{accepted}."]
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
            supposed = f"the true difference is {self.expected:g}" if self.expected else "both systems are equally good"
            place = "all test sets together" if self.average else most["test_set"]
            sentences.append(f"If {supposed}, a power of 80 % needs about {most['needed_units']:,} units on {place} "
                             f"(now {most['units']:,})." if most["needed_units"] > most["units"] else
                             f"If {supposed}, {most['units']:,} units on {place} have a power of 80 % or more.")
        return sentences
