"""The table: which test is examined on which population, and what must come out; declared before anything is run.

`valid` stands for tests that are exact or have the +1 of Monte Carlo: they may stay below their level, never above.
`near` stands beside what `theory` expects, with a slack for what the theory leaves out.
"""

import fnmatch

from registry.errors import UnknownNameError
from registry.metrics import MCC
from registry.significance import (
    Bootstrap,
    MatchedT,
    McNemar,
    Permutation,
)
from registry.significance.correlations import KENDALL, PEARSON, SPEARMAN
from registry.significance.pairwise.williams import Steiger, Williams
from tests.validity import theory
from tests.validity.bands import Rate, Size, finds, near
from tests.validity.board_rows import boards
from tests.validity.bounded_rows import bounded_rows
from tests.validity.eight_submissions_rows import eight_submissions
from tests.validity.examinations import (
    Covers,
    CoversEffect,
    CoversInClosedForm,
    CoversScore,
    EquivalenceP,
    NormalityP,
    PValues,
)
from tests.validity.family_examinations import (
    Corrected,
    FalseDiscoveries,
    FamilyError,
    Finds,
    HoldsBest,
    HoldsRanks,
    InOrder,
    SteppedDown,
)
from tests.validity.few_that_tell_rows import of_few
from tests.validity.history_rows import new_best_rows, winner_rows
from tests.validity.judged_rows import judged
from tests.validity.level_rows import bootstraps, exact, powers, sizes
from tests.validity.limit_rows import limits
from tests.validity.populations import (
    binary,
    documents,
    graded,
    lopsided,
    predictions,
    skewed,
    spans,
    translations,
)
from tests.validity.range_populations import POSITIVES, absolute_errors, kappas, labels, rare_label, words
from tests.validity.range_rows import beside_p_values, sizes_of_families, sizes_of_items
from tests.validity.rank_coverage import rank_sets_rows
from tests.validity.row import Row
from tests.validity.several_sets_rows import replicability_rows, suite_rows
from tests.validity.study_rows import of_studies
from tests.validity.weak_null_rows import (
    few_clusters,
    profile_families,
    skewed_means,
    unequal_profiles,
    zipf_clusters,
)


def rows(patterns=("*",)):
    """The rows whose names match one of the patterns, in the order of the table.

    Raises:
        UnknownNameError: A pattern matches none.
    """
    for pattern in patterns:
        if not fnmatch.filter(ROWS, pattern):
            raise UnknownNameError("row", pattern, ROWS)
    return [row for row in ROWS.values() if any(fnmatch.fnmatch(row.name, pattern) for pattern in patterns)]


