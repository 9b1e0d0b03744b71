"""The items of a task for people who look at them: which to look at, and what everybody said of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from registry.errors import MismatchError, UnknownNameError
from registry.evaluation.readings import Readings
from registry.items import Item, Tagged
from registry.store import catalog, models
from registry.store.catalog import AnyRow

Rows = list[dict[str, Any]]


def disagreed(connection: Connection, task: AnyRow, limit: int) -> Rows:
    """The items on which submissions disagree most.

    Where items have answers, that is how many of them two runs do not share; else the deviation of the items' scores by
    the primary metric.
    """
    if has_answers(connection, task):
        return _select(connection, """
            SELECT task, test_set, item, differing, answers, runs FROM item_disagreement
            WHERE task = :task ORDER BY differing DESC, item_id LIMIT :limit""", task=task.slug, limit=limit)
    return _select(connection, """
        SELECT task, test_set, item, metric, deviation, worst, best, mean, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric ORDER BY deviation DESC NULLS LAST, item_id LIMIT :limit""",
        task=task.slug, metric=primary_metric(connection, task).alias, limit=limit)


def hard(connection: Connection, task: AnyRow, limit: int) -> Rows:
    """The items with the worst mean score of their own, by the primary metric."""
    metric = primary_metric(connection, task)
    direction = "ASC" if metric.better == "higher" else "DESC"
    return _select(connection, f"""
        SELECT task, test_set, item, metric, mean, deviation, worst, best, runs FROM item_difficulty
        WHERE task = :task AND metric = :metric ORDER BY mean {direction}, item_id LIMIT :limit""",  # noqa: S608
        task=task.slug, metric=metric.alias, limit=limit)


def suspect(connection: Connection, task: AnyRow, limit: int) -> Rows:
    """The items on which all contradict the gold, those on which most agree against it first.

    Raises:
        MismatchError: The items have no answers that could contradict a gold.
    """
    if not has_answers(connection, task):
        raise MismatchError(f"the items of {task.slug} are texts, whose gold no answer can contradict; "
                            f"`registry items {task.slug} hard` lists those that nobody comes near")
    return _select(connection, """
        SELECT task, test_set, item, missed, spurious, instead, support, runs FROM suspect_item
        WHERE task = :task ORDER BY support DESC, item_id LIMIT :limit""", task=task.slug, limit=limit)


def has_answers(connection: Connection, task: AnyRow) -> bool:
    """Whether the task's items have answers that can be told apart; free text has none."""
    return bool(connection.execute(text("""
        SELECT count(*) FROM answer JOIN test_set USING (gold_revision_id)
        WHERE test_set.task_id = :task AND test_set.is_declared"""), {"task": task.task_id}).scalar_one())


def primary_metric(connection: Connection, task: AnyRow) -> AnyRow:
    """The metric that the task counts most."""
    return next(metric for metric in catalog.task_metrics(connection, task.task_id) if metric.is_primary)


@dataclass(frozen=True)
class Said:
    """What the gold (`system` is None) or one run of a submission says of an item.

    `right` tells whether its answers are the gold's, neither more nor fewer; None for texts, and for the gold.
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


@dataclass(frozen=True)
class Shown:
    """One item: where it is, its text if it has one, and what is said of it, the gold first."""

    task: str
    test_set: str
    item: str
    metric: str
    text: str | None
    said: Sequence[Said]


def shown(connection: Connection, task: AnyRow, key: str) -> list[Shown]:
    """What everybody says of the item `key`, in every test set of the task that has it.

    Raises:
        UnknownNameError: None has it.
    """
    found, readings = [], Readings()
    for test_set in catalog.test_sets(connection, task.task_id):
        keys = catalog.item_keys(connection, test_set.gold_revision_id)
        if key in keys:
            item = readings.items(connection, test_set.gold_revision_id)[keys.index(key)]
            found.append(_shown(connection, readings, task, test_set, item, keys.index(key)))
    if not found:
        known = [k for test_set in catalog.test_sets(connection, task.task_id)
                 for k in catalog.item_keys(connection, test_set.gold_revision_id)]
        raise UnknownNameError("item", key, known)
    return found


def _shown(connection: Connection, readings: Readings, task: AnyRow, test_set: AnyRow, item: Item, at: int) -> Shown:
    first, _ = catalog.item_ids(connection, test_set.gold_revision_id)
    metric = primary_metric(connection, task)
    runs = connection.execute(text("""
        SELECT ranked.team, ranked.system, source.replicate, ranked.scoring_id, item_score.score
        FROM ranked_submission AS ranked
        JOIN submission_source AS source USING (submission_id)
        LEFT JOIN item_score
            ON item_score.scoring_id = ranked.scoring_id AND item_score.replicate = source.replicate
            AND item_score.item_id = :item AND item_score.metric = :metric
        WHERE ranked.test_set_id = :test_set AND ranked.scoring_id IS NOT NULL
        ORDER BY ranked.team, ranked.system, source.replicate"""),
        {"item": first + at, "metric": metric.alias, "test_set": test_set.test_set_id}).all()
    if isinstance(item.gold, dict):
        said = [Said("gold" if name == "gold" else f"gold {name}", None, None, None, text=reference)
                for name, reference in item.gold.items()]
        said += [Said("system", run.team, run.system, run.replicate, run.score,
                      text=_text(connection, readings, run, at)) for run in runs]
    else:
        said = _answers(connection, item, first + at, runs)
    of_tokens = " ".join(item.gold.tokens) if isinstance(item.gold, Tagged) else None
    return Shown(task.slug, test_set.name, item.key, metric.alias, of_tokens, said)


def _text(connection: Connection, readings: Readings, run: AnyRow, at: int) -> str | None:
    scoring = catalog.get(connection, models.scoring, scoring_id=run.scoring_id)
    answer = readings.answers(connection, scoring)[run.replicate][at]
    return None if answer is None else str(answer.value)


def _answers(connection: Connection, item: Item, item_id: int, runs: Sequence[AnyRow]) -> list[Said]:
    """What is said of an item that has answers."""
    known = {row.answer_id: row for row in connection.execute(
        models.answer.select().where(models.answer.c.item_id == item_id).order_by(models.answer.c.answer_id))}
    given: dict[tuple[int, int], set[int]] = {(run.scoring_id, run.replicate): set() for run in runs}
    response = models.response
    for row in connection.execute(response.select().where(response.c.answer_id.in_(list(known)))):
        if (row.scoring_id, row.replicate) in given:
            given[row.scoring_id, row.replicate].add(row.answer_id)
    gold = {answer_id for answer_id, row in known.items() if row.in_gold}

    def written(chosen: set[int]) -> list[str]:
        return [_written(item, known[answer_id]) for answer_id in known if answer_id in chosen]

    return [Said("gold", None, None, None, correct=written(gold))] + [
        Said("system", run.team, run.system, run.replicate, run.score, theirs == gold, written(theirs & gold),
             written(theirs - gold), written(gold - theirs))
        for run in runs for theirs in (given[run.scoring_id, run.replicate],)]


def _written(item: Item, answer: AnyRow) -> str:
    """An answer with its type and, where it is a span, its words."""
    parts = [answer.type, answer.key] if answer.type else [answer.key]
    if isinstance(item.gold, Tagged):
        start, _, end = answer.key.partition("-")
        parts.append(f"'{' '.join(item.gold.tokens[int(start) - 1:int(end)])}'")
    return " ".join(parts)


def _select(connection: Connection, sql: str, **values: Any) -> Rows:
    return [dict(row._mapping) for row in connection.execute(text(sql), values)]
