"""Figures that show the results of studies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError
from registry.reports.figures.boards import (
    compute_lines_size,
    compute_matrix_size,
    draw_best,
    draw_correlation,
    draw_dependence,
    draw_effects,
    draw_replicability,
)
from registry.reports.figures.drawing import COLOURS, COLUMN, drawing, format_name
from registry.studies.run import StudyResult
from registry.studies.study import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LEAST = 1e-4  # the lower end, in a figure, of the band of p-values that begins at 0
_MOST_INSIDE = 4  # series in a legend inside the axes
_PITCH = 0.14  # inches between two lines of a legend
_FEW, _FEWEST = 10, 3  # a share of fewer tests, or of fewer pairs of two domains, is not drawn


def measure_domains(result: StudyResult) -> tuple[float, float]:
    """Return the size of the figure that `draw_domains` draws, in inches.

    The size includes space for a long legend above.
    """
    n = len({(row["tested_on"], row["other"]) for row in result.finding.tables["bands"]})
    return COLUMN, 2.5 + (_PITCH * n if n > _MOST_INSIDE else 0)


def draw_domains(figure: Figure, result: StudyResult) -> None:
    """Draw how often the better system in one domain is also better in another.

    The share is drawn against the p-value in the first domain. Each pair of domains has its own marks.

    Args:
        figure: An empty figure.
        result: The result of the study `domains`.
    """
    axes = figure.subplots()
    rows = result.finding.tables["bands"]
    for k, (tested_on, other) in enumerate(dict.fromkeys((row["tested_on"], row["other"]) for row in rows)):
        bands = [row for row in rows if (row["tested_on"], row["other"]) == (tested_on, other)]
        draw_shares(axes, bands, k, format_name(f"{tested_on}, better on {other}", 40), least=_FEWEST)
    set_share_axes(axes, "same better system elsewhere (%)")


def draw_calibration(figure: Figure, result: StudyResult) -> None:
    """Draw how often tests decide correctly, against the p-value, with intervals.

    p-values are grouped into intervals. A second mark shows the share that is expected if errors are normally
    distributed.
    """
    axes = figure.subplots()
    about, *rows = result.finding.tables["bands"]
    draw_shares(axes, rows, 0, "correct decisions")
    known = [row for row in rows if row["expected"] is not None]
    axes.plot([compute_middle(row) for row in known], [100 * row["expected"] for row in known], "_", color="#000000",
              markersize=7, markeredgewidth=1, label="expected of normal noise")
    axes.axvspan(about["above"], about["up_to"], color="#777777", alpha=0.2, linewidth=0)
    if about["share"] is not None:
        axes.annotate(f"{100 * about['share']:.1f} %", (compute_middle(about), 1.01),
                      xycoords=("data", "axes fraction"), ha="center", va="bottom")
    set_share_axes(axes, "correct decisions (%)")


def draw_shares(axes: Axes, rows: Sequence[Row], k: int, label: str, least: int = _FEW) -> None:
    """Draw a series of shares against p-values, with confidence intervals.

    Args:
        axes: The axes to draw into.
        rows: One row per interval of p-values: its ends (`above`, `up_to`), `tests`, `share`, `low` and `high`.
        k: The number of the series, which selects the mark and the colour.
        label: The label of the series in the legend.
        least: Intervals with fewer tests are not drawn.
    """
    shown = [row for row in rows if row["tests"] >= least]
    colour, offset = COLOURS[k % len(COLOURS)], 1.06**k
    axes.plot([offset * compute_middle(row) for row in shown], [100 * row["share"] for row in shown], "o^sDvP"[k % 6],
              color=colour, markersize=3.2, markerfacecolor="none", markeredgewidth=0.8, linestyle="none", label=label)
    for row in shown:
        if row["low"] is not None:
            x = offset * compute_middle(row)
            axes.plot((x, x), (100 * row["low"], 100 * row["high"]), color=colour, linewidth=0.7)


def compute_middle(row: Row) -> float:
    """Return where an interval of p-values is drawn: the geometric mean of its ends.

    A lower end of 0 is replaced by 0.0001.
    """
    return float((max(row["above"], _LEAST) * row["up_to"]) ** 0.5)


def set_share_axes(axes: Axes, label: str) -> None:
    """Set up a logarithmic axis of p-values and a vertical axis of shares in percent."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_xlim(_LEAST, 1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axhline(50, color="#777777", linewidth=0.6, linestyle=":")
    axes.set_ylim(min(35, axes.get_ylim()[0]), 101.5)  # room for the legend below the line
    axes.set_xlabel("p, one-sided")
    axes.set_ylabel(label)
    if len(axes.get_legend_handles_labels()[0]) > _MOST_INSIDE:
        _add_legend_above(axes)
    else:
        axes.legend(loc="lower left", handletextpad=0.3)


