"""What is asked of all pairs of simulated systems: whether a family holds an error, and whether ranks hold."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from registry.significance import PairTest, rank
from registry.significance.multiple import adjust, adjust_max_t, adjust_min_p, draw_differences
from registry.significance.rank_sets import compute_rank_sets
from tests.validity.examinations import ALPHA, each_run, settings


def all_pairs(systems):
    """The family of all pairs."""
    return list(itertools.combinations(range(systems), 2))


@dataclass(frozen=True)
class Corrected:
    """A family of all pairs, tested one by one and adjusted by p-values alone. Gives raw and adjusted p [runs, pairs].

    `correction` is a name that the package knows, or a function of the p-values of a family. Where many pairs are the
    `family` that shares what exact p-values may cost, they are drawn.
    """

    test: PairTest
    correction: str | Callable
    family: int = 1

    def __str__(self):
        return f"{getattr(self.correction, '__name__', self.correction)} over {self.test!r}"

    def __call__(self, sample, rng):
        pairs = [pair for family in zip(*(sample.pairs(p) for p in all_pairs(sample.systems)), strict=True)
                 for pair in family]
        found = self.test.run(sample.matrix, pairs, settings(rng, family=self.family))
        raw = found.p_value.reshape(sample.runs, -1)
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
        method = {"min_p": adjust_min_p, "max_t": adjust_max_t}[self.method]
        pairs, resamples = all_pairs(sample.systems), self.resamples
        found = [method(draw_differences(matrix, pairs, settings(rng, resamples=resamples), self.kind))
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
        return "rank sets of joint resamples" if self.family is None else f"rank ranges of {self.family}"

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
            found = compute_rank_sets(matrix, settings(rng), alpha=ALPHA)
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
            found = compute_rank_sets(matrix, settings(rng), alpha=ALPHA)
            held.append(((found.lead_low <= lead) & (lead <= found.lead_high)).all() if self.what == "bounds"
                        else found.possible[truth.argmax()])
        return np.array(held)
