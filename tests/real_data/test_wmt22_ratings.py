"""WMT22 Czech-English, people's ratings: the organisers' averages and differences, and adjusted means beside them.

The file has the mean rating of each segment, raw and as z-scores of annotators. It has no annotators, so the z-scores
themselves cannot be recomputed, and the errors of adjusted means leave out that annotators differ.
`test_wmt22_cs_en.py` has the organisers' rank-sum tests and clusters.
"""

import numpy as np
import pytest
from scipy import sparse

from registry.significance.joint.ratings import LeastSquares, Ratings


@pytest.fixture
def folder(real_data):
    return real_data("wmt22-cs-en") / "human"


@pytest.fixture
def columns(folder):
    """Names of systems in the organisers' order, and system, segment, raw score, z-score and number of ratings."""
    names = [line.split()[-1] for line in (folder / "ad-sys-ranking-cs-en-z.csv").read_text().splitlines()]
    rows = [line.split() for line in (folder / "ad-seg-scores-cs-en.csv").read_text().splitlines()[1:]]
    system, segment, raw, z, count = zip(*rows, strict=True)
    return (names, np.array([names.index(name) for name in system]), np.unique(segment, return_inverse=True)[1],
            np.array(raw, dtype=float), np.array(z, dtype=float), np.array(count, dtype=int))


def test_averages_of_the_organisers(folder, columns):
    """All printed digits: three significant ones of raw scores, three decimals of z-scores. Segments count equally."""
    _, system, segment, raw, z, count = columns
    means = [LeastSquares(Ratings(system, segment, None, score), ()).means for score in (raw, z)]
    lines = (folder / "ad-sys-ranking-cs-en-z.csv").read_text().splitlines()
    for n, line in enumerate(lines):
        of_raw, of_z, segments, ratings, _ = line.split()
        assert (float(f"{means[0][n]:.3g}"), round(means[1][n], 3)) == (float(of_raw), float(of_z))
        assert (np.sum(system == n), count[system == n].sum()) == (int(segments), int(ratings))
    weighted = LeastSquares(Ratings(system, segment, None, z, count.astype(float)), ()).means
    assert np.abs(weighted - means[1]).max() > 0.02, "they do not average over ratings"


def test_differences_of_the_organisers(folder, columns):
    """All 132 differences of average z-scores, to two decimals."""
    names, system, segment, _, z, _ = columns
    means = LeastSquares(Ratings(system, segment, None, z), ()).means
    header, *rows = (line.split() for line in (folder / "ad-DA-diff-wilcoxon-rs-csen.csv").read_text().splitlines()
                     if line.strip())
    printed = [(names.index(row[0]), names.index(other), cell) for row in rows
               for other, cell in zip(header, row[1:], strict=True) if cell != "-"]
    assert len(printed) == 132
    for a, b, cell in printed:
        assert round(means[a] - means[b], 2) == float(cell.rstrip("*"))


def test_adjusted_means_solve_the_least_squares_problem(columns):
    """By scipy's iterative solver, with an effect for each of 1,448 segments."""
    _, system, segment, _, z, _ = columns
    fit = LeastSquares(Ratings(system, segment, None, z), ("item",))
    n = np.arange(len(z))
    design = sparse.hstack([sparse.csr_array((np.ones(len(z)), (n, levels))) for levels in (system, segment)]).tocsr()
    solution = sparse.linalg.lsmr(design, z, atol=1e-14, btol=1e-14)[0]
    assert not fit.components.any()
    assert fit.means == pytest.approx(solution[:12] + solution[12:].mean(), abs=1e-9)


def test_errors_of_adjusted_means_are_those_of_statsmodels(columns):
    """Its errors by segment, of a regression on scores from which the mean of the segment is subtracted.

    Theirs lack the correction for 1,448 segments, at most 0.1 %.
    """
    linear_model = pytest.importorskip("statsmodels.regression.linear_model")
    _, system, segment, _, z, _ = columns
    design = np.column_stack([z, np.eye(12)[system]])
    sums = np.zeros((segment.max() + 1, 13))
    np.add.at(sums, segment, design)
    design -= (sums / np.bincount(segment)[:, None])[segment]
    peer = linear_model.OLS(design[:, 0], design[:, 2:]).fit(
        cov_type="cluster", cov_kwds={"groups": segment, "use_correction": False})
    compared = LeastSquares(Ratings(system, segment, None, z), ("item",)).estimates.compare(
        np.arange(1, 12), np.zeros(11, dtype=int))
    assert compared.differences == pytest.approx(peer.params)
    assert compared.errors == pytest.approx(peer.bse, rel=1e-3)


def test_adjusted_means_keep_the_order_of_the_organisers(columns):
    """Segments were assigned at random, and a system misses 4 to 11 % of them, so averages are hardly biased."""
    _, system, segment, _, z, _ = columns
    fit = LeastSquares(Ratings(system, segment, None, z), ("item",))
    assert (np.diff(fit.means) < 0).all()
    averages = LeastSquares(Ratings(system, segment, None, z), ()).means
    errors = fit.estimates.estimate_scores().errors
    assert (np.abs(fit.means - averages) < errors / 2).all()