_MARKS = ("o", "^", "s", "D", "v", "P")
_GREY = "#777777"
# A pair is settled from this confidence on. The axis ends at this multiple of the largest gain that is not settled.
_SETTLED, _BEYOND = 0.99, 1.4


def draw_curve(figure: Figure, result: StudyResult) -> None:
    """Draw the confidence 1 - p of each pair against the gain, with fitted curves.

    The gain is the absolute score difference of the two systems. Marks distinguish test sets and groups of pairs.
    """
    axes = figure.subplots()
    tables = result.finding.tables
    keys = [key for key in ("test_set", "group") if len({row[key] for row in tables["curves"]}) > 1]
    for k, curve in enumerate(tables["curves"]):
        rows = [row for row in tables["pairs"]
                if (row["test_set"], row["group"] or "unknown") == (curve["test_set"], curve["group"])]
        draw_points(axes, rows, k, ", ".join(curve[key] for key in keys) or curve["group"])
        axes.plot([row["gain"] for row in rows], [row["fitted"] for row in rows], color=COLOURS[k % len(COLOURS)],
                  linewidth=0.6)
    set_gain_axes(axes, tables["pairs"], tables["curves"][0]["alpha"], get_metric(result))


def draw_thresholds(figure: Figure, result: StudyResult) -> None:
    """Draw the confidence 1 - p of each pair against the gain, with thresholds.

    The gain is the absolute score difference of the two systems. A vertical line is the gain from which pairs of a
    group are significant.
    """
    axes = figure.subplots()
    tables = result.finding.tables
    groups = [row for row in tables["thresholds"] if row["group"] != "all"] or tables["thresholds"]
    for k, row in enumerate(groups):
        draw_points(axes, [pair for pair in tables["pairs"] if row["group"] in ("all", pair["group"])], k, row["group"])
        for key, dashes in (("threshold", "-"), ("fitted", "--")):
            if row[key] is not None:
                axes.axvline(row[key], color=COLOURS[k], linewidth=0.8, linestyle=dashes)
    for key, dashes, label in (("threshold", "-", "threshold"), ("fitted", "--", "by the fit")):
        if any(row[key] is not None for row in groups):
            axes.plot([], [], dashes, color=_GREY, linewidth=0.8, label=label)
    set_gain_axes(axes, tables["pairs"], groups[0]["alpha"], get_metric(result))


def draw_points(axes: Axes, rows: Sequence[Row], k: int, label: str) -> None:
    """Draw pairs of systems as points: the confidence 1 - p against the gain.

    The gain is the absolute score difference.

    Args:
        axes: The axes.
        rows: The pairs of systems, each with `gain` and `confidence`.
        k: The number of the series, which selects the mark and the colour.
        label: The name of the series in the legend.
    """
    axes.plot([row["gain"] for row in rows], [row["confidence"] for row in rows], _MARKS[k % len(_MARKS)],
              color=COLOURS[k % len(COLOURS)], markersize=2.8, markerfacecolor="none", markeredgewidth=0.6,
              linestyle="none", label=format_name(label), clip_on=True)


