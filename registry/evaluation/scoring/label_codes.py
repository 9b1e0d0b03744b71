"""Assign numbers to labels, to store the statistics of the confusion family.

For each item, the statistics are two labels: the gold's label and the system's label. Metrics return a code for each
label. The code depends only on the name of the label, so digests use codes. The database stores a short number instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, select

from registry.arrays import Floats
from registry.errors import InputError, counted
from registry.evaluation.scoring.measure import MAX_LABELS, LabelNumbers
from registry.metrics.confusion import NO_LABEL, make_label_code
from registry.store import catalog, models
from registry.store.catalog import GoldRevisionRow
from registry.store.rows import insert_many, next_id


def load_labels(connection: Connection, gold_revision_id: int) -> LabelNumbers:
    """Load the numbers under which the database stores labels, by label.

    There is one set of numbers for each version of the gold, for the labels of the gold and of its submissions.
    """
    table = models.label
    query = select(table.c.name, table.c.label_id).where(table.c.gold_revision_id == gold_revision_id)
    return LabelNumbers({row.name: row.label_id for row in connection.execute(query)})


def add_labels(connection: Connection, gold_revision_id: int, codes: Sequence[Floats]) -> LabelNumbers:
    """Store new labels, and assign numbers to them.

    Names of the labels are found among the stored answers, because answers are stored before they are scored.

    Args:
        connection: Connection in a transaction.
        gold_revision_id: The version of the gold.
        codes: For each run an array of label codes, of any shape. A metric computes a code from the name of a label.

    Returns:
        The numbers of all labels of the version of the gold.

    Raises:
        InputError: There are more than `MAX_LABELS` labels, or no stored answer has the name of a code.
    """
    labels = load_labels(connection, gold_revision_id)
    used = {int(code) for run in codes for code in np.unique(run)} - {NO_LABEL}
    new = used - {make_label_code(name) for name in labels.numbers}
    if not new:
        return labels
    answers = select(models.answer.c.key).where(models.answer.c.gold_revision_id == gold_revision_id).distinct()
    names = sorted(name for name in connection.execute(answers).scalars() if make_label_code(name) in new)
    if len(names) < len(new):
        reader = catalog.get(connection, GoldRevisionRow, gold_revision_id=gold_revision_id).reader
        raise InputError(f"{counted(len(new) - len(names), 'label has', 'labels have')} no name among the stored "
                         f"answers; `answer_set` of the gold's reader, {reader}, and of the submission's reader must "
                         "return every label")
    if len(labels.numbers) + len(names) > MAX_LABELS:
        raise InputError(f"more than {MAX_LABELS} different labels, such as {names[0]!r}, are too many for a "
                         "metric by class; choose another metric")
    first = next_id(connection, models.label)
    numbers = {name: first + n for n, name in enumerate(names)}
    insert_many(connection, models.label, [
        {"label_id": number, "gold_revision_id": gold_revision_id, "name": name} for name, number in numbers.items()])
    return LabelNumbers(labels.numbers | numbers)
