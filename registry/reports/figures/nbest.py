"""Figures 1 to 3 of Evert (2004): n-best precision, with intervals, and with significant differences marked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from registry.errors import InputError
from registry.reports.figures.style import COLOURS, named, write
from registry.studies.nbest.precision import RankingStudy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Kind = Literal["precision", "recall", "intervals", "significance"]

# Lines differ in their dashes as well as in colour.
_DASHES = ("-", "--", "-.", ":")
_MARK = "#777777"


def draw(study: RankingStudy, kind: Kind, path: Path) -> None:
    """Write one figure, of the same study the same bytes.

    Args:
        study: What to draw.
        kind: `precision` (figure 1) or `recall` of all systems; `intervals` (figure 2), of one or two systems;
            `significance` (figure 3), of two.
        path: Where to; its ending (.svg, .png, .pdf) says in which form.

    Raises:
        InputError: matplotlib is not there, the ending says no form, or the figure shows another number of systems.
        StoreError: The file cannot be written.
    """
    most = {"intervals": 2, "significance": 2}.get(kind, len(COLOURS) * len(_DASHES))
    least = 2 if kind == "significance" else 1
    if not least <= len(study.curves) <= most:
        shows = "two systems" if least == most else f"{least} to {most} systems"
        raise InputError(f"the figure of {kind} shows {shows}, and here are {len(study.curves)}; name them by --system")
    write(path, (6.4, 4.4), lambda figure: _draw(figure, study, kind), font=10)


def _draw(figure: Figure, study: RankingStudy, kind: Kind) -> None:
    axes = figure.subplots()
    _curves(axes, study, kind)
    if kind == "significance":
        _significance(axes, study)
    for text, curve in zip(axes.legend(frameon=False).get_texts(), study.curves, strict=False):
        text.set_text(named(curve.system))  # afterwards, as a name may begin with an underscore


def _curves(axes: Axes, study: RankingStudy, kind: Kind) -> None:
    for k, curve in enumerate(study.curves):
        colour, dashes = COLOURS[k % len(COLOURS)], _DASHES[k % len(_DASHES)]
        shares = curve.recall if kind == "recall" else curve.precision
        axes.plot(curve.n, 100 * shares, dashes, color=colour, linewidth=1.6, label=f"system {k}")
        if kind == "intervals":
            axes.fill_between(curve.n, 100 * curve.low, 100 * curve.high, color=colour, alpha=0.22, linewidth=0)
    if kind == "recall":
        axes.set_ylabel("n-best recall (%)")
    else:
        baseline = 100 * study.baseline
        axes.axhline(baseline, color="black", linewidth=0.8)
        axes.annotate(f"baseline = {baseline:.2f}%", (1, baseline), (-4, 3), xycoords=("axes fraction", "data"),
                      textcoords="offset points", ha="right", va="bottom", fontsize=9)
        axes.set_ylabel("n-best precision (%)")
    axes.set_xlabel("n-best list")
    axes.set_xlim(0, float(study.curves[0].n[-1]))
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)


def _significance(axes: Axes, study: RankingStudy) -> None:
    """Mark the cut-offs at which the pair differs, and by a thin line that up to which it does throughout."""
    (contest,) = study.contests
    at = contest.significant
    middle = np.mean([100 * curve.precision for curve in study.curves], axis=0)
    axes.plot(contest.n[at], middle[at], "^", color=_MARK, markersize=4, linestyle="none",
              label="significant difference")
    last = contest.differs_up_to
    if last is not None and last < contest.n[-1]:
        axes.axvline(last, color=_MARK, linewidth=0.8)
        axes.annotate(f"n = {last}", (last, 1), (3, -2), xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha="left", va="top", fontsize=9, color="#444444")
