"""The items of a task for people who look at them: which to look at, and everybody's answers to one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, text

from registry.errors import MismatchError, UnknownNameError
from registry.evaluation.ingest.parsed_cache import ParseCache
from registry.items import Answer, Item, Tagged
from registry.manifest import stored_manifest
from registry.store import catalog, models
from registry.store.row_types import ScoringRow, TaskRow, TestSetRow
from registry.store.rows import selected

Rows = list[dict[str, Any]]


def disagreed(connection: Connection, task: TaskRow, limit: int, test_set: str | None = None) -> Rows:
    """The items (of one test set) on which submissions disagree most.

    Where items have answers, that is how many of them two runs do not share; else the deviation of the items' scores by
    the primary metric.
    """
    if has_answers(connection, task):
        return selected(connection, """
            SELECT task, test_set, item, differing, answers, runs FROM item_disagreement
            WHERE task = :task AND (:test_set IS NULL OR test_set = :test_set)
            ORDER BY differing DESC, item_id LIMIT :limit""", task=task.slug, limit=limit, test_set=test_set)
    return selected(connection, """
        SELECT task, test_set, item, metric, deviation, worst, best, mean, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric AND (:test_set IS NULL OR test_set = :test_set)
        ORDER BY deviation DESC NULLS LAST, item_id LIMIT :limit""",
        task=task.slug, metric=catalog.primary_metric(connection, task.task_id).alias, limit=limit, test_set=test_set)


def hard(connection: Connection, task: TaskRow, limit: int) -> Rows:
    """The items with the worst mean score of their own, by the primary metric."""
    metric = catalog.primary_metric(connection, task.task_id)
    direction = "ASC" if metric.better == "higher" else "DESC"
    return selected(connection, f"""
        SELECT task, test_set, item, metric, mean, deviation, worst, best, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric ORDER BY mean {direction}, item_id LIMIT :limit""",  # noqa: S608
        task=task.slug, metric=metric.alias, limit=limit)


def suspect(connection: Connection, task: TaskRow, limit: int) -> Rows:
    """The items on which all contradict the gold, those on which most agree against it first.

    Raises:
        MismatchError: The items have no answers that could contradict a gold.
    """
    if not has_answers(connection, task):
        raise MismatchError(f"the items of {task.slug} are texts, whose gold no answer can contradict; "
                            f"`registry items {task.slug} hard` lists those that nobody comes near")
    return selected(connection, """
        SELECT task, test_set, item, missed, spurious, instead, support, runs FROM suspect_item
        WHERE task = :task ORDER BY support DESC, item_id LIMIT :limit""", task=task.slug, limit=limit)


def has_answers(connection: Connection, task: TaskRow) -> bool:
    """Whether the task's items have answers that can be told apart; free text has none."""
    return bool(connection.execute(text("""
        SELECT count(*) FROM answer JOIN test_set USING (gold_revision_id)
        WHERE test_set.task_id = :task AND test_set.is_declared"""), {"task": task.task_id}).scalar_one())


@dataclass(frozen=True)
class SystemOutput:
    """The answer of the gold (`system` is None) or of one run of a submission to an item.

    `right` tells whether its answers are the gold's, neither more nor fewer; None for texts, and for the gold. `score`
    is by the primary metric, `scores` by the aliases of all.
    """

    source: str
    team: str | None
    system: str | None
    replicate: int | None
    score: float | None = None
    right: bool | None = None
    correct: Sequence[str] = ()
    wrong: Sequence[str] = ()
    missed: Sequence[str] = ()
    text: str | None = None
    track: str | None = None
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class ItemView:
    """One item: where it is, its text if it has one, and the answers to it, the gold's first.

    `facets` are those that it is on, `attribute=value`.
    """

    task: str
    test_set: str
    item: str
    metric: str
    text: str | None
    outputs: Sequence[SystemOutput]
    facets: Sequence[str] = ()


class _Run(NamedTuple):
    team: str
    system: str
    track: str | None
    replicate: int
    scoring_id: int


class _Answer(NamedTuple):
    answer_id: int
    item_id: int
    key: str
    type: str
    in_gold: bool


def item_views(connection: Connection, task: TaskRow, key: str) -> list[ItemView]:
    """The answers of all to the item `key`, in every test set of the task that has it.

    Raises:
        UnknownNameError: None has it.
    """
    found, parsed = [], ParseCache()
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
    found, parsed = [], ParseCache()
    for test_set in catalog.test_sets(connection, task.task_id):
        at = {key: n for n, key in enumerate(catalog.item_keys(connection, test_set.gold_revision_id))}
        chosen = [at[row["item"]] for row in disagreed(connection, task, limit, test_set.name)
                  if row.get("differing") or row.get("deviation")]
        found += _views(connection, parsed, task, test_set, chosen)
    return found