def set_gain_axes(axes: Axes, rows: Sequence[Row], alpha: float, metric: str) -> None:
    """Set up axes for score differences and confidences, with a line at 1 - alpha.

    The axis of gains (score differences) ends a little after the largest gain whose confidence is below 0.99.

    Args:
        axes: The axes.
        rows: The pairs of systems, each with `gain` and `confidence`.
        alpha: The significance level.
        metric: The metric, for the label of the gains.
    """
    gains = [row["gain"] for row in rows]
    unsettled = max((row["gain"] for row in rows if row["confidence"] < _SETTLED), default=max(gains))
    axes.axhline(1 - alpha, color=_GREY, linewidth=0.6, linestyle=":")
    axes.annotate(f"{1 - alpha:g}", (1, 1 - alpha), (2, 0), xycoords=("axes fraction", "data"),
                  textcoords="offset points", ha="left", va="center")
    axes.set_xlim(0, min(_BEYOND * unsettled, 1.05 * max(gains)))
    axes.set_ylim(min([0.5, *(row["confidence"] for row in rows)]) - 0.01, 1.012)
    axes.set_xlabel(f"gain in {format_name(metric)}")
    axes.set_ylabel("1 - p, one-sided")
    axes.legend(loc="lower right", handletextpad=0.3, frameon=True, facecolor="white", edgecolor="none")


def get_metric(result: StudyResult) -> str:
    """Return the title of the metric that a study is about."""
    return result.subject.split("; ")[0].rpartition(", ")[2]


