"""Power of a test set, with type S and type M errors (Gelman and Carlin 2014).

A test set that is too small misses most differences, and exaggerates the ones that it detects; some even have the wrong
sign. Power is computed for a declared difference, never for the observed one: power at the observed difference is a
function of the p-value (Hoenig and Heisey 2001).
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
from registry.significance.diagnostics.exchangeability import find_skewed
from registry.significance.matrix import Matrix
from registry.significance.power import MOST, BootstrapDesign, Design, ExactMcNemar, MatchedTDesign, compute_discordance
from registry.significance.resampling.scores import resampling_refusal, score_resamples, share_resamples
from registry.significance.units import has_binary_units, unit_differences
from registry.studies.study import BoardStudy, Case, Finding, Row, name_systems, option

CORRELATIONS = (0.0, 0.25, 0.5, 0.75)  # default correlations of two systems' results
_MIN_EXTREME = 20  # resamples above the critical value that are needed to estimate it
LARGEST = 10**6  # units of a planned test set; the power of an exact test takes ten seconds there
_STEPS = 24  # points of a power curve, which ends at 1.5 times the detectable difference


class Power(BoardStudy):
    """The smallest true difference of each pair of systems that a test set detects.

    The study also computes the number of units that a difference needs, and its type S and type M errors (Gelman and
    Carlin 2014). The variance is estimated from the pairs of the task; without a task it follows from declared rates.
    """

    name: ClassVar[str] = "power"
    title: ClassVar[str] = "Which differences can the test set find?"
    citation: ClassVar[str] = "Gelman and Carlin 2014; Card et al. 2020"
    task: ClassVar = "none"
    figures: ClassVar = ("power",)
    power: float = option(0.8, "Power with which a difference counts as detectable.")
    difference: float | None = option(None, "A true difference of scores; adds its power, its type S and type M "
                                      "errors, and the number of units that it needs.", metavar="SCORE")
    items: tuple[int, ...] = option((), "Number of units of a planned test set; can be repeated.", metavar="N")
    family: int = option(1, "Number of comparisons that share alpha (Bonferroni; Holm's first step).", metavar="N")
    rates: tuple[float, ...] = option((), "Without a task: accuracy of the systems; twice for two accuracies.",
                                      name="rate")
    deviation: float | None = option(None, "Without a task: standard deviation of item scores.")
    correlation: float | None = option(None, "Without a task: correlation of the two systems' results; by default "
                                             "several.",
                                       metavar="R12")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.power < 1:
            raise InputError(f"the power is {self.power!r}; expected a number above 0 and below 1")
        if self.difference is not None and not 0 < self.difference < math.inf:
            raise InputError(f"the difference is {self.difference!r}; expected a difference of scores above 0")
        if invalid := [n for n in self.items if not 2 <= n <= LARGEST]:
            raise InputError(f"the number of items is {invalid[0]}; expected 2 to {LARGEST}")
        if self.family < 1:
            raise InputError(f"the number of comparisons that share alpha (--family) is {self.family!r}; expected 1 or "
                             "more")

    def resolve(self, task: str | None, shown: str | None) -> Power:  # noqa: ARG002
        if task is not None and (self.rates or self.deviation is not None or self.correlation is not None):
            raise InputError("--rate, --deviation and --correlation are for planning without a task; leave them out, "
                             "or name no task")
        return self

    def run_without_task(self, alpha: float | None) -> tuple[str, Finding]:
        alpha = 0.05 if alpha is None else alpha
        self._check_declared(alpha)
        study = self
        if len(self.rates) == 2 and self.difference is None and (gap := abs(self.rates[0] - self.rates[1])):
            study = replace(self, difference=round(gap, 12))
        if not self.items and study.difference is None:
            raise InputError("set --items to the size of the test set, or set --difference to see how many items this "
                             "difference needs; or name a task")
        tests = [_PlannedTest({"r12": r}, design, self.items or (study.require_units(design),))
                   for r in (CORRELATIONS if self.correlation is None else (self.correlation,))
                   if (design := self._make_declared_design(r, alpha / self.family)) is not None]
        rows = [row for test in tests for row in study.make_rows(test)]
        return "(declared)", Finding(
            {"plans": rows, "curve": study.make_curve(tests[-1]), "sizes": study.make_size_rows(tests[-1])},
            study.describe(rows, len(tests), "correlation", alpha, "item"))

    def _check_declared(self, alpha: float) -> None:
        if bool(self.rates) == (self.deviation is not None) or len(self.rates) > 2:
            raise InputError("declare one or two accuracies (--rate), or the standard deviation of item scores "
                             "(--deviation)")
        if any(not 0 < rate < 1 for rate in self.rates):
            raise InputError(f"the rates are {', '.join(map(str, self.rates))}; expected numbers above 0 and below 1")
        if self.deviation is not None and not 0 < self.deviation < math.inf:
            raise InputError(f"the deviation is {self.deviation!r}; expected a number above 0")
        if self.correlation is not None and not -1 <= self.correlation < 1:
            raise InputError(f"the correlation is {self.correlation!r}; expected a number from -1 up and below 1")
        if not 0 < alpha < 1:
            raise InputError(f"alpha is {alpha!r}; expected a number above 0 and below 1")

    def _make_declared_design(self, correlation: float, alpha: float) -> Design | None:
        """Return a planned test, from declared accuracies or a declared deviation.

        Return None if the accuracies rule out this correlation, and it is one of the default correlations.

        Raises:
            InputError: The accuracies rule out a declared correlation.
        """
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
            raise InputError("power is available for tests of items, not of single responses; use --unit item")
        if reason := resampling_refusal(matrix):
            raise InputError(str(reason))
        if matrix.runs is not None:
            raise InputError('power is available for fixed runs only; set runs = "fixed"')
        names = name_systems(case.board.members)
        alpha = case.request.significance.alpha / self.family
        tests = [_PlannedTest({"system_a": names[o.pair[0]], "system_b": names[o.pair[1]], "observed": o.difference},
                              design, self.items or (matrix.n_units,))
                 for o in Observed.compare(matrix, list(combinations(range(len(names)), 2)))
                 if (design := _make_design(case, o, alpha)) is not None]
        if not tests:
            raise InputError("no two systems differ in any unit")
        rows = [row for test in tests for row in self.make_rows(test)]
        median = tests[_find_median(rows[::len(tests[0].units)])]
        return Finding({"pairs": rows, "curve": self.make_curve(median), "sizes": self.make_size_rows(median)},
                       self.describe(rows, len(tests), "pair", case.request.significance.alpha,
                                     case.request.significance.unit or "item"),
                       [*(self._warn_of_bootstrap(case, matrix) if any(test.name == "bootstrap" for test in tests)
                          else ()),
                        *(_warn_of_skewed(matrix) if any(test.name == "t" for test in tests) else ())])

    def _warn_of_bootstrap(self, case: Case, matrix: Matrix) -> list[Message]:
        alpha, resamples = case.request.significance.alpha / self.family, case.settings.resamples
        few = [] if alpha * resamples >= _MIN_EXTREME else [
            Message("few-resamples-beyond", {"beyond": alpha * resamples, "resamples": resamples, "level": alpha,
                                             "needed": math.ceil(_MIN_EXTREME / alpha)})]
        return [*misuses(Bootstrap(), matrix), *few]

    def make_rows(self, test: _PlannedTest) -> list[Row]:
        """Return a table row for each number of units, with the detectable difference.

        `test` is the planned test of one pair of systems.
        """
        design, difference = test.design, self.difference
        needed = {} if difference is None else {"needed": self._find_needed(design, difference)}
        return [test.identity | {"units": n} | needed
                | {"test": test.name, "detectable": design.find_detectable(n, self.power)}
                | ({} if difference is None else _make_power_row(design, difference, n)) for n in test.units]

    def require_units(self, design: Design) -> int:
        """Return the number of units that the declared difference needs.

        Raises:
            InputError: The difference needs more than `MOST` units.
        """
        assert self.difference is not None
        needed = self._find_needed(design, self.difference)
        if needed is None:
            raise InputError(f"a difference of {self.difference:g} needs more than {MOST:,} items; give a larger "
                             "--difference")
        return needed

    def _find_needed(self, design: Design, difference: float) -> int | None:
        if difference >= design.largest:
            points = f"; on a scale of 100, {difference:g} is {difference / 100:g}" if design.largest == 1 else ""
            raise InputError(f"--difference {difference:g}: two scores of these systems can differ by at most "
                             f"{design.largest:g}{points}; give a smaller --difference")
        return design.find_units(difference, self.power)

    def make_curve(self, test: _PlannedTest) -> list[Row]:
        """Return the power curve of one pair of systems: power by true difference."""
        units, largest = test.units[0], test.design.largest
        detectable = test.design.find_detectable(units, self.power)
        end = largest if math.isnan(detectable) else min(1.5 * detectable, largest)
        return [test.identity | {"units": units} | _make_power_row(test.design, float(x), units)
                for x in np.linspace(0, end, _STEPS + 1)[1:]]

    def make_size_rows(self, test: _PlannedTest) -> list[Row]:
        """Return the detectable difference of one pair by the size of the test set.

        The sizes range from an eighth to 16 times the first planned number of units.
        """
        return [test.identity | {"units": n, "detectable": test.design.find_detectable(n, self.power)}
                for n in (round(test.units[0] * 2.0**k) for k in range(-3, 5)) if n > 1]

    def describe(self, rows: Sequence[Row], n: int, noun: str, alpha: float, unit: str) -> list[str]:
        """Return sentences about the difference that a test can detect.

        Of several tests, the sentences describe the median one. If a difference is declared, the first sentence says
        how many units it needs.

        Args:
            rows: Rows of `make_rows`.
            n: Number of tests.
            noun: What distinguishes the tests: `pair` or `correlation`.
            alpha: The significance level, before it is divided by the number of comparisons.
            unit: `item` or `cluster`.
        """
        first = rows[::len(rows) // n]
        values = sorted(_replace_nan(row["detectable"]) for row in first)
        median = first[_find_median(first)]
        detectable = _replace_nan(median["detectable"])
        level = f"{100 * alpha:g} %" + (f" divided by {self.family} comparisons" if self.family > 1 else "")
        largest = "none" if math.isinf(values[-1]) else f"{values[-1]:.4g}"
        spread = f", for the median of {counted(n, noun)} (from {values[0]:.4g} to {largest})" if n > 1 else ""
        units = counted(rows[0]["units"], unit)
        sentences = [f"On {units} the smallest true difference that a test at {level} detects with a power of "
                     f"{100 * self.power:g} % is {detectable:.4g}{spread}."]
        if math.isinf(detectable):
            sentences = [f"On {units} a test at {level} detects no true difference with a power of "
                         f"{100 * self.power:g} %" + (f", for the median of {counted(n, noun)}." if n > 1 else ".")]
        if self.difference is not None:
            needed = self._describe_needed(first, median, noun, level, unit)
            is_planned = len({row["units"] for row in first}) == 1 and median["units"] != median["needed"]
            power = (f"On {units} a difference of {self.difference:g} is detected with a power of "
                     f"{100 * median['power']:.0f} %.")
            errors = "No result can be significant on so few units."
            if median["power"]:
                errors = (f"Significant results overstate it by a factor of {median['type_m']:.2f} on average (type M "
                          f"error), and {100 * median['type_s']:.2g} % of them favour the worse system (type S error).")
            sentences = [needed, *sentences, f"{power} {errors}"] if is_planned else [f"{needed} {errors}"]
        sentences.append("Use this to plan a new test set whose items vary as much. It does not change the p-value of "
                         "a difference that is already observed.")
        return sentences

    def _describe_needed(self, first: Sequence[Row], median: Row, noun: str, level: str, unit: str) -> str:
        """Say how many units the declared difference needs, for one pair or the median of several tests."""
        aim = f"a true difference of {self.difference:g}"
        if len(first) == 1 and noun == "pair":
            aim += f" between {median['system_a']} and {median['system_b']}"
        aim += f" with {100 * self.power:g} % power at {level}"
        if median["needed"] is None:
            return f"More than {MOST:,} {unit}s are needed to detect {aim}."
        least, most = min(counts := [row["needed"] or MOST for row in first]), max(counts)
        spread = f", for the median of {counted(len(first), noun)} (from {least:,} to {most:,})"
        return f"You need about {counted(median['needed'], unit)} to detect {aim}{spread if len(first) > 1 else ''}."


@dataclass(frozen=True, eq=False)
class _PlannedTest:
    """A significance test whose power is computed for planned numbers of units.

    Attributes:
        identity: Columns that identify the rows of this test, such as the two systems.
        design: The test with the variance that determines its power.
        units: Planned numbers of units.
    """

    identity: Row
    design: Design
    units: tuple[int, ...]

    @property
    def name(self) -> str:
        return {ExactMcNemar: "mcnemar", MatchedTDesign: "t", BootstrapDesign: "bootstrap"}[type(self.design)]


def _warn_of_skewed(matrix: Matrix) -> list[Message]:
    warnings = find_skewed(SystemPairs.every(matrix), one_sided=True)
    return board_warnings(warnings, matrix.statistics.shape[1], Message("skewed-power"))


def _make_design(case: Case, observed: Observed, alpha: float) -> Design | None:
    """Return the test of a pair of systems with its variance, to compute its power.

    The variance is estimated from the observed results of the pair. The result is None if these do not vary, for
    example because the systems do not differ in any unit.
    """
    if not observed.n_discordant or math.isnan(observed.difference):
        return None
    if observed.is_mean:
        gains, _ = unit_differences(observed)
        if has_binary_units(observed):
            return ExactMcNemar(alpha, float(np.count_nonzero(gains)) / len(gains))
        if np.ptp(gains):
            return MatchedTDesign(alpha, float(gains.std(ddof=1)))
    resampled = score_resamples(observed.matrix, case.settings)
    deviations = observed.matrix.difference(*(resampled[:, system] for system in observed.pair)) - observed.difference
    deviations = deviations[~np.isnan(deviations)]
    is_varying = len(deviations) and np.ptp(deviations)
    return BootstrapDesign(alpha, deviations, observed.matrix.n_units) if is_varying else None


def _make_power_row(design: Design, difference: float, units: int) -> Row:
    power = design.compute_power(difference, units)
    return {"difference": difference, "power": power.power, "type_s": power.wrong_sign, "type_m": power.exaggeration}


def _find_median(rows: Sequence[Row]) -> int:
    # Rows have the same units unless these are the needed ones; equal detectable differences go by descending power.
    order = sorted(range(len(rows)), key=lambda n: (
        rows[n]["units"], _replace_nan(rows[n]["detectable"]), -rows[n].get("power", 0.0)))
    return order[len(order) // 2]


def _replace_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value
