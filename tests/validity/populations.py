"""The populations that simulated test sets are drawn from; a null is one whose systems are equally good.

Every constructor takes the number of units of a test set first and, where systems can differ, one value for each of
them: with equal values it is a null, with others an alternative. What the systems share (a hard item, a long sentence)
makes them correlated, as on every real test set.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from scipy import special

from registry.metrics import BLEU
from registry.significance import StatisticMatrix
from registry.significance.correlations import PEARSON, Coefficient, PairMatrix
from registry.significance.matrix import JudgedItems

ACCURACY = ((1, 0), (0, 1))
F1 = ((2, 0, 0), (0, 1, 1))
PRECISION = ((1, 0, 0), (0, 1, 0))


@dataclass(frozen=True, eq=False)
class Population:
    """Where test sets come from.

    Attributes:
        name: What it is, for the table.
        truths: The population's score of every system, which says which systems are equal, or what computes it.
        draw: From a generator and a number of runs to statistics [runs, items, systems, columns].
        score, quotient, family, lower_is_better, units, strata, answers_to: As `StatisticMatrix` has them.
        coefficient: Of correlations, in place of a score of sums.
        judged: Whether columns are those of judged items (`registry.judged`).
        trainings: How often each system is trained, where its runs are random; then systems of statistics are runs.
        factors: Of each training the level of every factor, as `StatisticMatrix` has them; None: its number.
        unequal: Whether each system has items of its own; its statistics are 0 elsewhere.
        score_range, classes: As `StatisticMatrix` has them.
    """

    name: str
    truths: tuple[float, ...] | Callable[[], tuple[float, ...]]
    draw: Callable[[np.random.Generator, int], np.ndarray]
    score: Callable[[np.ndarray], np.ndarray] | None = None
    quotient: tuple | None = None
    family: str | None = "ratio"
    lower_is_better: bool = False
    units: np.ndarray | None = None
    strata: np.ndarray | None = None
    answers_to: np.ndarray | None = None
    coefficient: Coefficient | None = None
    trainings: int = 1
    judged: bool = False
    factors: tuple[dict[str, str], ...] | None = None
    unequal: bool = False
    score_range: tuple[float, float] = (-math.inf, math.inf)
    classes: str = "pooled"

    @cached_property
    def truth(self):
        """The score of every system, computed when a row asks for it."""
        return self.truths() if callable(self.truths) else self.truths

    def sample(self, rng, runs):
        """Draw test sets, side by side in one matrix."""
        statistics = self.draw(rng, runs)
        _, items, systems, columns = statistics.shape
        together = np.moveaxis(statistics, 0, 1).reshape(items, runs * systems, columns).astype(float)
        if self.coefficient is not None:
            return Sample(self, runs, PairMatrix(together, coefficient=self.coefficient, score_range=(-1, 1)))
        trained = None
        if self.trainings > 1:
            trained = together.reshape(items, -1, self.trainings, columns)
            together, trained = trained.sum(axis=2), tuple(np.moveaxis(trained, 1, 0))
        return Sample(self, runs, StatisticMatrix(
            together, self.score, units=self.units, strata=self.strata, answers_to=self.answers_to,
            lower_is_better=self.lower_is_better, quotient=self.quotient, family=self.family, runs=trained,
            multiple=self.trainings, unequal=self.unequal, score_range=self.score_range,
            classes=self.classes,
            judged=JudgedItems(lambda sums: sums, None, self.lower_is_better) if self.judged else None,
            factors=self.factors and (self.factors,) * together.shape[1]))


@dataclass(frozen=True, eq=False)
class Sample:
    """Simulated test sets with systems of their own, as one matrix; the package tests each pair by itself.

    Monte-Carlo tests share their draws among the runs of a sample: every p-value has the right distribution, and those
    of two runs hardly depend on each other, because two runs' differences are about orthogonal over the units.
    """

    population: Population
    runs: int
    matrix: StatisticMatrix

    @property
    def systems(self):
        """How many systems a run has."""
        return len(self.population.truth)

    def pairs(self, pair=(0, 1)):
        """The same pair of systems in every run."""
        return [(run * self.systems + pair[0], run * self.systems + pair[1]) for run in range(self.runs)]


def quotient_of(coefficients):
    """The score that one linear function of the sums over another is; 0 / 0 is nan."""
    over, under = np.array(coefficients, dtype=float)

    def score(sums):
        n, d = sums @ over, sums @ under
        return np.divide(n, d, out=np.full_like(n, np.nan), where=d != 0)

    return score


def ratio(name, truth, draw, **options):
    return Population(name, tuple(truth), draw, quotient_of(ACCURACY), ACCURACY, **options)


def over_one(scores, places=0):
    """Item scores as they are counted: whole steps of so many decimal places, over the steps of a 1."""
    return np.stack([np.rint(scores * 10**places), np.full_like(scores, 10**places)], axis=-1)


def correlated(rng, shape, correlation):
    """Standard normal values [..., systems], correlated between the systems of an item."""
    shared = rng.standard_normal((*shape[:-1], 1))
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.standard_normal(shape)


def binary(units, accuracies=(0.7, 0.7), correlation=0.5):
    """Right or wrong answers to items that are as hard for all systems (`correlation` is of the latent ease)."""
    def draw(rng, runs):
        ease = correlated(rng, (runs, units, len(accuracies)), correlation)
        return over_one((ease < special.ndtri(accuracies)).astype(float))

    return ratio(f"right or wrong, {len(accuracies)} systems, {units} items", accuracies, draw)


def opposed(units, share=0.5):
    """Every item is won by exactly one of the two systems: their correlation is -1."""
    def draw(rng, runs):
        first = (rng.random((runs, units)) < share).astype(float)
        return over_one(np.stack([first, 1 - first], axis=-1))

    return ratio(f"one of two right, {units} items", (share, 1 - share), draw)


def counts(units, shares=(0.5, 0.5), *, own=False, ease=0.3, lower_is_better=False):
    """Small counts with many ties, of a total that the systems share, or of one of their `own`.

    Shares go up and down by `ease` with the item; with an ease of 0 and totals of their own systems are independent.
    """
    def draw(rng, runs):
        shape = (runs, units, len(shares))
        total = 1 + rng.binomial(3, 0.5, shape if own else (*shape[:-1], 1))
        share = np.clip(rng.uniform(-ease, ease, (runs, units, 1)) + shares, 0, 1)
        total = np.broadcast_to(total, shape)
        return np.stack([rng.binomial(total, share), total], axis=-1)

    return ratio(f"tied counts, {'own' if own else 'shared'} totals, {units} items", shares, draw,
                  lower_is_better=lower_is_better)


def graded(units, gains=(0.0, 0.0), spreads=None, correlation=0.5, places=None):
    """Normal item scores; `gains` are the systems' means, `spreads` their deviations, rounded to decimal `places`."""
    def draw(rng, runs):
        values = correlated(rng, (runs, units, len(gains)), correlation) * (spreads or 1.0) + np.array(gains)
        return over_one(values, 9 if places is None else places)

    return ratio(f"normal scores{'' if places is None else f' in steps of {10.0**-places:g}'}, {units} items", gains,
                  draw)


