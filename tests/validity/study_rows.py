"""Rows at the edge of what studies promise, that a statistician who had no part in them tried first.

Long tails under standardized differences, prompts of which some break a system, skewed differences on several test
sets, hardly any errors under intervals and tests of equivalence, many systems under a judge, few candidates in a part.
Bands come from a first look at 1,500 to 2,000 test sets.
"""

from dataclasses import dataclass, replace

import numpy as np

from registry.significance import Bootstrap, Crossed
from registry.studies.judge import _measure_biases
from registry.studies.ranking import Ranked, measure_variations
from tests.validity.bands import Rate, Size
from tests.validity.examinations import ALPHA, CoversEffect, CoversScore, EquivalenceP, PValues
from tests.validity.history_rows import Drawn
from tests.validity.populations import binary, lopsided, over_one, ratio
from tests.validity.row import Row
from tests.validity.several_sets_rows import TooMany
from tests.validity.weak_null_rows import MANY, SWAPS

ERROR = (Rate(0.0, 0.05, "any error"),)


def long_tailed(units, effect):
    """Symmetric differences of Student's distribution with five degrees of freedom, by so many of their deviations."""
    def draw(rng, runs):
        gains = rng.standard_t(5, (runs, units)) + effect * np.sqrt(5 / 3)
        return over_one(np.stack([gains, np.zeros_like(gains)], axis=-1), 9)

    return ratio(f"differences of Student's 5 degrees, {units} items", (effect * np.sqrt(5 / 3), 0.0), draw)


def broken_prompts(units, prompts):
    """Two systems under the same prompts, a tenth of which break the first one; expected scores are equal."""
    def draw(rng, runs):
        shape = (runs, units, 2, prompts)
        scores = 0.5 * rng.standard_normal(shape) + 0.02 * rng.standard_normal((runs, 1, 2, prompts))
        scores += 0.5 * rng.standard_normal((runs, units, 2, 1))
        scores[:, :, 0] += 0.1 - (rng.random((runs, 1, prompts)) < 0.1)
        return over_one(scores.reshape(runs, units, -1), 9)

    factors = tuple({"prompt": str(n)} for n in range(prompts))
    return replace(ratio(f"{prompts} prompts, a tenth of which break a system, {units} items", (0.0, 0.0), draw),
                   trainings=prompts, factors=factors)


@dataclass(frozen=True)
class FavouredOfMany:
    """Whether a judge that errs at random in 5 % of the items of all systems is said to favour one."""

    systems: int
    looked: int

    def __str__(self):
        return "study judge: whom the judge favours"

    def __call__(self, sample, rng):
        found = []
        for _ in sample:
            human = rng.random((self.systems, self.looked)) < 0.7
            judge = human ^ (rng.random(human.shape) < 0.05)
            columns = np.zeros((*human.shape, 10))
            columns[..., 5] = columns[..., 6] = 1
            columns[..., 7], columns[..., 8] = human, judge
            found.append(any(row["p_beyond"] <= ALPHA for row in _measure_biases(columns, None)))
        return found


@dataclass(frozen=True)
class VariesMore:
    """The p-values of a part's precisions that are binomial, as the model has them."""

    parts: int
    accepted: int
    precision: float
    of: str

    def __str__(self):
        return f"ranking --show variation, {self.of}"

    def __call__(self, sample, rng):
        parts = np.repeat(np.arange(self.parts), self.accepted)
        scores, found = np.ones((len(parts), 1)), []
        for _ in sample:
            ranked = Ranked(("a",), rng.random(len(parts)) < self.precision, scores, np.arange(len(parts)))
            found.append(getattr(measure_variations(ranked, parts, average=self.accepted)[0], self.of))
        return np.array(found)


def one_sided(rng, sets, units):
    """One-sided p-values of swaps, of a claim that holds on none of some test sets with skewed differences."""
    null = lopsided(units)
    return PValues(SWAPS, "less", resamples=9999, family=MANY)(null.sample(rng, sets), rng), np.zeros(sets, dtype=bool)


def of_studies():
    """All of them."""
    for units in (20, 200):
        yield Row(f"long-tails-{units}-standardized-difference", long_tailed(units, 1.0),
                  CoversEffect("standardized_difference", 1.0), (Rate(0.85, 0.94, "coverage"),), 5000, 0)
    for prompts in (3, 5, 10, 20):
        yield Row(f"broken-prompts-{prompts}-crossed", broken_prompts(200, prompts), PValues(Crossed()),
                  (Size(0.05, 0.05, 0.23),), 5000, 0, batch=20)
    for units in (20, 200):
        null = Drawn(f"10 test sets of {units} skewed differences, none with an effect",
                     lambda rng, units=units: one_sided(rng, 10, units))
        yield Row(f"skewed-replicability-{units}", null, TooMany("bonferroni"), (Rate(0.09, 0.3, "any error"),),
                  2000, 0)
    rare = replace(binary(25), truths=(0.1, 0.0), name="one of 10 items won by A, none by B, 25 items", draw=lambda rng,
                   runs: over_one(np.stack([rng.random((runs, 25)) < 0.1, np.zeros((runs, 25))], -1).astype(float)))
    yield Row("rare-25-equivalence-score", rare, EquivalenceP(0.1), (Size(0.05, 0.0718, 0.0718),), 10_000, 0)
    for units, covered in ((200, 0.865), (500, 0.955)):  # the binomial quantiles of what was observed, by summation
        yield Row(f"accurate-score-{units}", binary(units, (0.99, 0.99)), CoversScore(Bootstrap()),
                  (Rate(covered - 0.01, covered + 0.01, "coverage"),), 5000, 0)
    for systems, looked in ((20, 50), (20, 100)):
        yield Row(f"judge-favours-none-of-{systems}-{looked}", Drawn(
            f"judged, 5 % errors of {systems} systems, {looked} items seen", lambda rng: None),
            FavouredOfMany(systems, looked), ERROR, 5000, 50 if looked == 50 else 0)
    for of, accepted, low, high in (("p_variance", 20, 0.03, 0.065), ("p_outside", 20, 0.0, 0.05),
                                    ("p_kolmogorov", 100, 0.0, 0.02), ("p_kolmogorov", 20, 0.2, 1.0)):
        yield Row(f"variation-{accepted}-{of.replace('_', '-')}", Drawn(
            f"80 parts, {accepted} accepted in each, precision 0.3", lambda rng: None),
            VariesMore(80, accepted, 0.3, of), (Size(0.05, low, high),), 5000, 0)
