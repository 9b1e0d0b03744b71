"""Strengths and win rates from votes, compared with published analyses, choix, and dense formulas."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from registry.significance import Settings
from registry.significance.joint import estimates
from registry.significance.joint.votes import Votes, compute_win_rates, fit_bradley_terry
from tests.conftest import REAL_DATA
from tests.needs import need

# wins of the first, of the second, ties (Davidson 1970)
PUDDINGS = {
    (0, 1): (19, 22, 16), (0, 2): (16, 19, 12), (1, 2): (19, 19, 10), (0, 3): (18, 23, 13), (1, 3): (23, 19, 9),
    (2, 3): (19, 20, 15), (0, 4): (13, 19, 18), (1, 4): (16, 20, 12), (2, 4): (16, 15, 17), (3, 4): (17, 14, 16),
    (0, 5): (18, 21, 12), (1, 5): (22, 20, 12), (2, 5): (13, 18, 10), (3, 5): (14, 19, 18), (4, 5): (11, 21, 12)}
# citations of the journal in the row by that in the column (Stigler 1994; Agresti 2002, page 448)
CITATIONS = np.array([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]])
BASEBALL = ("Baltimore", "Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto")


def expand(counts, n_systems):
    """Votes from the numbers of wins, losses and ties of pairs."""
    numbers = np.array(list(counts.values()))
    a, b = (np.repeat([pair[side] for pair in counts], numbers.sum(axis=1)) for side in (0, 1))
    outcomes = np.concatenate([np.repeat([1.0, 0.0, 0.5][:len(row)], row) for row in numbers])
    return Votes(a, b, outcomes, n_systems)


@pytest.fixture
def games():
    path = REAL_DATA / "preferences" / "baseball.csv"
    need("real data", there=path.exists())
    with path.open() as file:
        counts = {(BASEBALL.index(row["home"]), BASEBALL.index(row["away"])): (
            int(row["home_wins"]), int(row["away_wins"])) for row in csv.DictReader(file)}
    return expand(counts, len(BASEBALL))


def test_strengths_of_baseball_teams(games):
    strengths = fit_bradley_terry(games).strengths
    assert strengths.scores.sum() == pytest.approx(0)
    assert strengths.scores - strengths.scores[0] == pytest.approx(
        [0, 1.1077, 0.6839, 1.4364, 1.5814, 1.2476, 1.2945], abs=5e-5)
    milwaukee = np.eye(7)[4] - np.eye(7)[0]
    assert np.sqrt(milwaukee @ strengths.model_covariance @ milwaukee) == pytest.approx(0.3433, abs=5e-5)


def test_home_advantage_in_baseball(games):
    fit = fit_bradley_terry(replace(games, order=np.ones(len(games), dtype=int)))
    assert fit.strengths.scores - fit.strengths.scores[0] == pytest.approx(
        [0, 1.1438, 0.7047, 1.4754, 1.6196, 1.2813, 1.3271], abs=5e-5)
    assert fit.nuisance.scores == pytest.approx([0.3023], abs=5e-5)
    assert np.sqrt(fit.nuisance.model_covariance) == pytest.approx(0.1309, abs=5e-5)


def test_strengths_of_journals():
    scores = fit_bradley_terry(expand({(int(a), int(b)): (CITATIONS[a, b],) for a, b in np.argwhere(CITATIONS)}, 4)
                               ).strengths.scores
    assert scores - scores[0] == pytest.approx([0, -2.9491, -0.4796, 0.2690], abs=5e-5)


def test_puddings_with_ties():
    fit = fit_bradley_terry(expand(PUDDINGS, 6), ties="davidson")
    worths = np.exp(fit.strengths.scores)
    assert worths / worths.sum() == pytest.approx(
        [0.1388034, 0.1730015, 0.1617474, 0.1653730, 0.1586854, 0.2023893], abs=5e-8)
    assert np.exp(fit.nuisance.scores) == pytest.approx([0.7468230], abs=5e-8)


def draw(*, n=200, systems=5, seed=1, ties=0.3, **columns):
    """Votes of voters on prompts, with an order effect and a covariate that are selected by name."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, systems, n)
    b = (a + rng.integers(1, systems, n)) % systems
    order, length = rng.integers(-1, 2, n), rng.normal(size=(n, 1))
    log_odds = 0.4 * (a - b) + 0.5 * order + 0.7 * length[:, 0] + rng.logistic(size=n)
    outcomes = np.where(np.abs(log_odds) < ties, 0.5, (log_odds > 0).astype(float))
    options = {"order": order, "covariates": length, "weights": rng.uniform(0.5, 2, n)}
    return Votes(a, b, outcomes, systems, **{name: options[name] for name in columns if columns[name]},
                 groups={"voter": rng.integers(0, 20, n), "prompt": rng.integers(0, 30, n)})


