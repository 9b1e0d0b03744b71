"""The result of a leaderboard in one sentence, which readers see first.

For two systems it has the difference, its confidence interval and the p-value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from registry.boards.leaderboard import Leaderboard, PairDecision
from registry.errors import counted
from registry.rendering.table import format_interval, format_p_value, make_number_format
from registry.significance import CORRECTIONS

_MOST_NAMES = 4  # in a sentence


def describe_result(board: Leaderboard) -> str:
    """Return the result of a leaderboard in one sentence.

    A system may be the first if no other system is significantly better, or if its rank range begins with 1 and comes
    from a test of ranks. The sentence is empty if no two ranked systems are compared.
    """
    ranked = [place for place, standing in enumerate(board.standings) if standing.rank is not None]
    if len(board.standings) == 2 and len(board.decisions) == 1:
        return _describe_pair(board, board.decisions[0])
    if len(ranked) < 2 or not board.decisions:
        return ""
    significant = board.decisions.select(board.decisions.significant & np.isin(board.decisions.a, ranked)
                                         & np.isin(board.decisions.b, ranked))
    systems = f"{len(ranked):,} {'' if len(ranked) == len(board.standings) else 'ranked '}systems"
    has_own_test = board.ranks in ("simultaneous", "bootstrap")
    beaten = set(significant.b.tolist()) if not has_own_test else {
        place for place in ranked if (board.rank_ranges[place] or (1, 1))[0] > 1}
    first = [board.standings[place].display_name for place in ranked if place not in beaten]
    ranks = {place: board.standings[place].rank or 0 for place in ranked}
    equal = [board.standings[place].display_name for place in ranked if ranks[place] == min(ranks.values())]
    score = "best score of the ranked systems" if board.has_unranked_best else "best score"
    if len(equal) == 1:
        best = f"{equal[0]} has the {score}"
    else:
        named = _join_names(equal) if len(equal) <= _MOST_NAMES else f"{len(equal):,} systems"
        best = f"{named} have the same, {score}"
    if not len(significant) and not has_own_test:
        return f"No two of the {systems} differ significantly; {best}."
    if len(first) > 1:
        named = _join_names(first) if len(first) <= _MOST_NAMES else f"{len(first):,}"
        return f"No single winner: {named} of the {systems} may be first; {best}."
    if has_own_test:
        return f"Only {first[0]} of the {systems} may be first."
    if np.count_nonzero(significant.a == ranked[0]) == len(ranked) - 1:
        return f"{first[0]} is significantly better than all other {systems.partition(' ')[2]}."
    return f"{first[0]} is the only one of the {systems} that no other system beats significantly."


def _join_names(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _describe_pair(board: Leaderboard, decision: PairDecision) -> str:
    a, b = (board.standings[place].display_name for place in (decision.a, decision.b))
    numbers = format_pair_numbers(board, decision)
    if decision.p_value is None or decision.difference is None:
        return f"{a} and {b} are not tested{f' ({numbers})' if numbers else ''}."
    if decision.difference == 0:
        return f"{a} and {b} have the same score: {numbers}."
    if decision.significant:
        return f"{a} is significantly better than {b}: {numbers}."
    return f"{a} is not significantly better than {b}: {numbers}."


def format_pair_numbers(board: Leaderboard, decision: PairDecision) -> str:
    """Return the difference, its confidence interval and the p-value in words.

    The text is empty if the difference of the two systems is undefined.
    """
    row, comparison = decision.row, board.comparison
    if decision.difference is None:
        return ""
    difference = make_number_format(board.decimals)(decision.difference)
    parts = [f"difference {difference}"]
    if interval := format_interval(row["ci_low"], row["ci_high"], board.decimals):
        parts.append(f"{100 * comparison.confidence:g} % CI {interval}")
    p, p_adjusted = format_pair_p_values(row)
    if decision.p_value is not None:
        side = "one-sided " if row["alternative"] != "two-sided" else ""
        parts.append(side + re.sub("= ([<>≤]) ?", r"\1 ", f"p = {p}"))
    if is_corrected(board, decision):
        parts.append(f"{p_adjusted} after {CORRECTIONS[comparison.correction].title} over "
                     f"{counted(comparison.family_size, 'pair')}")
    return ", ".join(parts)


def format_pair_p_values(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the p-value and the adjusted p-value of a pair as text.

    If no permutation or resample is as extreme as the data, more of them could make both smaller: `≤ 1.0e-05`.

    >>> format_pair_p_values({"p_value": 1e-05, "log10_p": -5, "p_adjusted": 3e-05, "method": "monte-carlo",
    ...                       "resamples": 99_999})
    ('≤ 1.0e-05', '≤ 3.0e-05')
    """
    p, resamples = row["p_value"], row.get("resamples")
    is_smallest = (row["method"] == "monte-carlo" and p is not None and resamples is not None
                   and math.isclose(p * (resamples + 1), 1))
    texts = format_p_value(p, row["log10_p"]), format_p_value(row["p_adjusted"])
    return (f"≤ {texts[0]}", f"≤ {texts[1]}") if is_smallest else texts


def is_corrected(board: Leaderboard, decision: PairDecision) -> bool:
    """Return whether the p-value of a pair is corrected for several pairs."""
    comparison = board.comparison
    return comparison.family_size > 1 and decision.p_adjusted is not None and comparison.correction != "none"


def select_pair(board: Leaderboard, a: int, b: int) -> Leaderboard:
    """Return a leaderboard with only two of its systems.

    Ranks and decisions stay the same.

    Args:
        board: The leaderboard.
        a: The place of the first system in the standings.
        b: The place of the second system.
    """
    a, b = sorted((a, b))
    pair = board.decisions.select((board.decisions.a == a) & (board.decisions.b == b))
    decisions = replace(pair, a=np.zeros_like(pair.a), b=np.ones_like(pair.b),
                        systems=[pair.systems[place] for place in (a, b)] if pair.systems else ())
    smaller = replace(board, standings=(board.standings[a], board.standings[b]), decisions=decisions, groups=())
    return replace(smaller, result=describe_result(smaller))
