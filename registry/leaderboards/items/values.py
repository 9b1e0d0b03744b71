"""Responses that are no sets of answers: texts and numbers, as the submitted files have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from registry.evaluation.ingest.parsed_cache import ParseCache
from registry.items import Answer, Item
from registry.leaderboards.items.answers import Answered, Run
from registry.leaderboards.items.view import SystemOutput
from registry.store import catalog
from registry.store.row_types import ScoringRow

Given = Sequence[Sequence[Answer | None]]  # of every run its answers to all items of the gold


def given_values(connection: Connection, parsed: ParseCache, runs: Sequence[Run]) -> Given:
    """What every run says of all items of the gold."""
    found = {scoring_id: parsed.answers(connection, catalog.get(connection, ScoringRow, scoring_id=scoring_id))
             for scoring_id in dict.fromkeys(run.scoring_id for run in runs)}
    return [found[run.scoring_id][run.replicate] for run in runs]


def texts(item: Item, answers: Sequence[Answer | None]) -> Answered:
    """The texts of an item: its references by their names, and those of all runs."""
    golds = [SystemOutput("gold" if name == "gold" else f"gold {name}", text=reference)
             for name, reference in item.gold.items()]
    return Answered([], golds, [{"text": None if answer is None else str(answer.value)} for answer in answers])


def numbers(item: Item, answers: Sequence[Answer | None]) -> Answered:
    """The numbers of an item: what the gold has, if it has any, and those of all runs."""
    return Answered([], [SystemOutput("gold", numbers=_numbers(item.gold))], [
        {"numbers": None if answer is None else _numbers(answer.value)} for answer in answers])


def _numbers(value: Any) -> Mapping[str, float] | None:
    """Numbers by their names; log-probabilities are (sum, number of tokens)."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple):
        return {"log-probability": value[0], "tokens": value[1]}
    return None if value is None else {"": value}
