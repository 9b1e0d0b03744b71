"""Tests that are wrong on purpose, each in a way that has been published or is easily written, and what catches it.

Every mutant takes the place of the examination of a row in `rows`; there the right one passes, and here a band must
be left. A harness that lets one through proves nothing about the tests that it lets through.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from registry.judged import LABELLED, columns
from registry.significance import Bootstrap, McNemar, PairTest, Permutation, PredictionPowered
from registry.significance.resampled_scores import resampled_scores
from registry.significance.resampling.draws import swapped_sums
from registry.significance.results import Tails
from tests.validity.examinations import HERE, PValues, RandomizedP, each_run, settings
from tests.validity.family_examinations import Corrected, FamilyError, Finds, InOrder, all_pairs
from tests.validity.rows import ROWS


@dataclass(frozen=True)
class Mutant:
    """A wrong examination in the place of the right one of a row, and why the row's band is left."""

    name: str
    row: str
    test: Callable
    why: str

    def measure(self):
        """What each band says in quick mode."""
        row = replace(ROWS[self.row], test=self.test)
        return row.measure(row.runs_quick)


class OwnBootstrap(PairTest):
    """A bootstrap of its own making: `extreme` tells from the difference and the two systems' scores in resamples.

    `apart` resamples the second system's units by other draws.
    """

    extreme: Callable = None
    apart: bool = False
    name = "own bootstrap"

    def tails(self, pairs, asked):
        """Count the extreme resamples of each pair."""
        matrix = pairs[0].matrix
        first = resampled_scores(matrix, asked)
        second = resampled_scores(matrix, replace(asked, seed=asked.seed + 1)) if self.apart else first
        counts = [np.count_nonzero(self.extreme(o.difference, first[:, o.pair[0]] - second[:, o.pair[1]]))
                  for o in pairs]
        p = (np.array(counts) + 1) / (asked.resamples + 1)
        return Tails.made(np.log(p), "monte-carlo", resamples=asked.resamples)


def recentred(difference, resampled):
    """The right one: |d* - d| >= |d|."""
    return np.abs(resampled - difference) >= abs(difference)


def unrecentred(difference, resampled):
    """|d*| >= |d|: the resamples are centred at d, not at 0."""
    return np.abs(resampled) >= abs(difference)


def recentred_by_the_mean(difference, resampled):
    """|d*| less the mean of |d*|: one side of the distribution is taken for both."""
    return np.abs(resampled) - np.abs(resampled).mean() >= abs(difference)


class Altered(PairTest):
    """A right test whose p-values are changed by a function of the result and the probability of what ties with it."""

    test: PairTest = None
    change: Callable = None
    name = "altered"

    def run(self, matrix, pairs, asked):
        """Run the right one, and what it takes to see ties."""
        found = self.test.run(matrix, pairs, asked)
        greater, less = (self.test.run(matrix, pairs, replace(asked, alternative=side)) for side in ("greater", "less"))
        sides = 2 if asked.alternative == "two-sided" else 1
        changed = []
        for result, above, below in zip(found, greater, less, strict=True):
            tied = (above.p_value + below.p_value - 1) * (1 if above.p_value == below.p_value else sides)
            changed.append(replace(result, p_value=self.change(result, tied)))
        return changed

    def tails(self, pairs, asked):
        """Nothing is computed here."""
        raise NotImplementedError


def strictly_more_extreme(result, tied):
    """Count what is beyond the observed difference, and not what equals it."""
    return result.p_value - tied


def half_the_ties(result, tied):
    """Count half of what equals the observed difference (the mid-p), and call it exact."""
    return result.p_value - tied / 2


def without_the_observed_one(result, tied):
    """c / R in place of (c + 1) / (R + 1)."""
    return (result.p_value * (result.resamples + 1) - 1) / result.resamples


class ItemsForClusters(PairTest):
    """A right test that forgets which items belong together."""

    test: PairTest = None
    name = "items for clusters"

    def run(self, matrix, pairs, asked):
        """Take every item for a unit."""
        return self.test.run(replace(matrix, units=None), pairs, asked)

    def tails(self, pairs, asked):
        """Nothing is computed here."""
        raise NotImplementedError


@dataclass(frozen=True)
class RawMaxT:
    """Single-step adjustment by the largest raw difference of each draw: pairs are compared without being comparable.

    The family's error is right. But the noisiest pair sets the bar, and no quiet one ever passes it.
    """

    def __call__(self, sample, rng):
        """Raw and adjusted p-values [runs, pairs]."""
        a, b = np.array(all_pairs(sample.systems)).T
        raw, adjusted = [], []
        for matrix in each_run(sample):
            asked = settings(rng, resamples=499)
            apart = matrix.statistics[:, b] - matrix.statistics[:, a]
            observed = np.abs(matrix.scores()[a] - matrix.scores()[b])
            moved = np.concatenate(list(swapped_sums(apart, asked.resamples, asked.seed, np.asarray, HERE)))[..., 0]
            drawn = np.abs(2 * moved - apart.sum(axis=0)[:, 0]) / matrix.n_units
            raw.append((1 + (drawn >= observed).sum(axis=0)) / 500)
            adjusted.append((1 + (drawn.max(axis=1)[:, None] >= observed).sum(axis=0)) / 500)
        return np.array(raw), np.array(adjusted)


