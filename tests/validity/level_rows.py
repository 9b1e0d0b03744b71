"""Rows of tests of pairs: their level, what the bootstrap is known to exceed, and their power."""

from dataclasses import replace

import numpy as np
from scipy import special

from registry.significance import (
    OVERALL_TESTS,
    BinomialZ,
    Bootstrap,
    ChiSquared,
    Crossed,
    Fisher,
    MatchedT,
    McNemar,
    Permutation,
    RankSum,
    Sign,
    TwoSampleT,
    Wilcoxon,
)
from tests.validity import theory
from tests.validity.bands import Size, Uniform, finds, near, nominal, valid
from tests.validity.examinations import OverallP, PValues, RandomizedP
from tests.validity.populations import (
    binary,
    candidates,
    counts,
    documents,
    few_spans,
    graded,
    lopsided,
    opposed,
    skewed,
    spans,
    suited_documents,
    translations,
    unequal_f1,
)
from tests.validity.row import Row, slug
from tests.validity.trained_populations import prompted, retrained, trained
from tests.validity.unlike_populations import domains


def exact():
    """Randomized p-values of exact tests are uniform, whatever the path by which they are computed."""
    uniform = (Uniform(),)
    for name, null, test, *runs in (
        ("permutation-binary-12", binary(12), RandomizedP(Permutation())),
        ("permutation-binary-200", binary(200), RandomizedP(Permutation()), 20_000, 200),
        ("permutation-opposed-25", opposed(25), RandomizedP(Permutation())),
        ("permutation-shared-counts-30", counts(30), RandomizedP(Permutation())),
        ("permutation-own-counts-15", counts(15, own=True, lower_is_better=True),
         RandomizedP(Permutation(), "greater")),
        ("permutation-tenths-40", graded(40, places=1), RandomizedP(Permutation())),
        ("permutation-f1-20", spans(20), RandomizedP(Permutation())),
        ("permutation-f1-100", spans(100), RandomizedP(Permutation()), 5000, 100),
        ("permutation-lognormal-25", skewed(25), RandomizedP(Permutation())),
        ("permutation-lognormal-80", skewed(80), RandomizedP(Permutation()), 20_000, 200),
        ("permutation-bleu-8", translations(8), RandomizedP(Permutation())),
        ("permutation-bleu-60", translations(60), RandomizedP(Permutation())),
        ("permutation-studentized-f1-8", spans(8), RandomizedP(Permutation(studentized=True)), 20_000, 200),
        ("permutation-studentized-f1-60", spans(60), RandomizedP(Permutation(studentized=True))),
        ("permutation-documents-30", documents(30), RandomizedP(Permutation())),
        ("permutation-documents-less", documents(12), RandomizedP(Permutation(), "less")),
        ("permutation-trained-4", trained(50, 4), RandomizedP(Permutation())),
        ("sign-counts", counts(25), RandomizedP(Sign())),
        ("sign-lognormal-with-a-tie-width", skewed(30), RandomizedP(Sign(tie=0.3))),
        ("mcnemar-binary", binary(40), RandomizedP(McNemar())),
        ("mcnemar-less", binary(15), RandomizedP(McNemar(), "less")),
        ("wilcoxon-tenths", graded(25, places=1), RandomizedP(Wilcoxon())),
        ("wilcoxon-lognormal", skewed(40), RandomizedP(Wilcoxon(), "greater")),
        ("fisher-candidates", candidates(80), RandomizedP(Fisher(), "greater")),
        ("t-normal", graded(8), PValues(MatchedT())),
        ("two-sample-t-independent", graded(8, correlation=0.0), PValues(TwoSampleT())),
    ):
        yield Row(name, null, test, uniform, *(runs or (20_000, 300)))


