"""Leaderboards as figures of a paper's column: scores with intervals, who is told apart, and resampled ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from registry.errors import MismatchError
from registry.leaderboards.leaderboard import Leaderboard, Standing
from registry.reports.boards import rank_ranges
from registry.reports.columns import shows_letters
from registry.reports.figures.look import USUAL, Look
from registry.reports.figures.scale import robust_limits
from registry.reports.figures.style import drawing, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    for n, (of, left) in enumerate(zip(board.standings, rank_ranges(board), strict=True)):
        beside = of.letters if lettered else left if board.decisions else ""
        if len(beside) <= _BESIDE:
            axes.text(1.02, n, beside, ha="left", va="center", color=_INK, transform=axes.get_yaxis_transform())


def draw_alike(board: Leaderboard, path: Path, look: Look = USUAL) -> None:
    """The critical-difference diagram: bars join systems of which no two are told apart, as one letter does.

    As in Demsar (2006), but by the ranks on the board and its own tests, which are of one test set and not of many. A
    bar is thin where it passes systems that are not of its group, which with tests of pairs there can be.

    Raises:
        MismatchError: Fewer than two ranked systems have a score, or there are more groups than letters.
    """
    ranked = [of for of in _scored(board) if of.rank is not None]
    if len(ranked) < 2:
        raise MismatchError(f"{board.title}: fewer than two ranked systems have a score")
    if board.decisions and not board.alike:
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
            name = f"{named(of.shown, longest)}{'*' if of.late else ''}"
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
            if of.frequent_low is not None and of.frequent_high is not None:
                axes.add_patch(Rectangle(
                    (of.frequent_low - 0.5, k - 0.42), of.frequent_high - of.frequent_low + 1, 0.84, fill=False,
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
        place, name = "-" if of.rank is None else str(of.rank), named(of.shown, longest) + ("*" if of.late else "")
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
    found = {tuple(at[place] for place in group if at[place] < n) for group in board.alike}
    return sorted(bar for bar in found if len(bar) > 1 and not any(set(bar) < set(other) for other in found))


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """The stretches of consecutive places, by the first and the last of each."""
    firsts = [n for n in places if n - 1 not in places]
    return list(zip(firsts, (n for n in places if n + 1 not in places), strict=True))
