"""Scores as model repositories of the Hugging Face Hub hold them, in `.eval_results/*.yaml`.

Each entry is the value of a model on one task of a benchmark, which is a data set of the Hub. The format knows no
interval and no test: what these leave open stands in the notes (the Hub's documentation, "Evaluation Results").
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from registry.boards.leaderboard import Leaderboard, Standing
from registry.errors import InputError
from registry.reports.boards import rank_range

_DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_OF_HUB = re.compile(r"https://(?:huggingface\.co|hf\.co)/datasets/([^/?#]+/[^/?#]+)/?")


@dataclass(frozen=True)
class Benchmark:
    """What all entries of a task say.

    Attributes:
        dataset: The Hub's data set that is the benchmark; the task's test sets are its tasks.
        title, url: Of the task, the source of the values.
        compared: When its boards were compared.
    """

    dataset: str
    title: str
    url: str | None
    compared: datetime


def dataset_of(given: str | None, url: str | None) -> str:
    """The Hub's data set that is the benchmark: the one that is given, else the task's page if that is one.

    Raises:
        InputError: It is neither, or cannot be one.
    """
    found = given or (page[1] if url and (page := _OF_HUB.fullmatch(url)) else None)
    if found is None:
        raise InputError("a result names the benchmark's data set on the Hugging Face Hub: give it by --dataset "
                         "ORGANISATION/NAME, or as url of the task")
    if not _DATASET.fullmatch(found):
        raise InputError(f"{found!r} is no data set such as acme/benchmark")
    return found


def eval_results(boards: Sequence[Leaderboard], of: Benchmark) -> Iterator[tuple[str, str, str]]:
    """Give the entries of every model on boards by one metric: its team and name, and the text of its file."""
    stands: dict[tuple[str, str, str], list[tuple[Leaderboard, Standing]]] = {}
    for board in boards:
        for at in board.standings:
            if at.score is not None and math.isfinite(at.score):
                stands.setdefault((at.team, at.system, at.version), []).append((board, at))
    for (team, system, version), found in stands.items():
        name = system if version == "1" else f"{system}@{version}"
        yield team, name, "".join(_entry(board, at, of) for board, at in found)


def _entry(board: Leaderboard, at: Standing, of: Benchmark) -> str:
    assert at.score is not None
    source = f"  source:\n    url: {_text(of.url)}\n    name: {_text(of.title)}\n" if of.url else ""
    return (f"- dataset:\n    id: {_text(of.dataset)}\n    task_id: {_text(board.test_set)}\n"
            f'  value: {_number(at.score)}\n  date: "{of.compared:%Y-%m-%d}"\n{source}'
            f"  notes: {_text(_notes(board, at))}\n")


def _notes(board: Leaderboard, at: Standing) -> str:
    """What the value is, its interval, and the ranks that significant differences leave open."""
    of, better = board.comparison, "lower" if board.better == "lower" else "higher"
    interval = "" if at.ci_low is None or at.ci_high is None else (
        f", {of.confidence:.0%} interval {at.ci_low:.4g} to {at.ci_high:.4g}")
    rank = "" if at.rank is None else (f"; rank {rank_range(board, at)} of {len(board.standings)} by {of.test}, "
                                       f"{of.correction}, alpha {of.alpha:g}")
    return (f"{board.metric} ({board.metric_title}), {better} is better{interval}"
            f"{rank}; {board.signature}")


def _text(text: str) -> str:
    """A text as YAML takes JSON's."""
    return json.dumps(text)


def _number(value: float) -> str:
    """A number that YAML 1.1 takes as such: it knows none with an exponent but no point."""
    digits = repr(value)
    return digits if "." in digits else digits.replace("e", ".0e")
