"""A gate for a new version of a system: is the candidate good enough to replace the base?

A criterion is a metric on a test set, or the average of a metric over test sets. The gate passes if every criterion
passes at alpha (an intersection-union test, which needs no correction). It fails if some criterion shows a loss beyond
the margin after Holm's correction (a union-intersection test). Otherwise it is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError, UnknownNameError, counted, listed
from registry.evaluation.comparing.board_keys import BoardKey
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.settings import Request, build_request
from registry.messages import COUNT_AS
from registry.metrics import METRICS
from registry.plugins import find_package
from registry.significance.base import Observed
from registry.significance.margins import (
    MarginTest,
    MarginTests,
    compute_error,
    compute_gains,
    count_needed_units,
    find_score_range,
)
from registry.significance.multiple import adjust
from registry.store import catalog
from registry.store.catalog import TaskRow
from registry.studies.gate_looks import GateCase, GateSubject, compute_level, number_looks, spend_alpha
from registry.studies.run import choose_metrics
from registry.studies.study import BoardStudy, Choice, Finding, Row, choose_keys, is_named, option
from registry.studies.suites import stack_strata
from registry.values import parse


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
    margins: tuple[tuple[str, float], ...] = option((), "The largest loss of each metric.", metavar="METRIC=D")
    superior: bool = option(False, "Pass only if the candidate is significantly better.")
    reference: str = option("", "A release that the candidate must not be worse than either, by the same margin.")
    expected: float = option(0.0, "The true difference for which the output says how many units suffice.", metavar="D")
    average: bool = option(False, "Test the average over the test sets instead of each test set.")
    attempts: int = option(1, "Number of candidates that are tried; alpha is divided by it.", metavar="N")
    looks: int = option(1, "Number of tests of the candidate, each one on more units.", metavar="K")
    look: int | None = option(None, "The number of this test; it uses the first part of the units.", metavar="N")

    def __post_init__(self) -> None:
        super().__post_init__()
        margins = [margin for _, margin in self.margins] if self.margin is None else [self.margin]
        for margin in margins:
            if not 0 < margin < math.inf:
                raise InputError(f"--margin {margin:g}: expected a number above 0")
        if margins and self.superior:
            raise InputError("--margin accepts a loss and --superior requires a gain; give one of them")
        if self.reference and self.reference in (self.base, self.candidate):
            raise InputError(f"--reference {self.reference}: the gate tests this system already; name another one")
        if self.expected + min(margins, default=0.0) < 0:
            raise InputError(f"--expected {self.expected:g}: a candidate that is so much worse should not pass; "
                             f"expected {-min(margins, default=0.0):g} or more")
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

    @property
    def has_margin(self) -> bool:
        """True if losses up to a margin are accepted."""
        return self.margin is not None or bool(self.margins)

    def get_margin(self, metric: str) -> float | None:
        """Return the largest loss that is accepted by a metric; None without a margin."""
        return dict(self.margins).get(metric, self.margin)

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
        ids = sorted({member.submission_id for key in reduced for member in key.members})
        attributes = catalog.submission_attributes(connection, ids)
        counts = catalog.load_missing_answers(connection, ids)
        missing = [row for key in reduced for row in self._list_missing(key, counts)]
        yield GateSubject(self, tuple(reduced), {systems[n].name: values for n, values in attributes.items()}, request,
                          self.look or 1, self.looks, missing)

    def _list_missing(self, key: BoardKey, counts: Mapping[int, Sequence[Row]]) -> Iterator[Row]:
        """Yield the number of items of a leaderboard that a system does not answer, for each such system and run.

        Looks with `missing = "own"` need only the items of the look, and all of these have an answer.
        """
        column = None if find_package(key.metric.name) else parse("metric", METRICS, key.metric.name).column
        for member in key.members:
            for count in counts.get(member.submission_id, ()):
                if count["column"] in (None, column) and not (self.looks > 1 and count["policy"] == "own"):
                    yield {"metric": key.metric.alias, "test_set": key.test_set.name, "system": next(
                        name for name in (self.candidate, *self.opponents) if is_named(member, name)), **count}

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
        self._check_margins(case.boards)
        criteria = [self._test_criterion(boards, case, level) for boards in self._group_boards(case.boards)]
        losses = [1.0 if test is None else test.p_non_inferior for _, _, test in criteria]
        adjusted = adjust(np.array(losses), "holm").tolist()
        rows = []
        for (row, observed, test), p_loss in zip(criteria, adjusted, strict=True):
            p = test.p_inferior if test is not None and (self.superior or self.has_margin) else None
            verdict = "fail" if p_loss <= level else "pass" if p is not None and p <= level else "undecided"
            needed = None if verdict != "undecided" or p is None else count_needed_units(
                observed, row["margin"] or 0.0, self.expected, last, row["test"])
            rows.append(row | {"p_value": p, "p_loss": None if test is None else p_loss, "verdict": verdict,
                               "needed_units": needed})
        verdicts = [row["verdict"] for row in rows]
        verdict = "fail" if "fail" in verdicts else "pass" if all(v == "pass" for v in verdicts) else "undecided"
        summary: Row = {"verdict": verdict, "alpha": level, "confidence": 1 - 2 * level, "look": self.look,
                        "looks": self.looks}
        missing = case.subject.missing  # type: ignore[attr-defined]  # of GateSubject
        sentences = self._describe(verdict, rows, level, total)
        tables = {"criteria": rows, "gate": [summary], "looks": looks, **({"missing": missing} if missing else {})}
        return Finding(tables, [sentences[0], *describe_missing(missing), *sentences[1:]])

    def _check_margins(self, boards: Sequence[Board]) -> None:
        """Check that every metric has a margin, which is smaller than the range of its scores.

        Raises:
            InputError: A margin is missing or too large, or one margin is given for metrics with different ranges.
        """
        if not self.has_margin:
            return
        ranges: dict[str, tuple[float, float]] = {}
        for board in boards:
            metric = board.key.metric.alias
            ends = find_score_range(board.matrix)
            low, high = ranges.get(metric, ends)
            ranges[metric] = min(low, ends[0]), max(high, ends[1])
        if unknown := [metric for metric, _ in self.margins if metric not in ranges]:
            raise UnknownNameError("metric of the gate", unknown[0], ranges)
        if self.margins and (absent := [metric for metric in ranges if self.get_margin(metric) is None]):
            raise InputError(f"--margin: {absent[0]} has no margin; add --margin {absent[0]}=D, or test one metric by "
                             "--metric")
        if self.margin is not None and len(set(ranges.values())) > 1:
            scales = [f"{metric} from {low:g} to {high:g}" for metric, (low, high) in ranges.items()]
            each = " ".join(f"--margin {metric}=D" for metric in ranges)
            raise InputError(f"--margin {self.margin:g}: the metrics have different ranges ({listed(scales, 4)}); give "
                             f"each its margin ({each}), or test one metric by --metric")
        for metric, (low, high) in ranges.items():
            margin = self.get_margin(metric)
            if margin is not None and low < high <= low + margin:
                raise InputError(
                    f"--margin {margin:g}: scores of {metric} are from {low:g} to {high:g}, so "
                    + (f"{margin:g} points of 100 are {margin / 100:g}" if (low, high) == (0, 1) else
                       "every candidate would pass; give a smaller margin"))

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

    def _test_criterion(self, boards: Sequence[Board], case: GateCase,
                        level: float) -> tuple[Row, Observed, MarginTest | None]:
        """Test one criterion of the gate.

        The confidence of the interval is 1 - 2 level, because both tests are one-sided.

        Returns:
            The row of the criterion without its verdict, the data, and the test if there are enough units.
        """
        if any(board.matrix.runs is not None for board in boards):
            raise InputError('the gate requires fixed runs; set runs = "fixed"')
        board = boards[0]
        matrix = stack_strata(boards, [[0, 1]] * len(boards)) if self.average else board.matrix.by_unit
        observed = Observed.compare(matrix, [(0, 1)])[0]
        margin = self.get_margin(board.key.metric.alias)
        tests = None if math.isnan(observed.difference) else MarginTests.choose(observed, case.settings)
        test = None if tests is None else tests.compare(margin or 0.0)
        low, high = (None, None) if tests is None or test is None else (
            end if math.isfinite(end) else None for end in tests.find_interval(level, test))
        scores = matrix.observed.tolist()
        return {"metric": board.key.metric.alias, "test_set": "average" if self.average else board.key.test_set.name,
                "track": board.key.track, "against": self._name_opponent(board),
                "base": scores[1], "candidate": scores[0], "difference": observed.difference,
                "ci_low": low, "ci_high": high,
                "standard_error": compute_error(compute_gains(observed), matrix.unit_strata), "margin": margin,
                "units": matrix.n_units, "test": "none: too few units" if test is None else test.method,
                "base_submission": board.members[1].submission,
                "candidate_submission": board.members[0].submission}, observed, test

    def _describe(self, verdict: str, rows: list[Row], alpha: float, total: float) -> list[str]:
        """Return the verdict in sentences.

        Args:
            verdict: `pass`, `fail` or `undecided`.
            rows: The criteria.
            alpha: Level of this look.
            total: Level of all looks together.
        """
        level = f"{100 * alpha:.3g} %"
        chosen = [row for row in rows if row["verdict"] == verdict]
        margins = {row["metric"]: f"{row['margin']:g}" for row in chosen if row["margin"] is not None}
        if len(set(margins.values())) > 1:
            margins = {metric: f"{margin} ({metric})" for metric, margin in margins.items()}
        accepted = f" by more than {listed(list(dict.fromkeys(margins.values())), 4)}" if margins else ""
        names = listed([f"the average of {row['metric']}" if self.average else f"{row['metric']} on {row['test_set']}"
                        for row in chosen], 4)
        opponents = " and ".join(name for name in self.opponents if any(row["against"] == name for row in chosen))
        each = f"{names}, at {level}" if len(rows) == 1 else f"all {len(rows)} criteria, each at {level}"
        if verdict == "fail":
            sentences = [f"fail: {self.candidate} is worse than {opponents}{accepted}, by {names} (at {level} after "
                         f"Holm's correction over {counted(len(rows), 'criterion', 'criteria')})."]
        elif verdict == "pass":
            gain = "is better than" if self.superior else f"is not worse{accepted} than"
            sentences = [f"pass: {self.candidate} {gain} {opponents}, by {each}."]
        else:
            side = "better" if self.superior else "worse"
            sentences = [f"undecided: the data do not show whether {self.candidate} is {side} than "
                         f"{opponents}{accepted}, by {names}."]
            if not self.has_margin and not self.superior:
                sentences.append("Without a margin or a required gain, the gate cannot pass; declare one of them.")
            sentences += self._describe_undecided(chosen, alpha)
        if self.look is not None:
            sentences.append(f"Look {self.look} of {self.looks} has the level {level}; the levels of all looks add up "
                             f"to {100 * total:.3g} %.")
            if verdict == "undecided" and self.look < self.looks:
                sentences.append(f"For look {self.look + 1}, score the items that `--look {self.look + 1} --items` "
                                 "prints.")
        if verdict == "undecided":
            sentences += self._describe_needed_units(rows)
        if verdict == "undecided" and self.has_margin and self.look in (None, self.looks):
            change = "a larger margin" if self.average or len({row["test_set"] for row in rows}) == 1 else (
                "a larger margin, or the average over the test sets as the only criterion,")
            sentences.append(f"For the next candidate, {change} makes a decision more likely; choose it before you see "
                             "results.")
        return sentences

    def _is_loss(self, row: Row) -> bool:
        """Return True if the observed loss is larger than the margin, so that more units rather lead to a failure."""
        return row["difference"] is not None and bool(row["difference"] < -(row["margin"] or 0.0))

    def _describe_undecided(self, rows: list[Row], alpha: float) -> Iterator[str]:
        """Yield sentences about the observed differences of undecided criteria."""
        if len(rows) == 1 and None not in ((row := rows[0])["ci_low"], row["ci_high"]):
            bound = -(row["margin"] or 0.0) + 0.0
            if row["ci_low"] <= bound <= row["ci_high"]:
                yield (f"The difference is {row['difference']:.3g}, and its {100 * (1 - 2 * alpha):.4g} % CI, "
                       f"{row['ci_low']:.3g} to {row['ci_high']:.3g}, contains {bound:g}.")
        yield from self._describe_losses(rows)

    def describe_next_step(self, row: Row) -> list[str]:
        """Return sentences about what more items do to one criterion; empty if it is decided."""
        return [*self._describe_losses([row]), *self._describe_needed_units([row])] if (
            row["verdict"] == "undecided") else []

    def _describe_losses(self, rows: list[Row]) -> Iterator[str]:
        if (self.has_margin or self.superior) and (losses := [row for row in rows if self._is_loss(row)]):
            names = listed([f"{-row['difference']:.3g} by {row['metric']} on {row['test_set']}" for row in losses], 3)
            limit = "the margin" if self.has_margin else "0"
            yield (f"The observed loss is larger than {limit} ({names}): if it is the true loss, more items lead to "
                   "fail, not to pass.")

    def _describe_needed_units(self, rows: list[Row]) -> Iterator[str]:
        """Yield a sentence about the units that suffice, if a criterion without a loss needs more."""
        rows = [row for row in rows if not self._is_loss(row)]
        if not any(row["needed_units"] is not None for row in rows):
            return
        supposed = f"the true difference is {self.expected:g}" if self.expected else "both systems are equally good"
        needed = sorted((row for row in rows if row["needed_units"] is not None), key=lambda row: -row["needed_units"])
        has_metrics = len({row["metric"] for row in rows}) > 1
        names = [("all test sets together" if self.average else row["test_set"])
                 + (f" by {row['metric']}" if has_metrics else "")
                 + (f" against {row['against']}" if self.reference else "") for row in needed]
        larger = [f"{row['needed_units']:,} units on {name} (now {row['units']:,})"
                  for row, name in zip(needed, names, strict=True) if row["needed_units"] > row["units"]]
        yield (f"If {supposed}, a power of 80 % needs about {listed(larger, 3)}." if larger else
               f"If {supposed}, {needed[0]['units']:,} units on {names[0]} have a power of 80 % or more.")


def describe_missing(rows: Sequence[Row]) -> Iterator[str]:
    """Yield sentences about the items that systems do not answer, one for each system."""
    groups: dict[tuple[str, str | None, str], dict[str, int]] = {}
    for row in rows:
        run = f" (run {row['run']})" if row["run"] > 1 else ""
        groups.setdefault((row["system"], row["column"], row["policy"]), {})[
            f"{row['n']:,} of {counted(row['items'], 'item')} on {row['test_set']}{run}"] = row["n"]
    for (system, column, policy), places in groups.items():
        is_one = [*places.values()] == [1]
        yield (f"{system}: {' and '.join(places)} {'has' if is_one else 'have'} no "
               f"{'answer' if column is None else repr(column)} and {COUNT_AS[policy][not is_one]}.")
