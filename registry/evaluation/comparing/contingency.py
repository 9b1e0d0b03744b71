"""Contingency tables of all pairs of runs on a test set.

The SQL view `pair_contingency` has the same tables, but is slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from registry.significance.effects import Contingencies, count_contingencies
from registry.store.statistics import load_correct


@dataclass(frozen=True)
class PairContingencies:
    """Contingency tables of correct answers, for all pairs of system outputs.

    Attributes:
        runs: For each output, the full name of its submission and the number of the run.
        tables: For each pair, how often both outputs, only the first, only the second, or neither are correct.
    """

    runs: Sequence[tuple[str, int]]
    tables: Contingencies


def count_pair_contingencies(connection: Connection, test_set_id: int) -> PairContingencies:
    """Make contingency tables of correct answers, for all pairs of system outputs.

    A table has the numbers of gold answers that both outputs, only the first, only the second, or neither have. If each
    item has a score of 0 or 1, the table counts items.

    Raises:
        MismatchError: The items have other scores than 0 and 1.
    """
    runs = connection.execute(text("""
        SELECT ranked.name, source.replicate, ranked.scoring_id, ranked.gold_revision_id
        FROM ranked_submission AS ranked
        JOIN submission_source AS source USING (submission_id)
        WHERE ranked.test_set_id = :test_set AND ranked.scoring_id IS NOT NULL
        ORDER BY ranked.submission_id, source.replicate"""), {"test_set": test_set_id}).all()
    gold_revision_id = runs[0].gold_revision_id if runs else 0  # revision 0 has no items
    correct, n = load_correct(connection, gold_revision_id, [(run.scoring_id, run.replicate) for run in runs])
    return PairContingencies([(run.name, run.replicate) for run in runs], count_contingencies(correct, n))
