"""The ideal bootstrap: every resample in fractions, convolution in whole numbers, draws, duality, invariances."""

import csv
import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from registry.significance import Settings, StatisticMatrix
from registry.significance.base import Observed
from registry.significance.exact import ideal_bootstrap as ideal
from registry.significance.exact.ideal_bootstrap import have_too_many_sums, ideal_tail
from registry.significance.pairwise import bootstrap
from registry.significance.resampling.exceedances import is_reachable
from tests.significance.exact.all_resamples import all_resamples, extremities, last
from tests.significance.matrices import in_steps, matrix, of_labels, shared

ALTERNATIVES = ("two-sided", "greater", "less")
OPPOSITE = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def observed(m, pair=(0, 1)):
    scores = m.scores()
    return Observed(m, pair, float(m.difference(scores[pair[0]], scores[pair[1]])), 1)


def run(m, pair=(0, 1), **options):
    return ideal_tail(observed(m, pair), Settings(**options))


def p_value(tail):
    return math.exp(tail.log_p) if math.isnan(tail.p) else tail.p


few_units = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=6).filter(
    lambda rows: any(w for *_, w in rows))
alternatives = st.sampled_from(ALTERNATIVES)


@pytest.mark.slow
@settings(max_examples=150)
@given(few_units, alternatives, st.booleans(), st.sampled_from((0.0123, 0.0517, 0.3141, 0.707)))
def test_equals_all_resamples(rows, alternative, lower, alpha):
    """The p-value to the last digit, and the interval, with ties and with denominators of 0."""
    found = run(shared(rows, lower_is_better=lower), alternative=alternative, confidence=1 - alpha)
    d, bar, counts = extremities([(b, a, w) for a, b, w in rows] if lower else rows, alternative)
    if d and set(counts) <= {0, math.inf}:
        assert math.isnan(found.log_p)
        assert found.messages.codes == ("constant-difference",)
        return
    assert found.method == "ideal"
    assert is_reachable(observed(shared(rows, lower_is_better=lower)), alternative) == any(x >= bar for x in counts)
    if not any(x >= bar for x in counts):
        assert math.isnan(found.log_p)
        assert found.messages.codes == ("unreachable-difference",)
        assert math.isnan(found.ci_low)
        return
    total = len(rows) ** len(rows)
    assert found.p == sum(ways for x, ways in counts.items() if x >= bar) / total
    if counts[math.inf] / total > 0.001:
        assert "no-interval" in found.messages.codes
        assert math.isnan(found.ci_low)
        return
    reach = last(counts, alpha)
    assert found.ci_low == pytest.approx(-math.inf if alternative == "less" else float(d) - reach, abs=1e-9)
    assert found.ci_high == pytest.approx(math.inf if alternative == "greater" else float(d) + reach, abs=1e-9)


@settings(max_examples=50)
@given(few_units, st.sampled_from((0.0517, 0.3141)))
def test_percentile_and_basic_intervals_are_quantiles_of_the_defined_resamples(rows, alpha):
    counts = all_resamples(rows)
    undefined = counts.pop(None, 0)
    d = sum(a - b for a, b, _ in rows) / sum(w for _, _, w in rows)
    percentile, basic = (run(shared(rows), interval=kind, confidence=1 - alpha) for kind in ("percentile", "basic"))
    if percentile.messages:
        assert undefined or len(counts) == 1 or not any(d * (x - 2 * d) >= -1e-9 or d * x <= 0 for x in counts)
        return
    low = -last(Counter({-x: ways for x, ways in counts.items()}), alpha / 2)
    high = last(counts, alpha / 2)
    assert (percentile.ci_low, percentile.ci_high) == pytest.approx((low, high), abs=1e-9)
    assert (basic.ci_low, basic.ci_high) == pytest.approx((2 * d - high, 2 * d - low), abs=1e-9)


