"""Rows over the sizes that are promised, 10 to 2,000 items and 2 to 50 systems, and of what stands beside p-values."""

from dataclasses import dataclass

from registry.significance import Bootstrap, Fisher, MatchedT, McNemar, Permutation, ResponsePermutation
from registry.significance.correlations import PEARSON, SPEARMAN
from registry.significance.distributions import clopper_pearson
from registry.significance.pairwise.williams import Steiger, Williams
from registry.studies.judge import _measure_biases
from tests.validity import theory
from tests.validity.bands import Rate, Size, Uniform, near, valid
from tests.validity.examinations import ALPHA, PValues, RandomizedP, settings
from tests.validity.family_examinations import Corrected, FamilyError, SteppedDown
from tests.validity.judged_rows import judged_items
from tests.validity.populations import binary, graded, opposed, predictions, spans, unequal_f1
from tests.validity.row import Row
from tests.validity.unlike_populations import one_answer_each, responses, unequal_bleu, unequal_macro_f1
from tests.validity.weak_null_rows import BOOTSTRAP_T, MANY, STUDENTIZED, SWAPS


@dataclass(frozen=True)
class CoversExactP:
    """Whether the interval of a p-value from random draws holds the exact one."""

    def __str__(self):
        return "interval of a Monte-Carlo p-value"

    def __call__(self, sample, rng):
        exact, drawn = (Permutation().run(sample.matrix, sample.pairs(), settings(rng, family=family))
                        for family in (1, MANY))
        return [of.method == "exact" and found.method == "monte-carlo" and found.p_low <= of.p_value <= found.p_high
                for found, of in zip(drawn, exact, strict=True)]


@dataclass(frozen=True)
class CoversShare:
    """Whether the interval of a binomial proportion holds the first system's rate."""

    def __str__(self):
        return "interval of Clopper and Pearson"

    def __call__(self, sample, rng):
        hits, truth = sample.matrix.statistics[:, ::sample.systems, 0].sum(axis=0), sample.population.truth[0]
        low, high = clopper_pearson(hits, len(sample.matrix.statistics))
        return (low <= truth) & (truth <= high)


@dataclass(frozen=True)
class Favoured:
    """Whether the judge is said to favour any system, by study `judge`, where it treats them all alike."""

    def __str__(self):
        return "study judge: whom the judge favours"

    def __call__(self, sample, rng):
        of = sample.matrix.statistics
        return [any(row["p_beyond"] <= ALPHA
                    for row in _measure_biases(of[:, at:at + sample.systems].transpose(1, 0, 2), None))
                for at in range(0, of.shape[1], sample.systems)]


