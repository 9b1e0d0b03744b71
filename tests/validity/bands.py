"""What must hold of a row's outcomes, declared before any is seen, and whether a level is kept, whatever was declared.

Bands are claims about the true rate. What is measured may leave them by four standard errors of a rate at the edge,
which one row in 30,000 does by chance, and no seed that is fixed does twice. A band may foresee that a test errs too
often: that is in order, and its level is not kept.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

LEAST_P = 1e-4
# what is claimed of that which is measured: errors up to so many, or that it holds in so many
LEVELS = {"any error": 0.05, "false share": 0.05, "a false new best": 0.05, "coverage": 0.95, "holds": 0.95,
          "all ranks hold": 0.95, "a best may be it": 0.95, "one system's ranks hold": 0.95}


def kept(rate, runs, level):
    """Whether a level is kept by errors of this `rate` in so many runs, or by what holds at this rate.

    "no": more errors than the level allows, by three standard errors of a rate at the level; "conservative": fewer, by
    as much and by a fifth of the level; "yes": neither.
    """
    errors, allowed = (rate, level) if level < 0.5 else (1 - rate, 1 - level)
    slack = 3 * np.sqrt(allowed * (1 - allowed) / runs)
    if errors > allowed + slack:
        return "no"
    return "conservative" if errors < allowed - max(slack, allowed / 5) else "yes"


@dataclass(frozen=True)
class Measured:
    """What one band says of a row: `error` is the standard error, and `keeps` is empty where no level is claimed."""

    what: str
    value: str
    error: str
    expected: str
    holds: bool
    keeps: str = ""


@dataclass(frozen=True)
class Rate:
    """How often something happens lies from `low` to `high`."""

    low: float = 0.0
    high: float = 1.0
    what: str = "rate"

    @property
    def claim(self):
        """The level that is claimed of the rate; None: nothing."""
        return LEVELS.get(self.what)

    def measure(self, outcomes):
        """Judge outcomes [runs] from 0 to 1."""
        rate, runs = float(np.mean(outcomes)), len(outcomes)
        low, high = (edge + side * 4 * np.sqrt(edge * (1 - edge) / runs)
                     for edge, side in ((self.low, -1), (self.high, 1)))
        return Measured(self.what, f"{rate:.4f}", f"{np.sqrt(rate * (1 - rate) / runs):.4f}", self.expected,
                        bool(low <= rate <= high), "" if self.claim is None else kept(round(rate, 4), runs, self.claim))

    @property
    def expected(self):
        """The band in words."""
        if self.low == self.high:
            return f"{self.low:.4f}"
        if self.low == 0:
            return f"<= {self.high:.4f}"
        return f">= {self.low:.4f}" if self.high == 1 else f"{self.low:.4f} to {self.high:.4f}"


@dataclass(frozen=True)
class Size:
    """The share of p-values up to a level, all of them from 0 to 1; an undefined p-value rejects nothing.

    `is_power`: the systems differ, and no level is claimed.
    """

    level: float
    low: float = 0.0
    high: float = 1.0
    is_power: bool = False

    @property
    def claim(self):
        """The level that is claimed; None: nothing."""
        return None if self.is_power else self.level

    def measure(self, p_values):
        """Judge p-values [runs]."""
        share = self._rate.measure(p_values <= self.level)
        if self.claim is not None:
            share = replace(share, keeps=kept(float(share.value), len(p_values), self.claim))
        if ((p_values < 0) | (p_values > 1)).any():
            return replace(share, value=f"p = {p_values[np.abs(p_values - 0.5).argmax()]}", holds=False)
        return share

    @property
    def what(self):
        """What is counted."""
        return self._rate.what

    @property
    def expected(self):
        """The band in words."""
        return self._rate.expected

    @property
    def _rate(self):
        return Rate(self.low, self.high, f"p <= {self.level:g}")


@dataclass(frozen=True)
class Uniform:
    """Randomized p-values are uniform, by Kolmogorov and Smirnov."""

    what = "uniform by KS"
    expected = f"p >= {LEAST_P:g}"
    claim = None

    def measure(self, p_values):
        """Judge randomized p-values [runs]."""
        found = stats.kstest(p_values, "uniform").pvalue
        holds = bool(found >= LEAST_P)
        return Measured(self.what, f"p {found:.3f}", "", self.expected, holds, "yes" if holds else "no")


def valid(*levels):
    """Sizes of a test that keeps its level, however far below it stays."""
    return tuple(Size(level, high=level) for level in levels or (0.05, 0.01))


def nominal(*levels):
    """Sizes of a test that has exactly its level."""
    return tuple(Size(level, level, level) for level in levels or (0.05, 0.01))


def near(rate, slack, level=0.05):
    """A size that theory gives to within `slack`."""
    return (Size(level, max(0.0, rate - slack), rate + slack),)


def finds(floor, level=0.05):
    """A power of at least `floor`."""
    return (Size(level, low=floor, is_power=True),)
