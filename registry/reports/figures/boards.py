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
from registry.reports.figures.drawing import (
    COLOURS,
    COLUMN,
    LONGEST_NAME,
    USUAL,
    Look,
    drawing,
    format_name,
    shorten_names,
)
from registry.studies.run import StudyResult
from registry.studies.study import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SEVERAL = 5  # with fewer values, no value counts as an outlier
_REACH = 1.5  # interquartile ranges beyond the quartiles: Tukey's fences


def robust_limits(values: Sequence[float], ends: Iterable[float] = (), always: Iterable[float] = ()
                  ) -> tuple[float, float]:
    """Return the limits of an axis that does not become too long because of outliers.

    Outliers are numbers beyond Tukey's fences. They are left out only if the axis would otherwise be more than 1.5
    times as long, and not if there are fewer than five values.

    Args:
        values: The values to draw.
        ends: The ends of the values' confidence intervals.
        always: Numbers that the axis must include.

    >>> robust_limits([0.80, 0.81, 0.82, 0.83, 0.84, 0.1]), robust_limits([0.1, 0.8])
    ((0.8, 0.84), (0.1, 0.8))
    """
    shown = np.array([*values, *ends], dtype=float)
    required = list(always)
    whole = float(min(shown.min(), *required, np.inf)), float(max(shown.max(), *required, -np.inf))
    lower, upper = np.quantile(shown, [0.25, 0.75])
    if len(values) < _SEVERAL or lower == upper:
        return whole
    reach = _REACH * (upper - lower)
    inliers = shown[(shown >= lower - reach) & (shown <= upper + reach)]
    inner = float(min(inliers.min(), *required, np.inf)), float(max(inliers.max(), *required, -np.inf))
    return inner if whole[1] - whole[0] > 1.5 * (inner[1] - inner[0]) else whole


_MOST = 200  # lines that fit on a page


def compute_lines_size(result: StudyResult) -> tuple[float, float]:
    """Return the size in inches of a figure with one line per pair or system."""
    return COLUMN, 0.55 + 0.135 * min(len(_get_rows(result)), _MOST)


def draw_effects(figure: Figure, result: StudyResult) -> None:
    """Draw a forest plot: the score difference of each pair with its interval."""
    axes, rows = figure.subplots(), _get_rows(result)
    names = [f"{format_name(row['system_a'], 15)} - {format_name(row['system_b'], 15)}" for row in rows]
    _draw_lines(axes, rows, names, "low", "high")
    axes.plot([row["value"] for row in rows], range(len(rows)), "o", color=COLOURS[0], markersize=3.2)
    axes.axvline(0, color="#777777", linewidth=0.6, linestyle=":")
    axes.set_xlabel(f"difference in {format_name(rows[0]['metric'])}")


