"""Boards by single responses, for tests that look at what one system gives and another does not."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError
from registry.evaluation.boards import Board
from registry.families import FAMILIES
from registry.identity import canonical_json, digest_array
from registry.significance import StatisticMatrix
from registry.store import catalog, statistics
from registry.store.responses import load_responses

_COLUMNS = FAMILIES["prf"].columns


def by_response(connection: Connection, board: Board) -> Board:
    """The same board with every distinct answer, of the gold or of a system, as a row of its statistics.

    Answers are in the order of their digests, which depends on nothing else.

    Raises:
        InputError: The metric does not count distinct answers, or a system has several runs.
    """
    place, matrix = board.place, board.matrix
    if max(len(scores) for scores in board.run_scores) > 1:
        raise InputError(f"{place.name}: single responses are not averaged over runs; set unit = \"item\"")
    first, _ = catalog.item_ids(connection, place.gold.gold_revision_id)
    items = catalog.item_keys(connection, place.gold.gold_revision_id)
    kept = {first + n for n in board.items}
    types = board.metric.types()
    answers = {answer_id: (items[item_id - first], key, type_, in_gold)
               for (item_id, key, type_), (answer_id, in_gold) in
               statistics.load_answers(connection, place.gold.gold_revision_id).items()
               if item_id in kept and type_ in (types or (type_,))}
    digests = {answer_id: hashlib.sha256(canonical_json(said).encode()).digest() for answer_id, said in answers.items()}
    ids = np.array(sorted(digests, key=digests.__getitem__), dtype=np.int64)
    contents = np.frombuffer(b"".join(digests[n] for n in ids.tolist()), dtype=np.uint8).reshape(len(ids), -1)
    in_gold = np.array([answers[n][3] for n in ids.tolist()], dtype=bool)
    belongs = [answers[n][0] for n in ids.tolist()]
    given = load_responses(connection, [m.scoring_id for m in board.members], ids).given
    rows = np.zeros((len(ids), len(board.members), len(_COLUMNS)))
    rows[:, :, 0], rows[:, :, 1], rows[:, :, 2] = given & in_gold[:, None], given, in_gold[:, None]
    if matrix.family != "prf" or not np.array_equal(rows.sum(axis=0), matrix.statistics.sum(axis=0)):
        raise InputError(f"{place.name}: {board.metric!r} does not count distinct answers; set unit = \"item\", or "
                         "take permutation")
    return replace(
        board, digests=[digest_array(contents[given[:, n] | in_gold]) + digest_array(given[given[:, n] | in_gold, n])
                        for n in range(len(board.members))],
        matrix=StatisticMatrix(rows, matrix.score, lower_is_better=matrix.lower_is_better, quotient=matrix.quotient,
                               family=matrix.family, answers_to=np.unique(belongs, return_inverse=True)[1]))