def sizes():
    """Plain p-values: what is printed keeps its level, or leaves it as theory says."""
    pearson = theory.phi((0.7, 0.7), 0.5)
    for variant in ("exact", "mid-p", "chi-squared", "corrected"):
        band = [size for level in (0.05, 0.01)
                for size in near(theory.mcnemar_size(variant, 50, 0.7, 0.5, level), 0, level)]
        yield Row(f"size-mcnemar-{variant}", binary(50), PValues(McNemar(variant)), tuple(band), 20_000, 2000)
    exact = theory.mcnemar_size("exact", 50, 0.7, 0.5)
    for test in (Permutation(), Sign(), Wilcoxon()):  # all of them count coins here
        yield Row(f"size-{test.name}-binary", binary(50), PValues(test), near(exact, 0))
    yield Row("size-permutation-few-spans", few_spans(14), PValues(Permutation()), valid())
    yield Row("size-permutation-bleu", translations(40), PValues(Permutation()), nominal())
    yield Row("size-permutation-20-draws", translations(30), PValues(Permutation(), resamples=20),
              (Size(0.05, 1 / 21, 1 / 21),), runs_quick=1000)
    yield Row("size-wilcoxon-normal", graded(30, places=1), PValues(Wilcoxon("normal")), near(0.047, 0.006))
    # symmetric long tails make t conservative; no level is exceeded (Benjamini 1983)
    yield Row("size-t-lognormal", skewed(50), PValues(MatchedT()), (Size(0.05, 0.025, 0.05),))
    yield Row("size-t-binary", binary(100), PValues(MatchedT()), near(0.05, 0.01))
    yield Row("size-fisher", candidates(80), PValues(Fisher()), (Size(0.05, 0.015, 0.05), Size(0.01, 0, 0.01)))
    yield Row("size-fisher-doubling", candidates(80), PValues(Fisher("doubling")), valid())

    # Tests that assume independence: nominal where it holds, and off by the factor sqrt(1 - r) where it does not.
    apart, together = binary(100, correlation=0.0), binary(100)
    wrong = theory.misjudged_error(1 / np.sqrt(1 - pearson))
    yield Row("size-binomial-z-independent", apart, PValues(BinomialZ()), near(0.05, 0.01))
    yield Row("size-binomial-z-unpooled-independent", apart, PValues(BinomialZ(pooled=False)), near(0.052, 0.01))
    yield Row("size-chi-squared-independent", apart, PValues(ChiSquared()), near(0.05, 0.01))
    yield Row("size-chi-squared-yates-independent", apart, PValues(ChiSquared(correction=True)), valid())
    yield Row("size-binomial-z-correlated", together, PValues(BinomialZ()), near(wrong, 0.006))
    yield Row("size-chi-squared-correlated", together, PValues(ChiSquared()), near(wrong, 0.006))
    yield Row("size-two-sample-t-correlated", graded(50), PValues(TwoSampleT()),
              near(theory.misjudged_error(np.sqrt(2)), 0.003))
    yield Row("size-two-sample-t-opposed", opposed(200), PValues(TwoSampleT()),
              near(theory.misjudged_error(np.sqrt(0.5)), 0.02))
    yield Row("size-rank-sum-independent", skewed(40, correlation=0.0), PValues(RankSum()), near(0.05, 0.006))
    yield Row("size-rank-sum-ties-independent", counts(40, own=True, ease=0.0), PValues(RankSum()), near(0.047, 0.01))
    yield Row("size-rank-sum-correlated", skewed(40), PValues(RankSum()), valid())

    # Equal F1 by other precision and recall is no exchangeability: swaps mix the systems' denominators, and what is
    # not in units of its standard error comes out wrong.
    uneven = unequal_f1(120)
    yield Row("size-permutation-unequal-f1", uneven, PValues(Permutation()),
              near(theory.misjudged_error(theory.swapped_error(uneven)), 0.01), 3000, 60)
    yield Row("size-permutation-studentized-unequal-f1", uneven, PValues(Permutation(studentized=True)),
              near(0.05, 0.008), 10_000, 400)
    yield Row("size-bootstrap-unequal-f1", unequal_f1(300), PValues(Bootstrap()),
              near(theory.recentred_bootstrap(300), 0.007))
    # Equal means with a skewed difference: what rests on the mean recovers with more units, ranks test something else.
    yield Row("size-permutation-lopsided", lopsided(200), PValues(Permutation()), near(0.055, 0.01), 4000, 100)
    yield Row("size-t-lopsided", lopsided(200), PValues(MatchedT()), near(0.055, 0.01))
    yield Row("size-permutation-studentized-lopsided", lopsided(200), PValues(Permutation(studentized=True)),
              near(0.055, 0.01), 10_000, 400)
    # Exponential E: the mean of two gains is above 0 with P(E + E' > 2) = 3 / e^2 = 0.406, of which the share of such
    # pairs, with a standard error of 1 / sqrt(3 n) = 0.041, is 2.3 errors below one half.
    share, error = 3 / np.e**2, 1 / np.sqrt(600)
    yield Row("size-wilcoxon-lopsided", lopsided(200), PValues(Wilcoxon("normal")),
              near(float(special.ndtr((0.5 - share) / error - 1.96)), 0.05))

    clusters = documents(40)
    wrong = theory.misjudged_error(theory.ignored_clusters_error(clusters))
    yield Row("size-permutation-documents", clusters, PValues(Permutation()),
              (Size(0.05, 0.045, 0.05), *valid(0.01)))
    yield Row("size-bootstrap-documents", documents(200), PValues(Bootstrap()),
              near(theory.recentred_bootstrap(200), 0.01))
    yield Row("size-permutation-items-for-documents", replace(clusters, units=None), PValues(Permutation()),
              near(wrong, 0.03))
    suited = suited_documents()
    yield Row("size-permutation-suited-documents", suited, PValues(Permutation()),
              (Size(0.05, 0.035, 0.05), *valid(0.01)), 10_000, 0)
    # Of items, the difference varies (1 + 19 x 0.04 / 0.44) = 2.7 times as much as if they were independent.
    yield Row("size-permutation-items-of-suited-documents", replace(suited, units=None), PValues(Permutation()),
              (Size(0.05, 0.18, 0.28),), 10_000, 0)
    yield Row("size-overall-cochran", binary(60, (0.7, 0.7, 0.7)), OverallP(OVERALL_TESTS["cochran"]()),
              near(0.05, 0.01), 10_000, 500)
    yield Row("size-overall-friedman", graded(40, (0.0, 0.0, 0.0), places=1), OverallP(OVERALL_TESTS["friedman"]()),
              near(0.05, 0.01), 5000, 200)


