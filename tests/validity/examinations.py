"""What is asked of simulated test sets: p-values, whether an interval covers, whether a family holds an error.

Every examination is called with a `Sample` and a generator, calls the package's own functions, and gives one number
for each run. Where there are levels to compare with they are p-values; else 1 where what is counted happened, and 0.
"""

from dataclasses import dataclass

import numpy as np

from registry.significance import Execution, PairTest, Settings
from registry.significance.base import METHODS, Observed
from registry.significance.effects import assess_equivalence, check_normality, measure_effects
from registry.significance.intervals import ClosedForm, group_by_item
from registry.significance.units import unit_differences

ALPHA = 0.05
HERE = Execution(workers=1)


def settings(rng, **options):
    """Settings with a seed of their own, for one thread."""
    return Settings(**{"resamples": 999, "seed": int(rng.integers(2**32)), "execution": HERE, **options})


def observed_of(sample):
    """Systems 0 and 1 of each run as tests see them."""
    return Observed.compare(sample.matrix.by_unit, sample.pairs())


@dataclass(frozen=True)
class PValues:
    """The p-values of systems 0 and 1, as they are; where many pairs are a `family`, they are drawn and not counted."""

    test: PairTest
    alternative: str = "two-sided"
    resamples: int = 999
    family: int = 1

    def __str__(self):
        return f"{self.test!r}{'' if self.alternative == 'two-sided' else ', ' + self.alternative}"

    def __call__(self, sample, rng):
        asked = settings(rng, alternative=self.alternative, resamples=self.resamples, family=self.family)
        return self.test.run(sample.matrix, sample.pairs(), asked).p_value


@dataclass(frozen=True)
class RandomizedP:
    """Randomized p-values, P(more extreme) + U P(as extreme) with U uniform: uniform where a test is exact.

    What is as extreme is seen by both one-sided tests, so that its probability is that of their sum less 1; with a
    symmetric distribution it is twice that for the two-sided test, but for a difference of 0. A Monte-Carlo p-value is
    one of the R + 1 equally likely places of what was observed among the draws: U / (R + 1) is taken off.
    """

    test: PairTest
    alternative: str = "two-sided"
    resamples: int = 999

    def __str__(self):
        return f"{self.test!r}{'' if self.alternative == 'two-sided' else ', ' + self.alternative}, randomized p"

    def __call__(self, sample, rng):
        uniform, seed = rng.random(sample.runs), int(rng.integers(2**32))

        def run(alternative):
            asked = settings(rng, alternative=alternative, resamples=self.resamples, seed=seed)
            return self.test.run(sample.matrix, sample.pairs(), asked)

        found = run(self.alternative)
        drawn = found.method == METHODS.index("monte-carlo")
        as_extreme = np.ones(sample.runs) / (self.resamples + 1)
        if not drawn.all():
            greater, less = (run(side).p_value for side in ("greater", "less"))
            counted = np.maximum(greater + less - 1, 0)  # a test that leaves ties out would seem uniform without
            if self.alternative == "two-sided":
                counted = np.where(np.isclose(greater, less, rtol=1e-9), counted, 2 * counted)
            as_extreme = np.where(drawn, as_extreme, counted)
        return found.p_value - uniform * as_extreme


@dataclass(frozen=True)
class Covers:
    """Whether a test's interval holds the population's difference of systems 0 and 1."""

    test: PairTest
    interval: str = "dual"
    alternative: str = "two-sided"

    def __str__(self):
        side = "" if self.alternative == "two-sided" else f", {self.alternative}"
        return f"{self.interval} interval of {self.test!r}{side}"

    def __call__(self, sample, rng):
        asked = settings(rng, interval=self.interval, alternative=self.alternative)
        truth = sample.matrix.difference(*sample.population.truth[:2])
        found = self.test.run(sample.matrix, sample.pairs(), asked)
        return (found.ci_low <= truth) & (truth <= found.ci_high)


@dataclass(frozen=True)
class CoversScore:
    """Whether a system's interval holds the population's score."""

    test: PairTest

    def __str__(self):
        return f"score interval of {self.test!r}"

    def __call__(self, sample, rng):
        low, high = self.test.score_intervals(sample.matrix, settings(rng))[::sample.systems].T
        truth = sample.population.truth[0]
        return (low <= truth) & (truth <= high)


@dataclass(frozen=True)
class CoversInClosedForm:
    """Whether the interval in closed form holds the population's first `score`, or `difference` of systems 0 and 1."""

    of: str

    def __str__(self):
        return f"interval of the {self.of} in closed form"

    def __call__(self, sample, rng):
        matrix, first = group_by_item(sample.matrix), np.array(sample.pairs())[:, 0]
        closed, truths = ClosedForm(matrix), sample.population.truth
        if self.of == "score":
            low, high = (end[first] for end in closed.scores())
            return (low <= truths[0]) & (truths[0] <= high)
        low, high = closed.differences(first, first + 1)
        truth = matrix.difference(*truths[:2])
        return (low <= truth) & (truth <= high)


@dataclass(frozen=True)
class CoversEffect:
    """Whether the interval of an effect size holds the `truth`."""

    name: str
    truth: float

    def __str__(self):
        return f"interval of the {self.name.replace('_', ' ')}"

    def __call__(self, sample, rng):
        found = [{effect.name: effect for effect in measure_effects(o)}[self.name] for o in observed_of(sample)]
        return np.array([effect.low <= self.truth <= effect.high for effect in found])


@dataclass(frozen=True)
class EquivalenceP:
    """The p-values of the test that the difference of systems 0 and 1 lies within a margin."""

    margin: float

    def __str__(self):
        return f"equivalence within {self.margin:g}"

    def __call__(self, sample, rng):
        asked = settings(rng)
        # a bootstrap resamples all systems
        alone = (Observed.compare(matrix, [(0, 1)])[0] for matrix in each_run(sample))
        return np.array([assess_equivalence(o, self.margin, asked).p_value for o in alone])


@dataclass(frozen=True)
class NormalityP:
    """The p-values of a test of normality of the units' gains."""

    name: str

    def __str__(self):
        return self.name

    def __call__(self, sample, rng):
        return np.array([{found.name: found for found in check_normality(unit_differences(o)[0])}[self.name].p_value
                         for o in observed_of(sample)])


@dataclass(frozen=True)
class OverallP:
    """The p-values of a test of all systems at once."""

    test: object

    def __str__(self):
        return repr(self.test)

    def __call__(self, sample, rng):
        return np.array([self.test.run(matrix).p_value for matrix in each_run(sample)])


def each_run(sample):
    """The matrix of every run alone, by unit."""
    matrix = sample.matrix.by_unit
    return (matrix.select_systems(range(start, start + sample.systems))
            for start in range(0, sample.runs * sample.systems, sample.systems))
