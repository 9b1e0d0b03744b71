"""The answers to a test set, and who gave them with which score, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from registry.store import models
from registry.store.statistics import fetch_columns


@dataclass(frozen=True, eq=False)
class Given:
    """Every answer that the gold or a submission has, in the order of their ids.

    Attributes:
        items: The id of the item of each, [answers].
        item_keys: Its key.
        keys: Of the answers.
        types: Of the answers.
        in_gold: Whether the gold has it.
        given: Whether a submission gave it, [answers, submissions].
        scores: With which score, nan where it has none or was not given.
    """

    items: NDArray[np.int64]
    item_keys: list[str]
    keys: list[str]
    types: list[str]
    in_gold: NDArray[np.bool_]
    given: NDArray[np.bool_]
    scores: NDArray[np.float64]


def load_given(connection: Connection, gold_revision_id: int, scoring_ids: Sequence[int]) -> Given:
    """Load what the first runs of submissions, in the order wanted, say of the items of a gold revision."""
    answer, item, response = models.answer, models.item, models.response
    answers = fetch_columns(connection, (
        select(answer.c.answer_id, answer.c.item_id, item.c.key.label("item_key"), answer.c.key, answer.c.type,
               answer.c.in_gold)
        .join(item, item.c.item_id == answer.c.item_id)
        .where(answer.c.gold_revision_id == gold_revision_id).order_by(answer.c.answer_id)))
    responses = fetch_columns(connection, select(response.c.scoring_id, response.c.answer_id, response.c.score).where(
        response.c.scoring_id.in_(list(scoring_ids)), response.c.replicate == 0))
    rows = np.searchsorted(answers["answer_id"], responses["answer_id"])
    known, inverse = np.unique(responses["scoring_id"], return_inverse=True)
    columns = np.array([list(scoring_ids).index(int(scoring)) for scoring in known], dtype=np.int64)[inverse]
    given = np.zeros((len(answers["answer_id"]), len(scoring_ids)), dtype=bool)
    given[rows, columns] = True
    scores = np.full(given.shape, np.nan)
    scores[rows, columns] = np.ma.filled(responses["score"], np.nan)  # NULL comes masked
    kept = given.any(axis=1) | answers["in_gold"]
    item_keys, keys, types = ([str(text) for text in answers[name][kept]] for name in ("item_key", "key", "type"))
    return Given(answers["item_id"][kept].astype(np.int64), item_keys, keys, types, answers["in_gold"][kept],
                 given[kept], scores[kept])


def several_runs(connection: Connection, submission_ids: Sequence[int]) -> set[int]:
    """Those of the submissions that have more than one run."""
    table = models.submission_source
    query = select(table.c.submission_id).where(table.c.submission_id.in_(list(submission_ids)), table.c.replicate > 0)
    return {int(found) for found in connection.execute(query).scalars()}
