"""The pairs of a leaderboard as figures of a paper's column: a matrix, and confidence against gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.boards.leaderboard import Decisions, Leaderboard, PairDecision
from registry.errors import MismatchError, counted
from registry.reports.figures.boards import axis_label, labels
from registry.reports.figures.look import USUAL, Look
from registry.reports.figures.scale import robust_limits
from registry.reports.figures.style import drawing, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From the most to the least significant, dark to light, so that they are told apart without colour as well.
_LEVELS = (0.001, 0.01, 1.0)
_SHADES = {"okabe-ito": ("#08306B", "#2171B5", "#9ECAE1"), "grey": ("#000000", "#6A6A6A", "#BDBDBD")}
_DOT: dict[str, Any] = {"marker": "o", "linestyle": "none", "markeredgewidth": 0}


def draw_pairs(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """Every pair in a triangle: filled squares are significant, the darker the smaller the adjusted p; rings are not.

    A dot is on pairs whose systems are of one team.

    Raises:
        MismatchError: There is no pair.
    """
    _paired(board)
    n = len(board.standings)
    with drawing(path, look.size(0.6 + 0.135 * max(8, n)), look.font) as figure:
        axes = figure.subplots()
        size = min(6.0, 30 * look.width / n)  # points
        named_columns = range(0, n, -(-n // int(5 * look.width / look.scale)))
        for level, of_level in _by_level(board.decisions, board.comparison.alpha).items():
            a, b = [d.a for d in of_level], [d.b for d in of_level]
            if level is None:
                axes.plot(b, a, "o", markersize=size / 2.4, markerfacecolor="none", markeredgecolor="#777777",
                          markeredgewidth=0.5)
            else:
                axes.plot(b, a, "s", markersize=size, color=_SHADES[look.palette][level], markeredgewidth=0)
        if same := [d for d in board.decisions if d.row["same_team"]]:
            axes.plot([d.b for d in same], [d.a for d in same], color=look.colours[4], markersize=size / 3.5, **_DOT)
        labels(axes, board.standings, look)
        axes.set_xlim(-0.6, n - 0.4)
        axes.xaxis.set_ticks_position("top")
        axes.set_xticks(named_columns, ["-" if board.standings[k].rank is None else str(board.standings[k].rank)
                                        for k in named_columns], rotation=90 if n > 10 else 0)
        axes.tick_params(length=0, pad=1)
        axes.spines[:].set_visible(False)
        _levels_legend(figure, board, look)


def draw_gains(board: Leaderboard, path: Path, by: str, values: Mapping[str, str], look: Look = USUAL) -> None:
    """The confidence 1 - p of every pair against its gain (figures 2 to 4 of Berg-Kirkpatrick et al. 2012).

    Pairs whose systems share an attribute are triangles, others circles; filled where the adjusted p is significant.
    Gains that would flatten all others stand at the right edge, and above it how many they are.

    Args:
        board: Whose pairs.
        path: Where to.
        by: The attribute's name.
        values: The attribute of each submission, by its name `team/system@version`.
        look: How it is set.

    Raises:
        MismatchError: There is no pair.
    """
    _paired(board)
    points: dict[tuple[bool, bool], list[tuple[float, float]]] = {}
    for decision in board.decisions:
        a, b = (values.get(board.standings[n].submission) for n in (decision.a, decision.b))
        if decision.difference is not None and decision.p_value is not None:
            points.setdefault((a is not None and a == b, decision.significant), []).append(
                (abs(decision.difference), 1 - decision.p_value))
    gains = [gain for drawn in points.values() for gain, _ in drawn]
    low, high = look.limits or (0.0, robust_limits(gains, always=[0.0])[1] if gains else 1.0)
    with drawing(path, look.size(2.3, least=False), look.font) as figure:
        axes = figure.subplots()
        axes.set_xlim(low, low + 1.04 * (high - low) if high > low else 1.0)
        _points(axes, points, by, high, look)
        level = 1 - board.comparison.alpha
        axes.axhline(level, color="#777777", linewidth=0.6, linestyle="--")
        axes.annotate(f"{level:g}", (1, level), (2, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                      ha="left", va="center")
        if beyond := [gain for gain in gains if gain > high]:
            axes.annotate(f"{counted(len(beyond), 'pair')} beyond the scale →, up to {max(beyond):.{board.decimals}f}",
                          (1, 1), (0, 3), xycoords="axes fraction", textcoords="offset points", ha="right", va="bottom")
        axis_label(axes, look, f"gain in {named(board.metric_label)}")
        axes.set_ylabel("1 - p, not corrected")
        axes.set_ylim(-0.03, 1.03)
        axes.legend(loc="lower right", handletextpad=0.2)


def _points(axes: Axes, points: Mapping[tuple[bool, bool], Sequence[tuple[float, float]]], by: str, high: float,
            look: Look) -> None:
    """Pairs as points, by whether their systems share an attribute and whether they differ significantly."""
    groups = {True: ("^", look.colours[1], f"same {by}"), False: ("o", look.colours[0], f"different {by}")}
    grouped = any(same for same, _ in points)
    for (same, significant), drawn in sorted(points.items()):
        mark, colour, group = groups[same]
        label = "significant" if significant else "not significant"
        axes.plot([min(gain, 1.04 * high) for gain, _ in drawn], [confidence for _, confidence in drawn], mark,
                  color=colour, markersize=3.4, markeredgewidth=0.6, linestyle="none", clip_on=False,
                  markerfacecolor=colour if significant else "none",
                  label=f"{named(group)}, {label}" if grouped else label)


def _paired(board: Leaderboard) -> None:
    if not board.decisions:
        raise MismatchError(f"{board.title}: one system makes no pair")


def _by_level(decisions: Decisions, alpha: float) -> dict[int | None, list[PairDecision]]:
    """The pairs by their level of significance, the highest being 0; None: not significant."""
    found: dict[int | None, list[PairDecision]] = {}
    for decision in decisions:
        p, level = decision.p_adjusted, None
        if decision.significant and p is not None:
            level = next((n for n, most in enumerate(_LEVELS) if p <= min(most, alpha)), len(_LEVELS) - 1)
        found.setdefault(level, []).append(decision)
    return found


def _levels_legend(figure: Figure, board: Leaderboard, look: Look) -> None:
    from matplotlib.lines import Line2D

    alpha = board.comparison.alpha
    drawn, shades = _by_level(board.decisions, alpha), _SHADES[look.palette]
    marks = [Line2D([], [], marker="s", color=shades[n], linestyle="none", markersize=5,
                    label=f"p ≤ {min(most, alpha):g}") for n, most in enumerate(_LEVELS) if n in drawn]
    if None in drawn:
        marks.append(Line2D([], [], marker="o", markerfacecolor="none", markeredgecolor="#777777", linestyle="none",
                            markersize=3.5, markeredgewidth=0.6, label="not significant"))
    if any(decision.row["same_team"] for decision in board.decisions):
        marks.append(Line2D([], [], color=look.colours[4], markersize=2.5, label="same team", **_DOT))
    columns = min(len(marks), max(1, look.letters(0.95) // 14))  # letters that an entry takes
    figure.legend(handles=marks, loc="outside lower center", ncols=columns, handletextpad=0.2, columnspacing=1)