def _views(connection: Connection, parsed: ParseCache, task: TaskRow, test_set: TestSetRow,
           places: Sequence[int]) -> list[ItemView]:
    """The items at some places of a test set's gold, in their order."""
    first, _ = catalog.item_ids(connection, test_set.gold_revision_id)
    metric = catalog.primary_metric(connection, task.task_id)
    aliases = [of.alias for of in catalog.task_metrics(connection, task.task_id)]
    runs = [_Run._make(row) for row in connection.execute(text("""
        SELECT ranked.team, ranked.system, ranked.track, source.replicate, ranked.scoring_id
        FROM ranked_submission AS ranked JOIN submission_source AS source USING (submission_id)
        WHERE ranked.test_set_id = :test_set AND ranked.scoring_id IS NOT NULL
        ORDER BY ranked.team, ranked.system, source.replicate"""), {"test_set": test_set.test_set_id})]
    item_ids = [first + at for at in places]
    scores = {tuple(row[:4]): row.score for row in connection.execute(text("""
        SELECT item_id, scoring_id, replicate, metric, score FROM item_score
        WHERE task = :task AND test_set = :test_set AND list_contains(:items, item_id)"""),
        {"task": task.slug, "test_set": test_set.name, "items": item_ids})}
    facets = _facets(connection, task, test_set)
    items = parsed.items(connection, test_set.gold_revision_id) if places else []
    chosen = {item_id: items[at] for item_id, at in zip(item_ids, places, strict=True)}
    of_answers = {item_id: item for item_id, item in chosen.items() if not isinstance(item.gold, dict)}
    answers = _answers(connection, of_answers, runs)
    texts = _texts(connection, parsed, runs) if len(of_answers) < len(chosen) else []
    found = []
    for (item_id, item), at in zip(chosen.items(), places, strict=True):
        outputs = answers[item_id] if item_id in answers else _texts_of(item.gold, runs, [run[at] for run in texts])
        by_run = [{alias: scores.get((item_id, run.scoring_id, run.replicate, alias)) for alias in aliases}
                  for run in runs]
        scored = [replace(one, score=of_run[metric.alias], scores=of_run, track=run.track) for one, run, of_run in zip(
            outputs[-len(runs):], runs, by_run, strict=True)] if runs else []
        of_tokens = " ".join(item.gold.tokens) if isinstance(item.gold, Tagged) else None
        found.append(ItemView(task.slug, test_set.name, item.key, metric.alias, of_tokens,
                           [*outputs[:len(outputs) - len(runs)], *scored], facets.get(item_id, ())))
    return found


def _facets(connection: Connection, task: TaskRow, test_set: TestSetRow) -> dict[int, list[str]]:
    """The facets of a test set that each item is on."""
    (declared,) = (of for of in stored_manifest(task.manifest).test_set if of.name == test_set.name)
    found: dict[int, list[str]] = {}
    for name in declared.facets:
        for item_id, value in catalog.item_attribute(connection, test_set.gold_revision_id, name).items():
            found.setdefault(item_id, []).append(f"{name}={value}")
    return found


def _texts(connection: Connection, parsed: ParseCache, runs: Sequence[_Run]) -> list[Sequence[Answer | None]]:
    """The texts that every run gives, for all items of the gold."""
    given = {scoring_id: parsed.answers(connection, catalog.get(connection, ScoringRow, scoring_id=scoring_id))
             for scoring_id in dict.fromkeys(run.scoring_id for run in runs)}
    return [given[run.scoring_id][run.replicate] for run in runs]


def _texts_of(golds: Mapping[str, str], runs: Sequence[_Run], texts: Sequence[Answer | None]) -> list[SystemOutput]:
    """The answers to an item whose gold are texts by their names."""
    return [SystemOutput("gold" if name == "gold" else f"gold {name}", None, None, None, text=reference)
            for name, reference in golds.items()] + [
        SystemOutput("system", run.team, run.system, run.replicate, text=None if answer is None else str(answer.value))
        for run, answer in zip(runs, texts, strict=True)]


def _answers(connection: Connection, items: Mapping[int, Item], runs: Sequence[_Run]) -> dict[int, list[SystemOutput]]:
    """The answers to items that have some to be told apart, by the items' ids."""
    answer, response = models.answer.c, models.response
    known: dict[int, dict[int, _Answer]] = {item_id: {} for item_id in items}
    query = select(answer.answer_id, answer.item_id, answer.key, answer.type, answer.in_gold)
    for one in map(_Answer._make, connection.execute(query.where(answer.item_id.in_(list(items))).order_by(
            answer.answer_id))):
        known[one.item_id][one.answer_id] = one
    given: dict[tuple[int, int], set[int]] = {(run.scoring_id, run.replicate): set() for run in runs}
    ids = [answer_id for of_item in known.values() for answer_id in of_item]
    for row in connection.execute(response.select().where(response.c.answer_id.in_(ids))):
        if (row.scoring_id, row.replicate) in given:
            given[row.scoring_id, row.replicate].add(row.answer_id)
    return {item_id: list(_answers_of(items[item_id], of_item, runs, given)) for item_id, of_item in known.items()}


def _answers_of(item: Item, known: Mapping[int, _Answer], runs: Sequence[_Run],
                given: Mapping[tuple[int, int], set[int]]) -> Iterator[SystemOutput]:
    """Who gives which of the known answers to an item."""
    gold = {answer_id for answer_id, row in known.items() if row.in_gold}

    def written(chosen: set[int]) -> list[str]:
        return [_written(item, known[answer_id]) for answer_id in known if answer_id in chosen]

    yield SystemOutput("gold", None, None, None, correct=written(gold))
    for run in runs:
        theirs = given[run.scoring_id, run.replicate] & known.keys()
        yield SystemOutput("system", run.team, run.system, run.replicate, None, theirs == gold, written(theirs & gold),
                   written(theirs - gold), written(gold - theirs))


def _written(item: Item, answer: _Answer) -> str:
    """An answer with its type and, where it is a span, its words."""
    parts = [answer.type, answer.key] if answer.type else [answer.key]
    if isinstance(item.gold, Tagged):
        start, _, end = answer.key.partition("-")
        parts.append(f"'{' '.join(item.gold.tokens[int(start) - 1:int(end)])}'")
    return " ".join(parts)