def _intervals():
    """Intervals of 95 % cover the population's value, to within what is left of an error of the order 1 / n."""
    good = (Rate(0.935, 0.96, "coverage"),)
    f1, right = spans(200, (0.65, 0.55)), binary(200, (0.76, 0.64))
    for interval in ("dual", "percentile", "basic", "bca"):
        yield Row(f"coverage-{interval}-f1", f1, Covers(Bootstrap(), interval), good, 5000, 200)
        yield Row(f"coverage-{interval}-binary", right, Covers(Bootstrap(), interval), good, 5000, 100)
        # a difference with a skewness of 6: the error is larger, and none of them is free of it
        yield Row(f"coverage-{interval}-lognormal", skewed(400, (0.2, 0.0), 0.0), Covers(Bootstrap(), interval),
                  (Rate(0.92, 0.965, "coverage"),), 5000, 100)
    for interval in ("dual", "percentile"):
        yield Row(f"coverage-studentized-{interval}-f1", f1, Covers(Bootstrap("studentized"), interval), good, 5000,
                  200)
        yield Row(f"coverage-studentized-{interval}-lognormal", skewed(400, (0.2, 0.0), 0.0),
                  Covers(Bootstrap("studentized"), interval), (Rate(0.925, 0.965, "coverage"),), 5000, 200)
    yield Row("coverage-percentile-bleu", translations(200, (0.72, 0.68)), Covers(Bootstrap(), "percentile"), good,
              5000, 200)
    yield Row("coverage-dual-greater-f1", f1, Covers(Bootstrap(), alternative="greater"), good, 5000, 200)
    yield Row("coverage-dual-documents", documents(200, (0.75, 0.65)), Covers(Bootstrap()), good, 5000, 200)
    yield Row("coverage-score-f1", f1, CoversScore(Bootstrap()), good, 5000, 200)
    yield Row("coverage-t-normal", graded(10, (0.5, 0.0)), Covers(MatchedT()), (Rate(0.95, 0.95, "coverage"),))
    yield Row("coverage-t-binary", right, Covers(MatchedT()), good, 5000, 200)
    yield Row("coverage-tango", binary(50, (0.8, 0.6)), CoversEffect("proportion_difference", 0.2),
              (Rate(0.935, 0.965, "coverage"),), 5000, 200)
    yield Row("coverage-standardized-difference", graded(12, (1.0, 0.0)), CoversEffect("standardized_difference", 1.0),
              (Rate(0.95, 0.95, "coverage"),), 5000, 200)
    only_a, only_b = (share - theory.both_correct((0.8, 0.6), 0.5) for share in (0.8, 0.6))
    yield Row("coverage-odds-ratio", binary(50, (0.8, 0.6)), CoversEffect("odds_ratio", only_a / only_b),
              (Rate(0.95, 1.0, "coverage"),), 5000, 200)
    # At the margin two systems are called equivalent as often as alpha allows.
    yield Row("equivalence-t", graded(50, (0.4, 0.0)), EquivalenceP(0.4), near(0.05, 0.002))
    yield Row("equivalence-score", binary(200, (0.75, 0.65)), EquivalenceP(0.1), near(0.05, 0.01), 10_000, 300)
    yield Row("equivalence-bootstrap", f1, EquivalenceP(f1.truth[0] - f1.truth[1]), near(0.052, 0.008), 5000, 200)
    yield Row("power-equivalence", binary(400, (0.7, 0.7)), EquivalenceP(0.1), finds(0.8), 2000, 100)
    for name in ("shapiro-wilk", "anderson-darling", "lilliefors"):
        yield Row(f"size-{name}", graded(50), NormalityP(name), near(0.05, 0.006), 10_000, 400)
        yield Row(f"power-{name}", lopsided(50), NormalityP(name), finds(0.8), 2000, 100)


def _in_closed_form():
    """Intervals of tests that give none: near 95 %, but for what counts of few units leave out of reach."""
    for name, null, (low, high) in (
            ("binary-20", binary(20, (0.95, 0.9)), (0.93, 1.0)),
            ("binary-100", binary(100, (0.95, 0.9)), (0.935, 0.98)),
            ("binary-1000", binary(1000, (0.95, 0.9)), (0.935, 0.965)),
            ("f1-40", spans(40, (0.65, 0.55)), (0.935, 0.965)),
            ("documents-40", documents(40, (0.75, 0.65)), (0.925, 0.965)),
            ("bleu-120", translations(120, (0.72, 0.68)), (0.935, 0.965)),
            ("pearson-100", predictions(100, (0.9, 0.6)), (0.93, 0.965)),
            ("macro-f1-50", labels(50, [1] * 3, (0.8, 0.75)), (0.935, 0.97)),
            ("macro-f1-100", labels(100, [1] * 5, (0.95, 0.93)), (0.935, 0.98)),
            ("macro-f1-200", labels(200, [1] * 4, (0.99, 0.98)), (0.935, 0.99)),
            ("macro-f1-5-classes-200", labels(200, [1] * 5, (0.97, 0.96)), (0.935, 0.98)),
            ("macro-f1-clusters-20", labels(200, [1] * 3, (0.95, 0.93), cluster_size=10), (0.93, 0.985)),
            ("rare-class-6", rare_label(200, 6), (0.935, 1.0)),
            ("mcc-200", labels(200, POSITIVES, (0.97, 0.96), MCC()), (0.935, 0.995)),
            ("mcc-clusters-20", labels(200, [1] * 3, (0.95, 0.93), MCC(), cluster_size=10), (0.925, 0.985)),
            ("kappa-50", kappas(50), (0.93, 0.975)),
            ("kappa-200", kappas(200, (0.98, 0.96)), (0.935, 0.985)),
            ("accurate-documents-20", documents(20, (0.9, 0.88)), (0.92, 0.96)),
            ("accurate-documents-50", documents(50, (0.9, 0.88)), (0.92, 0.96)),
            ("accurate-documents-200", documents(200, (0.98, 0.97)), (0.935, 0.97)),
            ("wer-50", words(50), (0.93, 0.965)),
            ("wer-200", words(200), (0.935, 0.965)),
            ("lost-utterances-30", words(30, (0.05, 0.04), lost=0.03), (0.75, 1.0)),
            ("mae-200", absolute_errors(200), (0.91, 0.96))):
        for of in ("score", "difference"):
            yield Row(f"interval-{name}-{of}", null, CoversInClosedForm(of), (Rate(low, high, "coverage"),), 5000,
                      100 if name == "f1-40" else 0)


