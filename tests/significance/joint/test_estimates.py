"""Errors of joint estimates, compared with dense formulas, statsmodels, and distributions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg, sparse, stats

from registry.significance import Settings
from registry.significance.joint import estimates
from registry.significance.joint.estimates import JointEstimates

SYSTEMS, RATINGS = 4, 90
PAIRS = np.triu_indices(SYSTEMS, 1)


def rate(*, weighted=False, correlated=True):
    """Ratings of systems by unequal crossed groups, with their regression on the systems."""
    rng = np.random.default_rng(1)
    groups = {name: np.minimum(rng.geometric(2 / n, RATINGS), n) for name, n in (("voter", 7), ("prompt", 11))}
    design = np.eye(SYSTEMS)[rng.integers(0, SYSTEMS, RATINGS)]
    values = rng.normal(size=RATINGS)
    if correlated:
        values += sum(rng.normal(size=20)[numbers] for numbers in groups.values())
    return design, values, rng.uniform(0.2, 3, RATINGS) if weighted else np.ones(RATINGS), groups


def estimate(design, values, weights, groups):
    """Weighted means of the systems."""
    covariance = np.linalg.inv(design.T @ (weights[:, None] * design))
    scores = covariance @ design.T @ (weights * values)
    residuals = weights * (values - design @ scores)
    return JointEstimates(scores, sparse.csr_array(residuals[:, None] * design), covariance,
                          (sparse.csr_array(np.sqrt(weights)[:, None] * design),), groups, weights)


def compute_cr2(design, values, weights, groups, contrast):
    """Variance by CR2, and Satterthwaite's degrees of freedom, from matrices of all observations.

    Residuals are multiplied by the root of the weights. Their variance under the model is proportional to the weights.
    """
    design, values = np.sqrt(weights)[:, None] * design, np.sqrt(weights) * values
    covariance = np.linalg.inv(design.T @ design)
    rest = np.eye(len(values)) - design @ covariance @ design.T
    residuals, sums, columns = rest @ values, [], []
    for group in np.unique(groups):
        rows = groups == group
        factors = contrast @ covariance @ design[rows].T @ np.real(linalg.inv(linalg.sqrtm(rest[np.ix_(rows, rows)])))
        sums.append(factors @ residuals[rows])
        columns.append(factors @ rest[rows])
    under_model = (np.array(columns) * weights) @ np.array(columns).T
    return np.square(sums).sum(), np.trace(under_model) ** 2 / np.square(under_model).sum()


def contrasts():
    """All differences of two systems, and all scores, as indices and vectors."""
    units = np.eye(SYSTEMS + 1)[:, :SYSTEMS]
    return [(a, b, units[a] - units[b]) for a in range(SYSTEMS) for b in range(a + 1, SYSTEMS + 1)]


def sum_by(groups, values):
    return np.array([values[groups == group].sum(axis=0) for group in np.unique(groups)])


@pytest.mark.parametrize("weighted", [False, True])
def test_few_groups_have_cr2_and_satterthwaites_degrees(weighted):
    design, values, weights, groups = rate(weighted=weighted)
    result = estimate(design, values, weights, {"voter": groups["voter"]})
    for a, b, contrast in contrasts():
        squared, degrees = compute_cr2(design, values, weights, groups["voter"], contrast)
        assert result.squared_errors[a, b] == pytest.approx(squared, rel=1e-9)
        assert result.degrees[a, b] == pytest.approx(degrees, rel=1e-9)


def test_crossed_groups_add_and_subtract_variances():
    design, values, weights, groups = rate()
    result = estimate(design, values, weights, groups)
    influences = (result.contributions @ result.inverse)
    both = sum_by(groups["voter"] * 100 + groups["prompt"], influences)
    for a, b, contrast in contrasts():
        (voters, of_voters), (prompts, of_prompts) = (
            compute_cr2(design, values, weights, numbers, contrast) for numbers in groups.values())
        together = voters + prompts - np.square(both @ contrast).sum()
        assert result.squared_errors[a, b] == pytest.approx(max(together, voters, prompts), rel=1e-9)
        assert result.degrees[a, b] == pytest.approx(min(of_voters, of_prompts), rel=1e-9)


def test_a_crossed_variance_is_at_least_that_of_each_kind():
    design, values, weights, groups = rate(correlated=False)
    single = [estimate(design, values, weights, {name: numbers}).estimate_scores().errors
              for name, numbers in groups.items()]
    crossed = estimate(design, values, weights, groups)
    errors = crossed.estimate_scores().errors
    assert (errors >= np.maximum(*single)).all()
    assert (errors**2 > np.diag(crossed.covariance) * 1.01).any(), "for some scores the sum is smaller"


@pytest.mark.parametrize("weighted", [False, True])
def test_many_groups_have_an_effective_number(monkeypatch, weighted):
    monkeypatch.setattr(estimates, "FEW_GROUPS", 0)
    monkeypatch.setattr(estimates, "_CELLS", 5 * (SYSTEMS + 1))  # several blocks, also within a group
    design, values, weights, groups = rate(weighted=weighted)
    result = estimate(design, values, weights, {"voter": groups["voter"]})
    influences = result.contributions @ result.inverse
    under_model = weights[:, None] ** 2 * np.square(design @ result.inverse)
    for a, b, contrast in contrasts():
        parts = sum_by(groups["voter"], under_model) @ np.abs(contrast)
        effective = parts.sum() ** 2 / np.square(parts).sum()
        squared = np.square(sum_by(groups["voter"], influences) @ contrast).sum() * effective / (effective - 1)
        assert result.squared_errors[a, b] == pytest.approx(squared)
        assert result.degrees[a, b] == pytest.approx(effective - 1)


def test_balanced_groups_have_the_same_errors_however_many_they_are(monkeypatch):
    rng = np.random.default_rng(5)
    design, groups = np.tile(np.eye(SYSTEMS), (30, 1)), {"voter": np.repeat(np.arange(30), SYSTEMS)}
    values = rng.normal(size=120) + rng.normal(size=30)[groups["voter"]]
    few = estimate(design, values, np.ones(120), groups)
    monkeypatch.setattr(estimates, "FEW_GROUPS", 0)
    many = estimate(design, values, np.ones(120), groups)
    paired = stats.ttest_rel(*values.reshape(30, SYSTEMS)[:, :2].T)
    for result in (few, many):
        pair = result.compare(np.array([0]), np.array([1]))
        assert pair.degrees == pytest.approx([29])
        assert np.exp(pair.log_p) == pytest.approx([paired.pvalue])
        assert [pair.low[0], pair.high[0]] == pytest.approx(list(paired.confidence_interval()))
        own = result.estimate_scores()
        assert own.low == pytest.approx(
            stats.ttest_1samp(values.reshape(30, SYSTEMS), 0).confidence_interval().low)


@pytest.mark.slow
def test_sums_by_crossed_groups_are_those_of_statsmodels(monkeypatch):
    linear_model = pytest.importorskip("statsmodels.regression.linear_model", reason="statsmodels")
    monkeypatch.setattr(estimates, "FEW_GROUPS", 0)  # CR0
    design, values, weights, groups = rate()
    fit = linear_model.OLS(values, design).fit(cov_type="cluster", cov_kwds={
        "groups": np.stack(list(groups.values()), axis=1), "use_correction": False, "df_correction": False})
    result = estimate(design, values, weights, groups)
    assert result.covariance == pytest.approx(fit.cov_params(), rel=1e-9)
    assert result.model_covariance * fit.scale == pytest.approx(
        linear_model.OLS(values, design).fit().cov_params(), rel=1e-9)


def test_a_system_of_a_single_voter_has_no_error():
    design, values, weights, groups = rate()
    voters = np.where(design[:, 0] == 1, 0, groups["voter"])
    pairs = estimate(design, values, weights, {"voter": voters}).compare(*PAIRS)
    has_error = PAIRS[0] != 0
    for column in (pairs.errors, pairs.degrees, pairs.log_p, pairs.low, pairs.high):
        assert (np.isfinite(column) == has_error).all()
    assert not np.isnan(pairs.differences).any()
    assert np.isnan(estimate(design, values, weights, {"voter": np.zeros(RATINGS)}).compare(*PAIRS).errors).all()


def test_undefined_scores_have_every_rank():
    design, values, weights, groups = rate()
    result = estimate(design, values + 9 * design @ np.arange(SYSTEMS), weights, groups)
    scores, inverse = np.append(result.scores, np.nan), np.append(result.inverse, np.zeros((SYSTEMS, 1)), axis=1)
    wider = replace(result, scores=scores, inverse=inverse)
    a, b = np.triu_indices(SYSTEMS + 1, 1)
    pairs = wider.compare(a, b)
    assert (np.isnan(pairs.errors) == (b == SYSTEMS)).all()
    assert pairs.log_p[b < SYSTEMS] == pytest.approx(result.compare(*PAIRS).log_p)
    sets = wider.compute_rank_sets(Settings(resamples=499, seed=1))
    own = result.compute_rank_sets(Settings(resamples=499, seed=1))
    assert (sets.low[-1], sets.high[-1]) == (1, SYSTEMS + 1)
    assert (sets.wins[:-1, :-1] == own.wins).all()
    assert own.wins.sum() == SYSTEMS * (SYSTEMS - 1) / 2


def test_rank_sets_do_not_depend_on_the_order_of_systems():
    design, values, weights, groups = rate()
    order = np.array([2, 0, 3, 1])
    settings = Settings(resamples=199, seed=1)
    values = values + design @ np.arange(SYSTEMS)
    sets = estimate(design, values, weights, groups).compute_rank_sets(settings)
    other = estimate(design[:, order], values, weights, groups).compute_rank_sets(settings)
    assert (other.low == sets.low[order]).all()
    assert (other.high == sets.high[order]).all()
    assert other.lead_low == pytest.approx(sets.lead_low[order])


@pytest.mark.slow
def test_two_systems_are_ranked_as_their_p_value_says():
    """Simulated errors are normal, but the p-value of five voters has four degrees of freedom."""
    groups, error = {"voter": np.repeat(np.arange(5), 2)}, 4 * np.sqrt(0.05 * 0.95 / 4999)
    n_wins = 0
    for run in np.random.default_rng(2).normal((1.4, 0), size=(100, 5, 2)):
        result = estimate(np.tile(np.eye(2), (5, 1)), run.ravel(), np.ones(10), groups)
        sets = result.compute_rank_sets(Settings(resamples=4999, seed=1))
        p = stats.ttest_rel(*run.T, alternative="greater").pvalue
        n_wins += sets.wins[0, 1]
        if abs(2 * p - 0.05) > error:
            assert sets.wins[0, 1] == (2 * p < 0.05)
        if abs(p - 0.05) > error:
            assert sets.possible[1] == (p > 0.05)
    assert 20 < n_wins < 80


def test_few_voters_are_reported():
    design, values, weights, groups = rate()
    assert not estimate(design, values, weights, groups).warnings
    few = estimate(design, values, weights, {"voter": groups["voter"] % 5})
    assert "the 5 voters in the data" in str(few.warnings)