def compute_log_probabilities(votes, parameters, *, has_ties):
    """Logarithms of the probabilities of a win, a tie, and a loss of the first system (Davidson 1970), [votes, 3]."""
    strengths, rest = parameters[:votes.n_systems], list(parameters[votes.n_systems:])
    log_odds = strengths[votes.a] - strengths[votes.b]
    if votes.order is not None:
        log_odds = log_odds + rest.pop(0) * votes.order
    if votes.covariates is not None:
        log_odds = log_odds + rest.pop(0) * votes.covariates[:, 0]
    tie = np.exp(rest.pop(0)) if has_ties else 0.0
    with np.errstate(divide="ignore"):
        worths = np.stack([np.exp(log_odds / 2), np.full(len(votes), tie), np.exp(-log_odds / 2)], axis=1)
        return np.log(worths / worths.sum(axis=1, keepdims=True))


def differentiate(function, at, step=1e-6):
    """Derivatives of a function by central differences, [parameters, ...]."""
    return np.array([(function(at + move) - function(at - move)) / (2 * step) for move in step * np.eye(len(at))])


MODELS = [{"ties": "half"}, {"ties": "davidson"}, {"ties": "half", "order": True, "covariates": True},
          {"ties": "davidson", "order": True, "covariates": True, "weights": True}]


@pytest.mark.parametrize("options", MODELS)
def test_the_likelihood_is_largest(options):
    columns = {name: options[name] for name in options if name != "ties"}
    votes, has_ties = draw(**columns), options["ties"] == "davidson"
    fit = fit_bradley_terry(votes, ties=options["ties"])
    parameters = np.append(fit.strengths.scores, fit.nuisance.scores)
    weights = np.ones(len(votes)) if votes.weights is None else votes.weights
    points = np.stack([votes.outcomes == 1, votes.outcomes == 0.5, votes.outcomes == 0], axis=1).astype(float)
    if not has_ties:
        points = np.stack([votes.outcomes, 0 * votes.outcomes, 1 - votes.outcomes], axis=1)

    def log_likelihood(parameters):
        logs = compute_log_probabilities(votes, parameters, has_ties=has_ties)
        return float(weights @ np.multiply(points, logs, out=np.zeros_like(logs), where=points > 0).sum(axis=1))

    assert differentiate(log_likelihood, parameters) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("options", MODELS)
def test_influences_are_derivatives_by_the_weights_of_votes(options):
    votes = draw(**{name: options[name] for name in options if name != "ties"})
    weights = np.ones(len(votes)) if votes.weights is None else votes.weights
    fit = fit_bradley_terry(votes, ties=options["ties"])
    for vote in (0, 17, 101):
        changed = [weights + sign * 1e-4 * (np.arange(len(votes)) == vote) for sign in (1, -1)]
        up, down = (fit_bradley_terry(replace(votes, weights=values), ties=options["ties"]) for values in changed)
        for part in ("strengths", "nuisance"):
            result = getattr(fit, part)
            expected = (getattr(up, part).scores - getattr(down, part).scores) / 2e-4 * weights[vote]
            assert (result.contributions[[vote]] @ result.inverse)[0] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("options", MODELS)
def test_the_covariance_under_the_model_is_the_inverse_information(options):
    votes, has_ties = draw(**{name: options[name] for name in options if name != "ties"}), options["ties"] == "davidson"
    fit = fit_bradley_terry(votes, ties=options["ties"])
    parameters = np.append(fit.strengths.scores, fit.nuisance.scores)
    probabilities = np.exp(compute_log_probabilities(votes, parameters, has_ties=has_ties))
    kinds = [0, 1, 2] if has_ties else [0, 2]
    gradients = differentiate(lambda values: compute_log_probabilities(votes, values, has_ties=has_ties)[:, kinds],
                              parameters)
    weights = np.ones(len(votes)) if votes.weights is None else votes.weights
    information = np.einsum("pvo,qvo,vo,v->pq", gradients, gradients, probabilities[:, kinds], weights)
    covariance = np.linalg.pinv(information, rcond=1e-8)
    n = votes.n_systems
    assert fit.strengths.model_covariance == pytest.approx(covariance[:n, :n], abs=1e-8)
    assert fit.nuisance.model_covariance == pytest.approx(covariance[n:, n:], abs=1e-8)


