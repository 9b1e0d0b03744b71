"""What a corrected gold did: which items have another gold, and which items' statistics changed, of every system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from registry.evaluation.ingest.context import ParseCache
from registry.families import FAMILIES
from registry.identity import canonical_json
from registry.items import Item
from registry.leaderboards.states.history import State
from registry.readers import READERS, Reader
from registry.store import catalog
from registry.store.catalog import GoldRevisionRow
from registry.values import parse


@dataclass(frozen=True)
class CorrectedItem:
    """An item with another gold: what of the gold is no more, and what is new; None where the item is not there.

    `on_board` is false if the leaderboard is of a facet, and the item is in neither the earlier nor the later facet.
    """

    item: str
    before: str | None
    after: str | None
    on_board: bool


@dataclass(frozen=True)
class SystemItems:
    """How many items of a system have other statistics, and which changed most, the most changed first."""

    system: str
    n_items: int
    most: tuple[str, ...]


@dataclass(frozen=True)
class Correction:
    """What changed between two revisions of a test set's gold.

    Attributes:
        n_before, n_after: How many items the gold has.
        items: Those with another gold, in its order, of the whole test set.
        systems: By which items of the board scores changed, in the order of the later board.
    """

    n_before: int
    n_after: int
    items: tuple[CorrectedItem, ...]
    systems: tuple[SystemItems, ...]

    @property
    def on_board(self) -> list[CorrectedItem]:
        """The corrected items that the board counts."""
        return [item for item in self.items if item.on_board]


def correction(before: tuple[Connection, State], after: tuple[Connection, State],
               most: int = 3) -> Correction | None:
    """What a correction of the gold between two states of a board did; None where both have the same gold.

    Args:
        before: The earlier state, and a connection to its database.
        after: The later one.
        most: How many items to name of every system.
    """
    if before[1].gold == after[1].gold:
        return None
    (was, reader_before), (now, reader_after) = _gold(*before), _gold(*after)
    changed = []
    for key in [*now, *(key for key in was if key not in now)]:
        old, new = was.get(key), now.get(key)
        on_board = _is_in(before[1].key.facet, old) or _is_in(after[1].key.facet, new)
        if old is None or new is None:
            changed.append(CorrectedItem(key, None if old is None else _said(reader_before, old),
                                         None if new is None else _said(reader_after, new), on_board))
        elif sides := _difference((reader_before, old), (reader_after, new)):
            changed.append(CorrectedItem(key, *sides, on_board))
    earlier, later = _statistics(*before, was), _statistics(*after, now)
    systems = [_of_system(name, earlier[name], later[name], most) for name in after[1].systems
               if name in earlier and name in later]
    return Correction(len(was), len(now), tuple(changed), tuple(systems))


def _is_in(facet: str | None, item: Item | None) -> bool:
    """Whether an item that exists is one of a facet, `attribute=value`; None means all items."""
    if item is None or facet is None:
        return item is not None
    return any(f"{name}={value}" == facet for name, value in item.attributes.items())


def _gold(connection: Connection, state: State) -> tuple[dict[str, Item], Reader]:
    """The items of the gold behind a state, by their keys, and how it was read."""
    revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=connection.execute(text(
        "SELECT gold_revision_id FROM comparison WHERE comparison_id = :id"), {"id": state.comparison_id}).scalar_one())
    items = ParseCache(connection).items(revision.gold_revision_id)
    return {item.key: item for item in items}, parse("reader", READERS, revision.reader)


def _difference(before: tuple[Reader, Item], after: tuple[Reader, Item]) -> tuple[str, str] | None:
    """What of an item's gold is no more, and what is new; None where it is the same."""
    contents = [canonical_json([reader.content(item.gold), dict(item.attributes)]) for reader, item in (before, after)]
    if contents[0] == contents[1]:
        return None
    was, now = ([_answer(of) for of in reader.answer_set(item.gold)] for reader, item in (before, after))
    gone, new = [of for of in was if of not in now], [of for of in now if of not in was]
    sides = [[f"{name} {value}" for name, value in one.attributes.items() if other.attributes.get(name) != value]
             for one, other in ((before[1], after[1]), (after[1], before[1]))]
    if not (gone or new or any(sides)):  # a text, or something else that has no answers
        return _said(*before), _said(*after)
    return ", ".join([*gone, *sides[0]]) or "-", ", ".join([*new, *sides[1]]) or "-"


def _said(reader: Reader, item: Item) -> str:
    """An item's gold in words: its answers, or else all of it."""
    answers = [_answer(of) for of in reader.answer_set(item.gold)]
    content = reader.content(item.gold)
    return ", ".join(answers) or (content if isinstance(content, str) else canonical_json(content))


def _answer(of: Any) -> str:
    return f"{of.type} {of.key}".strip()


Statistics = dict[tuple[str, int], tuple[Any, ...]]  # by item and run


def _statistics(connection: Connection, state: State, gold: Mapping[str, Item]) -> dict[str, Statistics]:
    """The statistics of every system of a state on the items of its board, by the system's name."""
    family, metric_id, scorings = "", 0, dict[str, int]()
    for row in connection.execute(text("""
            SELECT metric.family, metric.metric_id, team.name || '/' || system.name AS system, standing.scoring_id
            FROM comparison JOIN metric USING (metric_id) JOIN standing USING (comparison_id)
            JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
            WHERE comparison_id = :id AND standing.scoring_id IS NOT NULL
            ORDER BY standing.scoring_id"""), {"id": state.comparison_id}):
        family, metric_id, scorings[row.system] = row.family, row.metric_id, row.scoring_id
    columns = FAMILIES[family].columns if family else ()
    named, joins = ", ".join(f"s.{name}" for name in columns), ""
    if family == "confusion":  # labels have other numbers in every revision
        named = "gold.name, predicted.name"
        joins = ("JOIN label AS gold ON gold.label_id = s.gold_label "
                 "JOIN label AS predicted ON predicted.label_id = s.predicted_label")
    found = {}
    for system, scoring_id in scorings.items():
        rows = connection.execute(text(f"""
            SELECT item.key, s.replicate, {named} FROM statistics_{family} AS s JOIN item USING (item_id) {joins}
            WHERE s.scoring_id = :scoring AND s.metric_id = :metric"""),  # noqa: S608 - names of the schema
            {"scoring": scoring_id, "metric": metric_id})
        found[system] = {(row[0], row[1]): tuple(row[2:]) for row in rows if _is_in(state.key.facet, gold[row[0]])}
    return found


def _of_system(name: str, before: Statistics, after: Statistics, most: int) -> SystemItems:
    amounts: dict[str, float] = {}
    for (item, _), amount in _amounts(before, after):
        amounts[item] = amounts.get(item, 0) + amount
    ordered = sorted(amounts, key=lambda item: (-amounts[item], item))
    return SystemItems(name, len(ordered), tuple(ordered[:most]))


def _amounts(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[tuple[Any, float]]:
    """By how much statistics changed where they did: numbers by their distance, labels and lost items as one."""
    for key in before.keys() | after.keys():
        was, now = before.get(key), after.get(key)
        if was != now:
            numbers = was is not None and now is not None and not any(isinstance(of, str) for of in (*was, *now))
            yield key, sum(abs(b - a) for a, b in zip(was or (), now or (), strict=True)) if numbers else 1.0
