"""Agreement of annotators: published examples, other programs, the definitions, and resamples by hand."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.significance import Settings
from registry.significance.agreement import (
    ICC_NAMES,
    estimate,
    make_alpha,
    make_category_alphas,
    make_cohen_kappa,
    make_fleiss_kappa,
    make_intraclass_correlations,
    make_percent_agreement,
    measure_agreement,
    measure_categories,
    measure_pairs,
    measure_without_annotators,
)
from registry.significance.resampling.draws import draw_counts
from tests.significance.agreement import FLEISS, KRIPPENDORFF, SHROUT_FLEISS, N, ratings
from tests.validity.agreement_hits import hits

LEVELS = ("nominal", "ordinal", "interval", "ratio")
FEW = Settings(resamples=40, seed=3)


def alpha(values, level):
    return float(make_alpha(ratings(values, level)).estimates[0])


def define_alpha(values, level):
    """Alpha as it is defined: mean disagreements of all ordered pairs of values within units, and of all values."""
    units = [[x for x in row if x == x] for row in np.asarray(values, dtype=float).tolist()]
    units = [unit for unit in units if len(unit) > 1]
    everything = [x for unit in units for x in unit]
    n = len(everything)

    def differ(c, k):
        low, high = sorted((c, k))
        if level == "ordinal":
            between = sum(low <= x <= high for x in everything)
            return (between - (everything.count(c) + everything.count(k)) / 2)**2 if c != k else 0
        return {"nominal": c != k, "interval": (c - k)**2, "ratio": ((c - k) / (c + k or 1))**2}[level]

    expected = sum(differ(*pair) for pair in permutations(everything, 2))
    if not expected:
        return np.nan
    observed = sum(differ(*pair) / (len(unit) - 1) for unit in units for pair in permutations(unit, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize(("level", "published"), [
    ("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)])
def test_the_example_of_krippendorff(level, published):
    first, *_ = measure_agreement(ratings(KRIPPENDORFF, level), FEW)
    assert (first.coefficient, round(first.value, 3), first.n_items) == ("Krippendorff's alpha", published, 11)


def test_the_example_of_fleiss():
    """A diagnosis that is as frequent in other orders of the psychiatrists, whose names are not known."""
    values = [np.repeat(range(5), row) for row in FLEISS]
    told = {each.coefficient: each.value for each in measure_agreement(ratings(values, "nominal"), FEW)}
    assert round(told["Fleiss' kappa"], 3) == 0.430
    assert round(told["percent agreement"], 4) == 0.5556


def test_the_example_of_shrout_and_fleiss():
    told = make_intraclass_correlations(ratings(SHROUT_FLEISS, "interval"))
    assert dict(zip(told.names, told.estimates.round(2).tolist(), strict=True)) == dict(zip(
        ICC_NAMES, (0.17, 0.29, 0.71, 0.44, 0.62, 0.91), strict=True))


tables = st.integers(2, 4).flatmap(lambda annotators: st.lists(
    st.lists(st.sampled_from([0, 1, 1, 2.5, 7, N]), min_size=annotators, max_size=annotators), min_size=1, max_size=6))


@pytest.mark.parametrize("level", LEVELS)
@given(values=tables)
def test_alpha_is_as_defined(level, values):
    """With ties, missing values, empty items, and one category, of which alpha is undefined."""
    np.testing.assert_allclose(alpha(values, level), define_alpha(values, level), rtol=0, atol=1e-12)


def draw(seed, items=30, annotators=4, categories=5, missing=0.3):
    rng = np.random.default_rng(seed)
    own = rng.integers(1, categories + 1, (items, 1))
    values = np.where(rng.random((items, annotators)) < 0.5, own, rng.integers(1, categories + 1, (items, annotators)))
    return np.where(rng.random(values.shape) < missing, np.nan, values)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_the_package_krippendorff(level, seed):
    krippendorff = pytest.importorskip("krippendorff", reason="krippendorff")
    values = draw(seed, categories=(2, 5, 40)[seed])
    assert alpha(values, level) == pytest.approx(krippendorff.alpha(values.T, level_of_measurement=level), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_kappas_are_those_of_statsmodels(seed):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    values = draw(seed, missing=0)
    counts, _ = inter_rater.aggregate_raters(values)
    assert make_fleiss_kappa(ratings(values, "nominal")).estimates[0] == pytest.approx(
        inter_rater.fleiss_kappa(counts), abs=1e-12)
    table = np.zeros((5, 5))
    np.add.at(table, tuple(values[:, :2].astype(int).T - 1), 1)
    for weights in (None, "linear", "quadratic"):
        told = make_cohen_kappa(ratings(values[:, :2], "ordinal"), weights or "none").estimates[0]
        assert told == pytest.approx(inter_rater.cohens_kappa(table, wt=weights, return_results=False), abs=1e-12)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pandas, which pingouin calls
@pytest.mark.parametrize("seed", range(3))
def test_intraclass_correlations_are_those_of_pingouin(seed):
    pd, pingouin = pytest.importorskip("pandas", reason="pandas"), pytest.importorskip("pingouin", reason="pingouin")
    values = draw(seed, items=10, missing=0)
    items, annotators = np.indices(values.shape)
    frame = pd.DataFrame({"item": items.ravel(), "annotator": annotators.ravel(), "value": values.ravel()})
    expected = pingouin.intraclass_corr(frame, "item", "annotator", "value")["ICC"].tolist()
    assert make_intraclass_correlations(ratings(values, "interval")).estimates.tolist() == pytest.approx(expected)


def test_weights_of_numbers_are_their_differences():
    """Categories 1, 2 and 5: disagreement of 1 and 5 is 4 at the level interval, and 2 positions at ordinal."""
    values = np.array([[1, 1], [2, 5], [5, 1], [2, 2], [5, 5], [1, 2]])
    for level, places in (("interval", {1: 1, 2: 2, 5: 5}), ("ordinal", {1: 0, 2: 1, 5: 2})):
        x = [[places[value] for value in row] for row in values.tolist()]
        observed = np.mean([abs(a - b) for a, b in x])
        expected = np.mean([abs(a - b) for a, _ in x for _, b in x])
        assert make_cohen_kappa(ratings(values, level), "linear").estimates[0] == pytest.approx(1 - observed / expected)


def test_percent_agreement_is_a_mean_over_items():
    """Of the pairs of the items, 1 of 3, 1 of 1 and 0 of 1 agree; the last item has one value."""
    assert make_percent_agreement(ratings([[1, 1, 2], [3, N, 3], [N, 1, 2], [1, N, N]], "nominal")).estimates[0] == (
        pytest.approx((1 / 3 + 1 + 0) / 3))


COEFFICIENTS = {
    **{level: (lambda data: make_alpha(data), level, 0.3, 4) for level in LEVELS},
    "categories": (make_category_alphas, "nominal", 0.3, 4), "percent": (make_percent_agreement, "nominal", 0.3, 4),
    "fleiss": (make_fleiss_kappa, "nominal", 0, 4), "cohen": (make_cohen_kappa, "nominal", 0.3, 2),
    "weighted": (lambda data: make_cohen_kappa(data, "quadratic"), "ordinal", 0.3, 2),
    "icc": (make_intraclass_correlations, "interval", 0, 4)}


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_resamples_and_jackknife_are_those_of_repeated_items(name):
    """The interval is BCa of coefficients of data in which items really occur as often as they are drawn."""
    make, level, missing, annotators = COEFFICIENTS[name]
    values = draw(5, missing=missing, annotators=annotators)
    values = values[(~np.isnan(values)).sum(axis=1) > 1]
    values[:5] = np.arange(1, 6)[:, None]  # each category occurs
    coefficient, size = make(ratings(values, level)), len(values)
    settings = Settings(resamples=60, seed=4, confidence=0.8)
    told = estimate([coefficient], ratings(values, level), settings)

    def repeat(counts):
        """The coefficients of repeated items, in the categories of all items."""
        data = ratings(np.repeat(values, counts, axis=0), level)
        full = ratings(values, level)
        numbers = np.searchsorted(full.values, data.values)
        kept = full.select(np.zeros(len(full.items), dtype=bool))
        return make(type(full)(data.items, data.annotators, numbers[data.codes], kept.values, level, data.n_items,
                               data.n_annotators)).estimates

    resampled = np.array([repeat(counts) for counts in draw_counts(None, size, 4, (0, 60))])
    without = np.array([repeat(1 - np.eye(size, dtype=int)[n]) for n in range(size)])
    for n, each in enumerate(told):
        column = resampled[:, n]
        if np.isnan(column).any():
            assert (each.undefined, np.isnan(each.low)) == (pytest.approx(np.isnan(column).mean()), True)
            continue
        low, high = bca(float(coefficient.estimates[n]), column, without[:, n], 0.8)
        assert (each.low, each.high) == (pytest.approx(low), pytest.approx(high))


def bca(value, resampled, without, confidence):
    """The interval of Efron 1987, with quantiles of Student's t as Hesterberg 2015 expands percentiles."""
    from scipy import stats

    n = len(without)
    bias = stats.norm.ppf(np.mean([(x < value) + (x == value) / 2 for x in resampled]))
    d = without.mean() - without
    acceleration = (d**3).sum() / (6 * (d**2).sum()**1.5)
    z = stats.t.ppf((1 + confidence) / 2, n - 1) * np.sqrt(n / (n - 1))
    return np.quantile(resampled, [stats.norm.cdf(bias + (bias + end) / (1 - acceleration * (bias + end)))
                                   for end in (-z, z)])