def log_tail(values):
    """Log P(a sum of n of the n whole numbers, drawn with replacement, is not negative): their n-fold convolution.

    It is the n-th power of one number that has the counts as its digits, in a base that no digit of the power reaches.
    """
    n, low = len(values), min(values)
    apart = math.gcd(*(v - low for v in values))
    width = n * n.bit_length() // 8 + 1
    power = sum(count << 8 * width * ((v - low) // apart) for v, count in Counter(values).items()) ** n
    digits = power.to_bytes(-(-power.bit_length() // 8) + width, "little")
    start = -(n * low // apart) if low < 0 else 0
    tail = sum(int.from_bytes(digits[i:i + width], "little") for i in range(start * width, len(digits), width))
    bits = tail.bit_length() - (n**n).bit_length()
    return math.log(Fraction(tail, n**n) / Fraction(2) ** bits) + bits * math.log(2) if tail else -math.inf


def bell(n, mean):
    return np.rint(np.random.default_rng(n).normal(mean, 2, n)).astype(int).tolist()


@pytest.mark.parametrize(("gains", "magnitude"), [
    ([1] * 90 + [0] * 10 + [-1] * 60, -2), (bell(60, 0.8), -4), (bell(150, 2), -29),  # both events matter
    ([1] * 194 + [-1] * 5, -102), ([1] * 358 + [-1] * 2, -299),  # d* <= 0
    ([1] * 173 + [3] * 7, -96), ([1] * 398 + [3] * 4, -300),  # d* >= 2 d
])
def test_equals_convolution_in_whole_numbers_down_to_the_smallest_tails(gains, magnitude):
    """Both events of the two-sided test, and each of them: d* >= 2 d, and d* <= 0."""
    n, total = len(gains), sum(gains)
    above, back = log_tail([n * v - 2 * total for v in gains]), log_tail([-v for v in gains])
    assert np.logaddexp(above, back) / math.log(10) == pytest.approx(magnitude, abs=2)
    m = shared([(max(v, 0), max(-v, 0), 1) for v in gains])
    assert run(m).log_p == pytest.approx(np.logaddexp(above, back), rel=0, abs=1e-11)
    above = above if above > -math.inf else math.nan  # of which a resample can say nothing
    assert run(m, alternative="greater").log_p == pytest.approx(above, rel=0, abs=1e-11, nan_ok=True)
    beyond = log_tail([n * v - 2 * total - 1 for v in gains])  # above 0: from n on, of which their sums are multiples
    assert run(m, alternative="less").log_p == pytest.approx(math.log1p(-math.exp(beyond)), rel=0, abs=1e-11)


@pytest.mark.parametrize(("n", "mean", "magnitude"), [(30, 0.8, -2), (30, 1.5, -5), (24, 3, -10)])
def test_equals_convolution_where_denominators_differ(n, mean, magnitude):
    rng = np.random.default_rng(n)
    under = rng.integers(1, 4, n)
    gains = np.rint(rng.normal(mean, 1.5, n)).astype(int)
    above = log_tail((under.sum() * gains - 2 * gains.sum() * under).tolist())
    back = log_tail((-gains).tolist())
    assert np.logaddexp(above, back) / math.log(10) == pytest.approx(magnitude, abs=2)
    m = shared([(max(v, 0), max(-v, 0), w) for v, w in zip(gains.tolist(), under.tolist(), strict=True)])
    assert run(m).log_p == pytest.approx(np.logaddexp(above, back), rel=0, abs=1e-11)
    assert run(m, alternative="greater").log_p == pytest.approx(above, rel=0, abs=1e-11)


def test_tilting_does_not_move_a_tail(monkeypatch):
    """Of one distribution on the whole lattice, and of one that is computed around the tail."""
    m = random_matrix(7, units=80)
    direct = run(m).log_p
    assert math.log(1e-3) < direct < math.log(0.05)
    monkeypatch.setattr(ideal, "SMALL", 1.0)
    assert run(m).log_p == pytest.approx(direct, abs=1e-11)


def random_matrix(seed, units=40, largest=4, shares=(0.7, 0.5)):
    """Systems of which each has its share of a random number of points per unit, sometimes 0."""
    rng = np.random.default_rng(seed)
    under = rng.integers(0, largest, units)
    over = rng.binomial(under[:, None], shares)
    return matrix(np.stack([over, np.broadcast_to(under[:, None], over.shape)], axis=-1))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("largest", "shares"), [(2, (0.7, 0.55)), (7, (0.62, 0.57))])
def test_draws_come_near_it(alternative, largest, shares):
    m, draws = random_matrix(7, 120, largest, shares), 20_000
    resampled = -np.diff(bootstrap.score_resamples(m, Settings(resamples=draws)), axis=1)[:, 0]
    d = -np.diff(m.scores())[0]
    extremity = {"two-sided": np.abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    p = p_value(run(m, alternative=alternative))
    drawn = np.mean(extremity(resampled - d) >= extremity(d) - 1e-12)
    assert 0.001 < p < 0.999
    assert abs(drawn - p) < 5 * math.sqrt(p * (1 - p) / draws)
    for kind in ("percentile", "basic"):
        found = run(m, interval=kind)
        low, high = np.quantile(resampled, (0.025, 0.975))
        if kind == "basic":
            low, high = 2 * d - high, 2 * d - low
        assert (found.ci_low, found.ci_high) == pytest.approx((low, high), abs=0.06 * (high - low))
    dual, reach = run(m, alternative=alternative), np.quantile(extremity(resampled - d), 0.95)
    expected = (-math.inf if alternative == "less" else d - reach, math.inf if alternative == "greater" else d + reach)
    assert (dual.ci_low, dual.ci_high) == pytest.approx(expected, abs=0.06 * reach)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_dual_interval_leaves_out_0_just_when_the_test_is_significant(alternative):
    """At every level, at that of the p-value itself, and just beside it; few units and many."""
    for m in (random_matrix(11, shares=(0.7, 0.6, 0.5)), random_matrix(12, 9, shares=(0.7, 0.6, 0.5))):
        for pair in itertools.permutations(range(3), 2):
            p = p_value(run(m, pair, alternative=alternative))
            beside = [p, p * (1 - 1e-9), p * (1 + 1e-9)] if 1e-4 < p < 0.9999 else []
            for alpha in (0.01, 0.05, 0.2, 0.5, 0.731, *beside):
                found = run(m, pair, alternative=alternative, confidence=1 - alpha)
                assert not found.messages
                assert (found.ci_low > 0 or found.ci_high < 0) == (p <= alpha)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_nothing_depends_on_the_order_of_units_on_labels_or_on_the_scale(alternative):
    m = random_matrix(3)
    found = run(m, alternative=alternative)
    order = np.random.default_rng(0).permutation(m.n_units)
    reordered = run(matrix(m.statistics[order]), alternative=alternative)
    swapped = run(m, (1, 0), alternative=OPPOSITE[alternative])
    assert (swapped.log_p, swapped.ci_low, swapped.ci_high) == (found.log_p, -found.ci_high, -found.ci_low)
    lower = run(matrix(m.statistics, lower_is_better=True), (1, 0), alternative=alternative)
    assert repr(reordered) == repr(lower) == repr(found)  # by repr: nan is not equal to itself
    percent = StatisticMatrix(m.statistics, lambda s: 100 * s[..., 0] / s[..., 1], quotient=((100, 0), (0, 1)))
    tenths = matrix(m.statistics * (1, 10))
    for other, factor in ((percent, 100), (tenths, 0.1)):
        scaled = run(other, alternative=alternative)
        assert scaled.log_p == found.log_p
        ends = factor * np.array([found.ci_low, found.ci_high])
        assert (scaled.ci_low, scaled.ci_high) == pytest.approx(tuple(ends), rel=1e-8)


def test_trec_runs_125_and_126(real_data):
    """Published, by draws: 0.000424 and 0.000586. Here also by convolution of all 50 topics, without a window."""
    with (real_data("trec-adhoc8-ap") / "adhoc8_ap.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    values = np.array([[float(row[125]), float(row[124])] for row in rows])
    m = matrix(in_steps(values, 4))
    gains = np.rint(10_000 * (values[:, 0] - values[:, 1])).astype(int)
    n, low = len(gains), gains.min()
    one = np.bincount(gains - low, minlength=n * (gains.max() - low) + 1) / n
    masses = np.fft.irfft(np.fft.rfft(one) ** n, len(one))
    above = masses[2 * gains.sum() - n * low:].sum()
    greater, both = (p_value(run(m, alternative=a)) for a in ("greater", "two-sided"))
    assert greater == pytest.approx(above, rel=1e-9)
    assert both == pytest.approx(above + masses[:-n * low + 1].sum(), rel=1e-9)
    assert greater == pytest.approx(0.000424, abs=4e-5)
    assert both == pytest.approx(0.000586, abs=4e-5)


def test_degenerate():
    assert run(of_labels([[1, 0]])).messages.codes == ("one-unit",)
    assert math.isnan(run(of_labels([[1, 0]])).log_p)
    assert run(of_labels([[1, 0], [0, 1]])).log_p == 0.0
    same = run(of_labels([[1, 1], [0, 0]]))
    assert (same.log_p, same.ci_low, same.ci_high) == (0.0, 0.0, 0.0)
    assert run(shared([(2, 1, 1)] * 20 + [(3, 2, 1)] * 20 + [(1, 0, 0)])).messages.codes == ()
    silent = run(shared([(1, 0, 1)] * 20 + [(0, 0, 0)]))  # undefined where it is silent in all, and else the same
    assert silent.messages.codes == ("constant-difference",)


@pytest.mark.parametrize("gains", [(1, 2), (2,) * 20 + (3,) * 20, (2,) * 3 + (3,) * 3])
def test_a_difference_that_no_resample_doubles_or_reverses_has_no_p_value(gains):
    """Twice the mean is 3, 5 and 5."""
    found = run(shared([(gain, 0, 1) for gain in gains]))
    assert found.messages.codes == ("unreachable-difference",)
    assert math.isnan(found.p)
    assert all(map(math.isnan, (found.log_p, found.ci_low, found.ci_high)))


@pytest.mark.parametrize(("empty", "drawn"), [((3, 1), 21), ((0, 2), 7)])
def test_undefined_resamples_are_extreme(empty, drawn):
    """One unit of 20 has a denominator, of 4, and a gain of 4; the other gains are 2 or -2, and nothing doubles d.

    With m draws of the one, the gains of a resample add up to 40 + 2 m, which never turns negative, or to 6 m - 40,
    which turns positive at m = 7.
    """
    found = run(shared([(*empty, 0)] * 19 + [(5, 1, 4)]))
    assert p_value(found) == pytest.approx((19 / 20) ** 20 + stats.binom.sf(drawn - 1, 20, 1 / 20), rel=1e-11)
    assert found.messages.codes == ("no-interval",)


@pytest.mark.parametrize(("m", "options"), [
    (StatisticMatrix(np.ones((9, 2, 2)), lambda s: s[..., 0]), {}),  # no quotient
    (matrix([[[1, 1], [0, 2]], [[0, 1], [1, 1]]]), {}),  # denominators differ
    (of_labels([[1, 0], [1, 1], [0, 1]]), {"interval": "bca"}),
    (matrix(in_steps(np.random.default_rng(1).random((30, 2)))), {}),  # wide
    (shared([(1e12, 0, 1e6), (0, 1e12, 1e6), (3, 1, 1)]), {}),  # products beyond 64 bits
])
def test_what_it_leaves_to_draws(m, options):
    assert run(m, **options) is None


def test_it_falls_back_by_size(monkeypatch):
    m = random_matrix(2)
    assert run(m) is not None
    monkeypatch.setattr(ideal, "MAX_CELLS", 1000)
    assert run(m) is None


def test_lattices_that_are_too_fine_are_told_without_any_transform(monkeypatch):
    """Scores with all their digits; but not two systems whose gains are coarse, nor two of decimals among others."""
    rng = np.random.default_rng(4)
    scores = rng.random((400, 7))
    scores[:, 4:] = np.round(scores[:, 4:], 2)
    scores[:, 6] = 0
    statistics = in_steps(scores)
    statistics[:, 1, 0] = statistics[:, 0, 0] + rng.integers(-3, 4, 400)
    m = matrix(statistics)
    pairs = Observed.compare(m, list(itertools.permutations(range(7), 2)))
    fine = [set(o.pair) != {0, 1} and not set(o.pair) <= {4, 5, 6} for o in pairs]
    assert have_too_many_sums(pairs).tolist() == fine
    monkeypatch.setattr(ideal._Resamples, "compute_probabilities", None)
    for o in itertools.compress(pairs, fine):
        assert ideal_tail(o, Settings()) is None
    monkeypatch.undo()
    assert all(ideal_tail(o, Settings()) is not None for o, is_fine in zip(pairs, fine, strict=True) if not is_fine)
    coarse = of_labels(rng.random((400, 3)) < 0.5)
    assert not have_too_many_sums(Observed.compare(coarse, [(0, 1), (1, 2)])).any()