Kind = Literal["precision", "recall", "intervals", "significance"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_DASHES = ("-", "--", "-.", ":")  # lines differ in dashes as well as in colour
_MARK = "#777777"


def draw_nbest(kind: Kind, figure: Figure, result: StudyResult) -> None:
    """Draw precision or recall of n-best lists against the size of the list.

    Args:
        kind: `precision` and `recall` draw the curves of all systems. `intervals` adds confidence intervals to the
            precision of one or two systems. `significance` marks significant differences between two systems.
        figure: An empty figure.
        result: The result of the study.

    Raises:
        InputError: The study has no curves, or has too many or too few systems for the figure.
    """
    tables = result.finding.tables
    if "curves" not in tables:
        raise InputError("--show variation has no figure; leave out --plot")
    curves = [list(rows) for _, rows in groupby(tables["curves"], key=lambda row: row["system"])]
    most = {"intervals": 2, "significance": 2}.get(kind, len(COLOURS) * len(_DASHES))
    least = 2 if kind == "significance" else 1
    if not least <= len(curves) <= most:
        shows = "two systems" if least == most else f"{least} to {most} systems"
        raise InputError(f"the figure of {kind} shows {shows}, but {len(curves)} are selected; select systems by "
                         "--system")
    axes = figure.subplots()
    _draw_curves(axes, curves, kind)
    if kind == "significance":
        _mark_significance(axes, curves, tables)
    for text, curve in zip(axes.legend().get_texts(), curves, strict=False):
        text.set_text(format_name(curve[0]["system"]))  # set later, because matplotlib hides labels that begin with _


def _draw_curves(axes: Axes, curves: list[list[Row]], kind: Kind) -> None:
    for k, curve in enumerate(curves):
        colour, dashes = COLOURS[k % len(COLOURS)], _DASHES[k % len(_DASHES)]
        n = _get_numbers(curve, "n")
        shares = _get_numbers(curve, "recall" if kind == "recall" else "precision")
        axes.plot(n, 100 * shares, dashes, color=colour, linewidth=1, label=f"system {k}")
        if kind == "intervals":
            low, high = (100 * _get_numbers(curve, key) for key in ("ci_low", "ci_high"))
            axes.fill_between(n, low, high, color=colour, alpha=0.22, linewidth=0)
    if kind == "recall":
        axes.set_ylabel("n-best recall (%)")
    else:
        baseline = 100 * curves[0][0]["baseline"]
        axes.axhline(baseline, color="black", linewidth=0.8)
        axes.annotate(f"baseline = {baseline:.2f}%", (1, baseline), (-4, -3), xycoords=("axes fraction", "data"),
                      textcoords="offset points", ha="right", va="top")
        axes.set_ylabel("n-best precision (%)")
    axes.set_xlabel("n-best list")
    axes.set_xlim(0, float(curves[0][-1]["n"]))
    axes.set_ylim(bottom=0)


def _mark_significance(axes: Axes, curves: list[list[Row]], tables: dict[str, list[Row]]) -> None:
    """Mark list sizes at which the precision of two systems differs significantly.

    A vertical line is at the largest size up to which all differences are significant.
    """
    n = _get_numbers(tables["tests"], "n")
    is_marked = np.array([row["significant"] for row in tables["tests"]], dtype=bool)
    middle = np.mean([100 * _get_numbers(curve, "precision") for curve in curves], axis=0)
    axes.plot(n[is_marked], middle[is_marked], "^", color=_MARK, markersize=3, linestyle="none",
              label="significant difference")
    last = tables["pairs"][0]["differs_up_to"]
    if last is not None and last < n[-1]:
        axes.axvline(last, color=_MARK, linewidth=0.8)
        axes.annotate(f"n = {last}", (last, 1), (3, -2), xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha="left", va="top", color="#444444")


def _get_numbers(rows: list[Row], key: str) -> Floats:
    return np.array([row[key] for row in rows], dtype=np.float64)


_MOST = 6  # sizes whose pairs are drawn, each with its own mark


def draw_sizes(figure: Figure, result: StudyResult) -> None:
    """Draw which score differences are significant, against the size of the test set.

    The upper axes show the confidence 1 - p of pairs against the score difference for several sizes. The lower axes
    show the smallest significant difference for all sizes, and extrapolate it to larger sizes.

    Raises:
        InputError: No size has such a threshold.
    """
    tables = result.finding.tables
    if all(row["fitted"] is None for row in tables["sizes"]):
        raise InputError("no size has enough pairs for a threshold, so there is nothing to draw; reduce --enough")
    upper, lower = figure.subplots(2, 1)
    sizes = sorted({row["size"] for row in tables["pairs"]})
    shown = sizes[::-1][::-(-len(sizes) // _MOST)][::-1]  # evenly chosen, with the largest size
    pairs = [row for row in tables["pairs"] if row["size"] in shown]
    for k, size in enumerate(shown):
        draw_points(upper, [row for row in pairs if row["size"] == size], k, f"first {size}")
    set_gain_axes(upper, pairs, tables["sizes"][0]["alpha"], get_metric(result))
    _draw_thresholds(lower, tables["sizes"], tables["larger"])
    lower.set_ylabel(f"threshold of the gain in {format_name(get_metric(result))}")


def draw_power(figure: Figure, result: StudyResult) -> None:
    """Draw power, type S error and type M error against the true difference."""
    rows = result.finding.tables["curve"]
    upper, lower = figure.subplots(2, 1)
    first = rows[0]
    subject = (f"r12 = {first['r12']:g}" if "r12" in first
               else f"{format_name(first['system_a'])} and {format_name(first['system_b'])}")
    figure.suptitle(f"{subject}, {first['units']} units", fontsize="medium")
    x = [row["difference"] for row in rows]
    upper.plot(x, [row["power"] for row in rows], color=COLOURS[0], linewidth=1, label="significant (power)")
    upper.plot(x, [row["type_s"] for row in rows], color=COLOURS[1], linewidth=1, linestyle="--",
              label="of these, of the wrong sign (type S)")
    upper.set_ylim(0, 1.02)
    _add_legend_above(upper)
    _set_labels(upper, "share of test sets")
    lower.plot(x, [row["type_m"] for row in rows], color=COLOURS[2], linewidth=1)
    lower.axhline(1, color="#777777", linewidth=0.6, linestyle=":")
    lower.set_yscale("log")
    lower.set_yticks((1, 2, 5, 10), ("1", "2", "5", "10"))
    lower.set_yticks((), minor=True)
    _set_labels(lower, "significant over true (type M)")


def _draw_thresholds(axes: Axes, rows: list[Row], larger: list[Row]) -> None:
    series = (("random", "fitted", "o", COLOURS[0], "random units, by the fit"),
              ("random", "threshold", "s", COLOURS[1], "random units, by the rule"),
              ("first", "fitted", "^", COLOURS[2], "first units, by the fit"))
    for k, (way, key, mark, colour, label) in enumerate(series):
        shown = [row for row in rows if row["taken"] in (way, "all") and row[key] is not None]
        positions = [row["size"] * 1.04**(k - 1) for row in shown]  # side by side
        axes.plot(positions, [row[key] for row in shown], mark, color=colour, markersize=3, markerfacecolor="none",
                  markeredgewidth=0.7, linestyle="none", label=label)
        for x, row in zip(positions, shown, strict=True):
            if way == "random" and row[f"{key}_low"] is not None:
                axes.plot((x, x), (row[f"{key}_low"], row[f"{key}_high"]), color=colour, linewidth=0.7)
    known = [row for row in rows if row["taken"] != "first" and row["fitted"] is not None]
    if larger:
        axes.plot([row["size"] for row in larger], [row["fitted"] for row in larger], "--", color=COLOURS[0],
                  linewidth=0.8, label="extended")
        band = [row for row in larger if row["fitted_low"] is not None]
        axes.fill_between([row["size"] for row in band], [row["fitted_low"] for row in band],
                          [row["fitted_high"] for row in band], color=COLOURS[0], alpha=0.15, linewidth=0)
    if known:
        last, ends = known[-1], (known[0]["size"], (larger or known)[-1]["size"])
        axes.plot(ends, [last["fitted"] * (last["size"] / size)**0.5 for size in ends], ":", color="#777777",
                  linewidth=0.8, label="size to the power of -0.5")
    axes.set_xscale("log")
    axes.set_yscale("log")
    _set_plain_ticks(axes)
    axes.set_xlabel("units")
    _add_legend_above(axes)


def _add_legend_above(axes: Axes) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, handletextpad=0.3)


def _set_labels(axes: Axes, label: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("true difference")
    axes.set_ylabel(label)
    axes.set_xlim(left=0)


_WIDE = 50  # a logarithmic axis whose ends have this ratio has fewer ticks


def _set_plain_ticks(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        axis.set_major_locator(LogLocator(subs=(1, 3) if high > _WIDE * low else (1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


Size = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """Figure of a study: the function that draws it, and its size.

    Attributes:
        draw: A function that draws the result of the study into an empty figure.
        size: The width and the height in inches, or a function that computes them from the result.
    """

    draw: Callable[[Figure, StudyResult], None]
    size: Size | Callable[[StudyResult], Size] = (COLUMN, 2.5)


FIGURES: dict[str, Drawing] = {
    "thresholds": Drawing(draw_thresholds), "curve": Drawing(draw_curve),
    "test sizes": Drawing(draw_sizes, (COLUMN, 5.2)),
    "calibration": Drawing(draw_calibration), "domains": Drawing(draw_domains, measure_domains),
    "correlation": Drawing(draw_correlation, (COLUMN, 2.6)), "dependence": Drawing(draw_dependence, (COLUMN, 2.6)),
    "replicability": Drawing(draw_replicability, compute_matrix_size), "power": Drawing(draw_power, (COLUMN, 4.4)),
    "effects": Drawing(draw_effects, compute_lines_size), "best": Drawing(draw_best, compute_lines_size),
    **{kind: Drawing(partial(draw_nbest, kind)) for kind in KINDS},
}


def draw(result: StudyResult, path: Path, figure: str | None = None) -> None:
    """Draw the result of a study into a file.

    Args:
        result: The result of the study.
        path: The file to write. The ending selects the format.
        figure: The name of the figure, a key of `FIGURES`; None: the default figure of the study.

    Raises:
        InputError: matplotlib is not installed, the ending is no known format, or there is nothing to draw.
        StoreError: The file cannot be written.
    """
    chosen = FIGURES[figure or result.study.choose_figure(result.finding)]
    size = chosen.size(result) if callable(chosen.size) else chosen.size
    with drawing(path, size) as empty:
        chosen.draw(empty, result)
