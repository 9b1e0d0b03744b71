"""The result of a leaderboard in one sentence, which readers see first.

For two systems it has the difference, its confidence interval and the p-value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
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


def summarise_for_paper(board: Leaderboard) -> str:
    """Return the result of a leaderboard as sentences that authors can copy.

    They compare the two systems of a board, or the best of several ranked systems with all others. The text is empty if
    these pairs have no p-values, or if their tests are one-sided and the board has more than two systems.
    """
    if len(board.standings) == 2 and len(board.decisions) == 1:
        return _summarise_pair(board, board.decisions[0])
    return _summarise_best(board)


def _summarise_pair(board: Leaderboard, decision: PairDecision) -> str:
    if decision.p_value is None or decision.difference is None:
        return ""
    first, second = (board.standings[place] for place in (decision.a, decision.b))
    format_score = make_number_format(board.decimals)
    sample, average, scope = counted(board.comparison.n_items, board.comparison.item_noun), *_describe_runs(board)
    if average:
        runs = counted(first.runs, "run")
        sample += f" and {runs} of each system" if first.runs == second.runs else (
            f", {runs} of {first.display_name} and {second.runs} of {second.display_name}")
    scores = (f"{first.display_name} reaches {format_score(first.score)} and {second.display_name} "
              f"{format_score(second.score)}")
    verdict = f"is {'' if decision.significant else 'not '}significant at {100 * board.comparison.alpha:g} %" + (
        " by the corrected p-value" * is_corrected(board, decision))
    numbers = format_pair_numbers(board, decision).removeprefix("difference ")
    method = decision.row["method"]
    return (f"On {sample}, {scores} ({board.metric_title}{average}). The difference {verdict} ({numbers}; "
            f"{_name_test(board, method, decision.row['resamples'])}).{scope}")


def _describe_runs(board: Leaderboard) -> tuple[str, str]:
    """Describe scores of several runs, and the scope of results about fixed runs; both can be empty."""
    if all(standing.runs == 1 for standing in board.standings):
        return "", ""
    scope = " The result holds for these runs, not for new ones." if board.comparison.runs == "fixed" else ""
    return ", from statistics averaged over runs", scope


def _name_test(board: Leaderboard, method: str, resamples: float | None) -> str:
    test = board.comparison.test
    if method == "monte-carlo" and resamples is not None:
        return f"{test} test with {int(resamples):,} resamples"
    return f"{method} {test} test" if method == "exact" else f"{test} test"


def _summarise_best(board: Leaderboard) -> str:
    comparison = board.comparison
    ranked = [place for place, standing in enumerate(board.standings) if standing.rank is not None]
    first = [place for place in ranked if board.standings[place].rank == 1]
    if (len(first) != 1 or len(ranked) < 2 or comparison.alternative != "two-sided" or not board.decisions
            or not {"too-few-units", "too-few-runs", "too-few-resamples"}.isdisjoint(board.warnings.codes)):
        return ""
    pairs = list(board.decisions.select((board.decisions.a == first[0]) & np.isin(board.decisions.b, ranked)))
    if any(decision.p_adjusted is None for decision in pairs):
        return ""
    sample = counted(comparison.n_items, comparison.item_noun)
    if comparison.unit == "cluster":
        sample += f" in {counted(comparison.n_units, 'cluster')}"
    best, (average, scope) = board.standings[first[0]], _describe_runs(board)
    systems = f"{len(ranked):,} {'ranked ' * (len(ranked) < len(board.standings))}systems"
    return (f"On {sample}, {best.display_name} has the best score of {systems}: "
            f"{make_number_format(board.decimals)(best.score)} ({board.metric_title}{average}). "
            f"It is {_compare_best(board, pairs)}.{scope}")


def _compare_best(board: Leaderboard, pairs: Sequence[PairDecision]) -> str:
    """Return the results of the tests of the best system with all others, as part of a sentence."""
    comparison = board.comparison
    worse, others = ([decision for decision in pairs if decision.significant is is_significant]
                     for is_significant in (True, False))
    correction = "" if comparison.correction == "none" or comparison.family_size == 1 else (
        f" after {CORRECTIONS[comparison.correction].title} over {counted(comparison.family_size, 'pair')}")
    better = f"significantly better at {100 * comparison.alpha:g} % than"
    if not worse:
        return f"not {better} any other system ({_format_extreme(others, largest=False)}{correction})"
    largest = f"({_format_extreme(worse, largest=True)}{correction})"
    if not others:
        return f"{better} all other systems {largest}"
    return (f"{better} {_name_worse(board, worse)} {largest}, but not than {_name_worse(board, others)} "
            f"({_format_extreme(others, largest=False)})")


def _name_worse(board: Leaderboard, pairs: Sequence[PairDecision]) -> str:
    names = [board.standings[decision.b].display_name for decision in pairs]
    return _join_names(names) if len(names) <= _MOST_NAMES else f"{len(names):,} systems"


def _format_extreme(pairs: Sequence[PairDecision], *, largest: bool) -> str:
    """Return the largest or smallest adjusted p-value of pairs as text, such as `largest p = 0.0157`."""
    pair = (max if largest else min)(pairs, key=lambda decision: decision.p_adjusted or 0.0)
    _, p_value = format_pair_p_values({"log10_p": None, **pair.row})
    word = "" if len(pairs) == 1 else "largest " if largest else "smallest "
    return word + re.sub("= ([<>≤]) ?", r"\1 ", f"p = {p_value}")


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
