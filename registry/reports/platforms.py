"""Scores in the forms that competition platforms read, and leaderboards as the findings of WMT print them.

Codabench reads `scores.json`, an object of numbers by the keys of its leaderboard's columns (wiki, "Leaderboard
Functionality"); CodaLab `scores.txt`, a line `key: number` for each, which it parts at the colon, and which Codabench
reads as YAML where there is no `scores.json`; EvalAI what its `evaluate()` returns, a list of splits with their numbers
by metric (documentation, "Writing Evaluation Script"). None of them knows an undefined score: it is left out, and the
cell stays empty.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from registry.boards.leaderboard import Leaderboard
from registry.boards.submissions import SubmissionScore
from registry.rendering.latex import environment, escape
from registry.rendering.table import number
from registry.reports.boards import rank_ranges, ruled


def codabench(scores: Sequence[SubmissionScore]) -> str:
    """`scores.json` of Codabench."""
    return json.dumps(_by_key(scores), indent=2, ensure_ascii=False) + "\n"


def codalab(scores: Sequence[SubmissionScore]) -> str:
    """`scores.txt` of CodaLab, in numbers that YAML takes as such: it knows none with an exponent but no point."""
    written = {key: repr(score) for key, score in _by_key(scores).items()}
    return "".join(f"{key}: {digits if '.' in digits else digits.replace('e', '.0e')}\n"
                   for key, digits in written.items())


def evalai(scores: Sequence[SubmissionScore]) -> str:
    """The result of EvalAI's `evaluate()`: test sets are the splits, by their codenames."""
    by_split: dict[str, dict[str, float]] = {of.test_set: {} for of in scores}
    for of in scores:
        if of.score is not None:
            by_split[of.test_set][of.metric] = of.score
    return json.dumps({"result": [{split: found} for split, found in by_split.items()]}, indent=2,
                      ensure_ascii=False) + "\n"


def wmt(board: Leaderboard) -> str:
    """A leaderboard in LaTeX as WMT's findings print it: rank ranges, scores, systems; lines part the clusters."""
    board = replace(board, ranks="range")  # as the findings define them
    body = ruled(board.clusters, (
        f"{left.replace('-', '--')} & {number(3)(of.score).replace('-', '$-$')} & "
        f"{escape(of.shown)}{'*' if of.late else ''} \\\\" for of, left in zip(
            board.standings, rank_ranges(board), strict=True)))
    said = (f"{board.title}. Systems ordered by score; lines part clusters, and ranges are the ranks that significant "
            "wins and losses leave open.")
    caption = " ".join(map(escape, (said, *board.sentences)))
    return environment("ccl", ["Rank", escape(board.metric_label), "System"], body, caption, board.signature,
                       list(map(escape, board.footnotes)))


def _by_key(scores: Sequence[SubmissionScore]) -> dict[str, float]:
    """Scores by metric, or by test set and metric where there are several test sets."""
    several = len({of.test_set for of in scores}) > 1
    return {f"{of.test_set}_{of.metric}" if several else of.metric: of.score
            for of in scores if of.score is not None}