def skewed(units, gains=(0.0, 0.0), correlation=0.5):
    """Lognormal item scores, exchangeable where the gains are equal: their difference is symmetric with long tails."""
    def draw(rng, runs):
        return over_one(np.exp(correlated(rng, (runs, units, len(gains)), correlation) + np.array(gains)), 9)

    return ratio(f"lognormal scores, {units} items", np.exp(np.array(gains) + 0.5), draw)


def lopsided(units):
    """Equal means, but not exchangeable: exponential scores against nearly constant ones."""
    def draw(rng, runs):
        return over_one(np.stack([rng.exponential(1, (runs, units)), rng.normal(1, 0.1, (runs, units))], axis=-1), 9)

    return ratio(f"equal means, skewed difference, {units} items", (1.0, 1.0), draw)


def spans(units, recalls=(0.6, 0.6), spurious=(0.4, 0.4), quotient=F1, gold=1.0):
    """True positives, predicted and gold spans; each gold span is found with a system's recall, in some items more.

    Every gold span brings `spurious` wrong ones, on average; an item has 1 + Poisson(`gold`) gold spans.
    """
    recall, extra = np.array(recalls), np.array(spurious)

    def draw(rng, runs):
        spans_ = np.broadcast_to(1 + rng.poisson(gold, (runs, units, 1)), (runs, units, len(recalls)))
        hits = rng.binomial(spans_, recall + rng.uniform(-0.2, 0.2, (runs, units, 1)))
        return np.stack([hits, hits + rng.poisson(spans_ * extra), spans_], axis=-1)

    sums = np.stack([recall, recall + extra, np.ones_like(recall)], axis=-1)
    score = quotient_of(quotient)
    return Population(f"spans, {units} items", tuple(np.round(score(sums), 12)), draw, score, quotient, "prf",
                      score_range=(0, 1))


def unequal_f1(units, gold=1.0):
    """F1 of 4/7 in either way: precision 1 and recall 0.4, or precision 4/9 and recall 0.8."""
    name = f"equal F1, other P and R, {units} items{'' if gold else ' of one gold span'}"
    return replace(spans(units, (0.4, 0.8), (0.0, 1.0), gold=gold), name=name)


def exchanged(population, *, by_cluster=False):
    """The same outputs of two systems, exchanged in each item, or each cluster, by the toss of a fair coin."""
    def draw(rng, runs):
        statistics = population.draw(rng, runs)
        units = population.units if by_cluster else np.arange(statistics.shape[1])
        is_exchanged = (rng.random((runs, units.max() + 1)) < 0.5)[:, units, None, None]
        return np.where(is_exchanged, statistics[:, :, ::-1], statistics)

    whole = "whole clusters " if by_cluster else ""
    return replace(population, name=f"{population.name}, {whole}exchanged by a coin", draw=draw)


