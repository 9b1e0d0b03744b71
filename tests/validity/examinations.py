"""What is asked of simulated test sets: p-values, whether an interval covers, whether a family holds an error.

Every examination is called with a `Sample` and a generator, calls the package's own functions, and gives one number
for each run. Where there are levels to compare with they are p-values; else 1 where what is counted happened, and 0.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from registry.significance import Execution, PairTest, Settings, rank
from registry.significance.base import Observed
from registry.significance.effects.effect_sizes import effects
from registry.significance.effects.equivalence import equivalence
from registry.significance.effects.normality import normality
from registry.significance.multiple.corrections import adjust
from registry.significance.multiple.stepdown import draws_of, max_t, min_p
from registry.significance.ranks.multiple_comparisons_with_the_best import compare_with_best, rank_intervals
from registry.significance.resampled_scores import resampled_scores
from registry.significance.units import unit_differences

ALPHA = 0.05
HERE = Execution(workers=1)


def settings(rng, **options):
    """Settings with a seed of their own, for one thread."""
    return Settings(**{"resamples": 999, "seed": int(rng.integers(2**32)), "execution": HERE, **options})


def observed_of(sample):
    """Systems 0 and 1 of each run as tests see them."""
    return Observed.of(sample.matrix.by_unit, sample.pairs())


@dataclass(frozen=True)
class PValues:
    """The p-values of systems 0 and 1, as they are."""

    test: PairTest
    alternative: str = "two-sided"
    resamples: int = 999

    def __str__(self):
        return f"{self.test!r}{'' if self.alternative == 'two-sided' else ', ' + self.alternative}"

    def __call__(self, sample, rng):
        asked = settings(rng, alternative=self.alternative, resamples=self.resamples)
        return np.array([found.p_value for found in self.test.run(sample.matrix, sample.pairs(), asked)])


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
        drawn = np.array([result.method == "monte-carlo" for result in found])
        p, as_extreme = np.array([result.p_value for result in found]), np.ones(sample.runs) / (self.resamples + 1)
        if not drawn.all():
            greater, less = (np.array([result.p_value for result in run(side)]) for side in ("greater", "less"))
            counted = np.maximum(greater + less - 1, 0)  # a test that leaves ties out would seem uniform without
            if self.alternative == "two-sided":
                counted = np.where(np.isclose(greater, less, rtol=1e-9), counted, 2 * counted)
            as_extreme = np.where(drawn, as_extreme, counted)
        return p - uniform * as_extreme


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
        return np.array([result.ci_low <= truth <= result.ci_high for result in found])


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
class CoversEffect:
    """Whether the interval of an effect size holds the `truth`."""

    name: str
    truth: float

    def __str__(self):
        return f"interval of the {self.name.replace('_', ' ')}"

    def __call__(self, sample, rng):
        found = [{effect.name: effect for effect in effects(o)}[self.name] for o in observed_of(sample)]
        return np.array([effect.low <= self.truth <= effect.high for effect in found])


@dataclass(frozen=True)
class EquivalenceP:
    """The p-values of the test that the difference of systems 0 and 1 lies within a margin."""

    margin: float

    def __str__(self):
        return f"equivalence within {self.margin:g}"

    def __call__(self, sample, rng):
        asked = settings(rng)
        return np.array([equivalence(o, self.margin, asked).p_value for o in observed_of(sample)])


@dataclass(frozen=True)
class NormalityP:
    """The p-values of a test of normality of the units' gains."""

    name: str

    def __str__(self):
        return self.name

    def __call__(self, sample, rng):
        return np.array([{found.name: found for found in normality(unit_differences(o)[0])}[self.name].p_value
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
    return (matrix.of_systems(range(at, at + sample.systems)) for at in range(0, sample.runs * sample.systems,
                                                                               sample.systems))


def all_pairs(systems):
    """The family of all pairs."""
    return list(itertools.combinations(range(systems), 2))


@dataclass(frozen=True)
class Corrected:
    """A family of all pairs, tested one by one and adjusted by p-values alone. Gives raw and adjusted p [runs, pairs].

    `correction` is a name that the package knows, or a function of the p-values of a family.
    """

    test: PairTest
    correction: str | Callable

    def __str__(self):
        return f"{getattr(self.correction, '__name__', self.correction)} over {self.test!r}"

    def __call__(self, sample, rng):
        pairs = [pair for family in zip(*(sample.pairs(p) for p in all_pairs(sample.systems)), strict=True)
                 for pair in family]
        found = self.test.run(sample.matrix, pairs, settings(rng))
        raw = np.array([result.p_value for result in found]).reshape(sample.runs, -1)
        correct = self.correction if callable(self.correction) else lambda p: adjust(p, self.correction)
        return raw, np.array([correct(p) for p in raw])


@dataclass(frozen=True)
class SteppedDown:
    """A family of all pairs, adjusted step-down from the joint draws of a test. Gives raw and adjusted p."""

    kind: str
    method: str
    resamples: int = 499

    def __str__(self):
        return f"step-down {self.method} of {self.kind} draws"

    def __call__(self, sample, rng):
        method = {"min_p": min_p, "max_t": max_t}[self.method]
        found = [method(draws_of(matrix, all_pairs(sample.systems), settings(rng, resamples=self.resamples), self.kind))
                 for matrix in each_run(sample)]
        return np.array([stepped.raw for stepped in found]), np.array([stepped.adjusted for stepped in found])


def null_pairs(population):
    """Which pairs of the family are truly equal, [pairs]."""
    return np.array([population.truth[a] == population.truth[b] for a, b in all_pairs(len(population.truth))])


@dataclass(frozen=True)
class FamilyError:
    """Whether any pair of equal systems is called different."""

    family: Callable

    def __str__(self):
        return f"{self.family}: any false"

    def __call__(self, sample, rng):
        return (self.family(sample, rng)[1][:, null_pairs(sample.population)] <= ALPHA).any(axis=1)


@dataclass(frozen=True)
class FalseDiscoveries:
    """The share of the pairs called different whose systems are equal; 0 where none is called different."""

    family: Callable

    def __str__(self):
        return f"{self.family}: false share"

    def __call__(self, sample, rng):
        found = self.family(sample, rng)[1] <= ALPHA
        return (found & null_pairs(sample.population)).sum(axis=1) / np.maximum(found.sum(axis=1), 1)


@dataclass(frozen=True)
class Finds:
    """Whether the family calls one pair different."""

    family: Callable
    pair: tuple[int, int] = (0, 1)

    def __str__(self):
        return f"{self.family}: finds {self.pair}"

    def __call__(self, sample, rng):
        return self.family(sample, rng)[1][:, all_pairs(sample.systems).index(self.pair)] <= ALPHA


@dataclass(frozen=True)
class InOrder:
    """Whether adjusted p-values are never below the raw ones and, where `strict`, in their order."""

    family: Callable
    strict: bool = True

    def __str__(self):
        return f"{self.family}: {'in order of' if self.strict else 'not below'} raw p"

    def __call__(self, sample, rng):
        raw, adjusted = self.family(sample, rng)
        ordered = np.take_along_axis(adjusted, np.argsort(raw, axis=1, kind="stable"), axis=1)
        rises = (np.diff(ordered, axis=1) >= 0).all(axis=1)
        return (rises | (not self.strict)) & (adjusted >= raw).all(axis=1)


@dataclass(frozen=True)
class HoldsRanks:
    """Whether every system's rank range holds its true place: of tied systems, all the places that they share."""

    family: Callable | None = None

    def __str__(self):
        return "rank intervals of joint resamples" if self.family is None else f"rank ranges of {self.family}"

    def __call__(self, sample, rng):
        truth = np.array(sample.population.truth)
        first, last = (1 + (truth[None] > truth[:, None]).sum(axis=1), (truth[None] >= truth[:, None]).sum(axis=1))
        ranges = self._from_resamples(sample, rng) if self.family is None else self._from_family(sample, rng)
        return np.array([bool((low <= first).all() and (high >= last).all()) for low, high in ranges])

    def _from_family(self, sample, rng):
        pairs = all_pairs(sample.systems)
        scores = sample.matrix.scores().reshape(sample.runs, -1)
        for score, adjusted in zip(scores, self.family(sample, rng)[1], strict=True):
            wins = np.zeros((sample.systems, sample.systems), dtype=bool)
            for (a, b), p in zip(pairs, adjusted, strict=True):
                wins[(a, b) if score[a] > score[b] else (b, a)] = p <= ALPHA
            ranking = rank(score, wins)
            yield ranking.low, ranking.high

    def _from_resamples(self, sample, rng):
        for matrix in each_run(sample):
            found = rank_intervals(matrix.scores(), resampled_scores(matrix, settings(rng)), alpha=ALPHA)
            yield found.low, found.high


@dataclass(frozen=True)
class HoldsBest:
    """Whether what is said of all systems beside the best one is true: bounds, and that the best one may be it."""

    what: str = field(default="bounds")

    def __str__(self):
        return f"comparison with the best: {self.what}"

    def __call__(self, sample, rng):
        truth = np.array(sample.population.truth)
        lead = np.array([score - np.delete(truth, n).max() for n, score in enumerate(truth)])
        held = []
        for matrix in each_run(sample):
            found = compare_with_best(matrix.scores(), resampled_scores(matrix, settings(rng)), alpha=ALPHA)
            held.append(((found.low <= lead) & (lead <= found.high)).all() if self.what == "bounds"
                        else found.possible[truth.argmax()])
        return np.array(held)