@dataclass(frozen=True)
class JudgeForPeople:
    """P-values on judged items, of which those that people did not look at count as if they had said what it says."""

    def __call__(self, sample, rng):
        judge, looked = sample.matrix.statistics[..., 1], sample.matrix.statistics[..., LABELLED] > 0
        human = np.where(looked, sample.matrix.statistics[..., 7], judge)
        taken = np.stack(columns(judge, human, np.ones_like(judge), np.ones_like(judge)), axis=-1)
        altered = replace(sample, matrix=replace(sample.matrix, statistics=taken))
        return PValues(PredictionPowered())(altered, rng)


@dataclass(frozen=True)
class LabelsOfAll:
    """Pairs judged after the labels of *all* systems are permuted in every unit, which assumes that all are equal."""

    def __call__(self, sample, rng):
        """Raw p-values [runs, pairs], and the same for adjusted ones."""
        a, b = np.array(all_pairs(sample.systems)).T
        found = []
        for matrix in each_run(sample):
            scores = matrix.statistics[:, :, 0]
            drawn = rng.permuted(np.broadcast_to(scores, (199, *scores.shape)), axis=2).mean(axis=1)
            observed = scores.mean(axis=0)
            found.append((1 + (np.abs(drawn[:, a] - drawn[:, b]) >= abs(observed[a] - observed[b])).sum(axis=0)) / 200)
        return np.array(found), np.array(found)


def holm_without_its_maximum(p):
    """p_(i) (m - i + 1), so that a larger p-value can be adjusted to a smaller one."""
    adjusted = np.empty_like(p)
    adjusted[np.argsort(p, kind="stable")] = np.minimum(np.sort(p) * np.arange(len(p), 0, -1), 1)
    return adjusted


class SwappedRaw(PairTest):
    """Predictions of two systems swapped as they are, each on its own scale."""

    name = "raw predictions"
    families = ("pair",)

    def tails(self, pairs, asked):
        """The right test, but for the standardizing."""
        raw = replace(pairs[0].matrix.coefficient, standardized=lambda x: x)
        matrix = replace(pairs[0].matrix, coefficient=raw)
        return Permutation().tails(replace(pairs, matrix=matrix), asked)


MUTANTS = {mutant.name: mutant for mutant in (
    Mutant("unpaired bootstrap", "power-bootstrap-alike", PValues(OwnBootstrap(recentred, apart=True)),
           "it adds the variances of two correlated systems: little power"),
    Mutant("unpaired bootstrap in a size", "bootstrap-opposed-200", PValues(OwnBootstrap(recentred, apart=True)),
           "with a negative correlation it rejects too often"),
    Mutant("unrecentred bootstrap", "power-bootstrap", PValues(OwnBootstrap(unrecentred)),
           "half of the resamples are beyond what was observed, however large that is: no power"),
    Mutant("recentred by the mean of |d*|", "bootstrap-f1-200", PValues(OwnBootstrap(recentred_by_the_mean)),
           "one side of the distribution stands for both: twice the level"),
    Mutant("strict >", "permutation-binary-12", RandomizedP(Altered(Permutation(), strictly_more_extreme)),
           "the tie with itself is left out: p is too small, often 0"),
    Mutant("strict > in a size", "size-permutation-binary", PValues(Altered(Permutation(), strictly_more_extreme)),
           "the same, seen in the size"),
    Mutant("c / R", "size-permutation-20-draws",
           PValues(Altered(Permutation(), without_the_observed_one), resamples=20),
           "with 20 draws 2 of 21 places are significant, in place of 1"),
    Mutant("bootstrap-t of few unequal clusters", "unequal-clusters-8-permutation-studentized",
           PValues(Bootstrap("studentized")), "it knows hardly any cluster but the largest"),
    Mutant("items for clusters", "size-permutation-documents", PValues(ItemsForClusters(Permutation())),
           "items of a document agree, and there are fewer of them than it seems"),
    Mutant("raw max-T", "family-permutation-max_t-finds-quiet", Finds(RawMaxT()),
           "the noisiest pair sets the bar for a quiet one, which is not found"),
    Mutant("labels of all systems", "family-holm-uneven", FamilyError(LabelsOfAll()),
           "noisy systems are judged by the noise of quiet ones"),
    Mutant("Holm without its maximum", "family-holm-in-order", InOrder(Corrected(McNemar(), holm_without_its_maximum)),
           "a pair of larger p-value is significant where one of smaller is not"),
    Mutant("boards apart", "boards-20-holm-together", ROWS["boards-20-holm-apart"].test,
           "20 boards that are each a family of their own err in 44 %"),
    Mutant("half the ties", "size-mcnemar-exact", PValues(Altered(McNemar(), half_the_ties)),
           "the size is that of the mid-p, not of the exact test"),
    Mutant("half the ties, randomized", "permutation-binary-12", RandomizedP(Altered(Permutation(), half_the_ties)),
           "what is as extreme as observed is not all counted"),
    Mutant("alpha not spent", "new-best-stairs", ROWS["new-best-unspent"].test,
           "every submission has the whole of alpha, and four of eight are as good as the one before"),
    Mutant("the judge taken for people", "judged-biased-by-system-prediction-powered", JudgeForPeople(),
           "what nobody looked at counts as looked at, with the judge's scores and its bias"),
    Mutant("raw predictions swapped", "power-swaps-pearson", PValues(SwappedRaw(), resamples=499),
           "the system with larger numbers rules both sides after a swap"),
)}
# What a mutant gets right: with these alone it would pass.
BLIND = {
    "raw max-T": ("family-permutation-max_t-uneven", FamilyError(RawMaxT())),
    "Holm without its maximum": ("family-holm-partial", FamilyError(Corrected(McNemar(), holm_without_its_maximum))),
}