def bootstraps():
    """The recentred bootstrap is liberal with few units, and when it stops to be is what these rows show."""
    for units, slack in ((20, 0.012), (50, 0.01), (100, 0.008), (200, 0.006), (500, 0.005), (1000, 0.005)):
        runs = (20_000 if units < 500 else 10_000, 500 if units < 500 else 200)
        band = (*near(theory.recentred_bootstrap(units), slack),
                *near(theory.recentred_bootstrap(units, 0.01), 0.003 + 0.15 / units, 0.01))
        yield Row(f"bootstrap-f1-{units}", spans(units), PValues(Bootstrap()), band, *runs)
    yield Row("bootstrap-f1-greater", spans(200), PValues(Bootstrap(), "greater"),
              near(theory.recentred_bootstrap(200, 0.1) / 2, 0.006), 10_000, 400)
    # A skewness of 2 adds an error of the order 1 / n to that of few units: the size of t with exponential values is
    # about 0.08, 0.065, 0.055 at 20, 50, 200 units.
    for units, high in ((20, 0.12), (50, 0.09), (200, 0.065), (1000, 0.056)):
        yield Row(f"bootstrap-lopsided-{units}", lopsided(units), PValues(Bootstrap()), (Size(0.05, 0.045, high),),
                  5000, 200 if units < 1000 else 50)
    # Long symmetric tails: conservative, as t is, and less so with more units.
    yield Row("bootstrap-lognormal-200", skewed(200), PValues(Bootstrap()), (Size(0.05, 0.03, 0.056),), 10_000, 200)
    yield Row("bootstrap-bleu-200", translations(200), PValues(Bootstrap()),
              near(theory.recentred_bootstrap(200), 0.007), 10_000, 400)
    # Sums of right answers are whole, and draws that tie with what was observed count.
    recentred = theory.recentred_bootstrap(200)
    for name, null, step in (("opposed", opposed(200), 2), ("binary", binary(200), 1)):
        yield Row(f"bootstrap-{name}-200", null, PValues(Bootstrap()),
                  (Size(0.05, *theory.on_a_lattice(null, recentred, step)),), 5000, 200)
    # In units of its standard error the error is of the order 1 / n, with a small factor.
    for units in (20, 50, 200):
        yield Row(f"bootstrap-studentized-f1-{units}", spans(units), PValues(Bootstrap("studentized")),
                  near(0.05, 0.006 + 0.2 / units), 10_000, 400)
    for units in (50, 200):
        yield Row(f"bootstrap-studentized-lopsided-{units}", lopsided(units), PValues(Bootstrap("studentized")),
                  near(0.05, 0.006 + 0.8 / units), 10_000, 400)
    # One-sided in the direction of the gain, which is either: twice the level is what it has.
    yield Row("bootstrap-berg-kirkpatrick", spans(200), PValues(Bootstrap("berg-kirkpatrick-2012")),
              near(theory.recentred_bootstrap(200, 0.1), 0.008), 10_000, 400)
    # Where the sizes of strata are fixed, what their means differ by is no chance; not to know of it is conservative.
    two = domains(200)
    yield Row("bootstrap-strata", two, PValues(Bootstrap()),
              (Size(0.05, *theory.on_a_lattice(two, theory.recentred_bootstrap(100))),), 5000, 200)
    yield Row("bootstrap-studentized-strata", two, PValues(Bootstrap("studentized")), near(0.05, 0.012), 5000, 200)
    yield Row("bootstrap-strata-ignored", replace(two, strata=None), PValues(Bootstrap()),
              near(theory.misjudged_error(theory.ignored_strata_error(two)), 0.012), 5000, 200)
    # Where trainings differ as a whole, few of them are few draws of all that matters. What is peculiar to a training
    # in an item counts more than once, and is conservative where little else differs; so is Fisher's solution for
    # errors of unknown sizes.
    for trainings in (5, 20):
        yield Row(f"bootstrap-trained-{trainings}", trained(200, trainings, spread=0.6), PValues(Bootstrap()),
                  (Size(0.05, 0.01, 0.06),), 2000, 50)
    yield Row("bootstrap-trained-alike", trained(200, 5), PValues(Bootstrap()), (Size(0.05, 0.005, 0.05),), 2000, 50)
    for units in (20, 200):
        yield Row(f"bootstrap-retrained-5-{units}", retrained(units, 5), PValues(Bootstrap()),
                  (Size(0.05, 0.01, 0.06),), 2000, 50)
    # Each source of error is held against Student's t of its own degrees of freedom, which keeps the level (Banerjee).
    for trainings in (2, 3, 5):
        for units, spread, own in ((20, 0.5, 0.1), (100, 0.1, 0.5), (500, 0.0, 0.9)):
            for kind in ("graded", "binary"):
                yield Row(f"crossed-{trainings}-{units}-{kind}",
                          retrained(units, trainings, spread, own, graded=kind == "graded"), PValues(Crossed()),
                          (Size(0.05, 0.0, 0.05),), 4000, 40)
    # Where one system's trainings make up all of the error, there is nothing to lean on but their number.
    for trainings in (2, 3, 5):
        yield Row(f"crossed-{trainings}-unsteady", retrained(100, trainings, (1.0, 0.0)), PValues(Crossed()),
                  (Size(0.05, 0.0, 0.05),), 10_000, 100 if trainings == 2 else 0)
    for prompts, trainings in ((2, 3), (3, 3), (5, 3), (5, 5), (3, 0), (5, 0), (10, 0)):
        null = prompted(100, prompts, trainings)
        name = f"crossed-{prompts}-{f'prompts-{trainings}' if trainings else 'shared-seeds'}"
        yield Row(name, null, PValues(Crossed()), (Size(0.05, 0.0, 0.05),), 4000, 50)
    # To permute whole runs is to speak of these items: where each system has its own, other items are another matter.
    yield Row("permutation-retrained-10", retrained(100, 10, spread=0.0), PValues(Permutation()),
              (Size(0.05, 0.3, 1.0),), 500, 20)
    yield Row("crossed-retrained-10", retrained(100, 10, spread=0.0), PValues(Crossed()), (Size(0.05, 0.0, 0.05),),
              4000, 50)
    # Without draws, where systems share the denominators.
    for units, slack in ((20, 0.012), (50, 0.01), (200, 0.006)):
        yield Row(f"bootstrap-ideal-counts-{units}", counts(units), PValues(Bootstrap()),
                  near(theory.recentred_bootstrap(units), slack), 5000, 50)
    # One resample of five units is one of 5^5: no p-value is smaller, least of all 0.
    yield Row("bootstrap-ideal-five", graded(5, places=1), PValues(Bootstrap()), (Size(5.0**-5 / 2, high=0.0),),
              20_000, 500)