def _correlations():
    """Two systems on other scales that are equally correlated with the gold values: near the level, not exact.

    Standardizing uses the sample's own mean and deviation; what is left is of the order 1 / n.
    """
    def of(units, coefficient=PEARSON, correlations=(0.6, 0.6)):
        return predictions(units, correlations, coefficient=coefficient)

    for coefficient in (PEARSON, SPEARMAN, KENDALL):
        slack = near(0.05, 0.012)
        yield Row(f"correlation-swaps-{coefficient.name}", of(60, coefficient),
                  PValues(Permutation(), resamples=499), slack, 2000, 100)
        yield Row(f"power-swaps-{coefficient.name}", of(120, coefficient, (0.75, 0.5)),
                  PValues(Permutation(), resamples=499), finds(0.7), 500, 100)
        yield Row(f"correlation-bootstrap-{coefficient.name}", of(100, coefficient),
                  PValues(Bootstrap(), resamples=499), near(0.055, 0.015), 2000, 50)
    yield Row("coverage-bootstrap-pearson", of(200, correlations=(0.7, 0.6)), Covers(Bootstrap(), "percentile"),
              (Rate(0.93, 0.96, "coverage"),), 2000, 50)
    for test in (Williams(), Steiger()):
        yield Row(f"correlation-{test.name}", of(40), PValues(test), near(0.05, 0.006), 10_000, 400)
        # ranks are not normal: too many rejections, the more the higher the correlations are
        yield Row(f"correlation-{test.name}-spearman", of(40, SPEARMAN), PValues(test), (Size(0.05, 0.045, 0.08),),
                  5000, 200)
        yield Row(f"power-{test.name}", of(120, correlations=(0.75, 0.5)), PValues(test), finds(0.7), 2000, 100)


