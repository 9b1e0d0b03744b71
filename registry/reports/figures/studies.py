"""Figures of studies."""

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
    claims_size,
    draw_best,
    draw_correlation,
    draw_dependence,
    draw_effects,
    draw_replicability,
    lines_size,
)
from registry.reports.figures.drawing import COLOURS, COLUMN, drawing, named
from registry.studies.run import StudyResult
from registry.studies.study import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LEAST = 1e-4  # where the band that begins at 0 begins in a figure
_FEW, _FEWEST = 10, 3  # tests below which a share is not drawn, and pairs of two domains


def draw_domains(figure: Figure, result: StudyResult) -> None:
    """The share of pairs that agree elsewhere by band of p-values, for every two domains."""
    axes = figure.subplots()
    rows = result.finding.tables["bands"]
    for k, (tested_on, other) in enumerate(dict.fromkeys((row["tested_on"], row["other"]) for row in rows)):
        of = [row for row in rows if (row["tested_on"], row["other"]) == (tested_on, other)]
        shares(axes, of, k, named(f"{tested_on}, better on {other}", 40), least=_FEWEST)
    share_axes(axes, "same better system elsewhere (%)")


def draw_calibration(figure: Figure, result: StudyResult) -> None:
    """The share that is right by band of p-values, with intervals and what is expected of normal noise."""
    axes = figure.subplots()
    about, *rows = result.finding.tables["bands"]
    shares(axes, rows, 0, "share that is right")
    known = [row for row in rows if row["expected"] is not None]
    axes.plot([middle(row) for row in known], [100 * row["expected"] for row in known], "_", color="#000000",
              markersize=7, markeredgewidth=1, label="expected of normal noise")
    axes.axvspan(about["above"], about["up_to"], color="#777777", alpha=0.2, linewidth=0)
    if about["share"] is not None:
        axes.annotate(f"{100 * about['share']:.1f} %", (middle(about), 1.01),
                      xycoords=("data", "axes fraction"), ha="center", va="bottom")
    share_axes(axes, "right (%)")


def shares(axes: Axes, rows: Sequence[Row], k: int, label: str, least: int = _FEW) -> None:
    """Draw shares of bands with their intervals, as the k-th series, where they are of so many tests at least."""
    some = [row for row in rows if row["tests"] >= least]
    colour, beside = COLOURS[k % len(COLOURS)], 1.06**k
    axes.plot([beside * middle(row) for row in some], [100 * row["share"] for row in some], "o^sDvP"[k % 6],
              color=colour, markersize=3.2, markerfacecolor="none", markeredgewidth=0.8, linestyle="none", label=label)
    for row in some:
        if row["low"] is not None:
            axes.plot([beside * middle(row)] * 2, (100 * row["low"], 100 * row["high"]), color=colour, linewidth=0.7)


def middle(row: Row) -> float:
    """Where a band is drawn: at its geometric mean."""
    return float((max(row["above"], _LEAST) * row["up_to"]) ** 0.5)


def share_axes(axes: Axes, label: str) -> None:
    """A logarithmic axis of p-values, and shares from a coin's toss on."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_xlim(_LEAST, 1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axhline(50, color="#777777", linewidth=0.6, linestyle=":")
    axes.set_ylim(min(35, axes.get_ylim()[0]), 101.5)  # room for the legend below the line
    axes.set_xlabel("p, one-sided")
    axes.set_ylabel(label)
    axes.legend(loc="lower left", handletextpad=0.3)


_MARKS = ("o", "^", "s", "D", "v", "P")
_GREY = "#777777"
_SETTLED, _BEYOND = 0.99, 1.4  # confidence above which a pair is settled, and how far beyond the last other one to show


def draw_curve(figure: Figure, result: StudyResult) -> None:
    """The confidence 1 - p of every pair against its gain, marked by test set and group, with the curves that fit."""
    axes = figure.subplots()
    tables = result.finding.tables
    keys = [key for key in ("test_set", "group") if len({row[key] for row in tables["curves"]}) > 1]
    for k, curve in enumerate(tables["curves"]):
        rows = [row for row in tables["pairs"]
                if (row["test_set"], row["group"] or "unknown") == (curve["test_set"], curve["group"])]
        points(axes, rows, k, ", ".join(curve[key] for key in keys) or curve["group"])
        axes.plot([row["gain"] for row in rows], [row["fitted"] for row in rows], color=COLOURS[k % len(COLOURS)],
                  linewidth=0.6)
    gain_axes(axes, tables["pairs"], tables["curves"][0]["alpha"], metric_of(result))


def draw_thresholds(figure: Figure, result: StudyResult) -> None:
    """The confidence 1 - p of every pair against its gain, marked by group, and the groups' thresholds."""
    axes = figure.subplots()
    tables = result.finding.tables
    groups = [row for row in tables["thresholds"] if row["group"] != "all"] or tables["thresholds"]
    for k, row in enumerate(groups):
        points(axes, [of for of in tables["pairs"] if row["group"] in ("all", of["group"])], k, row["group"])
        for key, dashes in (("threshold", "-"), ("fitted", "--")):
            if row[key] is not None:
                axes.axvline(row[key], color=COLOURS[k], linewidth=0.8, linestyle=dashes)
    for key, dashes, label in (("threshold", "-", "threshold"), ("fitted", "--", "by the fit")):
        if any(row[key] is not None for row in groups):
            axes.plot([], [], dashes, color=_GREY, linewidth=0.8, label=label)
    gain_axes(axes, tables["pairs"], groups[0]["alpha"], metric_of(result))


