"""Answers are found again by arrays as they are by a dictionary."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.evaluation.ingest.answer_ids import AnswerIds, Responses
from registry.store.statistics import KnownAnswers

FIRST_ITEM, FIRST_ID = 7, 100
ANSWERS = st.lists(st.tuples(st.integers(0, 4), st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "x"]))),
                   max_size=12, unique=True)


@settings(max_examples=60)
@given(ANSWERS, st.lists(st.lists(ANSWERS, min_size=1, max_size=2), max_size=6))
def test_every_answer_has_one_id_and_new_ones_follow_in_order(gold, submissions):
    known = {answer: (n, True) for n, answer in enumerate(gold, 1)}
    ids = AnswerIds(KnownAnswers(
        np.array([item + FIRST_ITEM for item, _ in gold], dtype=np.int32), [name[0] for _, name in gold],
        [name[1] for _, name in gold], np.arange(1, len(gold) + 1, dtype=np.int32), np.ones(len(gold), dtype=bool)),
        FIRST_ITEM)
    free = FIRST_ID
    for runs in submissions:
        new = [answer for answer in dict.fromkeys(answer for run in runs for answer in run) if answer not in known]
        known.update((answer, (free + n, False)) for n, answer in enumerate(new))
        found = ids.assign([responses(run) for run in runs], free)
        free += len(new)
        assert found.new == [(FIRST_ITEM + item, name) for item, name in new]
        assert list(zip(found.answer_ids, found.correct, strict=True)) == [known[answer] for run in runs
                                                                           for answer in run]


def responses(run):
    return Responses(np.array([item for item, _ in run], dtype=np.int64), [name for _, name in run],
                     np.arange(len(run)), np.full(len(run), np.nan))
