"""What the gold and every run say of items: sets of answers out of the database, texts and numbers out of files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from registry.evaluation.ingest.context import ParseCache
from registry.items import Answer, Item, Links
from registry.leaderboards.items.view import Known, SystemOutput
from registry.store import catalog
from registry.store.catalog import ScoringRow

Given = Sequence[Sequence[Answer | None]]  # of every run its answers to all items of the gold
FIRST = 20  # documents of a ranking that are looked at
_ALL = 2**31 - 1

_GOLD = """
    SELECT item_id, answer_id, key, type FROM answer
    WHERE in_gold AND item_id IN (SELECT unnest(CAST(:items AS INTEGER[])))
    ORDER BY answer_id"""
_GIVEN = """
    SELECT scoring_id, replicate, item_id, answer_id, key, type,
        row_number() OVER (run ORDER BY score DESC NULLS LAST, if(:ranking, key, NULL) DESC, answer_id) AS place,
        count(*) OVER run AS returned, count_if(in_gold) OVER run AS found
    FROM response JOIN answer USING (answer_id)
    WHERE item_id IN (SELECT unnest(CAST(:items AS INTEGER[])))
        AND scoring_id IN (SELECT unnest(CAST(:scorings AS INTEGER[])))
    WINDOW run AS (PARTITION BY scoring_id, replicate, item_id)
    QUALIFY place <= :most
    ORDER BY answer_id"""


class Run(NamedTuple):
    """One run of a submission."""

    team: str
    system: str
    track: str | None
    replicate: int
    scoring_id: int


class _Given(NamedTuple):
    scoring_id: int
    replicate: int
    item_id: int
    answer_id: int
    key: str
    type: str
    place: int
    returned: int
    found: int


class Answered(NamedTuple):
    """The answers that are known of an item, and who gives which: the golds, and of every run what it says."""

    known: list[Known]
    golds: list[SystemOutput]
    said: list[dict[str, Any]]


def answered(connection: Connection, items: Mapping[int, Item], runs: Sequence[Run], *,
             ranking: bool) -> dict[int, Answered]:
    """Read who gives which answers to items, by the items' ids; of a `ranking` the first ones."""
    asked = {"items": list(items), "scorings": [run.scoring_id for run in runs], "ranking": ranking,
             "most": FIRST if ranking else _ALL}
    of_gold: dict[int, dict[int, tuple[str, str]]] = {item_id: {} for item_id in items}
    for item_id, answer_id, key, type_ in connection.execute(text(_GOLD), asked):
        of_gold[item_id][answer_id] = (key, type_)
    given: dict[int, list[_Given]] = defaultdict(list)
    for row in map(_Given._make, connection.execute(text(_GIVEN), asked)):
        given[row.item_id].append(row)
    return {item_id: _answered(item, of_gold[item_id], given[item_id], runs) for item_id, item in items.items()}


def _answered(item: Item, of_gold: Mapping[int, tuple[str, str]], given: Iterable[_Given],
              runs: Sequence[Run]) -> Answered:
    """What is known of one item: the gold's answers, sure ones and the most relevant first, then others."""
    possible = {f"{source + 1}-{target + 1}" for source, target in item.gold.possible} if isinstance(
        item.gold, Links) else set()
    judged: Mapping[str, int] = item.gold if isinstance(item.gold, dict) else {}
    sure_first = sorted(of_gold, key=lambda answer_id: (of_gold[answer_id][0] in possible,
                                                        -judged.get(of_gold[answer_id][0], 0)))
    known = [Known(key, type_, in_gold=True, possible=key in possible, relevance=judged.get(key))
             for key, type_ in map(of_gold.__getitem__, sure_first)]
    number = {answer_id: n for n, answer_id in enumerate(sure_first)}
    by_run: dict[tuple[int, int], list[_Given]] = defaultdict(list)
    for row in given:
        if row.answer_id not in number:
            number[row.answer_id] = len(known)
            known.append(Known(row.key, row.type, relevance=judged.get(row.key)))
        by_run[row.scoring_id, row.replicate].append(row)
    gold = SystemOutput("gold", said=range(len(of_gold)), returned=len(of_gold), found=len(of_gold))
    said = []
    for run in runs:
        theirs = sorted(by_run[run.scoring_id, run.replicate], key=lambda row: row.place)
        said.append({"said": tuple(number[row.answer_id] for row in theirs),
                     "returned": theirs[0].returned if theirs else 0, "found": theirs[0].found if theirs else 0})
    return Answered(known, [gold], said)


def given_values(connection: Connection, parsed: ParseCache, runs: Sequence[Run]) -> Given:
    """What every run says of all items of the gold."""
    found = {scoring_id: parsed.answers(catalog.get(connection, ScoringRow, scoring_id=scoring_id))
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