def draw_best(figure: Figure, result: StudyResult) -> None:
    """Draw the rank range of each system as a horizontal line.

    The ends of the line are filled if the system may be the best.

    Args:
        figure: An empty figure.
        result: The result of the study `best`.
    """
    from matplotlib.ticker import MaxNLocator

    axes, rows = figure.subplots(), _get_rows(result)
    _draw_lines(axes, rows, [format_name(row["system"]) for row in rows], "rank_low", "rank_high")
    for n, row in enumerate(rows):
        axes.plot((row["rank_low"], row["rank_high"]), (n, n), "o", color=COLOURS[0], markersize=3.2,
                  markerfacecolor=COLOURS[0] if row["may_be_best"] else "white", markeredgewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(f"rank by {format_name(rows[0]['metric'])}")


def _get_rows(result: StudyResult) -> list[Row]:
    (name, *_) = result.finding.tables
    return [row for row in result.finding.tables[name] if row.get("effect", "difference") == "difference"]


def _draw_lines(axes: Axes, rows: Sequence[Row], names: Sequence[str], low: str, high: str) -> None:
    """Draw a horizontal line for each row, from `row[low]` to `row[high]`.

    The name of the row is at the left. If an end is None, there is only the name.

    Raises:
        InputError: There are too many rows for a page.
    """
    if len(rows) > _MOST:
        raise InputError(f"the figure shows at most {_MOST} lines, but the result has {len(rows)}; leave out --plot")
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
_MANY_LETTERS = 40  # in the width of a figure; with fewer, the scale of shares has few ticks
_LONGEST_METRIC = 80  # characters; the label of an axis can have several lines
_BESIDE = 12  # letters that fit to the right of a system


def draw_scores(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """Draw the scores of all systems with confidence intervals, best system on top.

    Grey bands separate the clusters. At the right are the letters of the compact letter display, or the rank ranges if
    there are no letters. Systems without a rank have a hollow point. An outlier is an arrow at the edge with its score.

    Args:
        board: The leaderboard.
        path: The file to write.
        look: The size and the style of the figure.

    Raises:
        MismatchError: No score is defined.
    """
    scored = _select_scored(board)
    with drawing(path, look.size(0.55 + _PITCH * len(board.standings)), look.font, look.dpi) as figure:
        axes = figure.subplots()
        low, high = look.limits or robust_limits(
            [standing.score for standing in scored if standing.score is not None],
            [end for standing in scored for end in (standing.ci_low, standing.ci_high) if end is not None])
        pad = 0.03 * (high - low) or 0.5
        axes.set_xlim(low - pad, high + pad)
        write_names(axes, board.standings, look)
        for n, (standing, cluster) in enumerate(zip(board.standings, board.clusters, strict=True)):
            if cluster is not None and cluster % 2 == 0:
                axes.axhspan(n - 0.5, n + 0.5, color=_BAND, linewidth=0, zorder=0)
            _draw_score(axes, n, standing, (low, high), board.decimals, look)
        _write_letters(axes, board)
        has_no_intervals = all(standing.ci_low is None for standing in board.standings)
        level = "" if has_no_intervals else f", {100 * board.comparison.confidence:g} % intervals"
        outside = any(standing.score is not None and not low <= standing.score <= high for standing in scored)
        set_axis_label(axes, look, _format_metric(board) + level + (", arrows: off scale" if outside else ""))
        axes.spines["left"].set_visible(False)


def _draw_score(axes: Axes, n: int, standing: Standing, limits: tuple[float, float], decimals: int, look: Look) -> None:
    """Draw the score of one system as a point with its confidence interval.

    A score outside the axis is an arrow at the edge, and an undefined score is the text `n/a`.

    Args:
        axes: The axes to draw into.
        n: The line of the system, from 0 at the top.
        standing: The system's entry on the leaderboard.
        limits: The ends of the axis.
        decimals: The number of decimals of a score at an arrow.
        look: The style of the figure.
    """
    low, high = limits
    ink, at_left = look.colours[0], axes.get_yaxis_transform()
    fill = ink if standing.rank is not None else "white"
    if standing.score is None:
        axes.text(0.01, n, "n/a", ha="left", va="center", transform=at_left)
        return
    if not low <= standing.score <= high:
        is_below = standing.score < low
        edge, side = (0.02, 1) if is_below else (0.98, -1)
        axes.plot(edge, n, "<" if is_below else ">", color=ink, markersize=4, markerfacecolor=fill, markeredgewidth=0.8,
                  clip_on=False, transform=at_left)
        axes.annotate(f"{standing.score:.{decimals}f}", (edge, n), (5 * side, 0), xycoords=at_left,
                      textcoords="offset points", ha="left" if is_below else "right", va="center", color=_INK)
        return
    if standing.ci_low is not None and standing.ci_high is not None:
        axes.plot((standing.ci_low, standing.ci_high), (n, n), "-", color=ink, linewidth=1, solid_capstyle="butt")
    axes.plot(standing.score, n, "o" if standing.rank is not None else "D", color=ink, markersize=3.2,
              markerfacecolor=fill, markeredgewidth=0.8)


def _write_letters(axes: Axes, board: Leaderboard) -> None:
    """Write the group letters of each system at the right of the figure.

    Systems that share a letter do not differ significantly. If the board has no letters, write the rank ranges, unless
    every range is a single rank.
    """
    has_letters = shows_letters(board)
    if not has_letters and all(low == high for low, high in filter(None, board.rank_ranges)):
        return
    for n, (standing, rank_range) in enumerate(zip(board.standings, format_rank_ranges(board), strict=True)):
        text = standing.letters if has_letters else rank_range if board.decisions else ""
        if len(text) <= _BESIDE:
            axes.text(1.02, n, text, ha="left", va="center", color=_INK, transform=axes.get_yaxis_transform())


def draw_groups(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """Draw a critical-difference diagram: bars join systems that do not differ.

    Systems joined by a bar do not differ significantly. Demsar (2006) draws mean ranks over many data sets; this
    diagram has the ranks and tests of one leaderboard. A bar is thin where it passes a system that does not belong to
    its group.

    Args:
        board: The leaderboard.
        path: The file to write.
        look: The size and the style of the figure.

    Raises:
        MismatchError: Fewer than two ranked systems have a score, or the leaderboard has too many groups.
    """
    ranked = [standing for standing in _select_scored(board) if standing.rank is not None]
    if len(ranked) < 2:
        raise MismatchError(f"{board.title}: fewer than two ranked systems have a score")
    if board.decisions and not board.groups:
        raise MismatchError(f"{board.title}: the systems form too many overlapping groups; draw the figure of "
                            "pairs instead")
    bars, half = _find_bars(board, len(ranked)), (len(ranked) + 1) // 2
    below = 0.1 + 0.06 * len(bars)
    height = 0.5 + 0.06 * len(bars) + _PITCH * half
    with drawing(path, look.size(height), look.font, look.dpi) as figure:
        axes = figure.subplots()
        room = len(ranked) / 40
        axes.set_xlim(1 - room, len(ranked) + room)
        axes.set_ylim(height - 0.35, 0)
        axes.xaxis.set_ticks_position("top")
        axes.xaxis.set_label_position("top")
        places = range(1, len(ranked) + 1, -(-len(ranked) // 8))
        longest = look.letters(0.3)
        axes.set_xticks(places, [str(ranked[place - 1].rank) for place in places])
        set_axis_label(axes, look, f"rank by {_format_metric(board)}")
        axes.set_yticks([])
        axes.spines["top"].set_visible(True)
        axes.spines[["bottom", "left"]].set_visible(False)
        for k, bar in enumerate(bars):
            y = 0.07 + 0.06 * k
            axes.plot((bar[0] + 1, bar[-1] + 1), (y, y), "-", color=look.colours[1], linewidth=0.5, zorder=3)
            for first, last in _find_runs(bar):
                axes.plot((first + 1, last + 1), (y, y), "o-", color=look.colours[1], linewidth=2.2, markersize=2.2,
                          markeredgewidth=0, solid_capstyle="round", zorder=3)
        names = shorten_names([standing.display_name for standing in ranked], longest)
        for n, standing in enumerate(ranked):
            is_left = n < half
            y = below + _PITCH * ((n if is_left else len(ranked) - 1 - n) + 0.5)
            edge = 1 - room if is_left else len(ranked) + room
            axes.plot((n + 1, n + 1, edge), (0, y, y), "-", color=_INK, linewidth=0.5, clip_on=False)
            name = format_name(names[n], longest) + "*" * standing.late
            axes.text(-0.01 if is_left else 1.01, y,
                      f"{name}  {standing.rank}" if is_left else f"{standing.rank}  {name}",
                      ha="right" if is_left else "left", va="center", transform=axes.get_yaxis_transform())


def draw_ranks(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """Draw a matrix that shows how often each system has each rank in resamples.

    A cell is darker if the rank is more frequent. A frame shows the rank range of each system.

    Args:
        board: The leaderboard, with resampled ranks.
        path: The file to write.
        look: The size and the style of the figure.

    Raises:
        MismatchError: No system has resampled ranks.
    """
    ranked = [standing for standing in board.standings if standing.frequencies]
    if not ranked:
        raise MismatchError(f"{board.title}: ranks of a single system cannot be resampled")
    with drawing(path, look.size(0.95 + _PITCH * len(ranked)), look.font, look.dpi) as figure:
        from matplotlib.colors import PowerNorm
        from matplotlib.patches import Rectangle
        from matplotlib.ticker import MaxNLocator

        axes, scale = figure.subplots(2, 1, height_ratios=[_PITCH * len(ranked), 0.05])
        n = len(ranked[0].frequencies)
        if len(ranked) < n:  # only the best systems are drawn: leave out ranks that they never have
            n = max(place for standing in ranked for place, share in enumerate(standing.frequencies, 1) if share > 0)
        shades = "Greys" if look.palette == "grey" else "Blues"
        image = axes.imshow([standing.frequencies[:n] for standing in ranked], cmap=shades, norm=PowerNorm(0.5, 0, 1),
                            aspect="auto", extent=(0.5, n + 0.5, len(ranked) - 0.5, -0.5), interpolation="none",
                            interpolation_stage="rgba")  # colours each cell once, not each pixel
        write_names(axes, ranked, look)
        for k, standing in enumerate(ranked):
            if standing.bootstrap_low is not None and standing.bootstrap_high is not None:
                axes.add_patch(Rectangle(
                    (standing.bootstrap_low - 0.5, k - 0.42), standing.bootstrap_high - standing.bootstrap_low + 1,
                    0.84, fill=False, linewidth=0.7, edgecolor="black"))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        level = 100 * board.comparison.confidence
        set_axis_label(axes, look, f"rank by {_format_metric(board)}; frames: {level:g} % of resamples")
        axes.spines["left"].set_visible(False)
        bar = figure.colorbar(image, cax=scale, orientation="horizontal", format=lambda share, _: f"{100 * share:g} %",
                              ticks=[0, 0.05, 0.25, 0.5, 1] if look.letters() > _MANY_LETTERS else [0, 0.25, 1])
        bar.set_label("share of resamples")
        bar.outline.set_visible(False)


def _format_metric(board: Leaderboard) -> str:
    return format_name(board.metric_label, _LONGEST_METRIC)


def _select_scored(board: Leaderboard) -> list[Standing]:
    scored = [standing for standing in board.standings if standing.score is not None]
    if not scored:
        raise MismatchError(f"{board.title}: no score is defined")
    return scored


def write_names(axes: Axes, standings: Sequence[Standing], look: Look) -> None:
    """Write the rank and the name of each system at the left of a figure."""
    longest, digit = look.letters(0.4), 4.6 * look.scale
    names = shorten_names([standing.display_name for standing in standings], longest)
    for n, standing in enumerate(standings):
        place = "-" if standing.rank is None else str(standing.rank)
        name = format_name(names[n], longest) + "*" * standing.late
        for text, left in ((place, 2), (name, 5 + digit * len(str(len(standings))))):
            axes.annotate(text, (0, n), (-left, 0), xycoords=("axes fraction", "data"), ha="right", va="center",
                          textcoords="offset points", annotation_clip=False)
    axes.set_yticks([])
    axes.set_ylim(len(standings) - 0.4, -0.6)


def set_axis_label(axes: Axes, look: Look, text: str) -> None:
    """Label the horizontal axis with `text`, or with the label that the user chose.

    Long labels have line breaks.
    """
    chosen = text if look.label is None else format_name(look.label, 500)
    axes.set_xlabel("\n".join(wrap(chosen, look.letters(0.95))), loc="right", multialignment="right")


def _find_bars(board: Leaderboard, n: int) -> list[tuple[int, ...]]:
    """Find the bars of a critical-difference diagram.

    A bar is a group of systems that do not differ significantly.

    Args:
        board: The leaderboard.
        n: The number of ranked systems with a score; other systems are left out.

    Returns:
        For each bar, the positions of its systems among the ranked systems, from 0. No bar is part of another.
    """
    ranked = [place for place, standing in enumerate(board.standings) if standing.rank is not None]
    numbers = {place: k for k, place in enumerate(ranked)}
    groups = {tuple(numbers[place] for place in group if numbers[place] < n) for group in board.groups}
    return sorted(bar for bar in groups if len(bar) > 1 and not any(set(bar) < set(other) for other in groups))


def _find_runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last number of each run of consecutive numbers.

    Example: [0, 1, 2, 5] -> [(0, 2), (5, 5)].
    """
    firsts = [n for n in places if n - 1 not in places]
    return list(zip(firsts, (n for n in places if n + 1 not in places), strict=True))


# From the most to the least significant, and from dark to light, so that a grey print shows the levels too.
_LEVELS = (0.001, 0.01, 1.0)
_SHADES = {"okabe-ito": ("#08306B", "#2171B5", "#9ECAE1"), "grey": ("#000000", "#6A6A6A", "#BDBDBD")}
_DOT: dict[str, Any] = {"marker": "o", "linestyle": "none", "markeredgewidth": 0}


def draw_pairs(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """Draw the test decisions of all pairs of systems as a triangular matrix.

    A significant pair is a filled square, which is darker if the adjusted p-value is smaller. Other pairs are rings. A
    dot marks pairs of systems of the same team.

    Args:
        board: The leaderboard.
        path: The file to write.
        look: The size and the style of the figure.

    Raises:
        MismatchError: There is no pair.
    """
    _require_pairs(board)
    n = len(board.standings)
    with drawing(path, look.size(0.6 + 0.135 * max(3, n)), look.font, look.dpi) as figure:
        axes = figure.subplots()
        size = min(6.0, 30 * look.width / n)  # points
        named_columns = range(0, n, -(-n // int(5 * look.width / look.scale)))
        for level, pairs in _group_by_level(board.decisions, board.comparison.alpha).items():
            a, b = [d.a for d in pairs], [d.b for d in pairs]
            if level is None:
                axes.plot(b, a, "o", markersize=size / 2.4, markerfacecolor="none", markeredgecolor="#777777",
                          markeredgewidth=0.5)
            else:
                axes.plot(b, a, "s", markersize=size, color=_SHADES[look.palette][level], markeredgewidth=0)
        if same := [d for d in board.decisions if d.row["same_team"]]:
            axes.plot([d.b for d in same], [d.a for d in same], color=look.colours[4], markersize=size / 3.5, **_DOT)
        write_names(axes, board.standings, look)
        axes.set_xlim(-0.6, n - 0.4)
        axes.xaxis.set_ticks_position("top")
        axes.set_xticks(named_columns, ["-" if board.standings[k].rank is None else str(board.standings[k].rank)
                                        for k in named_columns], rotation=90 if n > 10 else 0)
        axes.tick_params(length=0, pad=1)
        axes.spines[:].set_visible(False)
        _add_levels_legend(figure, board, look)


def draw_gains(board: Leaderboard, path: Path, by: str, values: Mapping[str, str], look: Look = USUAL) -> None:
    """Draw the confidence 1 - p of each pair of systems against the score difference.

    The figure follows Berg-Kirkpatrick et al. (2012, figures 2 to 4). A pair is a triangle if both systems have the
    same value of an attribute, otherwise a circle. The mark is filled if the difference is significant. Outliers are at
    the right edge.

    Args:
        board: The leaderboard.
        path: The file to write.
        by: The name of the attribute, such as `team`.
        values: The value of the attribute for each submission, by the name `team/system@version`.
        look: The size and the style of the figure.

    Raises:
        MismatchError: There is no pair.
    """
    _require_pairs(board)
    points: dict[tuple[bool, bool], list[tuple[float, float]]] = {}
    for decision in board.decisions:
        a, b = (values.get(board.standings[n].submission) for n in (decision.a, decision.b))
        if decision.difference is not None and decision.p_value is not None:
            points.setdefault((a is not None and a == b, decision.significant), []).append(
                (abs(decision.difference), 1 - decision.p_value))
    gains = [gain for drawn in points.values() for gain, _ in drawn]
    low, high = look.limits or (0.0, robust_limits(gains, always=[0.0])[1] if gains else 1.0)
    with drawing(path, look.size(2.3, least=False), look.font, look.dpi) as figure:
        axes = figure.subplots()
        axes.set_xlim(low, low + 1.04 * (high - low) if high > low else 1.0)
        _draw_points(axes, points, by, high, look)
        level = 1 - board.comparison.alpha
        axes.axhline(level, color="#777777", linewidth=0.6, linestyle="--")
        axes.annotate(f"{level:g}", (1, level), (2, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                      ha="left", va="center")
        if outside := [gain for gain in gains if gain > high]:
            axes.annotate(f"{counted(len(outside), 'pair')} beyond the scale →, up to "
                          f"{max(outside):.{board.decimals}f}", (1, 1), (0, 3), xycoords="axes fraction",
                          textcoords="offset points", ha="right", va="bottom")
        set_axis_label(axes, look, f"difference in {_format_metric(board)}")
        axes.set_ylabel("1 - p, not corrected")
        axes.set_ylim(-0.03, 1.03)
        axes.legend(loc="lower right", handletextpad=0.2)


def _draw_points(axes: Axes, points: Mapping[tuple[bool, bool], Sequence[tuple[float, float]]], by: str, high: float,
            look: Look) -> None:
    """Draw a point for each pair of systems: confidence 1 - p against difference.

    Args:
        axes: The axes to draw into.
        points: Difference and confidence of each pair. The keys are two flags: both systems have the same value of the
            attribute, and they differ significantly.
        by: The name of the attribute, for the legend.
        high: The largest difference on the axis; larger ones are drawn at the edge.
        look: The size and the style of the figure.
    """
    groups = {True: ("^", look.colours[1], f"same {by}"), False: ("o", look.colours[0], f"different {by}")}
    grouped = any(same for same, _ in points)
    for (same, significant), drawn in sorted(points.items()):
        mark, colour, group = groups[same]
        label = "significant" if significant else "not significant"
        axes.plot([min(gain, 1.04 * high) for gain, _ in drawn], [confidence for _, confidence in drawn], mark,
                  color=colour, markersize=3.4, markeredgewidth=0.6, linestyle="none", clip_on=False,
                  markerfacecolor=colour if significant else "none",
                  label=f"{format_name(group)}, {label}" if grouped else label)


def _require_pairs(board: Leaderboard) -> None:
    if not board.decisions:
        raise MismatchError(f"{board.title}: there is only one system, so there are no pairs to draw")


def _group_by_level(decisions: Decisions, alpha: float) -> dict[int | None, list[PairDecision]]:
    """Group pairs of systems by their level of significance.

    The key of a group is the index in `_LEVELS`, which lists the upper limits of adjusted p-values. It is None for
    pairs without a significant difference.
    """
    levels: dict[int | None, list[PairDecision]] = {}
    for decision in decisions:
        p, level = decision.p_adjusted, None
        if decision.significant and p is not None:
            level = next((n for n, most in enumerate(_LEVELS) if p <= min(most, alpha)), len(_LEVELS) - 1)
        levels.setdefault(level, []).append(decision)
    return levels


def _add_levels_legend(figure: Figure, board: Leaderboard, look: Look) -> None:
    from matplotlib.lines import Line2D

    alpha = board.comparison.alpha
    adjusted = "" if board.comparison.correction == "none" else "adjusted "
    drawn, shades = _group_by_level(board.decisions, alpha), _SHADES[look.palette]
    marks = [Line2D([], [], marker="s", color=shades[n], linestyle="none", markersize=5,
                    label=f"{adjusted}p ≤ {min(most, alpha):g}") for n, most in enumerate(_LEVELS) if n in drawn]
    if None in drawn:
        marks.append(Line2D([], [], marker="o", markerfacecolor="none", markeredgecolor="#777777", linestyle="none",
                            markersize=3.5, markeredgewidth=0.6, label="not significant"))
    if any(decision.row["same_team"] for decision in board.decisions):
        marks.append(Line2D([], [], color=look.colours[4], markersize=2.5, label="same team", **_DOT))
    columns = min(len(marks), max(1, look.letters(0.95) // 22))  # width of an entry in letters
    figure.legend(handles=marks, loc="outside lower center", ncols=columns, handletextpad=0.2, columnspacing=1)


_LEAST = 1e-12  # smaller p-values are drawn at this value
_TICKS = {1.0: "1", 1e-3: "0.001", 1e-6: "1e-6", 1e-9: "1e-9", _LEAST: "≤ 1e-12"}
# Inches: the width of a page; of the names next to a matrix; of a system in the matrix; of the space below.
_PAGE, _NAMES, _MATRIX_PITCH, _BELOW = 6.3, 1.7, 0.12, 0.9
_LABELLED = 30  # with more systems, only some have a label
_ONE_DIGIT = 9  # with more systems, only every second number is written
_WRITTEN = 12  # with more systems, cells have no numbers
_GREY = "#777777"


def draw_correlation(figure: Figure, result: StudyResult) -> None:
    """Draw p-values of tests for independent samples against those of paired tests.

    There is a mark for each pair of systems. The mark is filled if only the paired test is significant.
    """
    _draw_p_values(figure, result, ("p_adjusted", "p, paired"), ("p_independent", "p, as if independent"),
             lambda row: "missed" if row["missed"] else "same decision")


def draw_dependence(figure: Figure, result: StudyResult) -> None:
    """Draw p-values of tests of clusters (such as documents) against tests of items.

    There is a mark for each pair of systems. The mark is filled if the test decision differs.
    """
    _draw_p_values(figure, result, ("p_items", "p, by item"), ("p_clusters", "p, by cluster"),
             lambda row: row["changes"] or "same decision")


def _draw_p_values(figure: Figure, result: StudyResult, x: tuple[str, str], y: tuple[str, str],
             decision: Callable[[Row], str]) -> None:
    axes = figure.subplots()
    rows = [row for row in result.finding.tables["pairs"] if row[x[0]] is not None and row[y[0]] is not None]
    for k, group in enumerate(("same decision", "missed", "lost", "gained")):
        chosen = [row for row in rows if decision(row) == group]
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


def compute_matrix_size(result: StudyResult) -> tuple[float, float]:
    """Return the width and height in inches of the matrix of `draw_replicability`.

    The width grows with the number of systems, from one column up to the width of a page.
    """
    systems = len({row[side] for row in result.finding.tables["pairs"] for side in ("better", "than")})
    width = min(_PAGE, max(COLUMN, _NAMES + _MATRIX_PITCH * systems))
    return width, width - _NAMES + _BELOW


def draw_replicability(figure: Figure, result: StudyResult) -> None:
    """Draw a matrix: on how many test sets each system beats each other system.

    The numbers are lower bounds, which combine p-values by Bonferroni's method.
    """
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
    short = shorten_names(names, LONGEST_NAME)
    numbered = ticks[::2] if len(names) > _ONE_DIGIT else ticks
    axes.set_xticks(numbered, [str(n + 1) for n in numbered])
    axes.set_yticks(ticks, [f"{format_name(short[n])}  {n + 1}" for n in ticks])
    axes.set_xlabel("better than system")
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, orientation="horizontal", aspect=30, panchor=(1.0, 1.0),
                          ticks=range(0, most + 1, 1 + most // 8))  # leaves space for the names next to the square
    bar.set_label(f"on at least so many of {most} test sets")
    bar.outline.set_visible(False)