def test_clusters_are_resampled_as_a_whole():
    """Items that occur twice, as a cluster, have the interval of single ones."""
    values = draw(6)
    values = values[(~np.isnan(values)).sum(axis=1) > 1]
    items = ratings(values, "nominal")
    single = estimate([make_percent_agreement(items)], items, FEW)[0]
    twice = ratings(np.repeat(values, 2, axis=0), "nominal", np.repeat(np.arange(len(values)), 2))
    clustered = estimate([make_percent_agreement(twice)], twice, FEW)[0]
    assert (clustered.low, clustered.high) == (pytest.approx(single.low), pytest.approx(single.high))
    assert clustered.n_items == 2 * single.n_items


def test_alpha_without_annotators_of_pairs_and_of_categories():
    values = draw(7, items=60)
    values[:20, 0], values[20:, 3] = np.nan, np.nan
    values[20:22, 3] = values[20:22, 0] = 1  # too few for the pair
    data = ratings(values, "ordinal")
    assert [each.value for each in measure_without_annotators(data, FEW)] == pytest.approx(
        [define_alpha(np.delete(values, n, axis=1), "ordinal") for n in range(4)])
    pairs = measure_pairs(data, FEW)
    assert (0, 3) not in pairs, "they share two items"
    assert {pair: each.value for pair, each in pairs.items()} == pytest.approx(
        {pair: define_alpha(values[:, pair], "ordinal") for pair in combinations(range(4), 2) if pair != (0, 3)})
    binary = [define_alpha(np.where(np.isnan(values), np.nan, values == c), "nominal") for c in range(1, 6)]
    assert [each.value for each in measure_categories(data, FEW)] == pytest.approx(binary)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("clusters", [None, np.arange(40) // 2])
def test_intervals_without_annotators_and_of_pairs_are_those_of_their_ratings(level, clusters):
    """Although only the differences to all ratings, or only the items of the pair, are summed."""
    values = draw(9, items=40, missing=0.1)
    values[:15, 0] = np.nan
    data = ratings(values, level, clusters).drop_unpaired()
    expected = [estimate([make_alpha(data.select(data.annotators != n))], data, FEW)[0] for n in range(4)]
    check_equal(measure_without_annotators(data, FEW), expected)
    pairs = measure_pairs(data, FEW)
    assert len(pairs) == 6
    check_equal(pairs.values(), [estimate([make_alpha(data.select(np.isin(data.annotators, pair)))], data, FEW)[0]
                                 for pair in pairs])


def check_equal(told, expected):
    numbers = [[(each.value, each.low, each.high, each.n_items, each.undefined) for each in estimates]
               for estimates in (told, expected)]
    assert np.isfinite(numbers[1]).any(axis=0).all(), "some have intervals"
    np.testing.assert_allclose(*numbers, rtol=0, atol=1e-9)


def test_coefficients_fit_the_level_and_the_design():
    def names(values, level):
        return [each.coefficient for each in measure_agreement(ratings(values, level), FEW)][1:]

    complete, two = draw(8, missing=0), draw(8, missing=0.3, annotators=2)
    assert names(complete, "nominal") == ["percent agreement", "Fleiss' kappa"]
    assert names(KRIPPENDORFF, "nominal") == ["percent agreement"]
    assert names(two, "nominal") == ["percent agreement", "Fleiss' kappa", "Cohen's kappa"]
    assert names(two, "ordinal") == ["percent agreement", "weighted kappa (linear)", "weighted kappa (quadratic)"]
    assert names(complete, "ratio") == list(ICC_NAMES)
    assert names(KRIPPENDORFF, "interval") == []


@pytest.mark.parametrize(("values", "level", "message"), [
    ([[1], [2]], "nominal", "only one annotator"),
    ([[1, N], [N, 2]], "nominal", "no item has ratings of two annotators"),
    ([[3, 3], [3, 3], [4, N]], "interval", "alpha is undefined"),
    ([[-1, 3], [3, 3]], "ratio", "smallest value is -1")])
def test_what_has_no_agreement_is_refused(values, level, message):
    with pytest.raises(InputError, match=message):
        measure_agreement(ratings(values, level), FEW)


def test_coefficients_of_other_designs_are_refused():
    for make, message in ((make_fleiss_kappa, "same number of ratings"), (make_cohen_kappa, "two annotators, not 4"),
                          (make_intraclass_correlations, "ratings of all annotators")):
        with pytest.raises(InputError, match=message):
            make(ratings(KRIPPENDORFF, "interval"))


def test_perfect_agreement_has_no_interval():
    """All resamples have alpha 1, which says nothing of other items; one category is in 1 of 512 resamples or more."""
    told = measure_agreement(ratings([[n % 2, n % 2] for n in range(20)], "nominal"), FEW)
    assert [(each.value, each.is_constant, np.isnan(each.low)) for each in told] == [(1, True, True)] * 4
    rare = measure_agreement(ratings([[n == 0, n == 0] for n in range(20)], "nominal"), FEW)[0]
    assert (rare.value, rare.is_constant, np.isnan(rare.low)) == (1, False, True)
    assert 0.2 < rare.undefined < 0.55  # expected: (19/20)^20 = 0.36 of 40 resamples


def test_equal_numbers_have_no_disagreement_by_rounding():
    """In resamples of one number, alpha is undefined, although its squares are no whole numbers."""
    values = np.full((6, 3), 0.1)
    values[0] = 0.7
    data = ratings(values, "interval")
    told = estimate([make_alpha(data)], data, Settings(resamples=2000))[0]
    assert told.value == 1
    assert told.undefined == pytest.approx((5 / 6)**6 + (1 / 6)**6, abs=0.04)


def test_intervals_depend_on_nothing_but_the_seed():
    data = ratings(KRIPPENDORFF, "ordinal")
    first, again = (measure_agreement(data, Settings(resamples=600, seed=1))[0] for _ in range(2))
    other = measure_agreement(data, Settings(resamples=600, seed=2))[0]
    assert (first.low, first.high) == (again.low, again.high) != (other.low, other.high)


@pytest.mark.simulation
@pytest.mark.parametrize("population", ["nominal, shares .5 .3 .2", "interval, normal"])
def test_intervals_hold(population):
    """In 95 % of the data sets, but for 4 standard errors of 200 and 1 % of their own."""
    _, holds, _, _ = hits(population, 0.5, 50, 200)
    assert holds > 0.95 - 0.01 - 4 * np.sqrt(0.95 * 0.05 / 200)
