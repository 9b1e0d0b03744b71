"""Evert (2004), figures 1 to 3: Fisher's test on the difference regions of two association measures, at each n-best."""

import csv

import numpy as np
import pytest

from registry.significance import Fisher, Settings, StatisticMatrix
from tests.significance.test_independent import PRECISION


@pytest.fixture
def candidates(real_data):
    with (real_data("krennppv") / "KrennPPV.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("other", ["chisq", "chisq.corr"])
@pytest.mark.parametrize("rule", ["point", "doubling"])
def test_g2_and_x2_differ_up_to_n_1250_and_nowhere_beyond(candidates, other, rule):
    right = np.array([row["is.colloc"] == "True" for row in candidates])
    assert round(100 * right.mean(), 2) == 11.09
    order = [np.argsort([-float(row[measure]) for row in candidates], kind="stable") for measure in ("log.like", other)]
    significant = {}
    for n in range(100, 2001, 50):
        accepted = np.zeros((len(candidates), 2), dtype=bool)
        for system, best in enumerate(order):
            accepted[best[:n], system] = True
        statistics = np.stack([accepted & right[:, None], accepted, right[:, None].repeat(2, axis=1)], axis=-1)
        m = StatisticMatrix(statistics.astype(float), lambda sums: sums[..., 0] / np.maximum(sums[..., 1], 1),
                            quotient=PRECISION, family="prf")
        (found,) = Fisher(rule).run(m, [(0, 1)], Settings())
        significant[n] = found.p_value <= 0.05
    assert significant == {n: n <= 1250 for n in range(100, 2001, 50)}