def _families():
    """Corrections hold the family's error whether all systems are equal or only some, and still find what is there."""
    complete, partial = binary(150, (0.7,) * 4), binary(150, (0.64, 0.64, 0.64, 0.82))
    held = (Rate(0.0, 0.05, "any error"),)
    for correction in ("holm", "bonferroni", "shaffer", "hochberg"):
        for name, null in (("complete", complete), ("partial", partial)):
            yield Row(f"family-{correction}-{name}", null, FamilyError(Corrected(McNemar(), correction)), held,
                      20_000, 500)
    yield Row("family-none-complete", complete, FamilyError(Corrected(McNemar(), "none")),
              (Rate(0.12, 0.26, "any error"),), 20_000, 500)
    for correction in ("bh", "by"):
        yield Row(f"family-{correction}-partial", partial, FalseDiscoveries(Corrected(McNemar(), correction)),
                  (Rate(0.0, 0.05, "false share"),), 20_000, 500)
    yield Row("family-holm-f1", spans(30, (0.5, 0.5, 0.8), (0.3, 0.3, 0.1)),
              FamilyError(Corrected(Permutation(), "holm")), held, 5000, 100)
    yield Row("family-holm-bootstrap", translations(500, (0.7, 0.7, 0.75)),
              FamilyError(Corrected(Bootstrap(), "holm")), (Rate(0.02, 0.055, "any error"),), 5000, 100)
    uneven = graded(60, (0.0,) * 4, (0.2, 0.2, 0.2, 3.0))
    unevenly = graded(60, (0.1, 0.0, 0.0, 0.0), (0.2, 0.2, 0.2, 3.0))
    yield Row("family-holm-uneven", uneven, FamilyError(Corrected(MatchedT(), "holm")), held, 10_000, 400)
    for kind in ("permutation", "bootstrap"):
        for method in ("min_p", "max_t"):
            stepped = SteppedDown(kind, method)
            # the bootstrap of 60 (150) units is as liberal here as it is in a single pair
            high = 0.05 if kind == "permutation" else theory.recentred_bootstrap(60) + 0.015
            band = (Rate(0.0, high, "any error"),)
            yield Row(f"family-{kind}-{method}-complete", complete, FamilyError(stepped), band, 2000, 50)
            yield Row(f"family-{kind}-{method}-partial", partial, FamilyError(stepped), band, 2000, 50)
            yield Row(f"family-{kind}-{method}-uneven", uneven, FamilyError(stepped), band, 2000, 50)
            yield Row(f"family-{kind}-{method}-finds-quiet", unevenly, Finds(stepped), (Rate(0.75, what="finds"),),
                      1000, 50)
            # max_t ranks pairs by their statistics, which need not be in the order of their p-values
            order = InOrder(stepped, strict=method == "min_p")
            yield Row(f"family-{kind}-{method}-in-order", partial, order, (Rate(1.0, what="in order"),), 500, 50)
    # z = 0.1 sqrt(60) / 0.2 = 3.9 against Holm's first bar over 6 pairs, 2.6: 0.89 by the normal curve
    yield Row("family-holm-finds-quiet", unevenly, Finds(Corrected(MatchedT(), "holm")), (Rate(0.75, what="finds"),),
              2000, 200)
    for correction in ("holm", "bonferroni", "shaffer", "hochberg", "bh", "by"):
        yield Row(f"family-{correction}-in-order", partial, InOrder(Corrected(McNemar(), correction)),
                  (Rate(1.0, what="in order"),), 2000, 200)
    yield Row("family-holm-finds-best", partial, Finds(Corrected(McNemar(), "holm"), (0, 3)),
              (Rate(0.8, what="finds"),), 2000, 200)

    # Standard errors are estimated again in every resample; many more populations in `rank_coverage`.
    ranked = binary(200, (0.64, 0.64, 0.72, 0.8))
    valid_ranks = (Rate(0.95, what="holds"),)
    yield Row("ranks-holm", ranked, HoldsRanks(Corrected(McNemar(), "holm")), valid_ranks, 10_000, 500)
    yield Row("ranks-none", complete, HoldsRanks(Corrected(McNemar(), "none")), (Rate(0.7, 0.88, "holds"),), 10_000,
              500)
    for name, null in (("complete", binary(200, (0.7,) * 4)), ("partial", ranked)):
        yield Row(f"ranks-resampled-{name}", null, HoldsRanks(), valid_ranks, 3000, 50)
        yield Row(f"best-bounds-{name}", null, HoldsBest("bounds"), valid_ranks, 3000, 50)
        yield Row(f"best-possible-{name}", null, HoldsBest("possible"), valid_ranks, 3000, 50)


GROUPS = (exact, sizes, unequal_profiles, profile_families, skewed_means, few_clusters, zipf_clusters, judged,
          bootstraps, powers, _intervals, _in_closed_form, _correlations, _families, rank_sets_rows, boards,
          eight_submissions, new_best_rows, winner_rows, suite_rows, replicability_rows, sizes_of_items,
          sizes_of_families, beside_p_values, limits, of_studies, of_few, bounded_rows)
ROWS = {row.name: row for group in GROUPS for row in group()}
