"""Agreement of metrics with people: definitions by loops and scipy, and permutations by brute force."""

import itertools

import numpy as np
import pytest
from scipy import stats

from registry.significance import Settings
from registry.significance.metric_agreement import (
    MEASURES,
    HumanScores,
    SoftPairwiseAccuracy,
    TieCalibratedAccuracy,
    compare_metrics,
)
from tests.validity.metric_agreement import measure_error

COEFFICIENTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def simulate(items, systems, *, missing=0.0, whole=False, metrics=1, seed=1):
    """People's scores and metrics; with `whole`, scores are whole numbers and many are tied."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(items, 1)) + 0.4 * rng.normal(size=systems) + rng.normal(size=(items, systems))
    scores = 0.5 * human + rng.normal(size=(metrics, items, systems)) * np.arange(1, metrics + 1)[:, None, None]
    if whole:
        human, scores = np.round(human), np.round(2 * scores)
    return np.where(rng.random(human.shape) < missing, np.nan, human), scores


DATA = {f"{'whole' if whole else 'real'} scores, {missing:.0%} missing": simulate(12, 4, missing=missing, whole=whole)
        for whole in (False, True) for missing in (0.0, 0.2)}


def list_groups(name, human, scores):
    """The scores by people and by the metric that a measure correlates, group by group."""
    is_judged = ~np.isnan(human)
    if name.endswith("-of-means"):
        yield tuple(np.array([side[judged, n].mean() for n, judged in enumerate(is_judged.T)])
                    for side in (human, scores))
    elif name.endswith("-by-item"):
        yield from ((human[n][judged], scores[n][judged]) for n, judged in enumerate(is_judged))
    elif name.endswith("-by-system"):
        yield from ((human[judged, n], scores[judged, n]) for n, judged in enumerate(is_judged.T))
    else:
        yield human[is_judged], scores[is_judged]


def compute_by_loops(name, human, scores):
    """The measure of this name, from its definition."""
    groups = list(list_groups(name, human, scores))
    if name.startswith("acc-eq"):
        differences = {0.0} | {abs(x - y) for _, metric in groups for x, y in itertools.combinations(metric, 2)}
        return max(measure_accuracy(groups, threshold) for threshold in differences)
    if name == "accuracy":
        ((gold, metric),) = list_groups("-of-means", human, scores)
        pairs = list(itertools.combinations(range(len(gold)), 2))
        return np.mean([np.sign(gold[a] - gold[b]) == np.sign(metric[a] - metric[b]) for a, b in pairs])
    if name == "spa":
        return 1 - np.mean([abs(count_signs(human, human, *pair) - count_signs(human, scores, *pair))
                            for pair in itertools.combinations(range(human.shape[1]), 2)])
    coefficient = COEFFICIENTS[name.partition("-")[0]]
    values = [coefficient(*group).statistic for group in groups
              if len(group[0]) > 1 and all(len(set(side)) > 1 for side in group)]
    return np.mean(values)


def measure_accuracy(groups, threshold):
    """The mean share of pairs that a metric orders, or calls equal, as people do."""
    shares = []
    for gold, metric in groups:
        (gold_a, gold_b), (a, b) = (np.array(list(itertools.combinations(side, 2))).reshape(-1, 2).T
                                    for side in (gold, metric))
        if len(a):
            shares.append(np.mean(np.sign(gold_a - gold_b) == np.sign(a - b) * (abs(a - b) > threshold)))
    return np.mean(shares)


def count_signs(human, scores, a, b):
    """The one-sided mid-p of the difference of two systems, over all signs of the judged differences."""
    differences = (scores[:, a] - scores[:, b])[~np.isnan(human[:, a] + human[:, b])]
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    excess = sums - differences.sum()
    return np.mean(np.where(abs(excess) < 1e-9, 0.5, excess > 0))


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "spa"])
@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_measures_have_their_definition(name, data):
    human, (scores,) = data
    assert MEASURES[name].compute(HumanScores(human), scores) == pytest.approx(compute_by_loops(name, human, scores))


@pytest.mark.parametrize("name", ["spearman", "kendall", "spearman-by-item", "kendall-by-item"])
def test_rank_correlations_of_many_scores_have_their_definition(name):
    """With more than 64 scores in a group, scipy ranks them."""
    human, (scores,) = simulate(4, 70, missing=0.1, whole=True)
    assert MEASURES[name].compute(HumanScores(human), scores) == pytest.approx(compute_by_loops(name, human, scores))


@pytest.mark.parametrize("name", MEASURES)
def test_scale_and_order_of_systems_do_not_matter(name):
    human, (scores,) = simulate(12, 5, missing=0.1, whole=True)
    order = [3, 0, 4, 2, 1]
    agreement = MEASURES[name].compute(HumanScores(human), scores)
    assert MEASURES[name].compute(HumanScores(human[:, order]), 0.07 * scores[:, order] - 3) == pytest.approx(agreement)


@pytest.mark.parametrize("name", MEASURES)
def test_people_agree_with_themselves(name):
    human, _ = simulate(12, 5, missing=0.1, whole=True)
    assert MEASURES[name].compute(HumanScores(human), np.nan_to_num(human)) == pytest.approx(1)


class TestSoftPairwiseAccuracy:
    @pytest.mark.parametrize("missing", [0.0, 0.2])
    @pytest.mark.parametrize("whole", [False, True])
    def test_few_items_count_all_signs(self, whole, missing):
        human, (scores,) = simulate(8, 4, missing=missing, whole=whole)
        assert SoftPairwiseAccuracy().compute(HumanScores(human), scores) == pytest.approx(
            compute_by_loops("spa", human, scores))

    @pytest.mark.parametrize("whole", [False, True])
    def test_more_items_are_close_to_all_signs(self, whole):
        """A simulation with 1,000 draws has a standard error of up to 0.016 for a p-value."""
        human, _ = simulate(20, 5, whole=whole)
        people = HumanScores(human)
        expected = [count_signs(human, human, *pair) for pair in zip(*people.pairs, strict=True)]
        assert people.p_values == pytest.approx(expected, abs=0.005)

    def test_it_is_what_the_simulation_of_its_authors_estimates(self):
        """Their program counts sums of at least the observed size in shared random signs."""
        human, (scores,) = simulate(150, 6)
        signs = np.random.default_rng(2).choice((-1.0, 1.0), size=(40_000, 150))
        p_values = []
        for side in (human, scores):
            totals = signs @ side
            p_values.append([np.mean(totals[:, a] - totals[:, b] >= side[:, a].sum() - side[:, b].sum())
                             for a, b in itertools.combinations(range(6), 2)])
        simulated = 1 - np.abs(np.subtract(*p_values)).mean()
        assert SoftPairwiseAccuracy().compute(HumanScores(human), scores) == pytest.approx(simulated, abs=0.003)

    @pytest.mark.parametrize("items", [6, 40])
    def test_equal_systems_have_no_direction(self, items):
        """The sum of their differences is always 0, so counting equal sums as larger would give 1 in either order."""
        human, _ = simulate(items, 1)
        people = HumanScores(np.repeat(human, 2, axis=1))
        assert people.p_values == pytest.approx([0.5])

    def test_a_metric_that_cannot_decide_loses_half_for_every_clear_pair(self):
        """All scores of the metric are equal, so all its p-values are 0.5; those of people are 0."""
        human = np.arange(3.0) + np.zeros((200, 1))
        assert SoftPairwiseAccuracy().compute(HumanScores(human), np.ones((200, 3))) == pytest.approx(0.5)


def test_a_threshold_makes_ties():
    """People call two of three pairs equal; a threshold of 0.2 makes these two pairs of the metric equal, too."""
    human, scores = np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 4.0]]), np.array([[0.1, 0.3, 0.9], [0.5, 0.6, 0.4]])
    accuracy, threshold = TieCalibratedAccuracy("item").calibrate(HumanScores(human), scores)
    # without ties 2 of 6 pairs are correct; up to 0.1, 3; up to 0.2, 4
    assert (accuracy, threshold) == (pytest.approx(4 / 6), pytest.approx(0.2))


def test_equal_differences_are_tied_in_spite_of_rounding():
    """0.3 - 0.2 and 0.2 - 0.1 differ in the last bit; one threshold has to tie both pairs."""
    human, scores = np.array([[1.0, 1.0], [1.0, 2.0]]), np.array([[0.1, 0.2], [0.2, 0.3]])
    assert TieCalibratedAccuracy("item").compute(HumanScores(human), scores) == pytest.approx(0.5)


UNITS = {"items": None, "clusters": np.array([0, 1, 1, 2, 0, 3, 2, 4]), "single scores": None}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ["spa", "accuracy", "acc-eq-by-item", "acc-eq-by-system", "pearson", "kendall-by-item",
                                  "pearson-by-system", "spearman", "pearson-of-means"])
def test_p_values_count_all_swaps(name, unit):
    """Of standardised scores of two metrics, in items, clusters, or single scores."""
    n_items = 8 if unit != "single scores" else 3
    human, scores = simulate(n_items, 3, whole=name.startswith("acc"), metrics=2, seed=5)
    human[1, 2] = np.nan
    standardized = []
    for metric in scores:
        judged = metric[~np.isnan(human)]
        standardized.append((metric - judged.mean()) / judged.std())
    units = np.arange(n_items) if UNITS[unit] is None else UNITS[unit]
    cells = np.repeat(units[:, None], 3, axis=1)
    if unit == "single scores":
        cells = np.arange(human.size).reshape(human.shape)
    measure = MEASURES[name]
    differences = []
    for swap in itertools.product((False, True), repeat=cells.max() + 1):
        is_swapped = np.array(swap)[cells]
        first, second = (np.where(is_swapped, *sides) for sides in (standardized[::-1], standardized))
        differences.append(measure.compute(HumanScores(human), first) - measure.compute(HumanScores(human), second))
    expected = np.mean([not abs(difference) < abs(differences[0]) - 1e-12 for difference in differences])
    comparison = compare_metrics(HumanScores(human), scores, measure, Settings(resamples=1023), UNITS[unit],
                                 swap_single_scores=unit == "single scores")
    assert comparison.is_exact
    assert comparison.differences == pytest.approx(differences[:1])
    assert comparison.p_values == pytest.approx([expected])


@pytest.mark.parametrize("name", ["spa", "acc-eq-by-item", "kendall-by-item"])
def test_simulated_p_values_are_near_exact_ones(name):
    human, scores = simulate(12, 4, metrics=3, seed=3)
    exact, simulated = (compare_metrics(HumanScores(human), scores, MEASURES[name], Settings(resamples=resamples))
                        for resamples in (5000, 3000))
    assert (exact.is_exact, simulated.is_exact) == (True, False)
    assert simulated.p_values == pytest.approx(exact.p_values, abs=5 * np.sqrt(0.25 / 3000))
    assert simulated.pairs == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize("name", MEASURES)
def test_fast_swaps_equal_slow_ones(name):
    """With clusters, unequal numbers of judged outputs, and items without any."""
    human, scores = simulate(14, 4, missing=0.3, whole=True, metrics=2)
    human[3] = np.nan
    people, units = HumanScores(human), np.arange(14)[:, None] // 2
    a, b = map(people.standardize, scores)
    swaps = np.random.default_rng(4).integers(0, 2, size=(20, 7), dtype=np.uint8)
    fast = MEASURES[name].prepare_swaps(people, a, b, units)(swaps)
    slow = MEASURES[name].prepare_swaps(people, a, b, np.repeat(units, 4, axis=1))(swaps)
    assert fast[0] == pytest.approx(slow[0])
    assert fast[1] == pytest.approx(slow[1])


def test_undefined_agreement_has_no_p_value():
    human, scores = simulate(6, 3, metrics=2)
    scores[0] = 1.0
    comparison = compare_metrics(HumanScores(human), scores, MEASURES["pearson"], Settings(resamples=99))
    assert np.isnan(comparison.agreement[0])
    assert np.isnan(comparison.p_values).all()


@pytest.mark.simulation
def test_swaps_of_items_keep_the_level_and_swaps_of_single_scores_do_not():
    """If metrics score all outputs for some items too high: 26 % for single scores in 1,000 test sets."""
    runs = 150
    assert measure_error("item bias", "pearson", "item", runs) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert measure_error("item bias", "pearson", "single score", 60) > 0.1