def few_spans(units):
    """Precision where most items have no prediction, so that swaps can leave a system without any."""
    def draw(rng, runs):
        predicted = (rng.random((runs, units, 2)) < 0.25).astype(float)
        return np.stack([predicted * (rng.random((runs, units, 2)) < 0.5), predicted, np.ones_like(predicted)], axis=-1)

    return Population(f"precision of few predictions, {units} items", (0.5, 0.5), draw, quotient_of(PRECISION),
                      PRECISION, "prf")


def translations(units, qualities=(0.7, 0.7)):
    """BLEU's statistics of segments that are as hard for all systems; every n-gram is of matched (n-1)-grams."""
    return Population(f"BLEU, {units} segments", lambda: tuple(map(_limit, qualities)),
                      lambda rng, runs: _segments(rng, runs, units, qualities), BLEU().score, family="bleu",
                      score_range=BLEU.score_range)


def _segments(rng, runs, units, qualities):
    shape = (runs, units, len(qualities))
    length = np.broadcast_to(rng.integers(5, 26, (runs, units, 1)), shape)
    ours = np.maximum(1, length + rng.integers(-2, 3, shape))
    ease = rng.uniform(-0.2, 0.2, (runs, units, 1)) + np.array(qualities)
    totals = [np.maximum(ours - n, 0) for n in range(4)]
    matches = [rng.binomial(ours, ease)]
    for total in totals[1:]:
        matches.append(rng.binomial(np.minimum(matches[-1], total), ease))
    return np.stack([ours, length, *matches, *totals], axis=-1)


@cache
def _limit(quality):
    """BLEU of a test set without end; of 100,000 segments it errs by a fiftieth of what one of 200 does, or less."""
    return float(BLEU().score(_segments(np.random.default_rng(0), 1, 100_000, (quality,)).sum(axis=(0, 1)) * 1.0)[0])


def documents(units, accuracies=(0.7, 0.7), share=0.3):
    """Right or wrong answers in documents of 2 to 14 items, which suit one system more than the other.

    `share` is how much of a system's latent ease is its document's.
    """
    of = np.repeat(np.arange(units), np.resize([2, 14, 8, 5, 11], units))

    def draw(rng, runs):
        document = rng.standard_normal((runs, units, len(accuracies)))[:, of]
        ease = np.sqrt(share) * document + np.sqrt(1 - share) * rng.standard_normal(document.shape)
        return over_one((ease < special.ndtri(accuracies)).astype(float))

    return ratio(f"items in {units} documents", accuracies, draw, units=of, score_range=(0, 1))


def suited_documents(accuracies=(0.8, 0.6), documents=20, items=20):
    """Right or wrong answers in documents; by a coin each suits one of two systems that are equal on average."""
    def draw(rng, runs):
        suits_first = rng.random((runs, documents)) < 0.5
        rates = np.where(np.stack([suits_first, ~suits_first], axis=-1), *accuracies)
        return over_one((rng.random((runs, documents * items, 2)) < np.repeat(rates, items, axis=1)).astype(float))

    name = f"{documents} documents of {items} items, each of which suits one of two systems"
    return ratio(name, (np.mean(accuracies),) * 2, draw, units=np.repeat(np.arange(documents), items),
                 score_range=(0, 1))


def candidates(units, precisions=(0.6, 0.6)):
    """Candidates that are judged once; what only one of the systems accepts is right with its precision."""
    def draw(rng, runs):
        accepted = rng.random((runs, units, 2)) < 0.5
        precision = np.where(accepted[..., 0], precisions[0], precisions[1])
        right = rng.random((runs, units)) < precision
        return np.stack([accepted & right[..., None], accepted, np.broadcast_to(right[..., None], accepted.shape)],
                        axis=-1)

    return Population(f"candidates, {units} judged once", precisions, draw, quotient_of(PRECISION), PRECISION, "prf")


def predictions(units, correlations=(0.6, 0.6), scales=(1.0, 30.0), coefficient=PEARSON, alike=0.0):
    """Real-valued predictions of gold values, each system on a scale of its own; columns are x and y.

    The systems of a matrix share the gold values, so those of the runs of a sample do, too. What they have beside the
    gold is `alike`: so correlated.
    """
    r, scale = np.array(correlations), np.array(scales)

    def draw(rng, runs):
        gold = np.broadcast_to(rng.standard_normal((units, 1)), (runs, units, len(r)))
        own = correlated(rng, gold.shape, alike) if alike else rng.standard_normal(gold.shape)
        x = r * gold + np.sqrt(1 - r**2) * own
        return np.stack([x * scale, gold], axis=-1)

    of = "predictions" if not alike else "predictions that are alike"
    return Population(f"{of} on other scales, {units} items", correlations, draw, family="pair",
                      coefficient=coefficient)