@pytest.mark.slow
def test_half_wins_are_a_logistic_regression_of_statsmodels(monkeypatch):
    linear_model = pytest.importorskip("statsmodels.genmod.generalized_linear_model", reason="statsmodels")
    from statsmodels.genmod.families import Binomial

    votes = draw(order=True, covariates=True)
    sides = np.eye(votes.n_systems)
    design = np.column_stack([(sides[votes.a] - sides[votes.b])[:, 1:], votes.order, votes.covariates])
    fit = linear_model.GLM(votes.outcomes, design, Binomial()).fit(cov_type="cluster", cov_kwds={
        "groups": np.stack([votes.groups["voter"], votes.groups["prompt"]], axis=1), "use_correction": False})
    monkeypatch.setattr(estimates, "FEW_GROUPS", 0)  # CR0
    ours = fit_bradley_terry(votes)
    differences = np.eye(votes.n_systems)[1:] - np.eye(votes.n_systems)[0]
    assert differences @ ours.strengths.scores == pytest.approx(fit.params[:-2])
    assert ours.nuisance.scores == pytest.approx(fit.params[-2:])
    assert differences @ ours.strengths.covariance @ differences.T == pytest.approx(fit.cov_params()[:-2, :-2])
    assert ours.nuisance.covariance == pytest.approx(fit.cov_params()[-2:, -2:])


@pytest.mark.slow
def test_strengths_are_those_of_choix():
    choix = pytest.importorskip("choix", reason="choix")
    votes = draw(n=600, systems=12, ties=0)
    winners = np.where(votes.outcomes == 1, votes.a, votes.b)
    pairs = np.stack([winners, votes.a + votes.b - winners], axis=1).tolist()
    scores = fit_bradley_terry(votes).strengths.scores
    assert scores == pytest.approx(choix.ilsr_pairwise(12, pairs, tol=1e-11), abs=1e-8)
    assert scores == pytest.approx(choix.opt_pairwise(12, pairs, tol=1e-10), abs=1e-5)


def test_a_system_that_never_loses_has_no_strength():
    votes = draw()
    rest = fit_bradley_terry(votes)
    best = Votes(np.append(votes.a, [5, 5, 5]), np.append(votes.b, [0, 1, 1]), np.append(votes.outcomes, [1, 1, 1]), 7,
                 groups={kind: np.append(groups, [1, 2, 3]) for kind, groups in votes.groups.items()})
    fit = fit_bradley_terry(best)
    assert fit.strengths.scores == pytest.approx(np.append(rest.strengths.scores, [np.nan, np.nan]), nan_ok=True)
    assert fit.strengths.covariance[:5, :5] == pytest.approx(rest.strengths.covariance)
    assert fit.components.largest.tolist() == [0, 1, 2, 3, 4]
    members = fit.components.members
    assert fit.components.above[members[5], members[0]]
    assert fit.components.above.sum() == 1
    assert np.isnan(fit.compare(np.array([5]), np.array([0])).log_p).all()
    assert (fit.firm_groups[5:] == -1).all()
    assert np.isnan(fit.scores[5:]).all()


def test_without_losses_no_system_has_a_strength():
    fit = fit_bradley_terry(Votes(np.array([0, 0, 1]), np.array([1, 2, 2]), np.ones(3), 3))
    assert np.isnan(fit.strengths.scores).all()
    assert fit.components.members.tolist() == [0, 1, 2]
    assert fit.components.above.tolist() == [[False, True, True], [False, False, True], [False, False, False]]


def test_an_order_that_decides_all_votes_is_refused():
    with pytest.raises(ValueError, match="predicts all outcomes"):
        fit_bradley_terry(Votes(np.array([0, 1]), np.array([1, 0]), np.ones(2), 2, order=np.ones(2, dtype=int)))


def test_covariates_that_follow_from_the_systems_are_refused():
    votes = draw()
    with pytest.raises(ValueError, match="depend linearly"):
        fit_bradley_terry(replace(votes, covariates=(votes.a - votes.b)[:, None].astype(float)))


