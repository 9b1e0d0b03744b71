"""The differences that a test set can find, and how far significant ones mislead (Gelman and Carlin 2014).

A test set that is small for the relevant differences misses most of them, and exaggerates those that it finds, some
even with the wrong sign. Both follow from a declared difference, never from the observed one: power at the observed
difference is the p-value in other words (Hoenig and Heisey 2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from registry.errors import InputError, counted
from registry.messages import Message
from registry.significance import Bootstrap
from registry.significance.base import Observed
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.evidence import SystemPairs, board_warnings
from registry.significance.diagnostics.exchangeability import skewed
from registry.significance.matrix import Matrix
from registry.significance.power import Design, DrawnDesign, ExactMcNemar, MatchedTDesign, compute_discordance
from registry.significance.resampling.scores import resampling_refusal, score_resamples, share_resamples
from registry.significance.units import has_binary_units, unit_differences
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems, option

CORRELATIONS = (0.0, 0.25, 0.5, 0.75)  # of two systems' results, where none is declared
_BEYOND = 20  # resamples that must lie beyond the level of a test, to say where it begins
LARGEST = 10**6  # units of a test set to plan: the powers of exact tests take ten seconds there
_STEPS = 24  # of a curve, up to half as much again as is detectable


class Power(BoardStudy):
    """The smallest difference that the task's test set detects, for every pair as it deviates there.

    Also how many units a difference needs, and how far significant ones mislead (Gelman and Carlin 2014): as pairs of
    the task deviate, or before any submission from declared rates.
    """

    name: ClassVar[str] = "power"
    title: ClassVar[str] = "Which differences can the test set find?"
    citation: ClassVar[str] = "Gelman and Carlin 2014; Card et al. 2020"
    task: ClassVar = "none"
    figures: ClassVar = ("power",)
    power: float = option(0.8, "What detecting a difference means.")
    difference: float | None = option(None, "A true difference of scores: also its power, type S and type M errors, "
                                      "and the units needed.", metavar="SCORE")
    items: tuple[int, ...] = option((), "Units of a test set to come; can be repeated.", metavar="N")
    family: int = option(1, "How many comparisons share alpha (Bonferroni; Holm's first step).", metavar="N")
    rates: tuple[float, ...] = option((), "Without a task: at which rate systems are right; twice for two of them.",
                                      name="rate")
    deviation: float | None = option(None, "Without a task: the standard deviation of the scores of items.")
    correlation: float | None = option(None, "Without a task: of the two systems' results; several if none is given.",
                                       metavar="R12")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.power < 1:
            raise InputError(f"the power is {self.power!r}; expected a number above 0 and below 1")
        if self.difference is not None and not 0 < self.difference < math.inf:
            raise InputError(f"the difference is {self.difference!r}; expected a difference of scores above 0")
        if wrong := [n for n in self.items if not 2 <= n <= LARGEST]:
            raise InputError(f"{wrong[0]} items cannot be planned; expected from 2 to {LARGEST}")
        if self.family < 1:
            raise InputError(f"the family is {self.family!r}; expected a number of comparisons from 1 up")

    def resolve(self, task: str | None, shown: str | None) -> Power:  # noqa: ARG002
        if task is not None and (self.rates or self.deviation is not None or self.correlation is not None):
            raise InputError("the task's own pairs tell their rates and deviations; leave --rate, --deviation and "
                             "--correlation out, or name no task")
        return self

    def run_without_task(self, alpha: float | None) -> tuple[str, Finding]:
        alpha = 0.05 if alpha is None else alpha
        self._check_declared(alpha)
        asked = self
        if len(self.rates) == 2 and self.difference is None and (gap := abs(self.rates[0] - self.rates[1])):
            asked = replace(self, difference=round(gap, 12))
        planned = [_Planned({"r12": r}, design, self.items)
                   for r in (CORRELATIONS if self.correlation is None else (self.correlation,))
                   if (design := self._declared_design(r, alpha / self.family)) is not None]
        rows = [row for one in planned for row in asked.rows(one)]
        return "(declared)", Finding(
            {"plans": rows, "curve": asked.curve(planned[-1]), "sizes": asked.sizes(planned[-1])},
            asked.reading(rows, len(planned), "correlation"))

    def _check_declared(self, alpha: float) -> None:
        if not self.items:
            raise InputError("nothing says how large the test set is to be; name --items, or a task")
        if bool(self.rates) == (self.deviation is not None) or len(self.rates) > 2:
            raise InputError("declare one or two rates at which systems are right (--rate), or the standard deviation "
                             "of the scores of items (--deviation)")
        if any(not 0 < rate < 1 for rate in self.rates):
            raise InputError(f"the rates are {', '.join(map(str, self.rates))}; expected numbers above 0 and below 1")
        if self.deviation is not None and not 0 < self.deviation < math.inf:
            raise InputError(f"the deviation is {self.deviation!r}; expected a number above 0")
        if self.correlation is not None and not -1 <= self.correlation < 1:
            raise InputError(f"the correlation is {self.correlation!r}; expected a number from -1 up and below 1")
        if not 0 < alpha < 1:
            raise InputError(f"alpha is {alpha!r}; expected a number above 0 and below 1")

    def _declared_design(self, correlation: float, alpha: float) -> Design | None:
        """The test under this correlation; None where it is one of several and cannot be."""
        if self.deviation is not None:
            return MatchedTDesign(alpha, self.deviation * math.sqrt(2 * (1 - correlation)))
        try:
            return ExactMcNemar(alpha, compute_discordance(self.rates[0], self.rates[-1], correlation))
        except ValueError as error:
            if self.correlation is None and correlation:  # independent systems can have any rates
                return None
            raise InputError(str(error)) from None

    def run(self, case: Case) -> Finding:
        matrix = share_resamples(case.board.matrix.by_unit, case.settings)
        if matrix.answers_to is not None:
            raise InputError("the power is that of tests of items, not of their answers: take --unit item")
        if reason := resampling_refusal(matrix):
            raise InputError(str(reason))
        if matrix.runs is not None:
            raise InputError('the power is that of units, and not of runs: set runs = "fixed"')
        names = name_systems(case.board.members)
        alpha = case.request.significance.alpha / self.family
        planned = [_Planned({"system_a": names[o.pair[0]], "system_b": names[o.pair[1]], "observed": o.difference},
                            design, self.items or (matrix.n_units,))
                   for o in Observed.of(matrix, list(combinations(range(len(names)), 2)))
                   if (design := _design(case, o, alpha)) is not None]
        if not planned:
            raise InputError("no two systems differ in any unit")
        rows = [row for one in planned for row in self.rows(one)]
        middle = planned[_middle(rows[::len(planned[0].units)])]
        return Finding({"pairs": rows, "curve": self.curve(middle), "sizes": self.sizes(middle)},
                       self.reading(rows, len(planned), "pair"),
                       [*(self._warnings(case, matrix) if any(one.test == "bootstrap" for one in planned) else ()),
                        *(_of_skewed(matrix) if any(one.test == "t" for one in planned) else ())])

    def _warnings(self, case: Case, matrix: Matrix) -> list[Message]:
        """What a reader of powers that rest on draws must be warned of."""
        alpha, resamples = case.request.significance.alpha / self.family, case.settings.resamples
        few = [] if alpha * resamples >= _BEYOND else [
            Message("few-resamples-beyond", {"beyond": alpha * resamples, "resamples": resamples, "level": alpha,
                                             "needed": math.ceil(_BEYOND / alpha)})]
        return [*misuses(Bootstrap(), matrix), *few]

    def rows(self, planned: _Planned) -> list[Row]:
        """What can be detected on each number of units."""
        return [planned.about | {"test": planned.test, "units": n,
                                 "detectable": planned.design.detectable(n, self.power)}
                | self.declared(planned.design, n) for n in planned.units]

    def declared(self, design: Design, units: int) -> Row:
        """What comes of the declared difference on so many units; nothing where none is declared."""
        if self.difference is None:
            return {}
        if self.difference > design.largest:
            raise InputError(f"the difference is {self.difference:g}, and two such scores differ by {design.largest:g} "
                             "at most")
        return _at(design, self.difference, units) | {"needed": design.needed(self.difference, self.power)}

    def curve(self, planned: _Planned) -> list[Row]:
        """The power of one pair by the true difference."""
        units = planned.units[0]
        detectable = planned.design.detectable(units, self.power)
        most = planned.design.largest if math.isnan(detectable) else min(1.5 * detectable, planned.design.largest)
        return [planned.about | {"units": units} | _at(planned.design, float(x), units)
                for x in np.linspace(0, most, _STEPS + 1)[1:]]

    def sizes(self, planned: _Planned) -> list[Row]:
        """What one pair's test detects on more and on fewer units."""
        return [planned.about | {"units": n, "detectable": planned.design.detectable(n, self.power)}
                for n in (round(planned.units[0] * 2.0**k) for k in range(-3, 5)) if n > 1]

    def reading(self, rows: Sequence[Row], n: int, thing: str) -> list[str]:
        """Say what is detectable, what becomes of a declared difference, and what this does not say."""
        first = [row for row in rows if row["units"] == rows[0]["units"]]
        known = sorted(_known(row["detectable"]) for row in first)
        middle = first[_middle(first)]
        found = _known(middle["detectable"])
        level = "alpha" if self.family == 1 else f"alpha divided by {self.family} comparisons"
        to = "to none at all" if math.isinf(known[-1]) else f"to {known[-1]:.4g}"
        of = f", for the middle one of {counted(n, thing)} (from {known[0]:.4g} {to})" if n > 1 else ""
        said = [f"On {rows[0]['units']} units the smallest true difference that a test at {level} finds with a power "
                f"of {100 * self.power:g} % is {found:.4g}{of}."]
        if math.isinf(found):
            said = [f"On {rows[0]['units']} units a test at {level} finds no true difference with a power of "
                    f"{100 * self.power:g} %" + (f", for the middle one of {counted(n, thing)}." if n > 1 else ".")]
        if self.difference is not None:
            said.append(f"One of {self.difference:g} is found with a power of {100 * middle['power']:.0f} %." + (
                f" Where it is found, it looks {middle['type_m']:.2f} times as large as it is (type M), and a share of "
                f"{middle['type_s']:.2g} of what is significant favours the worse system (type S)."
                if middle["power"] else " Nothing can be significant on so few units."))
        said.append("This is about test sets to come whose units deviate as these do. It says nothing of a difference "
                    "that was observed, whose p-value says all that power could.")
        return said


