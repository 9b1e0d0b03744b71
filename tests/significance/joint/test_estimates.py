"""Errors of joint estimates, compared with dense formulas, statsmodels, and distributions."""


import numpy as np
import pytest
from scipy import linalg, sparse

from registry.significance.joint.estimates import JointEstimates

SYSTEMS, RATINGS = 4, 90


def rate(seed=1, groups=("voter",), sizes=(7, 11), weighted=False):
    """Ratings of systems by unequal groups, and the dense parts of their regression on the systems."""
    rng = np.random.default_rng(seed)
    numbers = {name: np.minimum(rng.geometric(2 / size, RATINGS), size)
               for name, size in zip(groups, sizes, strict=False)}
    design = np.eye(SYSTEMS)[rng.integers(0, SYSTEMS, RATINGS)]
    effects = sum((rng.normal(size=20)[number] for number in numbers.values()), rng.normal(size=RATINGS))
    weights = rng.uniform(0.2, 3, RATINGS) if weighted else np.ones(RATINGS)
    return design, effects, weights, numbers


def estimate(design, values, weights, groups, weighted=False):
    """Weighted means of the systems."""
    covariance = np.linalg.inv(design.T @ (weights[:, None] * design))
    scores = covariance @ design.T @ (weights * values)
    residuals = weights * (values - design @ scores)
    return JointEstimates(scores, sparse.csr_array(residuals[:, None] * design), covariance,
                          (sparse.csr_array(np.sqrt(weights)[:, None] * design),), groups,
                          weights if weighted else None)


def compute_cr2(design, values, weights, groups, contrast):
    """Variance by CR2, and Satterthwaite's degrees of freedom, from matrices of all observations.

    Residuals are multiplied by the root of the weights. Their variance under the model is proportional to the weights.
    """
    design, values = np.sqrt(weights)[:, None] * design, np.sqrt(weights) * values
    covariance = np.linalg.inv(design.T @ design)
    rest = np.eye(len(values)) - design @ covariance @ design.T
    residuals, u, columns = rest @ values, [], []
    for group in np.unique(groups):
        rows = groups == group
        adjust = np.real(linalg.inv(linalg.sqrtm(rest[np.ix_(rows, rows)])))
        weight = contrast @ covariance @ design[rows].T @ adjust
        u.append(weight @ residuals[rows])
        columns.append(rest[rows].T @ weight)
    columns = np.array(columns)
    under_model = (columns * weights) @ columns.T
    return np.square(u).sum(), np.trace(under_model) ** 2 / np.square(under_model).sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_few_groups_have_cr2_and_satterthwaites_degrees(weighted):
    design, values, weights, groups = rate(weighted=weighted)
    result = estimate(design, values, weights, groups, weighted)
    for a in range(SYSTEMS):
        for b in range(a):
            contrast = np.eye(SYSTEMS)[a] - np.eye(SYSTEMS)[b]
            squared, degrees = compute_cr2(design, values, weights, groups["voter"], contrast)
            assert result.squared_errors[a, b] == pytest.approx(squared, rel=1e-9)
            assert result.degrees[a, b] == pytest.approx(degrees, rel=1e-9)
        squared, degrees = compute_cr2(design, values, weights, groups["voter"], np.eye(SYSTEMS)[a])
        assert result.squared_errors[a, -1] == pytest.approx(squared, rel=1e-9)
        assert result.degrees[a, -1] == pytest.approx(degrees, rel=1e-9)
