"""Correlation of systems: Yeh's example, Student's tests of means, and the bootstrap of F1 and BLEU."""

import math

import numpy as np
import pytest
from scipy import stats

from registry.significance import Bootstrap, Settings
from registry.significance.base import Observed
from registry.significance.intervals import influences
from registry.significance.resampling.scores import score_resamples
from registry.studies.dependence import _run_t_tests
from tests.conftest import ROOT
from tests.significance.matrices import of_spans


@pytest.fixture
def yeh(task, scored):
    """Recall of 103 modifier relations (Yeh 2000, section 3.3): both find 19, only I 28, only II 6."""
    found = [(1, 1)] * 19 + [(1, 0)] * 28 + [(0, 1)] * 6 + [(0, 0)] * 50
    task.documents, task.significance = {}, {"seed": 1, "correction": "none"}
    task.gold = {f"r{n:03}": "yes" for n in range(103)}
    task.systems = {name: {f"r{n:03}": "yes" if pair[side] else "no" for n, pair in enumerate(found)}
                    for side, name in enumerate(("I", "II"))}
    scored(task)
    return np.array(found, dtype=float)


def test_yeh_s_example(yeh, registry):
    """r12 = 0.35; the tests are scipy's of paired and of independent samples."""
    (row,) = registry("study", "correlation", "small", "--format", "json").json
    assert row["r12"] == pytest.approx(0.34518, abs=5e-6)
    s1, s2 = yeh.std(axis=0)
    assert row["factor"] == pytest.approx(math.sqrt((s1**2 + s2**2) / (s1**2 + s2**2 - 2 * row["r12"] * s1 * s2)))
    assert row["p_paired"] == pytest.approx(stats.ttest_rel(*yeh.T).pvalue, rel=1e-9)
    assert row["p_independent"] == pytest.approx(stats.ttest_ind(*yeh.T).pvalue, rel=1e-9)
    assert row["p_adjusted"] == pytest.approx(stats.binomtest(28, 34).pvalue, rel=1e-9)
    assert not row["missed"]
    (strict,) = registry("study", "correlation", "small", "--format", "json", "--alpha", "0.001").json
    assert strict["p_adjusted"] <= 0.001 < strict["p_independent"]
    assert strict["missed"]


def test_at_equal_deviations_the_factor_is_that_of_the_paper(task, registry):
    """1 / sqrt(1 - r12): 1.27, 1.41 and 2.24 for r12 of 0.38, 0.50 and 0.80."""
    told = {0.38: 1.27, 0.50: 1.41, 0.80: 2.24}
    task.documents, task.gold = {}, {f"i{n:04}": "yes" for n in range(400)}
    right = {"a": range(200)}
    for r in told:
        apart = round(100 * (1 - r))  # of 200 items that either gets right; r = 1 - 2 apart / 400 / (1/2)
        right[f"b{r}"] = range(apart, 200 + apart)
    task.systems = {name: {item: "yes" if n in of else "no" for n, item in enumerate(task.gold)}
                    for name, of in right.items()}
    registry("run", task.write())
    rows = {(row["system_a"], row["system_b"]): row for row in registry(
        "study", "correlation", "small", "--format", "json").json}
    for r, factor in told.items():
        row = rows["a", f"b{r}"]
        assert row["r12"] == pytest.approx(r, abs=1e-9)
        assert row["factor"] == pytest.approx(factor, abs=0.005)
        assert (row["p_adjusted"], row["p_independent"], row["missed"]) == (1, 1, False)


@pytest.mark.parametrize("known", [True, False], ids=["linearized", "jackknife"])
def test_of_f1_it_is_what_resamples_show(known):
    """r12 is the correlation of the systems' scores over R resamples, which has an error of (1 - r^2) / sqrt(R)."""
    m = of_spans(np.random.default_rng(7), np.arange(800), known=known)
    resampled = score_resamples(m, Settings(resamples=10_000, seed=1))
    influence = influences(m)
    r = np.corrcoef(resampled.T)[0, 1]
    assert np.corrcoef(influence.T)[0, 1] == pytest.approx(r, abs=4 * (1 - r**2) / 100 + 0.01)
    paired, independent = _run_t_tests(influence, *Observed.compare(m, [(0, 1)]))
    d = m.difference(*m.scores())
    for p, deviation in ((paired, np.std(resampled @ [1, -1])), (independent, np.hypot(*resampled.std(axis=0)))):
        assert stats.norm.isf(p / 2) == pytest.approx(abs(d) / deviation, rel=0.05)
    (tested,) = Bootstrap().run(m, [(0, 1)], Settings(resamples=10_000, seed=1))
    assert paired == pytest.approx(tested.p_value, abs=0.02)


def test_translations_are_compared_by_bleu(registry, scored):
    """The significant pairs of the board are those of its own test, and scores of segments have no say."""
    scored(ROOT / "sample_data" / "translation" / "task.toml")
    rows = registry("study", "correlation", "translation", "--format", "json").json
    pairs = {(r["system_a"], r["system_b"]): r for r in registry("pairs", "translation", "--format", "json").json}
    assert len(rows) == len(pairs) == 6
    for row in rows:
        pair = pairs[row["system_a"], row["system_b"]]
        assert row["p_adjusted"] == pytest.approx(pair["p_adjusted"])
        assert row["difference"] == pytest.approx(pair["difference"])
        assert (row["p_paired"] <= 0.05) == (row["p_adjusted"] <= 0.05)


def test_what_has_no_answer(yeh, registry):
    refused = registry("study", "correlation", "small", "--test", "binomial-z", exit_code=3).stderr
    assert "is a test of independent samples" in refused


def test_identical_systems_are_not_missed(task, registry, scored):
    scored(task)
    rows = registry("study", "correlation", "small", "--format", "json").json
    (same,) = [row for row in rows if (row["system_a"], row["system_b"]) == ("b", "c")]
    assert (same["r12"], same["factor"]) == (pytest.approx(1), None)
    assert (same["p_paired"], same["p_independent"], same["missed"]) == (1, 1, False)
