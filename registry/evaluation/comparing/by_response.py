"""Boards by single responses, for tests that look at what one system gives and another does not."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection

from registry.errors import InputError
from registry.evaluation.comparing.board_statistics import Board
from registry.families import FAMILIES
from registry.identity import canonical_json, digest_array
from registry.metrics.sets import MatchMetric
from registry.significance import StatisticMatrix
from registry.significance.matrix import additive
from registry.store import catalog
from registry.store.statistics import load_named_answers, load_responses

_COLUMNS = FAMILIES["prf"].columns


def by_response(connection: Connection, board: Board) -> Board:
    """The same board with every distinct answer, of the gold or accepted by a system, as a row of its statistics.

    Answers are in the order of their digests, which depends on nothing else.

    Raises:
        InputError: The metric does not count distinct answers, or a system has several runs.
    """
    key, matrix, metric = board.key, board.matrix, board.metric
    if max(len(scores) for scores in board.run_scores) > 1:
        raise InputError(f"{key.name}: single responses are not averaged over runs; take permutation")
    uncounted = InputError(f"{key.name}: {metric!r} does not count distinct answers; take permutation")
    if not isinstance(metric, MatchMetric):
        raise uncounted
    first, _ = catalog.item_ids(connection, key.gold.gold_revision_id)
    answers, types = load_named_answers(connection, key.gold.gold_revision_id), metric.types()
    typed = np.flatnonzero(np.array([type_ in (types or (type_,)) for _, _, type_ in answers.names], dtype=bool))
    responses = load_responses(connection, [m.scoring_id for m in board.members], answers.ids[typed])
    accepted = metric.acceptance([answers.names[n] for n in typed.tolist()], responses.given, responses.scores)
    there = np.isin(answers.items[typed], first + board.items) & (answers.in_gold[typed] | accepted.any(axis=1))
    kept, accepted = typed[there], accepted[there]
    digests = [hashlib.sha256(canonical_json([*answers.names[n], bool(answers.in_gold[n])]).encode()).digest()
               for n in kept.tolist()]
    order = np.array(sorted(range(len(digests)), key=digests.__getitem__), dtype=np.int64)
    contents = np.frombuffer(b"".join(sorted(digests)), dtype=np.uint8).reshape(-1, 32)
    given, in_gold = accepted[order], answers.in_gold[kept[order]]
    items = np.unique(answers.items[kept[order]], return_inverse=True)[1]
    rows = np.zeros((len(order), len(board.members), len(_COLUMNS)))
    rows[:, :, 0], rows[:, :, 1], rows[:, :, 2] = given & in_gold[:, None], given, in_gold[:, None]
    if not np.array_equal(rows.sum(axis=0), matrix.statistics.sum(axis=0)):
        raise uncounted
    return replace(
        board, digests=[digest_array(contents[given[:, n] | in_gold]) + digest_array(given[given[:, n] | in_gold, n])
                        for n in range(len(board.members))],
        matrix=StatisticMatrix(rows, additive(matrix).score, lower_is_better=matrix.lower_is_better,
                               quotient=matrix.quotient, family=matrix.family, answers_to=items,
                               score_range=matrix.score_range))
