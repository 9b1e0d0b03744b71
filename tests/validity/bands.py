"""What must hold of a row's outcomes, declared before any is seen.

Bands are claims about the true rate. What is measured may leave them by four standard errors of a rate at the edge,
which one row in 30,000 does by chance, and no seed that is fixed does twice.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

LEAST_P = 1e-4


@dataclass(frozen=True)
class Measured:
    """What one band says of a row."""

    what: str
    value: str
    expected: str
    holds: bool


@dataclass(frozen=True)
class Rate:
    """How often something happens lies from `low` to `high`."""

    low: float = 0.0
    high: float = 1.0
    what: str = "rate"

    def measure(self, outcomes):
        """Judge outcomes [runs] from 0 to 1."""
        rate, runs = float(np.mean(outcomes)), len(outcomes)
        low, high = (edge + side * 4 * np.sqrt(edge * (1 - edge) / runs)
                     for edge, side in ((self.low, -1), (self.high, 1)))
        return Measured(self.what, f"{rate:.4f}", self._expected(), bool(low <= rate <= high))

    def _expected(self):
        if self.low == self.high:
            return f"{self.low:.4f}"
        if self.low == 0:
            return f"<= {self.high:.4f}"
        return f">= {self.low:.4f}" if self.high == 1 else f"{self.low:.4f} to {self.high:.4f}"


@dataclass(frozen=True)
class Size:
    """The share of p-values up to a level, all of them from 0 to 1; an undefined p-value rejects nothing."""

    level: float
    low: float = 0.0
    high: float = 1.0

    def measure(self, p_values):
        """Judge p-values [runs]."""
        share = Rate(self.low, self.high, f"p <= {self.level:g}").measure(p_values <= self.level)
        if ((p_values < 0) | (p_values > 1)).any():
            return replace(share, value=f"p = {p_values[np.abs(p_values - 0.5).argmax()]}", holds=False)
        return share


@dataclass(frozen=True)
class Uniform:
    """Randomized p-values are uniform, by Kolmogorov and Smirnov."""

    def measure(self, p_values):
        """Judge randomized p-values [runs]."""
        found = stats.kstest(p_values, "uniform")
        return Measured("KS distance", f"{found.statistic:.4f}", f"p {found.pvalue:.3f} >= {LEAST_P:g}",
                        bool(found.pvalue >= LEAST_P))


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
    return (Size(level, low=floor),)
