"""The result of a leaderboard in one sentence: which systems are best, and is that significant?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from registry.boards.leaderboard import Leaderboard
from registry.errors import counted
from registry.rendering.table import format_p_value, make_number_format
from registry.reports.columns import format_interval
from registry.significance import CORRECTIONS

_MOST_NAMES = 3  # systems in a list of names


@dataclass(frozen=True)
class Lead:
    """The systems of rank 1 on a leaderboard, compared with the other ranked systems.

    Attributes:
        best: The places of the systems of rank 1, from 0.
        beaten: The places of the other ranked systems that are significantly worse than all of `best`.
        rivals: The places of all other ranked systems.
    """

    best: tuple[int, ...]
    beaten: tuple[int, ...]
    rivals: tuple[int, ...]

    @property
    def n_others(self) -> int:
        """The number of ranked systems besides the best ones."""
        return len(self.beaten) + len(self.rivals)


def find_lead(board: Leaderboard) -> Lead:
    """Return the best systems of a leaderboard; there are none if no ranked system has a score."""
    ranked = [n for n, standing in enumerate(board.standings) if standing.rank is not None]
    best = tuple(n for n in ranked if board.standings[n].rank == 1 and board.standings[n].score is not None)
    beaten = set(ranked).intersection(*(board.beaten_places[n] for n in best)) if best else set[int]()
    others = [n for n in ranked if n not in best]
    return Lead(best, tuple(n for n in others if n in beaten), tuple(n for n in others if n not in beaten))


def describe_result(board: Leaderboard) -> str:
    """Return the result of a leaderboard as a sentence.

    Of two systems, it has the difference, the confidence interval and the p-value. Of more, it names the best systems
    and those that are not significantly worse.
    """
    lead = find_lead(board)
    if not lead.best:
        return "No ranked system has a score."
    names = [standing.display_name for standing in board.standings]
    is_pair = len(names) == len(lead.best) + lead.n_others == 2 and len(board.decisions) == 1
    result = _describe_pair(board, names) if is_pair else _describe_best(board, lead, names)
    higher = [n for n in range(lead.best[0]) if board.standings[n].score is not None]
    unranked = f" {list_names([names[n] for n in higher])} scored better, but without a rank." if higher else ""
    return f"{result}.{unranked}"


def describe_lead(lead: Lead) -> str:
    """Return in a few words how many systems the best ones beat significantly, such as `3 of 7`."""
    if not lead.best or not lead.n_others:
        return "–"
    if not lead.rivals:
        return f"all {lead.n_others}" if lead.n_others > 1 else "the other one"
    return f"{len(lead.beaten) or 'none'} of {lead.n_others}"


def list_names(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Return names in words, with the number of names beyond `most`.

    >>> [list_names(names, 2) for names in (["a"], ["a", "b"], ["a", "b", "c"])]
    ['a', 'a and b', 'a, b and 1 more']
    """
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _describe_pair(board: Leaderboard, names: Sequence[str]) -> str:
    (pair,), format_number = board.decisions, make_number_format(board.decimals)
    a, b = names[pair.a], names[pair.b]
    verdict = f"{a} is significantly better than {b}" if pair.significant else (
        f"{a} and {b} do not differ significantly")
    interval = format_interval(pair.row["ci_low"], pair.row["ci_high"], board.decimals)
    parts = [f"difference in {board.metric_label} {format_number(pair.difference)}"]
    if interval:
        parts.append(f"{100 * board.comparison.confidence:g} % CI {interval}")
    is_corrected = board.comparison.correction != "none" and board.comparison.family_size > 1
    p_value = pair.p_adjusted if is_corrected else pair.p_value
    p_text = format_p_value(p_value)
    equals = " is undefined" if p_value is None else f" {p_text}" if p_text[0] in "<>" else f" = {p_text}"
    parts.append(f"{'adjusted ' * is_corrected}p{equals}")
    return f"{verdict}: {', '.join(parts)}"


def _describe_best(board: Leaderboard, lead: Lead, names: Sequence[str]) -> str:
    best, n_best, n_others = list_names([names[n] for n in lead.best]), len(lead.best), lead.n_others
    score = make_number_format(board.decimals)(board.standings[lead.best[0]].score)
    if n_best + n_others == 1:
        return f"{best} is the only {'ranked ' * (len(names) > 1)}system, with {board.metric_label} {score}"
    all_share = f"All {n_best} ranked systems" if n_best > _MOST_NAMES and not n_others else best
    start = (f"{all_share} {'has' if n_best == 1 else 'share'} the {'lowest' if board.better == 'lower' else 'best'} "
             f"{board.metric_label} ({score})")
    if not board.decisions:
        return f"{start}; differences are not tested"
    if not board.decisions.significant.any():
        return f"{start}, but no two of the {len(names)} systems differ significantly{_describe_level(board)}"
    if not n_others:
        return start
    better = f"{'is' if n_best == 1 else 'are'} significantly better than"
    others = counted(n_others, "other ranked system" if len(names) > n_best + n_others else "other system")
    if not lead.beaten:
        return f"{start}, but {better} none of the {others}{_describe_level(board)}"
    if not lead.rivals:
        which = f"the {others.removeprefix('1 ')}" if n_others == 1 else f"all {others}"
        return f"{start} and {better} {which}{_describe_level(board)}"
    rivals = list_names([names[n] for n in lead.rivals])
    return f"{start} and {better} {len(lead.beaten)} of {others}, but not than {rivals}{_describe_level(board)}"


def _describe_level(board: Leaderboard) -> str:
    """Return the level and the correction in words."""
    comparison = board.comparison
    correction = CORRECTIONS[comparison.correction]
    level = f"{100 * comparison.alpha:g} %"
    if comparison.correction == "none":
        return f" (at {level}, p-values not corrected)"
    kind = "false discovery rate" if correction.controls == "false discovery rate" else "level"
    return f" ({kind} {level}, {correction.title})" if comparison.family_size > 1 else f" (level {level})"