@dataclass(frozen=True, eq=False)
class _Planned:
    """A design with what it is the design of, and the numbers of units to look at."""

    about: Row
    design: Design
    units: tuple[int, ...]

    @property
    def test(self) -> str:
        return {ExactMcNemar: "mcnemar", MatchedTDesign: "t", DrawnDesign: "bootstrap"}[type(self.design)]


def _of_skewed(matrix: Matrix) -> list[Message]:
    """Say of how many pairs Student's powers are off, as they take the means of units for normal."""
    warnings = skewed(SystemPairs.every(matrix), one_sided=True)
    return board_warnings(warnings, matrix.statistics.shape[1], Message("skewed-power"))


def _design(case: Case, o: Observed, alpha: float) -> Design | None:
    """The test of a pair as it deviates; None where it differs in no unit."""
    if not o.n_discordant or math.isnan(o.difference):
        return None
    if o.is_mean:
        gains, _ = unit_differences(o)
        if has_binary_units(o):
            return ExactMcNemar(alpha, float(np.count_nonzero(gains)) / len(gains))
        if np.ptp(gains):
            return MatchedTDesign(alpha, float(gains.std(ddof=1)))
    resampled = score_resamples(o.matrix, case.settings)
    moves = o.matrix.difference(*(resampled[:, system] for system in o.pair)) - o.difference
    moves = moves[~np.isnan(moves)]
    return DrawnDesign(alpha, moves, o.matrix.n_units) if len(moves) and np.ptp(moves) else None


def _at(design: Design, difference: float, units: int) -> Row:
    found = design.at(difference, units)
    return {"difference": difference, "power": found.power, "type_s": found.wrong_sign, "type_m": found.exaggeration}


def _middle(rows: Sequence[Row]) -> int:
    """The place of the middle one by what is detectable, and by power where that is alike; of two the lesser one."""
    order = sorted(range(len(rows)), key=lambda n: (_known(rows[n]["detectable"]), -rows[n].get("power", 0.0)))
    return order[len(order) // 2]


def _known(value: float) -> float:
    return math.inf if math.isnan(value) else value