def points(axes: Axes, rows: Sequence[Row], k: int, label: str) -> None:
    """Draw pairs with the k-th mark and colour."""
    axes.plot([row["gain"] for row in rows], [row["confidence"] for row in rows], _MARKS[k % len(_MARKS)],
              color=COLOURS[k % len(COLOURS)], markersize=2.8, markerfacecolor="none", markeredgewidth=0.6,
              linestyle="none", label=named(label), clip_on=True)


def gain_axes(axes: Axes, rows: Sequence[Row], alpha: float, metric: str) -> None:
    """Show what is of interest: gains up to some beyond the last that is not settled, and the level of significance."""
    gains = [row["gain"] for row in rows]
    unsettled = max((row["gain"] for row in rows if row["confidence"] < _SETTLED), default=max(gains))
    axes.axhline(1 - alpha, color=_GREY, linewidth=0.6, linestyle=":")
    axes.annotate(f"{1 - alpha:g}", (1, 1 - alpha), (2, 0), xycoords=("axes fraction", "data"),
                  textcoords="offset points", ha="left", va="center")
    axes.set_xlim(0, min(_BEYOND * unsettled, 1.05 * max(gains)))
    axes.set_ylim(min([0.5, *(row["confidence"] for row in rows)]) - 0.01, 1.012)
    axes.set_xlabel(f"gain in {named(metric)}")
    axes.set_ylabel("1 - p, one-sided")
    axes.legend(loc="lower right", handletextpad=0.3)


def metric_of(result: StudyResult) -> str:
    """What the study's boards are scored by, as people call it."""
    return result.subject.split("; ")[0].rpartition(", ")[2]