def powers():
    """Every test finds a difference of about 3.2 standard errors, as often as a normal test or little less."""
    def found(null, slack=0.08):
        return finds(float(theory.power(null)) - slack)

    better = binary(200, (0.76, 0.64))
    for test in (Permutation(), Bootstrap(), Sign(), Wilcoxon(), Wilcoxon("normal"), MatchedT(),
                 Permutation(studentized=True), Bootstrap("studentized"),
                 *(McNemar(variant) for variant in ("exact", "mid-p", "chi-squared", "corrected"))):
        yield Row(f"power-{slug(test)}", better, PValues(test), found(better), 2000, 100)
    for test in (TwoSampleT(), BinomialZ(), ChiSquared(), ChiSquared(correction=True), RankSum()):
        # 3.2 errors become 3.2 sqrt(1 - r), r about 0.32: 0.73 by the normal curve, less what Yates takes
        yield Row(f"power-{slug(test)}", better, PValues(test), finds(0.55), 2000, 200)
    alike = binary(200, (0.74, 0.68), 0.98)  # two versions of one system: few items differ, and those tell
    for test in (Permutation(), Bootstrap(), McNemar(), MatchedT()):
        yield Row(f"power-{slug(test)}-alike", alike, PValues(test), found(alike, 0.12), 2000, 100)
    accepted, f1 = candidates(500, (0.7, 0.5)), spans(100, (0.7, 0.5))
    yield Row("power-fisher", accepted, PValues(Fisher()), finds(0.8), 2000, 200)
    yield Row("power-permutation-f1", f1, PValues(Permutation()), found(f1), 1000, 50)
    for test in (Permutation(studentized=True), Bootstrap(), Bootstrap("studentized")):
        yield Row(f"power-{slug(test)}-f1", f1, PValues(test), found(f1), 2000, 200)
    segments = translations(60, (0.72, 0.68))
    for test in (Permutation(), Bootstrap()):
        yield Row(f"power-{slug(test)}-bleu", segments, PValues(test), finds(0.8), 2000, 200)
    texts, tied = documents(60, (0.8, 0.66)), counts(100, (0.58, 0.48))
    yield Row("power-permutation-documents", texts, PValues(Permutation()), found(texts), 2000, 200)
    yield Row("power-bootstrap-ideal", tied, PValues(Bootstrap()), found(tied), 1000, 50)
    yield Row("power-permutation-trained", trained(200, 5, 0.5), PValues(Permutation()), finds(0.8), 2000, 100)
    yield Row("power-bootstrap-trained", trained(200, 5, 0.5), PValues(Bootstrap()), finds(0.8), 1000, 50)
    yield Row("power-crossed-trained", trained(200, 5, 0.5), PValues(Crossed()), finds(0.8), 2000, 50)
    errors = counts(60, (0.4, 0.6), own=True, lower_is_better=True)  # system 0 is better: it makes fewer errors
    for test in (Permutation(), Permutation(studentized=True), Bootstrap(), Bootstrap("studentized"), Sign(),
                 Wilcoxon(), MatchedT()):
        yield Row(f"power-{slug(test)}-lower-is-better", errors, PValues(test, "greater"), finds(0.8), 2000, 100)
        yield Row(f"wrong-side-{slug(test)}", errors, PValues(test, "less"), (Size(0.05, high=0.001),), 2000, 100)
    yield Row("power-cochran", binary(100, (0.8, 0.7, 0.6)), OverallP(OVERALL_TESTS["cochran"]()), finds(0.8),
              2000, 200)
    yield Row("power-friedman", graded(60, (0.3, 0.0, -0.3)), OverallP(OVERALL_TESTS["friedman"]()), finds(0.8),
              2000, 100)
