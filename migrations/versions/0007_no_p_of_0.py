"""No table changes: p-values of 0 without a logarithm, and comparisons that rest on them, are not found again.

They came of bootstraps that no resample reaches, and of t and chi-squared tests beyond the range of a number. They stay
as they were stored; the next `compare` computes them anew.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        UPDATE comparison SET digest = 'before 0007: ' || digest WHERE comparison_id IN (
            SELECT comparison_id FROM comparison_pair JOIN pair_result USING (pair_result_id)
            WHERE log10_p = '-infinity'::DOUBLE
            UNION ALL SELECT comparison_id FROM overall_result WHERE log10_p = '-infinity'::DOUBLE)""")
    op.execute("UPDATE pair_result SET digest = 'before 0007: ' || digest WHERE log10_p = '-infinity'::DOUBLE")
