"""Figures of leaderboards and of their pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from registry.boards.leaderboard import Decisions, Leaderboard, PairDecision, Standing
from registry.errors import InputError, MismatchError, counted
from registry.reports.boards import format_rank_ranges
from registry.reports.columns import shows_letters
from registry.reports.figures.drawing import COLOURS, COLUMN, USUAL, Look, drawing, named
from registry.studies.run import StudyResult
from registry.studies.study import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
if TYPE_CHECKING:
    from matplotlib.axes import Axes
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
if TYPE_CHECKING:
    from matplotlib.figure import Figure


_SEVERAL = 5  # values from which on there are outliers
_REACH = 1.5  # interquartile ranges beyond the quartiles: Tukey's fences


def robust_limits(values: Sequence[float], ends: Iterable[float] = (), always: Iterable[float] = ()
                  ) -> tuple[float, float]:
    """The ends of a scale of values and of the ends of their intervals, on which some numbers always stand.

    What is beyond Tukey's fences is left out where the scale would be more than half as wide again with it.

    >>> robust_limits([0.80, 0.81, 0.82, 0.83, 0.84, 0.1]), robust_limits([0.1, 0.8])
    ((0.8, 0.84), (0.1, 0.8))
    """
    shown = np.array([*values, *ends], dtype=float)
    kept = list(always)
    whole = float(min(shown.min(), *kept, np.inf)), float(max(shown.max(), *kept, -np.inf))
    lower, upper = np.quantile(shown, [0.25, 0.75])
    if len(values) < _SEVERAL or lower == upper:
        return whole
    reach = _REACH * (upper - lower)
    among = shown[(shown >= lower - reach) & (shown <= upper + reach)]
    inner = float(min(among.min(), *kept, np.inf)), float(max(among.max(), *kept, -np.inf))
    return inner if whole[1] - whole[0] > 1.5 * (inner[1] - inner[0]) else whole


_MOST = 200  # lines that a page has room for


def lines_size(result: StudyResult) -> tuple[float, float]:
    """The inches that a line for every pair or system takes."""
    return COLUMN, 0.55 + 0.135 * min(len(_rows(result)), _MOST)


def draw_effects(figure: Figure, result: StudyResult) -> None:
    """The difference of every pair with its interval, best first: a forest plot."""
    axes, rows = figure.subplots(), _rows(result)
    _lines(axes, rows, [f"{named(row['system_a'], 15)} - {named(row['system_b'], 15)}" for row in rows], "low", "high")
    axes.plot([row["value"] for row in rows], range(len(rows)), "o", color=COLOURS[0], markersize=3.2)
    axes.axvline(0, color="#777777", linewidth=0.6, linestyle=":")
    axes.set_xlabel(f"difference in {named(rows[0]['metric'])}")


def draw_best(figure: Figure, result: StudyResult) -> None:
    """The ranks that each system may have, the best first; those that may be the best are filled."""
    from matplotlib.ticker import MaxNLocator

    axes, rows = figure.subplots(), _rows(result)
    _lines(axes, rows, [named(row["system"]) for row in rows], "rank_low", "rank_high")
    for n, row in enumerate(rows):
        axes.plot((row["rank_low"], row["rank_high"]), (n, n), "o", color=COLOURS[0], markersize=3.2,
                  markerfacecolor=COLOURS[0] if row["may_be_best"] else "white", markeredgewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(f"rank by {named(rows[0]['metric'])}")


def _rows(result: StudyResult) -> list[Row]:
    (name, *_) = result.finding.tables
    return [row for row in result.finding.tables[name] if row.get("effect", "difference") == "difference"]


def _lines(axes: Axes, rows: Sequence[Row], names: Sequence[str], low: str, high: str) -> None:
    """Draw the intervals that have both ends, one below the other, and name them."""
    if len(rows) > _MOST:
        raise InputError(f"the figure shows up to {_MOST} lines, and here are {len(rows)}; leave --plot out")
    for n, row in enumerate(rows):
        if row[low] is not None and row[high] is not None:
            axes.plot((row[low], row[high]), (n, n), "-", color=COLOURS[0], linewidth=1, solid_capstyle="butt")
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


_PITCH = 0.135  # inches between two systems
_BAND = "#EEEEEE"
_INK = "#333333"
_BESIDE = 12  # letters that there is room for beside a system


def draw_scores(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """Scores with their intervals, best on top; clusters as bands, and at the right who is not told apart.

    Points of systems without a rank are hollow. Clusters are those of the board's ranks; where these are drawn the
    places that they leave open stand at the right. What an outlier would flatten is shown at its size, and the outlier
    as an arrow at the edge with its score.

    Raises:
        MismatchError: No score is defined.
    """
    scored = _scored(board)
    with drawing(path, look.size(0.55 + _PITCH * len(board.standings)), look.font) as figure:
        axes = figure.subplots()
        low, high = look.limits or robust_limits([of.score for of in scored if of.score is not None], [
            end for of in scored for end in (of.ci_low, of.ci_high) if end is not None])
        pad = 0.03 * (high - low) or 0.5
        axes.set_xlim(low - pad, high + pad)
        labels(axes, board.standings, look)
        for n, (of, cluster) in enumerate(zip(board.standings, board.clusters, strict=True)):
            if cluster is not None and cluster % 2 == 0:
                axes.axhspan(n - 0.5, n + 0.5, color=_BAND, linewidth=0, zorder=0)
            _score(axes, n, of, (low, high), board.decimals, look)
        _beside(axes, board)
        bare = all(of.ci_low is None for of in board.standings)
        level = "" if bare else f", {100 * board.comparison.confidence:g} % intervals"
        beyond = any(of.score is not None and not low <= of.score <= high for of in scored)
        axis_label(axes, look, named(board.metric_label) + level + (", arrows: off scale" if beyond else ""))
        axes.spines["left"].set_visible(False)


def _score(axes: Axes, n: int, of: Standing, limits: tuple[float, float], decimals: int, look: Look) -> None:
    """One system's score in its line, with its interval; beyond the scale an arrow with the score."""
    low, high = limits
    ink, at_left = look.colours[0], axes.get_yaxis_transform()
    fill = ink if of.rank is not None else "white"
    if of.score is None:
        axes.text(0.01, n, "n/a", ha="left", va="center", transform=at_left)
        return
    if not low <= of.score <= high:
        is_below = of.score < low
        edge, side = (0.02, 1) if is_below else (0.98, -1)
        axes.plot(edge, n, "<" if is_below else ">", color=ink, markersize=4, markerfacecolor=fill, markeredgewidth=0.8,
                  clip_on=False, transform=at_left)
        axes.annotate(f"{of.score:.{decimals}f}", (edge, n), (5 * side, 0), xycoords=at_left,
                      textcoords="offset points", ha="left" if is_below else "right", va="center", color=_INK)
        return
    if of.ci_low is not None and of.ci_high is not None:
        axes.plot((of.ci_low, of.ci_high), (n, n), "-", color=ink, linewidth=1, solid_capstyle="butt")
    axes.plot(of.score, n, "o" if of.rank is not None else "D", color=ink, markersize=3.2, markerfacecolor=fill,
              markeredgewidth=0.8)


