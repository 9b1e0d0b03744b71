"""Tests of whether the differences of units are normal, for information only.

They do not decide which test of a pair is run, which would distort both. With many units they reject for small
departures that do not affect the t-test, and with few units they have little power.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from registry.arrays import ROUNDING, Floats
from registry.messages import NO_MESSAGES, Messages

LARGEST_SHAPIRO = 5000  # units up to which Royston fitted the p-value of Shapiro and Wilk's test


@dataclass(frozen=True, slots=True)
class Normality:
    """One test of normality, with mean and variance estimated; nan, and messages why, where it cannot be computed."""

    name: str
    statistic: float
    p_value: float
    messages: Messages = NO_MESSAGES


def normality(differences: Floats) -> list[Normality]:
    """Test whether differences of units, [units], come from a normal distribution.

    Returns:
        `shapiro-wilk`: W (Shapiro and Wilk 1965), p by Royston (1995), from 3 units to 5000. `anderson-darling`: A^2
        (Anderson and Darling 1954), p from A^2 (1 + 0.75/n + 2.25/n^2) by the formulas of D'Agostino and Stephens
        (1986, table 4.9), from 8 units; those end at 13, where p is below 1e-30. `lilliefors`: D (Lilliefors 1967), p
        by Dallal and Wilkinson (1986) up to their limit 0.1 and by Abdi and Molin (2007) beyond, from 5 units.
    """
    n = len(differences)
    if n and np.ptp(differences) <= ROUNDING * np.abs(differences).max():
        return [Normality(name, math.nan, math.nan, Messages.of("constant-difference", over="unit")) for name in _TESTS]
    found = []
    for name, (fewest, most, test) in _TESTS.items():
        if n < fewest or n > most:
            few, many = Messages.of("needs-units", least=fewest), Messages.of("too-many-units", most=most)
            found.append(Normality(name, math.nan, math.nan, few if n < fewest else many))
            continue
        found.append(Normality(name, *test(np.sort((differences - differences.mean()) / differences.std(ddof=1)))))
    return found


def _shapiro_wilk(z: Floats) -> tuple[float, float]:
    from scipy.stats import shapiro

    found = shapiro(z)
    return float(found.statistic), float(found.pvalue)


def _anderson_darling(z: Floats) -> tuple[float, float]:
    from scipy.special import log_ndtr

    n = len(z)
    odd = 2 * np.arange(n) + 1
    statistic = -n - float(odd @ (log_ndtr(z) + log_ndtr(-z[::-1]))) / n
    x = min(statistic * (1 + 0.75 / n + 2.25 / n**2), 13.0)
    if x < 0.2:
        p = -math.expm1(-13.436 + 101.14 * x - 223.73 * x * x)
    elif x < 0.34:
        p = -math.expm1(-8.318 + 42.796 * x - 59.938 * x * x)
    elif x < 0.6:
        p = math.exp(0.9177 - 4.279 * x - 1.38 * x * x)
    else:
        p = math.exp(1.2937 - 5.709 * x + 0.0186 * x * x)
    return statistic, p


def _lilliefors(z: Floats) -> tuple[float, float]:
    from scipy.special import ndtr

    n = len(z)
    below, steps = ndtr(z), np.arange(n + 1) / n
    statistic = float(max((steps[1:] - below).max(), (below - steps[:-1]).max()))
    p = _dallal_wilkinson(statistic, n)
    return statistic, p if p <= 0.1 else min(max(_abdi_molin(statistic, n), 0.1), 1.0)


def _dallal_wilkinson(d: float, n: int) -> float:
    """The p-value of D, fitted for 5 to 100 units and p up to 0.1.

    Beyond 100 the authors scale D by (n / 100)^0.49. From 1000 units on it is scaled by the square root here, as its
    limit wants: their power makes a p-value of 0.05 one of 0.062 at 10 000 units (simulated), and ever larger.
    """
    if n > 100:
        d, n = d * (min(n, 1000) / 100) ** 0.49 * math.sqrt(max(n, 1000) / 1000), 100
    m = n + 2.78019
    return math.exp(-7.01256 * d * d * m + 2.99587 * d * math.sqrt(m) - 0.122119 + 0.974598 / math.sqrt(n)
                    + 1.67997 / n)


def _abdi_molin(d: float, n: int) -> float:
    """The p-value of D as a polynomial of degree 10; it errs by a few hundredths, and below 0.01 it is useless."""
    b = 1.30748185078790 + n
    x = (math.sqrt(b * b - 4 * 0.08861783849346 * (0.37872256037043 - 1 / d**2)) - b) / (2 * 0.08861783849346)
    # lowest power first; it passes 1 near x = 5.6 and keeps rising
    return float(np.polynomial.polynomial.polyval(x, (
        -0.37782822932809, 1.67819837908004, -3.02959249450445, 2.80015798142101, -1.39874347510845, 0.40466213484419,
        -0.06353440854207, 0.00287462087623, 0.00069650013110, -0.00011872227037, 0.00000575586834)))


_TESTS = {
    "shapiro-wilk": (3, LARGEST_SHAPIRO, _shapiro_wilk),
    "anderson-darling": (8, math.inf, _anderson_darling),
    "lilliefors": (5, math.inf, _lilliefors),
}
