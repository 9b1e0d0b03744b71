"""What takes the place of the right examination in `mutants`, each with one mistake: kernels, levels, intervals."""

from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import t as student

from registry.judged import LABELLED, compute_influences, compute_slopes, make_columns, subtract_statistics
from registry.significance import PairTest, Permutation, PredictionPowered
from registry.significance.base import Tails
from registry.significance.crossed import cross_runs
from registry.significance.histories import NewBests
from registry.significance.rank_sets import JOINT_ERRORS, Bootstrapped
from registry.significance.resampling.draws import sum_permutations
from tests.validity.examinations import ALPHA, PValues, each_run, settings
from tests.validity.family_examinations import all_pairs
from tests.validity.judged_rows import METRIC
from tests.validity.rank_coverage import HoldsRankSets


@dataclass(frozen=True)
class JudgeForPeople:
    """P-values on judged items, of which those that people did not look at count as if they had said what it says."""

    def __call__(self, sample, rng):
        judge, looked = sample.matrix.statistics[..., 1], sample.matrix.statistics[..., LABELLED] > 0
        human = np.where(looked, sample.matrix.statistics[..., 7], judge)
        taken = np.stack(make_columns(judge, human, np.ones_like(judge), np.ones_like(judge)), axis=-1)
        altered = replace(sample, matrix=replace(sample.matrix, statistics=taken))
        return PValues(PredictionPowered())(altered, rng)


class UnderflownSigns(PairTest):
    """The sign test of right and wrong, counted up from the probability 2^-n of the most extreme outcome.

    That is 0 in double precision where n is above 1,074, and with it every p-value.
    """

    name = "underflown signs"

    def tails(self, pairs, asked):
        """Add up the probabilities of outcomes as extreme as the observed one."""
        found = []
        for o in pairs:
            gain = o.a[:, 0] - o.b[:, 0]
            n, wins, masses = np.count_nonzero(gain), np.count_nonzero(gain > 0), []
            for k in range(n + 1):
                masses.append(masses[-1] * (n - k + 1) / k if k else 0.5**n)
            found.append(np.array(masses)[np.abs(2 * np.arange(n + 1) - n) >= abs(2 * wins - n)].sum())
        with np.errstate(divide="ignore"):
            return Tails.make(np.log(np.array(found)), "exact")


class RunsForgotten(PairTest):
    """A right test that takes the averages of systems' runs for scores that have no error of their own."""

    test: PairTest = None
    name = "runs forgotten"

    def run(self, matrix, pairs, asked):
        """Take the runs away."""
        return self.test.run(replace(matrix, runs=None), pairs, asked)

    def tails(self, pairs, asked):
        """Nothing is computed here."""
        raise NotImplementedError


class NormalSources(PairTest):
    """The crossed test with a normal quantile, as if what two runs say of their spread were all there is to know.

    With `joint`, the quantile is Student's with Satterthwaite's degrees of freedom of all sources together.
    """

    joint: bool = False
    name = "normal sources"

    def tails(self, pairs, asked):
        """The difference over the root of what all sources add."""
        crossed, found = cross_runs(pairs.matrix), []
        for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True):
            sources = crossed.pair(a, b).bounds(crossed.axes("all"))
            squared, degrees = np.array([(of.squared, of.degrees) for of in sources]).T
            free = squared.sum()**2 / (squared**2 / degrees).sum() if self.joint else 1e9
            found.append((np.sqrt(squared.sum()), free))
        error, free = np.array(found).T
        return Tails.make(np.log(2 * student.sf(np.abs(pairs.difference) / error, free)), "asymptotic")


class NothingIsZero(PairTest):
    """A right test but that says p = 0 where no resample reaches the observed difference."""

    test: PairTest = None
    name = "nothing is zero"

    def run(self, matrix, pairs, asked):
        """Put 0 in the place of what is undefined."""
        found = self.test.run(matrix, pairs, asked)
        return replace(found, p_value=np.nan_to_num(found.p_value, nan=0.0))

    def tails(self, pairs, asked):
        """Nothing is computed here."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class FixedErrors(Bootstrapped):
    """The mistake of errors that are not estimated again in every draw."""

    def _studentize(self, systems, moved, squared):
        return super()._studentize(systems, moved, np.broadcast_to(self.squared_errors[systems], moved.shape).copy())


@dataclass(frozen=True)
class HoldsByFixedErrors:
    """Rank sets by `FixedErrors`, which `rank_sets` knows by name while it is asked."""

    def __call__(self, sample, rng):
        """What `HoldsRankSets` says."""
        with patch.dict(JOINT_ERRORS, fixed=FixedErrors):
            return HoldsRankSets("fixed")(sample, rng)


@dataclass(frozen=True)
class JudgedAlone:
    """The p-value of a difference by a judge whose errors are not known: people's labels have no variance.

    With `raw` the judge's scores are taken for people's.
    """

    raw: bool = False

    def __call__(self, sample, rng):
        """P-values of the two systems of each run."""
        of = sample.matrix.statistics
        return np.array([self._p(subtract_statistics(of[:, n], of[:, n + 1], lower=False))
                         for n in range(0, of.shape[1], 2)])

    def _p(self, statistics):
        sums = statistics.sum(axis=0)
        judge = statistics[:, 1] - statistics[:, 1].mean()
        slope = 1.0 if self.raw else float(compute_slopes(sums))
        score = statistics[:, 1].mean() if self.raw else float(METRIC.score(sums))
        return 2 * ndtr(-abs(score) / (slope * np.sqrt((judge**2).sum()) / len(judge)))


@dataclass(frozen=True)
class WholeSlope:
    """The corrected score with an interval as if people had looked at every item."""

    def __call__(self, sample, rng):
        """Whether the first system's interval holds."""
        held = []
        for n in range(0, sample.matrix.statistics.shape[1], 2):
            of = sample.matrix.statistics[:, n]
            sums = of.sum(axis=0)
            moved = compute_influences(of, compute_slopes(sums)) * np.sqrt(sums[5] / sums[0])
            held.append(abs(METRIC.score(sums) - sample.population.truth[0])
                        <= ndtri(1 - ALPHA / 2) * np.sqrt((moved**2).sum()))
        return held


def all_of_alpha(log_p, alpha, most):
    """Each submission is tested at alpha: nothing is spent."""
    levels = np.full(len(log_p), np.log(alpha))
    return NewBests(levels, (log_p <= levels) & (np.arange(len(log_p)) > 0))


@dataclass(frozen=True)
class WaldShare:
    """The normal interval of a proportion, with the estimated variance."""

    def __call__(self, sample, rng):
        """Whether it holds the first system's rate."""
        n, truth = len(sample.matrix.statistics), sample.population.truth[0]
        rate = sample.matrix.statistics[:, ::sample.systems, 0].sum(axis=0) / n
        return np.abs(rate - truth) <= ndtri(1 - ALPHA / 2) * np.sqrt(rate * (1 - rate) / n)


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
            moved = np.concatenate(list(sum_permutations(apart, asked, np.asarray)))[..., 0]
            drawn = np.abs(2 * moved - apart.sum(axis=0)[:, 0]) / matrix.n_units
            raw.append((1 + (drawn >= observed).sum(axis=0)) / 500)
            adjusted.append((1 + (drawn.max(axis=1)[:, None] >= observed).sum(axis=0)) / 500)
        return np.array(raw), np.array(adjusted)


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