@pytest.mark.parametrize(("wins", "losses"), [(10, 1), (300, 2), (3, 3)])
def test_few_wins_have_profile_likelihood_intervals(wins, losses):
    n = wins + losses
    fit = fit_bradley_terry(expand({(0, 1): (wins, losses)}, 2))
    assert fit.warnings.codes == ("weak-links",)
    pair = fit.compare(np.array([0, 1]), np.array([1, 0]), confidence=0.9)
    quantile = stats.t.ppf(0.95, n - 1) ** 2 * n / (n - 1)  # the variance is n / (n - 1) times that under the model

    def compute_ratio(log_odds):
        return 2 * (wins * np.log(wins / n) + losses * np.log(losses / n)
                    - stats.bernoulli.logpmf(1, 1 / (1 + np.exp(-log_odds))) * wins
                    - stats.bernoulli.logpmf(0, 1 / (1 + np.exp(-log_odds))) * losses)

    for side, low, high in zip((1, -1), pair.low, pair.high, strict=True):
        for end in (low, high):
            assert compute_ratio(side * end) == pytest.approx(quantile, rel=1e-6)
        assert low < pair.differences[(1 - side) // 2] < high
    p = 2 * stats.t.sf(np.sqrt(compute_ratio(0) * (n - 1) / n), n - 1)
    assert np.exp(pair.log_p) == pytest.approx([p, p], rel=1e-8)


def test_profile_likelihood_intervals_of_several_systems():
    """The third system has three wins."""
    counts = {(0, 1): (30, 20), (0, 2): (25, 2), (1, 2): (30, 1)}
    votes = expand(counts, 3)
    fit = fit_bradley_terry(votes)
    assert fit.firm_groups[0] == fit.firm_groups[1] != fit.firm_groups[2]
    pairs = fit.compare(np.array([0, 0]), np.array([1, 2]))
    wald = fit.strengths.compare(np.array([0, 0]), np.array([1, 2]))
    assert (pairs.low[0], pairs.high[0]) == (wald.low[0], wald.high[0])
    contrast = np.array([1, 0, -1])
    scale = max(1, wald.errors[1] ** 2 / (contrast @ fit.strengths.model_covariance @ contrast))

    def fall(difference):
        def lose(middle):
            strengths = np.array([difference, middle, 0.0])
            return -compute_log_probabilities(votes, strengths, has_ties=False)[
                np.arange(len(votes)), np.where(votes.outcomes == 1, 0, 2)].sum()

        return optimize.minimize_scalar(lose, bracket=(0, 1), tol=1e-12).fun

    quantile = stats.t.ppf(0.975, wald.degrees[1])
    least = fall(wald.differences[1])
    for end in (pairs.low[1], pairs.high[1]):
        assert 2 * (fall(end) - least) / scale == pytest.approx(quantile**2, rel=1e-5)


def test_few_degrees_of_freedom_have_infinite_intervals():
    """Two voters have one degree of freedom, whose quantile at 99.9 % is 637."""
    votes = replace(expand({(0, 1): (10, 3)}, 2), groups={"voter": np.arange(13) % 2})
    pair = fit_bradley_terry(votes).compare(np.array([0]), np.array([1]), confidence=0.999)
    assert (pair.low[0], pair.high[0]) == (-np.inf, np.inf)
    one = replace(votes, groups={"voter": np.zeros(13)})
    assert np.isnan(fit_bradley_terry(one).compare(np.array([0]), np.array([1])).low).all()
    assert fit_bradley_terry(one).compute_rank_sets(Settings(resamples=99, seed=1)).high.tolist() == [2, 2]


@pytest.mark.parametrize("seed", range(30))
def test_intervals_of_few_votes_include_the_difference(seed):
    rng = np.random.default_rng(seed)
    n, systems = int(rng.integers(3, 40)), int(rng.integers(2, 6))
    votes = draw(n=n, systems=systems, seed=seed, ties=rng.choice([0, 1]), weights=seed % 3 == 0)
    fit = fit_bradley_terry(votes, ties="davidson" if seed % 2 else "half")
    pairs = fit.compare(*np.triu_indices(systems, 1))
    has_interval = np.isfinite(pairs.errors)
    assert (pairs.low < pairs.differences)[has_interval].all()
    assert (pairs.differences < pairs.high)[has_interval].all()
    fit.compute_rank_sets(Settings(resamples=99, seed=1))


def test_win_rates_are_mean_points():
    votes = draw(weights=True)
    rates = compute_win_rates(replace(votes, n_systems=6))
    for system in range(5):
        is_first, is_second = votes.a == system, votes.b == system
        points = np.append(votes.outcomes[is_first], 1 - votes.outcomes[is_second])
        weights = np.append(votes.weights[is_first], votes.weights[is_second])
        assert rates.scores[system] == pytest.approx(np.average(points, weights=weights))
        deviations = weights * (points - rates.scores[system]) / weights.sum()
        own = replace(rates, groups={})
        n_effective = (weights**2).sum() ** 2 / (weights**4).sum()
        assert own.squared_errors[system, -1] == pytest.approx(
            np.square(deviations).sum() * n_effective / (n_effective - 1))
    assert np.isnan(rates.scores[5])
    vote, step = 3, 1e-6
    more = compute_win_rates(replace(votes, weights=votes.weights + step * (np.arange(len(votes)) == vote)))
    assert (rates.contributions[[vote]] @ rates.inverse)[0, :5] == pytest.approx(
        (more.scores - rates.scores[:5]) / step * votes.weights[vote], abs=1e-5)