def _beside(axes: Axes, board: Leaderboard) -> None:
    """At the right who is not told apart: a letter that systems share, or the places that drawn ranks leave open."""
    lettered = shows_letters(board)
    for n, (of, left) in enumerate(zip(board.standings, format_rank_ranges(board), strict=True)):
        beside = of.letters if lettered else left if board.decisions else ""
        if len(beside) <= _BESIDE:
            axes.text(1.02, n, beside, ha="left", va="center", color=_INK, transform=axes.get_yaxis_transform())


def draw_groups(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """The critical-difference diagram: bars join systems of which no two are told apart, as one letter does.

    As in Demsar (2006), but by the ranks on the board and its own tests, which are of one test set and not of many. A
    bar is thin where it passes systems that are not of its group, which with tests of pairs there can be.

    Raises:
        MismatchError: Fewer than two ranked systems have a score, or there are more groups than letters.
    """
    ranked = [of for of in _scored(board) if of.rank is not None]
    if len(ranked) < 2:
        raise MismatchError(f"{board.title}: fewer than two ranked systems have a score")
    if board.decisions and not board.groups:
        raise MismatchError(f"{board.title}: too many groups of systems are not told apart; draw its pairs instead")
    bars, half = _bars(board, len(ranked)), (len(ranked) + 1) // 2
    below = 0.1 + 0.06 * len(bars)
    height = 0.5 + 0.06 * len(bars) + _PITCH * half
    with drawing(path, look.size(height), look.font) as figure:
        axes = figure.subplots()
        room = len(ranked) / 40
        axes.set_xlim(1 - room, len(ranked) + room)
        axes.set_ylim(height - 0.35, 0)
        axes.xaxis.set_ticks_position("top")
        axes.xaxis.set_label_position("top")
        places = range(1, len(ranked) + 1, -(-len(ranked) // 8))
        longest = look.letters(0.27)
        axes.set_xticks(places, [str(ranked[place - 1].rank) for place in places])
        axis_label(axes, look, f"rank by {named(board.metric_label)}")
        axes.set_yticks([])
        axes.spines["top"].set_visible(True)
        axes.spines[["bottom", "left"]].set_visible(False)
        for k, bar in enumerate(bars):
            y = 0.07 + 0.06 * k
            axes.plot((bar[0] + 1, bar[-1] + 1), (y, y), "-", color=look.colours[1], linewidth=0.5, zorder=3)
            for first, last in _stretches(bar):
                axes.plot((first + 1, last + 1), (y, y), "o-", color=look.colours[1], linewidth=2.2, markersize=2.2,
                          markeredgewidth=0, solid_capstyle="round", zorder=3)
        for n, of in enumerate(ranked):
            left = n < half
            y = below + _PITCH * ((n if left else len(ranked) - 1 - n) + 0.5)
            edge = 1 - room if left else len(ranked) + room
            axes.plot((n + 1, n + 1, edge), (0, y, y), "-", color=_INK, linewidth=0.5, clip_on=False)
            name = f"{named(of.display_name, longest)}{'*' if of.late else ''}"
            axes.text(-0.01 if left else 1.01, y, f"{name}  {of.rank}" if left else f"{of.rank}  {name}",
                      ha="right" if left else "left", va="center", transform=axes.get_yaxis_transform())


def draw_ranks(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """How often resamples give each system each place: darker where oftener, with the interval of places framed.

    Raises:
        MismatchError: Nothing was resampled.
    """
    ranked = [of for of in board.standings if of.frequencies]
    if not ranked:
        raise MismatchError(f"{board.title}: ranks of a single system cannot be resampled")
    with drawing(path, look.size(0.85 + _PITCH * len(ranked)), look.font) as figure:
        from matplotlib.colors import PowerNorm
        from matplotlib.patches import Rectangle
        from matplotlib.ticker import MaxNLocator

        axes = figure.subplots()
        n = len(ranked[0].frequencies)
        if len(ranked) < n:  # of the best systems, places that none of them has
            n = max(place for of in ranked for place, share in enumerate(of.frequencies, 1) if share > 0)
        shades = "Greys" if look.palette == "grey" else "Blues"
        image = axes.imshow([of.frequencies[:n] for of in ranked], cmap=shades, norm=PowerNorm(0.5, 0, 1),
                            aspect="auto", extent=(0.5, n + 0.5, len(ranked) - 0.5, -0.5), interpolation="none",
                            interpolation_stage="rgba")  # few cells are coloured, not each of many pixels
        labels(axes, ranked, look)
        for k, of in enumerate(ranked):
            if of.bootstrap_low is not None and of.bootstrap_high is not None:
                axes.add_patch(Rectangle(
                    (of.bootstrap_low - 0.5, k - 0.42), of.bootstrap_high - of.bootstrap_low + 1, 0.84, fill=False,
                    linewidth=0.7, edgecolor="black"))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        level = 100 * board.comparison.confidence
        axis_label(axes, look, f"rank by {named(board.metric_label)}; frames: {level:g} % of resamples")
        axes.spines["left"].set_visible(False)
        bar = figure.colorbar(image, ax=axes, location="bottom", fraction=0.03, pad=0.01, aspect=40,
                              ticks=[0, 0.05, 0.25, 0.5, 1], format=lambda share, _: f"{100 * share:g} %")
        bar.outline.set_visible(False)


def _scored(board: Leaderboard) -> list[Standing]:
    scored = [of for of in board.standings if of.score is not None]
    if not scored:
        raise MismatchError(f"{board.title}: no score is defined")
    return scored


def labels(axes: Axes, standings: Sequence[Standing], look: Look) -> None:
    """Name systems at the left, one below the other from 0."""
    longest, digit = look.letters(0.4), 4.6 * look.scale
    for n, of in enumerate(standings):
        place = "-" if of.rank is None else str(of.rank)
        name = named(of.display_name, longest) + ("*" if of.late else "")
        for written, left in ((place, 2), (name, 5 + digit * len(str(len(standings))))):
            axes.annotate(written, (0, n), (-left, 0), xycoords=("axes fraction", "data"), ha="right", va="center",
                          textcoords="offset points", annotation_clip=False)
    axes.set_yticks([])
    axes.set_ylim(len(standings) - 0.4, -0.6)


def axis_label(axes: Axes, look: Look, text: str) -> None:
    """Say what the scale below is, in as many lines as the figure's width needs, flush with its right end."""
    chosen = text if look.label is None else named(look.label, 500)
    axes.set_xlabel("\n".join(wrap(chosen, look.letters(0.95))), loc="right", multialignment="right")


def _bars(board: Leaderboard, n: int) -> list[tuple[int, ...]]:
    """Groups of the n ranked systems with a score of which no two are told apart, by their places among them."""
    at = {place: k for k, place in enumerate(k for k, of in enumerate(board.standings) if of.rank is not None)}
    found = {tuple(at[place] for place in group if at[place] < n) for group in board.groups}
    return sorted(bar for bar in found if len(bar) > 1 and not any(set(bar) < set(other) for other in found))


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """The stretches of consecutive places, by the first and the last of each."""
    firsts = [n for n in places if n - 1 not in places]
    return list(zip(firsts, (n for n in places if n + 1 not in places), strict=True))


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


_LEAST = 1e-12  # p-values below it are drawn at it
_TICKS = {1.0: "1", 1e-3: "0.001", 1e-6: "1e-6", 1e-9: "1e-9", _LEAST: "≤ 1e-12"}
# Inches: the width of a page; space next to, of and below the systems of a matrix.
_PAGE, _NAMES, _MATRIX_PITCH, _BELOW = 6.3, 1.7, 0.12, 0.9
_LABELLED = 30  # systems that have room for a label each
_ONE_DIGIT = 9  # systems whose numbers have room beside each other
_WRITTEN = 12  # systems up to which a claim's number has room to be written
_GREY = "#777777"


def draw_correlation(figure: Figure, result: StudyResult) -> None:
    """Every pair's p-value under independence against that of the paired test; what is missed is filled."""
    _against(figure, result, ("p_adjusted", "p, paired"), ("p_independent", "p, as if independent"),
             lambda row: "missed" if row["missed"] else "same decision")


def draw_dependence(figure: Figure, result: StudyResult) -> None:
    """Every pair's p-value by cluster against that by item; where the decision changes it is filled."""
    _against(figure, result, ("p_items", "p, by item"), ("p_clusters", "p, by cluster"),
             lambda row: row["changes"] or "same decision")


def _against(figure: Figure, result: StudyResult, x: tuple[str, str], y: tuple[str, str],
             decision: Callable[[Row], str]) -> None:
    axes = figure.subplots()
    known = [row for row in result.finding.tables["pairs"] if row[x[0]] is not None and row[y[0]] is not None]
    for k, group in enumerate(("same decision", "missed", "lost", "gained")):
        chosen = [row for row in known if decision(row) == group]
        if chosen:
            colour = COLOURS[k % len(COLOURS)]
            axes.plot([max(row[x[0]], _LEAST) for row in chosen], [max(row[y[0]], _LEAST) for row in chosen],
                      "^" if k else "o", color=colour, markersize=3.4 if k else 2.8, markeredgewidth=0.6,
                      markerfacecolor=colour if k else "none", linestyle="none", label=group, clip_on=False)
    axes.plot([_LEAST, 1], [_LEAST, 1], color=_GREY, linewidth=0.6, linestyle=":")
    axes.set(xscale="log", yscale="log", xlim=(_LEAST, 1), ylim=(_LEAST, 1), xlabel=x[1], ylabel=y[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(list(_TICKS), list(_TICKS.values()))
        axis.set_ticks((), minor=True)
    axes.legend(loc="lower right", handletextpad=0.2)


def claims_size(result: StudyResult) -> tuple[float, float]:
    """The inches that claims about so many systems take: those of a column, or up to those of a page."""
    systems = len({row[side] for row in result.finding.tables["pairs"] for side in ("better", "than")})
    width = min(_PAGE, max(COLUMN, _NAMES + _MATRIX_PITCH * systems))
    return width, width - _NAMES + _BELOW


def draw_replicability(figure: Figure, result: StudyResult) -> None:
    """On how many test sets each system is better than each other one, at least, by Bonferroni's combination."""
    rows = result.finding.tables["pairs"]
    axes = figure.subplots()
    names = list(dict.fromkeys(row[side] for side in ("better", "than") for row in rows))
    place = {name: n for n, name in enumerate(names)}
    most = max((row["test_sets"] for row in rows), default=1)
    cells = [[float("nan")] * len(names) for _ in names]
    for row in rows:
        cells[place[row["better"]]][place[row["than"]]] = row["k_bonferroni"]
    image = axes.imshow(cells, cmap="Blues", vmin=0, vmax=most)
    if len(names) <= _WRITTEN:
        for row in rows:
            axes.annotate(f"{row['k_bonferroni']}", (place[row["than"]], place[row["better"]]), ha="center",
                          va="center", color="white" if row["k_bonferroni"] > most / 2 else "black")
    every = 1 + len(names) // _LABELLED
    ticks = range(0, len(names), every)
    numbered = ticks[::2] if len(names) > _ONE_DIGIT else ticks
    axes.set_xticks(numbered, [str(n + 1) for n in numbered])
    axes.set_yticks(ticks, [f"{named(names[n])}  {n + 1}" for n in ticks])
    axes.set_xlabel("better than system")
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, orientation="horizontal", aspect=30, panchor=(1.0, 1.0),
                          ticks=range(0, most + 1, 1 + most // 8))  # beside the square is room for the names
    bar.set_label(f"on at least so many of {most} test sets")
    bar.outline.set_visible(False)
