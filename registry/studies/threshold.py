"""Thresholds, curves and test set sizes (Berg-Kirkpatrick et al. 2012, sections 3.1.1 and 4.1).

`Threshold` estimates from which gain on a difference is probably significant, `Curve` how confidence grows with gain,
and `Sizes` how thresholds fall with the size of the test set.
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

SHARE = 0.95  # of the borderline gains that the threshold lies above
FAR = 4.0  # times the critical gain, or a fourth of it: pairs beyond say nothing of the threshold
MANY = 50  # borderline pairs from which the rule's interval holds its confidence (tests/studies/gains)
DRAWS = 1000  # resampled sets of systems
_DEFINED = 0.95  # of them that must have a threshold, for an interval


class Threshold(BoardStudy):
    """The threshold of all pairs, of those that share the value of an attribute, and of those that do not.

    The 95th percentile of the gains of borderline pairs, p about alpha, one-sided (Berg-Kirkpatrick et al. 2012,
    section 3.1.1), and an estimate from a fit to all pairs that are not far off.
    """

    name: ClassVar[str] = "threshold"
    title: ClassVar[str] = "From which gain on is a difference probably significant?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, section 3.1.1"
    figures: ClassVar = ("thresholds",)
    by: str = option("team", "Of submissions: pairs that share its value are told from others. team, kind, or what the "
                     "manifest declares.", metavar="ATTRIBUTE")
    width: float = option(0.2, "How far from alpha the p-values of borderline pairs may be, as a share of alpha.")
    enough: int = option(10, "How many pairs a threshold needs.")

    def run(self, case: Case) -> Finding:
        if not 0 < self.width < 1 or self.enough < 2:
            raise InputError("width lies between 0 and 1, and enough pairs are 2 or more")
        board, settings = case.board, case.request.significance
        values = find_values(case, board, self.by)
        gains = measure_gains(board.matrix, case.settings, settings.alpha)
        if not len(gains.p):
            raise explain_no_gains(case.boards)
        rows = [self._row(of, some, case) for of, some in self._groups(gains, values)]
        return Finding({"thresholds": rows, "pairs": make_pair_rows(board, gains, self.by, values)},
                       self._reading(rows, gains, settings.alpha),
                       [*warn_of_bootstrap(board.matrix), *report_left_out(board.matrix, gains)])

    def _groups(self, gains: Gains, values: NDArray[np.object_]) -> Iterator[tuple[str, Gains]]:
        yield "all", gains
        same = compare_values(gains, values)
        for group, wanted in ((f"same {self.by}", True), (f"different {self.by}", False)):
            chosen = np.array([one is wanted for one in same])
            if chosen.any() and not chosen.all():
                yield group, gains.where(chosen)

    def _row(self, group: str, gains: Gains, case: Case) -> Row:
        settings, systems = case.request.significance, resample_systems(len(case.board.members), case.settings.seed)
        row, _ = estimate_thresholds(gains, systems, settings.alpha, self.width, self.enough, settings.confidence)
        return {"group": group, "alpha": settings.alpha, "pairs": len(gains.p)} | row

    def _reading(self, rows: list[Row], gains: Gains, alpha: float) -> list[str]:
        about = f"p from {alpha * (1 - self.width):.3g} to {alpha * (1 + self.width):.3g}"
        said = [f"{row['group']}: {self._said(row, about)}" for row in rows]
        if any(self.enough <= row["borderline"] < MANY and not math.isnan(row["threshold_low"]) for row in rows):
            said.append(f"No interval of the rule reaches beyond the largest gain at the border; from fewer than "
                        f"{MANY} pairs it ends too low more often than it should.")
        if len(rows) == 1:
            said[0] += f" No two groups of pairs are told apart by {self.by}."
        estimate = rows[0]["fitted"] if math.isnan(rows[0]["threshold"]) else rows[0]["threshold"]
        above, below = gains.where(gains.gain >= estimate), gains.where(gains.gain < estimate)  # nan: none
        if len(above.p):
            said.append(f"Here {np.count_nonzero(above.p <= alpha)} of {counted(len(above.p), 'pair')} with a gain of "
                        f"{estimate:.4g} or more are significant, and {np.count_nonzero(below.p <= alpha)} of "
                        f"{len(below.p)} with a smaller one: a threshold replaces no test.")
        said.append("It is made for this test set and systems like these; p-values are one-sided and not corrected, "
                    f"and {100 * SHARE:g} % of the pairs at the border gain less, so it is no least gain either.")
        return said

    def _said(self, row: Row, about: str) -> str:
        by_fit = (f"{format_with_interval(row, 'fitted')} by the fit to {counted(row['near'], 'pair')}"
                  if row["near"] >= self.enough else
                  f"no fit, for {counted(row['near'], 'pair is', 'pairs are')} near")
        by_rule = (f"{format_with_interval(row, 'threshold')} by the rule, from {row['borderline']} pairs with {about}"
                   if row["borderline"] >= self.enough else
                   f"no threshold by the rule, which needs {self.enough} pairs with {about} and finds "
                   f"{row['borderline']}")
        return f"{by_rule}; {by_fit}."


def estimate_thresholds(gains: Gains, systems: Ints, alpha: float, width: float, enough: int,
                        confidence: float) -> tuple[Row, Floats]:
    """Estimate the threshold by the rule and by the fit, each with its number of pairs and its interval.

    The rule takes the 95th percentile of the gains of borderline pairs. It lies above the critical difference: by
    z(0.041) / z(0.05) = 1.057 for p from 0.04 to 0.06, if all pairs have the same critical difference and p-values are
    spread evenly. Few pairs are borderline, so the fit takes all pairs whose gain is near their critical one.

    Args:
        gains: The pairs.
        systems: The count of each system in each draw, [draws, systems].
        alpha: The level of significance.
        width: The largest distance of p-values to alpha, as a share of it.
        enough: The smallest number of pairs for a threshold; nan with fewer.
        confidence: Of the intervals.

    Returns:
        The row, and the threshold by the fit in every draw of systems, [draws].
    """
    row: Row = {}
    for number, name, some, estimate in (
            ("borderline", "threshold", select_borderline(gains, alpha, width), find_percentile),
            ("near", "fitted", select_near(gains), estimate_by_fit)):
        known = len(some.p) >= enough
        found = resample_estimate(some, estimate, systems) if known else np.full(len(systems), np.nan)
        low, high = find_interval(found, confidence)
        row |= {number: len(some.p), name: estimate(some) if known else math.nan,
                f"{name}_low": low, f"{name}_high": high}
    return row, found


def format_with_interval(row: Row, name: str) -> str:
    """A threshold of a row as people read it, with its interval."""
    if math.isnan(row[f"{name}_low"]):
        return f"{row[name]:.4g} (no interval: it hangs on few systems)"
    return f"{row[name]:.4g} ({row[f'{name}_low']:.4g} to {row[f'{name}_high']:.4g})"


def select_borderline(gains: Gains, alpha: float, width: float) -> Gains:
    """The pairs with p-values about alpha."""
    return gains.where((gains.p > alpha * (1 - width)) & (gains.p < alpha * (1 + width)))


def select_near(gains: Gains) -> Gains:
    """The pairs whose gain is not far from their critical one."""
    return gains.where((gains.critical < FAR * gains.gain) & (gains.gain < FAR * gains.critical))


def find_percentile(gains: Gains) -> float:
    """The 95th percentile of gains, nan of none."""
    return float(np.quantile(gains.gain, SHARE)) if len(gains.gain) else math.nan


def estimate_by_fit(gains: Gains) -> float:
    """The 95th percentile of gains that are carried to where they are critical, along how they rise; nan of none.

    log gain = a + b log (gain / critical gain) is fitted by least squares. b is 1 where all have the same critical
    gain; it is kept from 0, below which gains would fall, to 2, since few pairs may say anything.
    """
    if not len(gains.gain):
        return math.nan
    log_gain, log_ratio = np.log(gains.gain), np.log(gains.gain / gains.critical)
    spread = log_ratio - log_ratio.mean()
    rise = min(max(float(spread @ log_gain) / float(spread @ spread), 0), 2) if spread.any() else 1.0
    return find_percentile(gains._replace(gain=np.exp(log_gain - rise * log_ratio)))


def resample_systems(systems: int, seed: int) -> Ints:
    """How often each of the systems is drawn, with replacement, [draws, systems]."""
    rng = np.random.Generator(stream(seed, SYSTEMS))
    return rng.multinomial(systems, np.full(systems, 1 / systems), DRAWS)


def resample_estimate(gains: Gains, estimate: Estimator, drawn: Ints) -> Floats:
    """An estimate in each draw of systems, [draws], since pairs that share a system are no independent pairs.

    A system that is drawn twice brings its pairs twice; with itself it makes none.
    """
    return np.array([estimate(select_drawn(gains, times)) for times in drawn])


def find_interval(found: Floats, confidence: float) -> tuple[float, float]:
    """The interval of an estimate from those of resamples; nan where it is undefined in many."""
    defined = found[~np.isnan(found)]
    if len(defined) < _DEFINED * len(found):
        return math.nan, math.nan
    low, high = np.quantile(defined, ((1 - confidence) / 2, (1 + confidence) / 2))
    return float(low), float(high)


def select_drawn(gains: Gains, times: Ints) -> Gains:
    """The pairs of systems that are taken so often, [systems]."""
    return gains.where(np.repeat(np.arange(len(gains.p)), times[gains.better] * times[gains.worse]))


class Curve(BoardStudy):
    """The confidence of every pair against its gain, over one or several test sets.

    1 - p of the bootstrap, one-sided, against the gain, marked by an attribute of submissions (Berg-Kirkpatrick et al.
    2012, figures 2 to 8).
    """

    name: ClassVar[str] = "curve"
    title: ClassVar[str] = "How does confidence grow with gain?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, figures 2 to 8 and 11"
    scope: ClassVar = "test sets"
    figures: ClassVar = ("curve",)
    by: str = option("team", "Of submissions: pairs that share its value are told from others. team, kind, or what the "
                     "manifest declares.", metavar="ATTRIBUTE")

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
    """The rising curve that fits best by least squares, at every gain (isotonic regression), [pairs]."""
    from scipy.optimize import isotonic_regression

    _, place, times = np.unique(gain, return_inverse=True, return_counts=True)
    fit = isotonic_regression(np.bincount(place, confidence) / times, weights=times)
    curve: Floats = fit.x[place]
    return curve


def _curve_key(row: Row) -> tuple[str, int, str]:
    group = row["group"] or "unknown"
    return row["test_set"], ("same", "different", "unknown").index(group.partition(" ")[0]), group


def _summarize_curve(test_set: str, group: str, rows: list[Row], alpha: float) -> Row:
    """Where gain alone decides, and where it does not: from the least significant gain to the largest that is not."""
    significant = [row["gain"] for row in rows if row["p_value"] <= alpha]
    others = [row["gain"] for row in rows if row["p_value"] > alpha]
    least, most = min(significant, default=None), max(others, default=None)
    between = [] if least is None or most is None else [row for row in rows if least <= row["gain"] <= most]
    return {"test_set": test_set, "group": group, "alpha": alpha, "pairs": len(rows), "significant": len(significant),
            "least_significant": least, "largest_other": most, "undecided": len(between)}


def _describe_curves(curves: list[Row], alpha: float, by: str) -> list[str]:
    said = []
    for row in curves:
        what = f"{row['test_set']}, {row['group']}: {row['significant']} of {counted(row['pairs'], 'pair')} significant"
        if row["undecided"]:
            what += (f"; gains from {row['least_significant']:.4g} to {row['largest_other']:.4g} may be significant or "
                     f"not, and {counted(row['undecided'], 'pair has', 'pairs have')} such a gain.")
        else:
            what += "; here the gain alone tells which." if 0 < row["significant"] < row["pairs"] else "."
        said.append(what)
    if len({row["group"] for row in curves}) == 1:
        said.append(f"No two groups of pairs are told apart by {by}.")
    said.append(f"Significant is p <= {alpha:g}, one-sided in the gain's direction and not corrected. A curve lies "
                "higher where systems are more alike or the test set is larger; it is no law of the metric.")
    return said


LARGER = (2, 4, 8)  # times the test set: where its thresholds are extended to
POWER = 0.8
_MOST = 10_000  # repetitions
_FIRST, _RANDOM, _ALL = "first", "random", "all"  # how the units of test sets are taken


class Sizes(BoardStudy):
    """Thresholds and power at smaller sizes, and thresholds at larger ones.

    Thresholds and power of smaller test sets, taken from its beginning and at random, and the thresholds of larger ones
    by extension (Berg-Kirkpatrick et al. 2012, section 4.1).
    """

    name: ClassVar[str] = "test-size"
    title: ClassVar[str] = "How large must the test set be?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, section 4.1, figures 9 and 10"
    figures: ClassVar = ("test sizes",)
    sizes: tuple[int, ...] = option((), "Of the test sets, in units; or a list as 100,500,1000; doubled from 100 on if "
                                    "none are given.", metavar="FIRST:LAST:STEP", parse=parse_sizes)
    repetitions: int = option(20, "Random test sets of each size.")
    width: float = option(0.2, "How far from alpha the p-values of borderline pairs may be, as a share of alpha.")
    enough: int = option(10, "How many pairs a threshold needs.")

    def run(self, case: Case) -> Finding:
        matrix, units = prepare_matrix(case.board.matrix), order_units(case)
        sizes = self._sizes(len(units))
        if len(np.unique(matrix.observed[~np.isnan(matrix.observed)])) < 2:
            raise InputError("no two systems differ, so there is no gain to look at")
        orders = [np.random.Generator(stream(case.settings.seed, SETS, n)).permutation(units)
                  for n in range(self.repetitions)]
        alpha, settings = case.request.significance.alpha, case.settings
        confidence = settings.confidence

        def tested(size: int) -> dict[str, Any]:
            sets = [units] if size == len(units) else [of[:size] for of in (units, *orders)]
            first, *others = pack(measure_gains_of_sets(matrix, np.stack(sets), settings, alpha))
            return {_FIRST: [first], _RANDOM: others} if others else {_ALL: [first]}

        parts = [{way: unpack(sets) for way, sets in part.items()} for part in case.parts.compute_all(sizes, tested)]
        drawn = resample_systems(len(case.board.members), settings.seed)
        rows, thresholds = [], []
        for size, part in zip(sizes, parts, strict=True):
            for way, sets in part.items():
                row, of_draws = estimate_thresholds(join(sets), drawn, alpha, self.width, self.enough, confidence)
                rows.append({"size": size, "taken": way, "sets": len(sets), "alpha": alpha} | row
                            | _measure_power(sets, matrix, alpha))
            thresholds.append(np.append(of_draws, row["fitted"]))
        larger, exponent = _extrapolate(sizes, np.array(thresholds), confidence)
        points = [{"size": size, "gain": gain, "p_value": p, "confidence": 1 - p}
                  for size, part in zip(sizes, parts, strict=True)
                  for gains in [next(iter(part.values()))[0]]  # those on the first units
                  for gain, p in sorted(zip(gains.gain.tolist(), gains.p.tolist(), strict=True))]
        return Finding({"sizes": rows, "larger": larger, "pairs": points},
                       _describe_sizes(rows, larger, exponent, alpha),
                       warn_of_sets(case.board.matrix, units[:sizes[0]]))

    def _sizes(self, n: int) -> list[int]:
        if not 1 <= self.repetitions <= _MOST or not 0 < self.width < 1 or self.enough < 2:
            raise InputError(f"repetitions are 1 to {_MOST}, width lies between 0 and 1, and enough pairs are 2 or "
                             "more")
        start = 100 if n >= 400 else 25
        sizes = self.sizes or tuple(start * 2**k for k in range(n.bit_length()) if start * 2**k < n)
        if any(not 2 <= size <= n for size in sizes):
            raise InputError(f"sizes lie between 2 and the {n} units of the test set; give others by --sizes")
        return sorted({*sizes, n})


def order_units(case: Case) -> Places:
    """The units in the order in which the gold has their first items."""
    board = case.board
    if board.matrix.units is None:
        return np.argsort(board.items)
    first = np.full(board.matrix.n_units, board.items.max(initial=0))
    np.minimum.at(first, board.matrix.units, board.items)
    return np.argsort(first)


def fit_power_law(log_sizes: Floats, log_thresholds: Floats, targets: Places) -> Floats:
    """Fit thresholds by powers of the size, by least squares of their logarithms.

    Args:
        log_sizes: [sizes].
        log_thresholds: Of several estimates, [sizes, estimates].
        targets: Sizes to extend to.

    Returns:
        The exponent, then the threshold at each target, [1 + targets, estimates].
    """
    middle = log_sizes.mean()
    spread = log_sizes - middle
    exponent = spread @ log_thresholds / (spread @ spread)
    extended = np.exp(log_thresholds.mean(axis=0) + (np.log(targets)[:, None] - middle) * exponent)
    return np.concatenate([exponent[None], extended])


def _extrapolate(sizes: Sequence[int], thresholds: Floats, confidence: float) -> tuple[list[Row], Row]:
    """The thresholds at larger sizes, and the exponent of their power of the size.

    Of `thresholds` [sizes, draws + 1] the last ones are the estimate, the others those in draws of systems.
    """
    known = ~np.isnan(thresholds[:, -1])
    if known.sum() < 2:
        return [], {}
    targets = np.array([times * sizes[-1] for times in LARGER])
    fitted = fit_power_law(np.log(np.array(sizes)[known]), np.log(thresholds[known]), targets)
    ends = [find_interval(of[:-1], confidence) for of in fitted]
    rows = [{"size": int(size), "fitted": float(of[-1]), "fitted_low": low, "fitted_high": high}
            for size, of, (low, high) in zip(targets, fitted[1:], ends[1:], strict=True)]
    return rows, {"exponent": float(fitted[0, -1]), "exponent_low": ends[0][0],
                  "exponent_high": ends[0][1]}


def _measure_power(sets: Sequence[Gains], matrix: Matrix, alpha: float) -> Row:
    """On what share of the test sets pairs are significant: those that gain on the whole, on average over them.

    Attributes of the row: `power` in the direction of the whole gain, `wrong` against it; `detected`: from which
    whole gain on a pair is significant on so many test sets, by the rising curve that fits best.
    """
    whole = matrix.difference(matrix.observed[:, None], matrix.observed[None, :])
    found = np.zeros_like(whole)
    for gains in sets:
        significant = gains.where(gains.p <= alpha)
        found[significant.better, significant.worse] += 1 / len(sets)
    right, wrong, gain = found[whole > 0], found.T[whole > 0], whole[whole > 0]
    order = np.argsort(gain)
    enough = np.flatnonzero(fit_rising_curve(gain[order], right[order]) >= POWER) if len(gain) else gain
    return {"power": float(right.mean()) if len(gain) else math.nan,
            "wrong": float(wrong.mean()) if len(gain) else math.nan,
            "detected": float(gain[order][enough[0]]) if len(enough) else math.nan}


def _describe_sizes(rows: list[Row], larger: list[Row], exponent: Row, alpha: float) -> list[str]:
    known = [row for row in rows if row["taken"] != _FIRST and not math.isnan(row["fitted"])]
    said = []
    if known:
        least, most = known[0], known[-1]
        falls = f"The threshold by the fit is {least['fitted']:.4g} with {least['size']} units and " \
                f"{most['fitted']:.4g} with {most['size']}"
        said.append(f"{falls}: it goes with the size to the power of {format_with_interval(exponent, 'exponent')}; "
                    "-0.5 is what variances that shrink with the size would make." if larger else f"{falls}.")
        said += [f"With {row['size']} units {100 * row['power']:.0f} % of the pairs are significant in the direction "
                 f"of the whole test set, and {100 * row['wrong']:.1f} % against it."
                 for row in (least, most)[:len(known)]]
    if larger:
        said.append("Extended by that power, which nothing here can check: " + "; ".join(
            f"{format_with_interval(row, 'fitted')} with {row['size']}" for row in larger) + ".")
    said.append(f"p-values are one-sided, at {alpha:g}, and not corrected; random subsets share units, the more the "
                "larger they are, and all come from this one test set.")
    return said
