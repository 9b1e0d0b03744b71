"""Items with everybody's answers, read from the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Connection, text

from registry.errors import UnknownNameError
from registry.evaluation.ingest.context import ParseCache
from registry.items import Item, Tagged
from registry.leaderboards.items.answers import Answered, Run, answered, given_values, numbers, texts
from registry.leaderboards.items.listed import disagreed, require_items
from registry.leaderboards.items.view import ItemView, Kind, SystemOutput
from registry.manifest import stored_manifest
from registry.readers import READERS, Reader
from registry.store import catalog
from registry.store.catalog import GoldRevisionRow, TaskRow, TestSetRow
from registry.treebank import Sentence
from registry.values import parse

_KINDS: Mapping[str, Kind] = {
    "label": "label", "answer": "answer", "span": "span", "tree": "tree", "alignment": "alignment",
    "ranking": "ranking", "segment": "text"}


def item_views(connection: Connection, task: TaskRow, key: str) -> list[ItemView]:
    """The answers of all to the item `key`, in every test set of the task that has it.

    Raises:
        UnknownNameError: None has it.
        MismatchError: The gold is withheld, or texts are not in this public file.
    """
    require_items(connection, task)
    found, parsed = list[ItemView](), ParseCache(connection)
    for test_set in catalog.test_sets(connection, task.task_id):
        keys = catalog.item_keys(connection, test_set.gold_revision_id)
        if key in keys:
            found += _views(connection, parsed, task, test_set, [keys.index(key)])
    if not found:
        known = [k for test_set in catalog.test_sets(connection, task.task_id)
                 for k in catalog.item_keys(connection, test_set.gold_revision_id)]
        raise UnknownNameError("item", key, known)
    return found


def most_disagreed(connection: Connection, task: TaskRow, limit: int) -> list[ItemView]:
    """The items of every test set on which submissions disagree most, the worst first, with all answers to them."""
    found, parsed = list[ItemView](), ParseCache(connection)
    for test_set in catalog.test_sets(connection, task.task_id):
        at = {key: n for n, key in enumerate(catalog.item_keys(connection, test_set.gold_revision_id))}
        chosen = [at[row["item"]] for row in disagreed(connection, task, limit, test_set.name)
                  if row.get("differing") or row.get("deviation")]
        if chosen:
            found += _views(connection, parsed, task, test_set, chosen)
    return found


def _views(connection: Connection, parsed: ParseCache, task: TaskRow, test_set: TestSetRow,
           places: Sequence[int]) -> Iterator[ItemView]:
    """The items at some places of a test set's gold, in their order."""
    first, _ = catalog.item_ids(connection, test_set.gold_revision_id)
    items = parsed.items(test_set.gold_revision_id)
    chosen = {first + at: items[at] for at in places}
    kind, runs = _kind(connection, test_set), _runs(connection, test_set)
    metric = catalog.primary_metric(connection, task.task_id)
    aliases = [of.alias for of in catalog.task_metrics(connection, task.task_id)]
    scores = {tuple(row[:4]): row.score for row in connection.execute(text("""
        SELECT item_id, scoring_id, replicate, metric, score FROM item_score
        WHERE task = :task AND test_set = :test_set AND list_contains(:items, item_id)"""),
        {"task": task.slug, "test_set": test_set.name, "items": list(chosen)})}
    facets = _facets(connection, task, test_set)
    said = _said(connection, parsed, kind, chosen, runs, first)
    for item_id, item in chosen.items():
        known, golds, by_run = said[item_id]
        outputs = [*golds]
        for run, of_run in zip(runs, by_run, strict=True):
            scored = {alias: scores.get((item_id, run.scoring_id, run.replicate, alias)) for alias in aliases}
            outputs.append(SystemOutput("system", run.team, run.system, run.replicate, track=run.track,
                                        score=scored[metric.alias], scores=scored, **of_run))
        yield ItemView(task.slug, test_set.name, item.key, metric.alias, kind, outputs, _tokens(item), known,
                       item_id - first, facets.get(item_id, ()))


def _kind(connection: Connection, test_set: TestSetRow) -> Kind:
    """What the responses of a test set are."""
    revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=test_set.gold_revision_id)
    reader: Reader = parse("reader", READERS, revision.reader)
    return _KINDS.get(reader.gives, "number")


def _runs(connection: Connection, test_set: TestSetRow) -> list[Run]:
    """The runs of all submissions that take part."""
    return [Run._make(row) for row in connection.execute(text("""
        SELECT ranked.team, ranked.system, ranked.track, source.replicate, ranked.scoring_id
        FROM ranked_submission AS ranked JOIN submission_source AS source USING (submission_id)
        WHERE ranked.test_set_id = :test_set AND ranked.scoring_id IS NOT NULL
        ORDER BY ranked.team, ranked.system, source.replicate"""), {"test_set": test_set.test_set_id})]


def _said(connection: Connection, parsed: ParseCache, kind: Kind, items: Mapping[int, Item], runs: Sequence[Run],
          first: int) -> Mapping[int, Answered]:
    """What is said of the items, by their ids, of which `first` is that of the gold's first item."""
    if kind not in ("text", "number"):
        return answered(connection, items, runs, ranking=kind == "ranking")
    answers, given = texts if kind == "text" else numbers, given_values(connection, parsed, runs)
    return {item_id: answers(item, [of_run[item_id - first] for of_run in given]) for item_id, item in items.items()}


def _tokens(item: Item) -> Sequence[str]:
    """The words of an item, where they are known."""
    if isinstance(item.gold, Tagged):
        return item.gold.tokens
    return [word.form for word in item.gold.words] if isinstance(item.gold, Sentence) else ()


def _facets(connection: Connection, task: TaskRow, test_set: TestSetRow) -> dict[int, list[str]]:
    """The facets of a test set that each item is on."""
    (declared,) = (of for of in stored_manifest(task.manifest).test_set if of.name == test_set.name)
    found: dict[int, list[str]] = {}
    for name in declared.facets:
        for item_id, value in catalog.item_attribute(connection, test_set.gold_revision_id, name).items():
            found.setdefault(item_id, []).append(f"{name}={value}")
    return found
