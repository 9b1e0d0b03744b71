"""Figures of power, drawn from the rows of a study: what becomes of true differences, small and large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.reports.figures.style import COLOURS, named
from registry.studies.run import StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_power(figure: Figure, result: StudyResult) -> None:
    """Power and type S error against the true difference, and beside them type M."""
    rows = result.finding.tables["curve"]
    left, right = figure.subplots(1, 2)
    first = rows[0]
    of = f"r12 = {first['r12']:g}" if "r12" in first else f"{named(first['system_a'])} and {named(first['system_b'])}"
    figure.suptitle(f"{of}, {first['units']} units", fontsize="medium")
    x = [row["difference"] for row in rows]
    left.plot(x, [row["power"] for row in rows], color=COLOURS[0], linewidth=1, label="significant (power)")
    left.plot(x, [row["type_s"] for row in rows], color=COLOURS[1], linewidth=1, linestyle="--",
              label="of these, of the wrong sign (type S)")
    left.set_ylim(0, 1.02)
    left.legend(fontsize=6)
    _labelled(left, "share of test sets")
    right.plot(x, [row["type_m"] for row in rows], color=COLOURS[2], linewidth=1)
    right.axhline(1, color="#777777", linewidth=0.6, linestyle=":")
    right.set_yscale("log")
    right.set_yticks((1, 2, 5, 10), ("1", "2", "5", "10"))
    right.set_yticks((), minor=True)
    _labelled(right, "significant over true (type M)")


def _labelled(axes: Axes, what: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("true difference")
    axes.set_ylabel(what)
    axes.set_xlim(left=0)
