"""Thresholds, curves and test set sizes (Berg-Kirkpatrick et al. 2012, sections 3.1.1 and 4.1).

`Threshold` estimates the gain above which a difference is probably significant. `Curve` shows how confidence grows
with gain, and `Sizes` how thresholds fall with the size of the test set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Floats, Ints
from registry.errors import InputError, counted
from registry.messages import Message
from registry.significance import Matrix
from registry.significance.resampling.draws import SETS, SYSTEMS, stream
from registry.studies.gains import (
    Gains,
    Places,
    compare_values,
    explain_no_gains,
    find_values,
    join,
    make_pair_rows,
    measure_gains,
    measure_gains_of_sets,
    pack,
    prepare_matrix,
    report_left_out,
    unpack,
    warn_of_bootstrap,
    warn_of_sets,
)
from registry.studies.study import BoardStudy, Case, Finding, Row, option, parse_sizes

Estimator = Callable[[Gains], float]

SHARE = 0.95  # quantile of the borderline gains that is the threshold
FAR = 4.0  # pairs are near if gain / critical gain is between 1 / FAR and FAR
MANY = 50  # borderline pairs from which the interval of the rule reaches its confidence (tests/studies/gains)
DRAWS = 1000  # resampled sets of systems
_MIN_DEFINED = 0.95  # share of the resamples that need a threshold for an interval


class Threshold(BoardStudy):
    """The difference in score (gain) above which a pair is probably significant.

    The study estimates a threshold for all pairs, one for pairs that share the value of an attribute, and one for the
    other pairs. There are two estimates. The rule takes the 95th percentile of the gains of borderline pairs, with
    one-sided p-values near alpha (Berg-Kirkpatrick et al. 2012, section 3.1.1). The fit uses all pairs whose gain is
    near the critical one.
    """

    name: ClassVar[str] = "threshold"
    title: ClassVar[str] = "From which gain on is a difference probably significant?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, section 3.1.1"
    figures: ClassVar = ("thresholds",)
    by: str = option("team", "Attribute of submissions that groups pairs by whether they share its value: team, kind, "
                     "or one that the manifest declares.", metavar="ATTRIBUTE")
    width: float = option(0.2, "Largest distance of borderline p-values from alpha, as a share of alpha.")
    enough: int = option(10, "Minimum number of pairs for a threshold.")

    def run(self, case: Case) -> Finding:
        if not 0 < self.width < 1 or self.enough < 2:
            raise InputError(f"--width {self.width:g} --enough {self.enough}: expected a width between 0 and 1, and 2 "
                             "or more pairs")
        board, settings = case.board, case.request.significance
        values = find_values(case, board, self.by)
        gains = measure_gains(board.matrix, case.settings, settings.alpha)
        if not len(gains.p):
            raise explain_no_gains(case.boards)
        rows = [self._make_row(group, pairs, case) for group, pairs in self._group(gains, values)]
        return Finding({"thresholds": rows, "pairs": make_pair_rows(board, gains, self.by, values)},
                       self._describe(rows, gains, settings.alpha),
                       [*warn_of_bootstrap(board.matrix), *report_left_out(board.matrix, gains)])

    def _group(self, gains: Gains, values: NDArray[np.object_]) -> Iterator[tuple[str, Gains]]:
        yield "all", gains
        same = compare_values(gains, values)
        for group, has_same_value in ((f"same {self.by}", True), (f"different {self.by}", False)):
            chosen = np.array([value is has_same_value for value in same])
            if chosen.any() and not chosen.all():
                yield group, gains.select(chosen)

    def _make_row(self, group: str, gains: Gains, case: Case) -> Row:
        settings, systems = case.request.significance, resample_systems(len(case.board.members), case.settings.seed)
        row, _ = estimate_thresholds(gains, systems, settings.alpha, self.width, self.enough, settings.confidence)
        return {"group": group, "alpha": settings.alpha, "pairs": len(gains.p)} | row

    def _describe(self, rows: list[Row], gains: Gains, alpha: float) -> list[str]:
        border = f"p from {alpha * (1 - self.width):.3g} to {alpha * (1 + self.width):.3g}"
        sentences = [f"{row['group']}: {self._describe_row(row, border)}" for row in rows]
        if any(self.enough <= row["borderline"] < MANY and not math.isnan(row["threshold_low"]) for row in rows):
            sentences.append("The interval of the rule cannot exceed the largest borderline gain; with fewer than "
                             f"{MANY} pairs its upper end is too low more often than its confidence allows.")
        if len(rows) == 1:
            sentences[0] += f" All pairs belong to one group by {self.by}."
        estimate = rows[0]["fitted"] if math.isnan(rows[0]["threshold"]) else rows[0]["threshold"]
        above, below = gains.select(gains.gain >= estimate), gains.select(gains.gain < estimate)  # none if nan
        if len(above.p):
            sentences.append(f"Here {np.count_nonzero(above.p <= alpha)} of {counted(len(above.p), 'pair')} with a "
                             f"gain of {estimate:.4g} or more are significant, and "
                             f"{np.count_nonzero(below.p <= alpha)} of {len(below.p)} with a smaller one: a threshold "
                             "does not replace a test.")
        sentences.append("The threshold applies to this test set and to similar systems. P-values are one-sided and "
                         f"not corrected. {100 * SHARE:g} % of the borderline pairs gain less, so smaller gains can be "
                         "significant.")
        return sentences

    def _describe_row(self, row: Row, border: str) -> str:
        by_fit = (f"{format_with_interval(row, 'fitted')} by the fit to {counted(row['near'], 'pair')}"
                  if row["near"] >= self.enough else
                  f"no fit, because only {counted(row['near'], 'pair is', 'pairs are')} near the critical gain")
        by_rule = (f"{format_with_interval(row, 'threshold')} by the rule, from {row['borderline']} pairs with {border}"
                   if row["borderline"] >= self.enough else
                   f"no threshold by the rule, which needs {self.enough} pairs with {border} (here "
                   f"{row['borderline']})")
        return f"{by_rule}; {by_fit}."


def estimate_thresholds(gains: Gains, systems: Ints, alpha: float, width: float, enough: int,
                        confidence: float) -> tuple[Row, Floats]:
    """Estimate the gain above which a difference is probably significant.

    There are two estimates. The rule takes the 95th percentile of the gains of borderline pairs, with p-values near
    alpha. Few pairs are borderline, so the fit takes all pairs whose gain is near their critical gain, which would be
    just significant. The rule is a little above the critical gain: by 6 % for p from 0.04 to 0.06, if all pairs have
    the same critical gain and p-values are uniform.

    Args:
        gains: Pairs of systems with their gain (difference in score) and p-value.
        systems: Count of each system in each resample, [resamples, systems].
        alpha: Significance level.
        width: Largest distance of borderline p-values from alpha, as a share of alpha.
        enough: Minimum number of pairs; with fewer the threshold is nan.
        confidence: Confidence of the intervals.

    Returns:
        A row with both estimates, their numbers of pairs and intervals; and the threshold by the fit in every resample,
            [resamples].
    """
    row: Row = {}
    for number, name, pairs, estimate in (
            ("borderline", "threshold", select_borderline(gains, alpha, width), find_percentile),
            ("near", "fitted", select_near(gains), estimate_by_fit)):
        is_enough = len(pairs.p) >= enough
        resampled = resample_estimate(pairs, estimate, systems) if is_enough else np.full(len(systems), np.nan)
        low, high = find_interval(resampled, confidence)
        row |= {number: len(pairs.p), name: estimate(pairs) if is_enough else math.nan,
                f"{name}_low": low, f"{name}_high": high}
    return row, resampled


def format_with_interval(row: Row, name: str) -> str:
    """Format an estimate with its interval, such as `0.5 (0.4 to 0.6)`.

    `row` has the estimate under the key `name`.
    """
    if math.isnan(row[f"{name}_low"]):
        return f"{row[name]:.4g} (no interval: it depends on few systems)"
    return f"{row[name]:.4g} ({row[f'{name}_low']:.4g} to {row[f'{name}_high']:.4g})"


def select_borderline(gains: Gains, alpha: float, width: float) -> Gains:
    """Return the pairs of systems with p-values near alpha.

    A p-value is near if it differs from alpha by less than `width` times alpha.
    """
    return gains.select((gains.p > alpha * (1 - width)) & (gains.p < alpha * (1 + width)))


def select_near(gains: Gains) -> Gains:
    """Return the pairs of systems that differ by about their critical gain.

    The critical gain is the difference that would be just significant. A gain is near if it is between a fourth of the
    critical gain and four times the critical gain.
    """
    return gains.select((gains.critical < FAR * gains.gain) & (gains.gain < FAR * gains.critical))


def find_percentile(gains: Gains) -> float:
    """Return the 95th percentile of the differences of pairs; nan without pairs."""
    return float(np.quantile(gains.gain, SHARE)) if len(gains.gain) else math.nan


def estimate_by_fit(gains: Gains) -> float:
    """Estimate the 95th percentile of the differences of just significant pairs.

    Few pairs are just significant, so the difference (gain) of every pair is projected onto its critical gain, which
    would be just significant. The result is nan without pairs.
    """
    # The fit is log gain = a + b log (gain / critical gain) by least squares. b is 1 if all pairs have the same
    # critical gain. It is clipped to the range from 0 to 2, because few pairs can yield any slope.
    if not len(gains.gain):
        return math.nan
    log_gain, log_ratio = np.log(gains.gain), np.log(gains.gain / gains.critical)
    spread = log_ratio - log_ratio.mean()
    slope = min(max(float(spread @ log_gain) / float(spread @ spread), 0), 2) if spread.any() else 1.0
    return find_percentile(gains._replace(gain=np.exp(log_gain - slope * log_ratio)))


def resample_systems(systems: int, seed: int) -> Ints:
    """Sample systems with replacement; return how often each system is in a sample.

    Args:
        systems: Number of systems.
        seed: Seed of the random numbers.

    Returns:
        The counts, [resamples, systems].
    """
    rng = np.random.Generator(stream(seed, SYSTEMS))
    return rng.multinomial(systems, np.full(systems, 1 / systems), DRAWS)


def resample_estimate(gains: Gains, estimate: Estimator, counts: Ints) -> Floats:
    """Recompute an estimate from the pairs in each resample of the systems.

    Systems are resampled, because pairs that share a system are not independent. A system with count 2 contributes its
    pairs twice, and no pair with itself.

    Args:
        gains: Pairs of systems.
        estimate: Function that returns the estimate from pairs.
        counts: How often each system is in each resample, [resamples, systems].

    Returns:
        Estimates, [resamples].
    """
    return np.array([estimate(select_resampled(gains, count)) for count in counts])


def find_interval(resampled: Floats, confidence: float) -> tuple[float, float]:
    """Return the percentile interval of resampled estimates.

    The interval is nan if more than 5 % of the estimates are undefined.
    """
    defined = resampled[~np.isnan(resampled)]
    if len(defined) < _MIN_DEFINED * len(resampled):
        return math.nan, math.nan
    low, high = np.quantile(defined, ((1 - confidence) / 2, (1 + confidence) / 2))
    return float(low), float(high)


def select_resampled(gains: Gains, counts: Ints) -> Gains:
    """Return the pairs of systems that a resample of the systems contains.

    A resample is drawn with replacement, so it can contain a system several times. The number of a pair is the product
    of the numbers of its two systems.

    Args:
        gains: All pairs.
        counts: How often each system is in the resample, [systems].
    """
    return gains.select(np.repeat(np.arange(len(gains.p)), counts[gains.better] * counts[gains.worse]))


class Curve(BoardStudy):
    """The confidence that a difference is real, by the size of the difference.

    Confidence is 1 - p of the one-sided bootstrap, for every pair of systems on one or several test sets. Pairs are
    grouped by an attribute of submissions (Berg-Kirkpatrick et al. 2012, figures 2 to 8).
    """

    name: ClassVar[str] = "curve"
    title: ClassVar[str] = "How does confidence grow with gain?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, figures 2 to 8 and 11"
    scope: ClassVar = "test sets"
    figures: ClassVar = ("curve",)
    by: str = option("team", "Attribute of submissions that groups pairs by whether they share its value: team, kind, "
                     "or one that the manifest declares.", metavar="ATTRIBUTE")

    def run(self, case: Case) -> Finding:
        alpha = case.request.significance.alpha
        pairs: list[Row] = []
        warnings: list[Message] = []
        for board in case.boards:
            values = find_values(case, board, self.by)
            gains = measure_gains(board.matrix, case.settings, alpha)
            pairs += make_pair_rows(board, gains, self.by, values)
            warnings += [*warn_of_bootstrap(board.matrix), *report_left_out(board.matrix, gains)]
        if not pairs:
            raise explain_no_gains(case.boards)
        curves = [(key, list(rows)) for key, rows in groupby(sorted(pairs, key=_curve_key), key=_curve_key)]
        fitted = [row | {"fitted": float(value)} for _, rows in curves for row, value in zip(rows, fit_rising_curve(
            np.array([row["gain"] for row in rows]), np.array([row["confidence"] for row in rows])), strict=True)]
        summary = [_summarize_curve(test_set, group, rows, alpha) for (test_set, _, group), rows in curves]
        return Finding({"curves": summary, "pairs": fitted}, _describe_curves(summary, alpha, self.by),
                       list(dict.fromkeys(warnings)))


def fit_rising_curve(gain: Floats, confidence: Floats) -> Floats:
    """Fit a confidence that never falls as the gain grows, by isotonic regression.

    Args:
        gain: Difference in score of each pair, [pairs].
        confidence: Observed confidence of each pair, [pairs].

    Returns:
        The fitted confidence of each pair, [pairs].
    """
    from scipy.optimize import isotonic_regression

    _, group, counts = np.unique(gain, return_inverse=True, return_counts=True)
    fit = isotonic_regression(np.bincount(group, confidence) / counts, weights=counts)
    curve: Floats = fit.x[group]
    return curve


def _curve_key(row: Row) -> tuple[str, int, str]:
    group = row["group"] or "unknown"
    return row["test_set"], ("same", "different", "unknown").index(group.partition(" ")[0]), group


def _summarize_curve(test_set: str, group: str, rows: list[Row], alpha: float) -> Row:
    """Count the pairs whose significance does not follow from their difference alone.

    Such pairs have a difference between the smallest significant and the largest non-significant difference. The row
    also has these two differences.
    """
    significant = [row["gain"] for row in rows if row["p_value"] <= alpha]
    others = [row["gain"] for row in rows if row["p_value"] > alpha]
    low, high = min(significant, default=None), max(others, default=None)
    between = [] if low is None or high is None else [row for row in rows if low <= row["gain"] <= high]
    return {"test_set": test_set, "group": group, "alpha": alpha, "pairs": len(rows), "significant": len(significant),
            "least_significant": low, "largest_other": high, "undecided": len(between)}


def _describe_curves(curves: list[Row], alpha: float, by: str) -> list[str]:
    sentences = []
    for row in curves:
        sentence = (f"{row['test_set']}, {row['group']}: {row['significant']} of {counted(row['pairs'], 'pair')} "
                    "significant")
        if row["undecided"]:
            sentence += (f"; gains from {row['least_significant']:.4g} to {row['largest_other']:.4g} may be "
                         f"significant or not, and {counted(row['undecided'], 'pair has', 'pairs have')} such a gain.")
        else:
            sentence += "; the gain alone decides which." if 0 < row["significant"] < row["pairs"] else "."
        sentences.append(sentence)
    if len({row["group"] for row in curves}) == 1:
        sentences.append(f"All pairs belong to one group by {by}.")
    sentences.append(f"A pair is significant if p <= {alpha:g}, one-sided in the direction of the gain and not "
                     "corrected. The curve is higher if systems are more similar or the test set is larger; it is not "
                     "a property of the metric.")
    return sentences


LARGER = (2, 4, 8)  # multiples of the test set size to which thresholds are extrapolated
POWER = 0.8
_MAX_REPETITIONS = 10_000
_FIRST, _RANDOM, _ALL = "first", "random", "all"  # how the units of a test set are selected


class Sizes(BoardStudy):
    """Significance thresholds and power by the size of the test set.

    A threshold is a difference in score above which pairs are probably significant. Smaller test sets are the first
    units, and random subsets of the units. Thresholds of larger test sets are extrapolated (Berg-Kirkpatrick et al.
    2012, section 4.1).
    """

    name: ClassVar[str] = "test-size"
    title: ClassVar[str] = "Which gains are significant on smaller and larger test sets?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, section 4.1, figures 9 and 10"
    figures: ClassVar = ("test sizes",)
    sizes: tuple[int, ...] = option((), "Sizes of the test sets in units, or a list such as 100,500,1000; by default "
                                    "100, 200, 400, etc.", metavar="FIRST:LAST:STEP", parse=parse_sizes)
    repetitions: int = option(20, "Number of random test sets of each size.")
    width: float = option(0.2, "Largest distance of borderline p-values from alpha, as a share of alpha.")
    enough: int = option(10, "Minimum number of pairs for a threshold.")

    def run(self, case: Case) -> Finding:
        matrix, units = prepare_matrix(case.board.matrix), order_units(case)
        sizes = self._choose_sizes(len(units))
        if len(np.unique(matrix.observed[~np.isnan(matrix.observed)])) < 2:
            raise InputError("no two systems differ, so there is no gain to test")
        orders = [np.random.Generator(stream(case.settings.seed, SETS, n)).permutation(units)
                  for n in range(self.repetitions)]
        alpha, settings = case.request.significance.alpha, case.settings
        confidence = settings.confidence

        def test_size(size: int) -> dict[str, Any]:
            sets = [units] if size == len(units) else [order[:size] for order in (units, *orders)]
            first, *others = pack(measure_gains_of_sets(matrix, np.stack(sets), settings, alpha))
            return {_FIRST: [first], _RANDOM: others} if others else {_ALL: [first]}

        parts = [{selection: unpack(sets) for selection, sets in part.items()}
                 for part in case.parts.compute_all(sizes, test_size)]
        counts = resample_systems(len(case.board.members), settings.seed)
        rows, thresholds = [], []
        for size, part in zip(sizes, parts, strict=True):
            for selection, sets in part.items():
                row, resampled = estimate_thresholds(join(sets), counts, alpha, self.width, self.enough, confidence)
                rows.append({"size": size, "taken": selection, "sets": len(sets), "alpha": alpha} | row
                            | _measure_power(sets, matrix, alpha))
            thresholds.append(np.append(resampled, row["fitted"]))
        larger, exponent = _extrapolate(sizes, np.array(thresholds), confidence)
        points = [{"size": size, "gain": gain, "p_value": p, "confidence": 1 - p}
                  for size, part in zip(sizes, parts, strict=True)
                  for gains in [next(iter(part.values()))[0]]
                  for gain, p in sorted(zip(gains.gain.tolist(), gains.p.tolist(), strict=True))]
        return Finding({"sizes": rows, "larger": larger, "pairs": points},
                       _describe_sizes(rows, larger, exponent, alpha),
                       warn_of_sets(case.board.matrix, units[:sizes[0]]))

    def _choose_sizes(self, n: int) -> list[int]:
        if not 1 <= self.repetitions <= _MAX_REPETITIONS or not 0 < self.width < 1 or self.enough < 2:
            raise InputError(f"--repetitions {self.repetitions} --width {self.width:g} --enough {self.enough}: "
                             f"expected 1 to {_MAX_REPETITIONS} repetitions, a width between 0 and 1, and 2 or more "
                             "pairs")
        start = 100 if n >= 400 else 25
        sizes = self.sizes or tuple(start * 2**k for k in range(n.bit_length()) if start * 2**k < n)
        if any(not 2 <= size <= n for size in sizes):
            raise InputError(f"--sizes must be between 2 and the {n} units of the test set")
        return sorted({*sizes, n})


def order_units(case: Case) -> Places:
    """Return the units (items or clusters) in the order of their items in the gold.

    The first item of a cluster counts.
    """
    board = case.board
    if board.matrix.units is None:
        return np.argsort(board.items)
    first = np.full(board.matrix.n_units, board.items.max(initial=0))
    np.minimum.at(first, board.matrix.units, board.items)
    return np.argsort(first)


def fit_power_law(log_sizes: Floats, log_thresholds: Floats, targets: Places) -> Floats:
    """Fit significance thresholds by a power of the test set's size, and extrapolate.

    The fit minimizes squared errors of logarithms.

    Args:
        log_sizes: [sizes].
        log_thresholds: Several estimates, [sizes, estimates].
        targets: Sizes for the extrapolation.

    Returns:
        The exponent, then the threshold at each target, [1 + targets, estimates].
    """
    middle = log_sizes.mean()
    spread = log_sizes - middle
    exponent = spread @ log_thresholds / (spread @ spread)
    extrapolated = np.exp(log_thresholds.mean(axis=0) + (np.log(targets)[:, None] - middle) * exponent)
    return np.concatenate([exponent[None], extrapolated])


def _extrapolate(sizes: Sequence[int], thresholds: Floats, confidence: float) -> tuple[list[Row], Row]:
    """Predict, for larger test sets, which score difference will be significant.

    The smallest significant difference (threshold) is assumed to be a power of the size of the test set.

    Args:
        sizes: Sizes of the test sets, ascending. The predicted sizes are multiples of the last one.
        thresholds: Thresholds by size, [sizes, resamples + 1]. The last column is the estimate; the others are its
            resamples.
        confidence: Confidence of the intervals.

    Returns:
        One row for each larger size, and the exponent of the power law with its interval.
    """
    is_defined = ~np.isnan(thresholds[:, -1])
    if is_defined.sum() < 2:
        return [], {}
    targets = np.array([factor * sizes[-1] for factor in LARGER])
    fitted = fit_power_law(np.log(np.array(sizes)[is_defined]), np.log(thresholds[is_defined]), targets)
    ends = [find_interval(estimates[:-1], confidence) for estimates in fitted]
    rows = [{"size": int(size), "fitted": float(estimates[-1]), "fitted_low": low, "fitted_high": high}
            for size, estimates, (low, high) in zip(targets, fitted[1:], ends[1:], strict=True)]
    return rows, {"exponent": float(fitted[0, -1]), "exponent_low": ends[0][0],
                  "exponent_high": ends[0][1]}


def _measure_power(sets: Sequence[Gains], matrix: Matrix, alpha: float) -> Row:
    """Return how often pairs of systems are significant on sampled test sets.

    Only pairs with different scores on the whole test set count. `power` is the mean share of significant results in
    the direction of the whole test set, and `wrong` the share in the other direction. `detected` is the smallest
    difference on the whole test set with a power of 0.8, by isotonic regression.
    """
    whole = matrix.difference(matrix.observed[:, None], matrix.observed[None, :])
    shares = np.zeros_like(whole)
    for gains in sets:
        significant = gains.select(gains.p <= alpha)
        shares[significant.better, significant.worse] += 1 / len(sets)
    right, wrong, gain = shares[whole > 0], shares.T[whole > 0], whole[whole > 0]
    order = np.argsort(gain)
    enough = np.flatnonzero(fit_rising_curve(gain[order], right[order]) >= POWER) if len(gain) else gain
    return {"power": float(right.mean()) if len(gain) else math.nan,
            "wrong": float(wrong.mean()) if len(gain) else math.nan,
            "detected": float(gain[order][enough[0]]) if len(enough) else math.nan}


def _describe_sizes(rows: list[Row], larger: list[Row], exponent: Row, alpha: float) -> list[str]:
    defined = [row for row in rows if row["taken"] != _FIRST and not math.isnan(row["fitted"])]
    sentences = []
    if defined:
        smallest, largest = defined[0], defined[-1]
        change = (f"The threshold by the fit is {smallest['fitted']:.4g} with {smallest['size']} units and "
                  f"{largest['fitted']:.4g} with {largest['size']}")
        sentences.append(f"{change}: it is proportional to the size to the power of "
                         f"{format_with_interval(exponent, 'exponent')}; -0.5 is expected if variances are "
                         "proportional to 1 / size." if larger else f"{change}.")
        sentences += [f"With {row['size']} units {100 * row['power']:.0f} % of the pairs are significant in the "
                      f"direction of the whole test set, and {100 * row['wrong']:.1f} % in the other direction."
                      for row in (smallest, largest)[:len(defined)]]
    if larger:
        sentences.append("Thresholds extrapolated by this power law, which these data cannot check: " + "; ".join(
            f"{format_with_interval(row, 'fitted')} with {row['size']}" for row in larger) + ".")
    sentences.append(f"P-values are one-sided, at {alpha:g}, and not corrected. Random subsets come from one test set; "
                     "the larger they are, the more units they share.")
    sentences.append("`registry study power TASK --difference GAIN` computes how many units a gain needs.")
    return sentences
