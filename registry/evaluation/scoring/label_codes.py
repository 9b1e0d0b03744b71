"""Labels of the confusion family: numbered when they are stored, counted by class when they are loaded.

An item's statistics are two labels, the gold's and a system's. Metrics give them as codes, which rest on their names
alone, as do digests; what is stored is short numbers, given as labels turn up, which mean nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, select

from registry.arrays import Floats
from registry.errors import InputError, counted
from registry.evaluation.scoring.measure import MOST, LabelNumbers
from registry.metrics.confusion import NO_LABEL, make_label_code
from registry.store import catalog, models
from registry.store.catalog import GoldRevisionRow
from registry.store.rows import insert_many, next_id


def stored_labels(connection: Connection, gold_revision_id: int) -> LabelNumbers:
    """The labels of a revision of the gold and of its submissions, as they are in the registry."""
    table = models.label
    query = select(table.c.name, table.c.label_id).where(table.c.gold_revision_id == gold_revision_id)
    return LabelNumbers({row.name: row.label_id for row in connection.execute(query)})


def with_new_labels(connection: Connection, gold_revision_id: int, codes: Sequence[Floats]) -> LabelNumbers:
    """Give the labels of a revision, numbering and keeping those of the statistics that are new.

    What a new one is called stands among the answers, which are stored before they are scored.

    Raises:
        InputError: There are more than `MOST` labels, or the answers do not name one.
    """
    labels = stored_labels(connection, gold_revision_id)
    used = {int(code) for of_run in codes for code in np.unique(of_run)} - {NO_LABEL}
    new = used - {make_label_code(name) for name in labels.numbers}
    if not new:
        return labels
    answers = select(models.answer.c.key).where(models.answer.c.gold_revision_id == gold_revision_id).distinct()
    names = sorted(name for name in connection.execute(answers).scalars() if make_label_code(name) in new)
    if len(names) < len(new):
        reader = catalog.get(connection, GoldRevisionRow, gold_revision_id=gold_revision_id).reader
        raise InputError(f"{counted(len(new) - len(names), 'label has', 'labels have')} no name among the answers that "
                         f"are stored; `answer_set` of the gold's reader, {reader}, and of the submission's must give "
                         "every label")
    if len(labels.numbers) + len(names) > MOST:
        raise InputError(f"more than {MOST} different labels, such as {names[0]!r}: measures by class are for classes")
    first = next_id(connection, models.label)
    numbers = {name: first + n for n, name in enumerate(names)}
    insert_many(connection, models.label, [
        {"label_id": number, "gold_revision_id": gold_revision_id, "name": name} for name, number in numbers.items()])
    return LabelNumbers(labels.numbers | numbers)
