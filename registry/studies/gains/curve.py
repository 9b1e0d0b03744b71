"""How confidence grows with gain (Berg-Kirkpatrick et al. 2012, figures 2 to 8 and 11).

Every pair is a point: its gain, and 1 - p of the paired bootstrap, one-sided in the direction of the gain. The points
of one kind of pairs lie along a curve that only rises; how far they scatter says how little a gain alone tells.
"""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar

import numpy as np

from registry.arrays import Floats
from registry.errors import counted
from registry.messages import Message
from registry.studies.board_study import BoardStudy, Case
from registry.studies.gains.pair_gains import all_gains, bootstrap_warnings, left_out, no_gains, pair_rows, values_of
from registry.studies.study import Finding, Row, option


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
        """Test all pairs.

        Raises:
            InputError: No pair differs, or the bootstrap does not take the metric.
            UnknownNameError: No submission has the attribute.
        """
        alpha = case.request.significance.alpha
        pairs: list[Row] = []
        warnings: list[Message] = []
        for board in case.boards:
            values = values_of(case, board, self.by)
            gains = all_gains(board.matrix, case.settings, alpha)
            pairs += pair_rows(board, gains, self.by, values)
            warnings += [*bootstrap_warnings(board.matrix), *left_out(board.matrix, gains)]
        if not pairs:
            raise no_gains(case.boards)
        curves = [(key, list(rows)) for key, rows in groupby(sorted(pairs, key=_curve), key=_curve)]
        fitted = [row | {"fitted": float(value)} for _, rows in curves
                  for row, value in zip(rows, _fit(rows), strict=True)]
        summary = [_row(test_set, group, rows, alpha) for (test_set, _, group), rows in curves]
        return Finding({"curves": summary, "pairs": fitted}, _reading(summary, alpha, self.by),
                       list(dict.fromkeys(warnings)))


def rising(gain: Floats, confidence: Floats) -> Floats:
    """The rising curve that fits best by least squares, at every gain (isotonic regression), [pairs]."""
    from scipy.optimize import isotonic_regression

    _, place, times = np.unique(gain, return_inverse=True, return_counts=True)
    fit = isotonic_regression(np.bincount(place, confidence) / times, weights=times)
    curve: Floats = fit.x[place]
    return curve


def _curve(row: Row) -> tuple[str, int, str]:
    group = row["group"] or "unknown"
    return row["test_set"], ("same", "different", "unknown").index(group.partition(" ")[0]), group


def _fit(rows: list[Row]) -> Floats:
    return rising(np.array([row["gain"] for row in rows]), np.array([row["confidence"] for row in rows]))


def _row(test_set: str, group: str, rows: list[Row], alpha: float) -> Row:
    """Where gain alone decides, and where it does not: from the least significant gain to the largest that is not."""
    significant = [row["gain"] for row in rows if row["p_value"] <= alpha]
    others = [row["gain"] for row in rows if row["p_value"] > alpha]
    least, most = min(significant, default=None), max(others, default=None)
    between = [] if least is None or most is None else [row for row in rows if least <= row["gain"] <= most]
    return {"test_set": test_set, "group": group, "alpha": alpha, "pairs": len(rows), "significant": len(significant),
            "least_significant": least, "largest_other": most, "undecided": len(between)}


def _reading(curves: list[Row], alpha: float, by: str) -> list[str]:
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