def sizes_of_items():
    """Tests of pairs from 10 items to 2,000."""
    uniform = (Uniform(),)
    for name, null, test, runs in (("permutation-opposed-2000", opposed(2000), Permutation(), 5000),
                                   ("mcnemar-binary-2000", binary(2000), McNemar(), 5000),
                                   ("permutation-f1-10", spans(10), Permutation(), 20_000),
                                   ("permutation-binary-10", binary(10), Permutation(), 20_000),
                                   ("response-permutation", responses(80), ResponsePermutation(), 20_000)):
        yield Row(name, null, RandomizedP(test), uniform, runs, 50 if name == "permutation-opposed-2000" else 0)
    yield Row("size-response-permutation", responses(80), PValues(ResponsePermutation()), valid(), 20_000, 100)
    for units, slack in ((10, 0.02), (2000, 0.005)):
        yield Row(f"bootstrap-f1-{units}", spans(units), PValues(Bootstrap()),
                  near(theory.recentred_bootstrap(units), slack), 20_000 if units == 10 else 10_000, 0)
        yield Row(f"bootstrap-studentized-f1-{units}", spans(units), PValues(BOOTSTRAP_T),
                  near(0.05, 0.005 + 0.2 / units), 20_000 if units == 10 else 10_000, 0)
    f1 = unequal_f1(10)
    yield Row("unequal-f1-10-permutation", f1, PValues(SWAPS, family=MANY), (Size(0.05, 0.06, 0.12),), 20_000, 0)
    yield Row("unequal-f1-10-permutation-studentized", f1, PValues(STUDENTIZED, family=MANY), near(0.05, 0.012), 2000,
              0)
    yield Row("unequal-f1-10-bootstrap-studentized", f1, PValues(BOOTSTRAP_T), near(0.05, 0.03), 20_000, 0)
    yield Row("size-t-normal-2000", graded(2000), PValues(MatchedT()), near(0.05, 0.002), 10_000, 0)
    # there is no studentized test of a score that is no quotient; what swaps and resamples do there is what it is
    for units in (20, 50, 200, 2000):
        null = unequal_bleu(units)
        yield Row(f"unequal-bleu-{units}-permutation", null, PValues(SWAPS), (Size(0.05, 0.02, 0.12),), 5000, 0)
        yield Row(f"unequal-bleu-{units}-bootstrap", null, PValues(Bootstrap()),
                  near(theory.recentred_bootstrap(units), 0.005 + 0.4 / units), 5000, 0)
    wide = (Size(0.05, 0.02, 0.12),)
    for units, band in ((50, wide), (300, near(theory.recentred_bootstrap(300), 0.01))):
        null = unequal_macro_f1(units)
        yield Row(f"unequal-macro-f1-{units}-permutation", null, PValues(SWAPS), wide, 5000, 0)
        yield Row(f"unequal-macro-f1-{units}-bootstrap", null, PValues(Bootstrap()), band, 5000, 0)
    for units in (15, 500):
        null = predictions(units)
        yield Row(f"correlation-swaps-{units}", null, PValues(SWAPS, resamples=499), near(0.05, 0.002 + 0.3 / units),
                  2000, 0)
        yield Row(f"correlation-bootstrap-{units}", null, PValues(Bootstrap(), resamples=499),
                  near(theory.recentred_bootstrap(units), 0.005 + 0.6 / units), 5000, 0)
        for test in (Williams(), Steiger()):
            yield Row(f"correlation-{test.name}-{units}", predictions(units, coefficient=PEARSON), PValues(test),
                      near(0.05, 0.002 + 0.3 / units), 20_000, 0)
    # Fisher's z of few items is not quite normal, the less so the higher the correlation
    yield Row("correlation-steiger-10-high", predictions(10, (0.9, 0.9), coefficient=PEARSON), PValues(Steiger()),
              (Size(0.05, 0.05, 0.065), Size(0.01, 0.01, 0.015), Size(0.001, 0.001, 0.003)), 20_000, 0, batch=5)
    for units, of, alike in ((10, PEARSON, 0.9), (20, SPEARMAN, 0.95)):  # which `compare` tells of
        null = predictions(units, (0.3, 0.3), coefficient=of, alike=alike)
        yield Row(f"alike-swaps-{of.name}-{units}", null, PValues(SWAPS, resamples=499), (Size(0.05, 0.05, 0.1),), 5000,
                  0, batch=5)
    # by how much Fisher's test errs where both regions are answers to the same items, and is refused
    yield Row("size-fisher-one-answer-each", one_answer_each(100), PValues(Fisher()), (Size(0.05, 0.08, 0.2),), 10_000,
              0)


def sizes_of_families():
    """All pairs of 2 systems to 50, all of them equal."""
    held = (Rate(0.0, 0.05, "any error"),)
    for systems, runs in ((2, 20_000), (10, 5000), (50, 500)):
        for correction in ("holm", "shaffer", "hochberg"):
            if correction == "holm" or systems == 10:
                yield Row(f"family-{correction}-{systems}-systems", binary(200, (0.7,) * systems),
                          FamilyError(Corrected(McNemar(), correction)), held, runs, 0, batch=10)
    for method in ("min_p", "max_t"):  # 499 draws are too few for min_p to tell any of 190 pairs apart
        yield Row(f"family-permutation-{method}-20-systems", binary(200, (0.7,) * 20),
                  FamilyError(SteppedDown("permutation", method)), held, 1000, 0, batch=10)


def beside_p_values():
    """Intervals of p-values and of proportions, and whom a judge favours."""
    yield Row("monte-carlo-interval", spans(40), CoversExactP(), (Rate(0.95, what="coverage"),), 10_000, 0)
    for units in (20, 500):
        yield Row(f"clopper-pearson-{units}", binary(units, (0.9, 0.9)), CoversShare(), (Rate(0.95, what="coverage"),),
                  20_000, 0)
    alike = judged_items(300, "biased-alike", (60, 60))
    yield Row("judge-favours", alike, Favoured(), (Rate(0.0, 0.075, "any error"),), 10_000, 0)