Kind = Literal["precision", "recall", "intervals", "significance"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_DASHES = ("-", "--", "-.", ":")  # lines differ in them as well as in colour
_MARK = "#777777"


def draw_nbest(kind: Kind, figure: Figure, result: StudyResult) -> None:
    """Draw `precision` (figure 1) or `recall`, of one or two systems `intervals` (2), or of two `significance` (3).

    Raises:
        InputError: Variation is not drawn, or the figure shows another number of systems.
    """
    tables = result.finding.tables
    if "curves" not in tables:
        raise InputError("variation is not drawn; leave --plot out")
    curves = [list(rows) for _, rows in groupby(tables["curves"], key=lambda row: row["system"])]
    most = {"intervals": 2, "significance": 2}.get(kind, len(COLOURS) * len(_DASHES))
    least = 2 if kind == "significance" else 1
    if not least <= len(curves) <= most:
        shows = "two systems" if least == most else f"{least} to {most} systems"
        raise InputError(f"the figure of {kind} shows {shows}, and here are {len(curves)}; name them by --system")
    axes = figure.subplots()
    _curves(axes, curves, kind)
    if kind == "significance":
        _significance(axes, curves, tables)
    for text, curve in zip(axes.legend().get_texts(), curves, strict=False):
        text.set_text(named(curve[0]["system"]))  # afterwards, as a name may begin with an underscore


def _curves(axes: Axes, curves: list[list[Row]], kind: Kind) -> None:
    for k, curve in enumerate(curves):
        colour, dashes = COLOURS[k % len(COLOURS)], _DASHES[k % len(_DASHES)]
        n = _column(curve, "n")
        shares = _column(curve, "recall" if kind == "recall" else "precision")
        axes.plot(n, 100 * shares, dashes, color=colour, linewidth=1, label=f"system {k}")
        if kind == "intervals":
            low, high = (100 * _column(curve, key) for key in ("ci_low", "ci_high"))
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


def _significance(axes: Axes, curves: list[list[Row]], tables: dict[str, list[Row]]) -> None:
    """Mark the cut-offs at which the pair differs, and by a thin line that up to which it does throughout."""
    n = _column(tables["tests"], "n")
    at = np.array([row["significant"] for row in tables["tests"]], dtype=bool)
    middle = np.mean([100 * _column(curve, "precision") for curve in curves], axis=0)
    axes.plot(n[at], middle[at], "^", color=_MARK, markersize=3, linestyle="none",
              label="significant difference")
    last = tables["pairs"][0]["differs_up_to"]
    if last is not None and last < n[-1]:
        axes.axvline(last, color=_MARK, linewidth=0.8)
        axes.annotate(f"n = {last}", (last, 1), (3, -2), xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha="left", va="top", color="#444444")


def _column(rows: list[Row], key: str) -> Floats:
    """The numbers of a column, nan where they are undefined."""
    return np.array([row[key] for row in rows], dtype=np.float64)


_MOST = 6  # sizes whose pairs are told apart


def draw_sizes(figure: Figure, result: StudyResult) -> None:
    """Confidence against gain on the first units, by size; and thresholds against size, with their extension.

    Raises:
        InputError: No threshold is known.
    """
    tables = result.finding.tables
    if all(row["fitted"] is None for row in tables["sizes"]):
        raise InputError("no size has the pairs that a threshold needs, so there is nothing to draw; lower --enough")
    upper, lower = figure.subplots(2, 1)
    sizes = sorted({row["size"] for row in tables["pairs"]})
    shown = sizes[::-1][::-(-len(sizes) // _MOST)][::-1]  # the largest among them
    some = [row for row in tables["pairs"] if row["size"] in shown]
    for k, size in enumerate(shown):
        points(upper, [row for row in some if row["size"] == size], k, f"first {size}")
    gain_axes(upper, some, tables["sizes"][0]["alpha"], metric_of(result))
    _thresholds(lower, tables["sizes"], tables["larger"])
    lower.set_ylabel(f"threshold of the gain in {named(metric_of(result))}")


def draw_power(figure: Figure, result: StudyResult) -> None:
    """Power and type S error against the true difference, and beside them type M."""
    rows = result.finding.tables["curve"]
    upper, lower = figure.subplots(2, 1)
    first = rows[0]
    of = f"r12 = {first['r12']:g}" if "r12" in first else f"{named(first['system_a'])} and {named(first['system_b'])}"
    figure.suptitle(f"{of}, {first['units']} units", fontsize="medium")
    x = [row["difference"] for row in rows]
    upper.plot(x, [row["power"] for row in rows], color=COLOURS[0], linewidth=1, label="significant (power)")
    upper.plot(x, [row["type_s"] for row in rows], color=COLOURS[1], linewidth=1, linestyle="--",
              label="of these, of the wrong sign (type S)")
    upper.set_ylim(0, 1.02)
    _legend_above(upper)
    _labelled(upper, "share of test sets")
    lower.plot(x, [row["type_m"] for row in rows], color=COLOURS[2], linewidth=1)
    lower.axhline(1, color="#777777", linewidth=0.6, linestyle=":")
    lower.set_yscale("log")
    lower.set_yticks((1, 2, 5, 10), ("1", "2", "5", "10"))
    lower.set_yticks((), minor=True)
    _labelled(lower, "significant over true (type M)")


def _thresholds(axes: Axes, rows: list[Row], larger: list[Row]) -> None:
    series = (("random", "fitted", "o", COLOURS[0], "random units, by the fit"),
              ("random", "threshold", "s", COLOURS[1], "random units, by the rule"),
              ("first", "fitted", "^", COLOURS[2], "first units, by the fit"))
    for k, (way, key, mark, colour, label) in enumerate(series):
        some = [row for row in rows if row["taken"] in (way, "all") and row[key] is not None]
        at = [row["size"] * 1.04**(k - 1) for row in some]  # beside each other
        axes.plot(at, [row[key] for row in some], mark, color=colour, markersize=3, markerfacecolor="none",
                  markeredgewidth=0.7, linestyle="none", label=label)
        for x, row in zip(at, some, strict=True):
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
    _plain_ticks(axes)
    axes.set_xlabel("units")
    _legend_above(axes)


def _legend_above(axes: Axes) -> None:
    """A legend that hides nothing of what is drawn."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, handletextpad=0.3)


def _labelled(axes: Axes, what: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("true difference")
    axes.set_ylabel(what)
    axes.set_xlim(left=0)


def _plain_ticks(axes: Axes) -> None:
    """Numbers that people read, not powers of ten, at 1, 2 and 5 times of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


Size = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """How a study is drawn: into an empty figure of so many inches, for a paper in two columns if it has room there."""

    draw: Callable[[Figure, StudyResult], None]
    size: Size | Callable[[StudyResult], Size] = (COLUMN, 2.5)


FIGURES: dict[str, Drawing] = {
    "thresholds": Drawing(draw_thresholds), "curve": Drawing(draw_curve),
    "test sizes": Drawing(draw_sizes, (COLUMN, 5.2)),
    "calibration": Drawing(draw_calibration), "domains": Drawing(draw_domains),
    "correlation": Drawing(draw_correlation, (COLUMN, 2.6)), "dependence": Drawing(draw_dependence, (COLUMN, 2.6)),
    "replicability": Drawing(draw_replicability, claims_size), "power": Drawing(draw_power, (COLUMN, 4.4)),
    "effects": Drawing(draw_effects, lines_size), "best": Drawing(draw_best, lines_size),
    **{kind: Drawing(partial(draw_nbest, kind)) for kind in KINDS},
}


def draw(result: StudyResult, path: Path, figure: str | None = None) -> None:
    """Draw a study into a file; the figure that the study takes for its own if none is named.

    Raises:
        InputError: matplotlib is not there, the path's ending says no form, or there is nothing to draw.
        StoreError: The file cannot be written.
    """
    by = FIGURES[figure or result.study.choose_figure(result.finding)]
    size = by.size(result) if callable(by.size) else by.size
    with drawing(path, size) as empty:
        by.draw(empty, result)
