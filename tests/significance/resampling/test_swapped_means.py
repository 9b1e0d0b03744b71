"""Swaps of units whose denominators all systems share, against every draw counted by itself."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from registry.parallel.execution import Execution
from registry.significance import Permutation, Settings
from registry.significance.base import Observed
from registry.significance.resampling import draws, screening
from tests.significance.matrices import F1, matrix

RNG = np.random.default_rng(7)
SCORES = {
    "grades, many ties": np.stack([RNG.integers(0, 4, (60, 4)), np.full((60, 4), 4)], axis=-1),
    "all digits": np.stack([RNG.integers(0, 10**9, (70, 4)), np.full((70, 4), 10**9)], axis=-1),
    "weighted units": np.stack([RNG.integers(0, 9, (50, 4)), RNG.integers(9, 30, (50, 1)).repeat(4, 1)], axis=-1),
    "negative": np.stack([RNG.integers(-5, 3, (40, 4)), np.ones((40, 4))], axis=-1),
    "one far from the others": np.stack([RNG.integers(0, 4, (60, 4)) * [1, 1, 1, 10**6], np.ones((60, 4))], axis=-1),
    "equal": np.stack([RNG.integers(0, 4, (30, 1)).repeat(4, 1), np.ones((30, 4))], axis=-1),
}


@pytest.mark.parametrize("lower_is_better", [False, True])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("kind", SCORES)
def test_counts_are_those_of_the_draws_one_by_one(kind, alternative, lower_is_better):
    m, resamples = matrix(SCORES[kind], lower_is_better=lower_is_better), 700
    scores = SCORES[kind][:, :, 0].astype(int)
    pairs, settings = Observed.compare(m, list(itertools.permutations(range(4), 2))), Settings(
        alternative=alternative, resamples=resamples, seed=5, execution=Execution(workers=1))
    assert screening.have_equal_denominators(m)
    taken = np.concatenate([np.concatenate([some for _, some in draws.draw_permutations(len(scores), block, 5)]).T
                            for block in range(2)])[:resamples].astype(bool)
    sign = {"two-sided": 1, "greater": 1, "less": -1}[alternative] * (-1 if lower_is_better else 1)
    for (a, b), found in zip(itertools.permutations(range(4), 2),
                             screening.count_swapped_means(pairs, settings).tolist(), strict=True):
        apart = sign * (scores[:, a] - scores[:, b])
        drawn = np.where(taken, -apart, apart).sum(axis=1)
        extreme = abs(drawn) >= abs(apart.sum()) if alternative == "two-sided" else drawn >= apart.sum()
        assert found == np.count_nonzero(extreme)


def test_permutation_of_fine_scores_counts_so(monkeypatch):
    m = matrix(SCORES["all digits"])
    calls = []
    monkeypatch.setattr("registry.significance.pairwise.permutation.count_swapped_means",
                        lambda *given: calls.append(1) or screening.count_swapped_means(*given))
    found = Permutation().run(m, [(0, 1), (2, 3)], Settings(resamples=1000))
    assert calls == [1]
    assert [of.method for of in found] == ["monte-carlo"] * 2


def test_others_are_swapped_with_their_denominators():
    f1 = matrix(RNG.integers(1, 5, (20, 3, 3)), F1)
    own = matrix(RNG.integers(1, 5, (20, 3, 2)))
    assert not any(map(screening.have_equal_denominators, (f1, own, replace(own, quotient=None))))
    assert not screening.have_equal_denominators(matrix(SCORES["all digits"] * 10.0**7))
