"""Leaderboards of any names and scores, for the renderers' tests."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from registry.boards.leaderboard import Comparison, Decisions, Leaderboard, PairDecision, Standing
from registry.messages import NO_MESSAGES
from registry.reports.columns import PAIR_KEYS
from registry.significance.ranks import name_group

HOSTILE = ("<script>alert(1)</script>", "[/foo]", r"\input{x}", "=cmd()", "a\u202eb", "x" * 300, "😀 漢字",
           "50% of $x_1^2 & #3~", "--''!?", "`rm`|*b*_i_", '"><img src=x onerror=alert(1)>', "\x1b[31mred\x07")


def decided(pairs):
    """Single decisions as columns."""
    pairs = list(pairs)
    columns = {key: np.empty(len(pairs), dtype=object) for key in PAIR_KEYS}  # `np.array` would unfold messages
    for n, of in enumerate(pairs):
        for key, column in columns.items():
            column[n] = of.row[key]
    return Decisions(*(np.array([getattr(of, side) for of in pairs], dtype=np.int64) for side in "ab"), {
        key: np.ma.MaskedArray(column, [value is None for value in column]) for key, column in columns.items()})


def changed(board, change):
    """The board with other rows of pairs: `change` gives what is new in the row of a decision."""
    return replace(board, decisions=decided(replace(of, row={**of.row, **change(of)}) for of in board.decisions))


def leaderboard(names, scores=None, *, cluster_of=2, significant=lambda a, b: b - a > 1, **more):
    """Systems from best to worst; `significant` tells of two places whether they differ."""
    scores = scores or [1 - n / 100 for n in range(len(names))]
    standings = tuple(Standing(
        rank=n + 1, rank_low=max(1, n), rank_high=min(len(names), n + 2), cluster=n // cluster_of + 1,
        system=of, display_name=of, team=of, kind="primary", submission=f"{of}/{of}@1", score=score,
        ci_low=None, ci_high=None, runs=1, run_sd=None, wins=0, losses=0, late=False, letters=name_group(n),
        **more)
        for n, (of, score) in enumerate(zip(names, scores, strict=True)))
    decisions = decided(PairDecision(a, b, significant(a, b), {
        **dict.fromkeys(PAIR_KEYS), "system_a": names[a], "system_b": names[b],
        "submission_a": f"{names[a]}/{names[a]}@1", "submission_b": f"{names[b]}/{names[b]}@1",
        "score_a": scores[a], "score_b": scores[b], "significant": significant(a, b),
        "difference": (scores[a] or 0) - (scores[b] or 0),
        "ci_low": None, "ci_high": None, "p_value": 0.01, "p_adjusted": 0.04, "n_discordant": b - a, "method": "exact",
        "resolved": True, "messages": NO_MESSAGES, "same_team": False}) for a, b in combinations(range(len(names)), 2))
    settings = Comparison(
        comparison_id=1, better="higher", test="permutation", alternative="two-sided", unit="item", runs="fixed",
        alpha=0.05, correction="holm", resamples=1000, seed=1, confidence=0.95, n_items=100, n_units=100,
        n_systems=len(names), family_size=len(decisions), signature="", overall=None, statistic=None, degrees=None,
        p_value=None)
    return Leaderboard("task", "test", None, None, "acc", "Accuracy", "higher", settings, standings, decisions,
                       (), ("What can be said: 100 %.",), "acc|task:task@1|id:00_0")
