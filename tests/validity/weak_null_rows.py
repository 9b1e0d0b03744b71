"""Rows of equal scores without exchangeability, and of few clusters: which test holds its level there.

The sizes of plain swaps are those of `theory.misjudged_error`, and of a skewness gamma an excess of 0.247 gamma^2 / n
(`registry.significance.diagnostics.exchangeability`). A p-value of G swapped clusters is a multiple of 2^(1 - G): with
6 of them 5 % is 3.1 %. Where a band allows more than the level, that is what the test does there, and docs/validity.md
says so.
"""

from dataclasses import replace

from registry.significance import Bootstrap, MatchedT, Permutation, Wilcoxon
from tests.validity import theory
from tests.validity.bands import Rate, Size, finds, near
from tests.validity.examinations import PValues
from tests.validity.family_examinations import Corrected, FamilyError
from tests.validity.few_clusters import (
    EVEN,
    UNEVEN,
    opposed_in_clusters,
    right_in_clusters,
    skewed_in_clusters,
    zipf,
)
from tests.validity.populations import lopsided, spans, unequal_f1
from tests.validity.row import Row, slug

MANY = 10**12  # pairs that share what exact p-values may cost: all are drawn, which takes less time than to count
SWAPS, STUDENTIZED, BOOTSTRAP_T = Permutation(), Permutation(studentized=True), Bootstrap("studentized")


def unequal_profiles():
    """F1 of 4/7 by recall or by precision: plain swaps err at every size, and studentized ones hold."""
    for units, swapped in ((20, 5000), (50, 20_000), (300, 20_000), (2000, 20_000)):  # of 20, often all swaps are tried
        null, name = unequal_f1(units), f"unequal-f1-{units}"
        wrong = theory.misjudged_error(theory.swapped_error(null))
        yield Row(f"{name}-permutation", null, PValues(SWAPS, family=MANY), near(wrong, 0.012), 20_000, 100)
        yield Row(f"{name}-permutation-studentized", null, PValues(STUDENTIZED), near(0.05, 0.008), swapped, 50)
        yield Row(f"{name}-bootstrap-studentized", null, PValues(BOOTSTRAP_T), near(0.05, 0.01), 20_000, 50)


def profile_families():
    """Eight systems of one F1, four by recall and four by precision: any error of Holm over all pairs.

    The bar of the first of 28 pairs is at 3.1 standard errors, where an error that is misjudged counts for more.
    """
    eight = replace(spans(120, (0.4, 0.8) * 4, (0.0, 1.0) * 4), name="8 systems of equal F1, other P and R, 120 items")
    for name, test, high in (("permutation", SWAPS, 0.12), ("permutation-studentized", STUDENTIZED, 0.05)):
        yield Row(f"family-unequal-f1-{name}", eight, FamilyError(Corrected(test, "holm", MANY)),
                  (Rate(0.0 if high == 0.05 else 0.05, high, "any error"),), 4000, 50)


def skewed_means():
    """An exponential score against a nearly constant one of the same mean: the bootstrap-t recovers first."""
    for units in (10, 20, 50, 100):
        null, name = lopsided(units), f"lopsided-{units}"
        swaps = (Size(0.05, 0.045, 0.055 + 0.247 * 4 / units),)
        yield Row(f"{name}-permutation", null, PValues(SWAPS, family=MANY), swaps, 20_000, 100)
        yield Row(f"{name}-t", null, PValues(MatchedT()), swaps, 20_000, 100)
        if units != 50:  # `bootstrap-studentized-lopsided-50`
            band = near(0.05, 0.006 + 0.2 / units)
            yield Row(f"{name}-bootstrap-studentized", null, PValues(BOOTSTRAP_T), band, 20_000, 100)
    # The share of pairs of gains with a mean above 0 is 0.406 (`size-wilcoxon-lopsided`): the error grows with units.
    for units, low, high in ((20, 0.06, 0.2), (50, 0.1, 0.3), (1000, 0.99, 1.0)):
        ranks, band = PValues(Wilcoxon("normal")), (Size(0.05, low, high),)
        yield Row(f"lopsided-{units}-wilcoxon", lopsided(units), ranks, band, 5000, 50)


def few_clusters():
    """From 6 clusters up: studentized swaps hold unless clusters are skewed, whatever their sizes."""
    swaps, drawn, studentized, bootstrap_t = (
        PValues(test, family=family) for test, family in (
            (SWAPS, 1), (SWAPS, MANY), (STUDENTIZED, 1), (BOOTSTRAP_T, 1)))
    held = (Size(0.05, high=0.05),)  # systems are exchangeable, whatever the clusters' weights: swaps are exact
    for units in (6, 8, 12, 30):
        for name, sizes in ((f"clusters-{units}", EVEN), (f"unequal-clusters-{units}", UNEVEN)):
            right, f1 = right_in_clusters(units, sizes), opposed_in_clusters(units, sizes)
            # where one cluster holds most items, the bootstrap hardly knows of any other
            few = sizes == UNEVEN and units < 30
            yield Row(f"{name}-permutation", right, swaps, held, 5000, 50)
            yield Row(f"{name}-permutation-studentized", right, studentized, held, 5000, 200 if units == 8 else 50)
            yield Row(f"{name}-bootstrap-studentized", right, bootstrap_t, (Size(0.05, 0.03, 0.21 if few else 0.06),),
                      5000, 50)
            yield Row(f"{name}-permutation-f1", f1, drawn, (Size(0.05, 0.03, 0.12),), 5000, 50)
            yield Row(f"{name}-permutation-studentized-f1", f1, studentized,
                      (Size(0.05, 0.02, 0.06 if sizes == EVEN else 0.075),), 5000, 50)
    for units in (8, 30):
        skewed, name = skewed_in_clusters(units), f"skewed-clusters-{units}"
        yield Row(f"{name}-permutation-studentized", skewed, studentized, (Size(0.05, 0.05, 0.11),), 5000, 50)
        yield Row(f"{name}-bootstrap-studentized", skewed, bootstrap_t, (Size(0.05, 0.05, 0.1),), 5000, 50)
    for units, least in ((8, 0.3), (12, 0.6), (30, 0.9)):
        better, name = right_in_clusters(units, gap=1.0), f"power-clusters-{units}"
        yield Row(f"{name}-permutation", better, swaps, finds(least), 2000, 50)
        yield Row(f"{name}-permutation-studentized", better, studentized, finds(least), 2000, 50)
        yield Row(f"{name}-bootstrap-studentized", better, bootstrap_t, finds(least), 2000, 50)


def zipf_clusters():
    """200 clusters that tell no more than some 20 equal ones: only the recentred bootstrap takes them for 200."""
    for units, largest, others in ((20, 200, 2), (100, 72, 2)):  # of the latter one has a fourth of the items
        null = opposed_in_clusters(units, (largest, *(others,) * (units - 1)))
        for test in (STUDENTIZED, BOOTSTRAP_T):
            yield Row(f"one-large-cluster-{units}-{slug(test)}-f1", null, PValues(test),
                      (Size(0.05, 0.05, 0.65),), 5000, 0)
    sizes = zipf(200, 100)
    for name, null in (("", right_in_clusters(200, sizes)), ("-f1", opposed_in_clusters(200, sizes))):
        for test, high in ((Bootstrap(), 0.12), (BOOTSTRAP_T, 0.06), (STUDENTIZED, 0.06)):
            yield Row(f"zipf-clusters-200-{slug(test)}{name}", null, PValues(test),
                      (Size(0.05, 0.07 if high == 0.12 else 0.02, high),),
                      10_000 if isinstance(test, Bootstrap) else 5000, 50)
