"""The answers to a test set, and who gave them with which score, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select, text

from registry.arrays import Flags, Floats, Ints
from registry.errors import MismatchError
from registry.store import models
from registry.store.rows import driver_of
from registry.store.statistics import fetch_columns


@dataclass(frozen=True, eq=False)
class Responses:
    """Which answers submissions give, and with which scores.

    Attributes:
        given: [answers, submissions].
        scores: nan where an answer has none or is not given, [answers, submissions].
    """

    given: Flags
    scores: Floats


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers that are known of a gold revision, by their ids.

    Attributes:
        ids: Rising, [answers].
        items: The id of the item of each.
        names: Its item's key, its own key and its type.
        in_gold: Whether the gold has it.
    """

    ids: Ints
    items: Ints
    names: list[tuple[str, str, str]]
    in_gold: Flags


def load_responses(connection: Connection, scoring_ids: Sequence[int], answer_ids: Ints) -> Responses:
    """Load what each submission says in its first run of some answers; both in the order wanted."""
    response = models.response
    query = select(response.c.scoring_id, response.c.answer_id, response.c.score).where(
        response.c.scoring_id.in_(list(scoring_ids)), response.c.replicate == 0)
    loaded = fetch_columns(connection, query)
    rows, columns = (_places(wanted, loaded[name]) for wanted, name in (
        (answer_ids, "answer_id"), (np.array(scoring_ids), "scoring_id")))
    at = rows[rows >= 0], columns[rows >= 0]
    given = np.zeros((len(answer_ids), len(scoring_ids)), dtype=bool)
    given[at] = True
    scores = np.full(given.shape, np.nan)
    scores[at] = np.ma.filled(loaded["score"], np.nan)[rows >= 0]  # NULL comes masked
    return Responses(given, scores)


def load_correct(connection: Connection, gold_revision_id: int,
                 runs: Sequence[tuple[int, int]]) -> tuple[NDArray[np.uint64], int]:
    """Load what each run (a scoring and its replicate) gets right: gold answers, or items if items have no answers.

    Returns:
        A bit for each gold answer or item, [runs, words of 64], in an order that is the same for all runs; all other
        bits are 0. And how many gold answers or items there are.

    Raises:
        MismatchError: Items have no answers, and the scores of some run are not all 0 or 1.
    """
    has_answers = connection.execute(
        select(models.answer.c.answer_id).where(models.answer.c.gold_revision_id == gold_revision_id).limit(1)).first()
    if has_answers:
        answer, correct = models.answer.c, "SELECT scoring_id, replicate, answer_id AS id FROM response WHERE correct"
        ids = select(answer.answer_id.label("id")).where(answer.gold_revision_id == gold_revision_id, answer.in_gold)
    else:
        _require_binary(connection, [scoring_id for scoring_id, _ in runs])
        item, correct = models.item.c, "SELECT scoring_id, replicate, item_id AS id FROM correct_item"
        ids = select(item.item_id.label("id")).where(item.gold_revision_id == gold_revision_id)
    id_ = ids.subquery().c.id
    first, last, n = connection.execute(select(func.min(id_), func.max(id_), func.count())).one()
    if not n or not runs:
        return np.zeros((len(runs), 0), dtype=np.uint64), n
    words = (last - first) // 64 + 1
    scorings = [scoring_id for scoring_id, _ in runs]
    packed = driver_of(connection).execute(f"""
        SELECT scoring_id, replicate, bitstring_agg(id, {first}, {first + 64 * words - 1})::BLOB
        FROM ({correct})
        WHERE scoring_id BETWEEN {min(scorings)} AND {max(scorings)} AND id BETWEEN {first} AND {last}
        GROUP BY ALL""").fetchall()  # noqa: S608
    rows = {(scoring_id, replicate): np.frombuffer(bits, dtype=np.uint64) for scoring_id, replicate, bits in packed}
    none = np.zeros(words, dtype=np.uint64)
    return np.stack([rows.get(run, none) for run in runs]), n


def _require_binary(connection: Connection, scoring_ids: Sequence[int]) -> None:
    """Refuse scorings whose items are neither correct nor incorrect."""
    binary = set(connection.execute(text("SELECT scoring_id FROM binary_scoring")).scalars())
    if not binary.issuperset(scoring_ids):
        raise MismatchError("the items are neither correct nor incorrect: they have no answers, and not all scores by "
                            "the primary metric are 0 or 1; the view item_score has the score of each")


def load_named_answers(connection: Connection, gold_revision_id: int) -> Answers:
    """Load every known answer of a gold revision with its names."""
    answer, item = models.answer, models.item
    loaded = fetch_columns(connection, (
        select(answer.c.answer_id, answer.c.item_id, item.c.key.label("item_key"), answer.c.key, answer.c.type,
               answer.c.in_gold)
        .join(item, item.c.item_id == answer.c.item_id)
        .where(answer.c.gold_revision_id == gold_revision_id).order_by(answer.c.answer_id)))
    names = list(zip(*(map(str, loaded[name].tolist()) for name in ("item_key", "key", "type")), strict=True))
    return Answers(loaded["answer_id"].astype(np.int64), loaded["item_id"].astype(np.int64), names, loaded["in_gold"])


def _places(wanted: Ints, found: NDArray[Any]) -> Ints:
    """Where each of the ids that were found stands among those wanted, -1 where it is not among them."""
    places = np.full(1 + max(wanted.max(initial=0), found.max(initial=0)), -1, dtype=np.int64)
    places[wanted] = np.arange(len(wanted))
    return np.asarray(places[found])


def several_runs(connection: Connection, submission_ids: Sequence[int]) -> set[int]:
    """Those of the submissions that have more than one run."""
    table = models.submission_source
    query = select(table.c.submission_id).where(table.c.submission_id.in_(list(submission_ids)), table.c.replicate > 0)
    return {int(found) for found in connection.execute(query).scalars()}
