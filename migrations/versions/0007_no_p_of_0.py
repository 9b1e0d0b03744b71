"""No table changes: what rests on bootstraps that no resample may have reached is not found again.

These are p-values of 0 without a logarithm (some t and chi-squared tests had them, too), and those of draws of which
none was as extreme as what was observed. They stay as they were stored; the next `compare` computes them anew.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None
changes = {"comparison": ("digest",), "pair_result": ("digest",)}


def upgrade() -> None:
    op.execute("""
        CREATE TEMPORARY TABLE doubtful AS SELECT pair_result_id FROM pair_result WHERE log10_p = '-infinity'::DOUBLE
        OR (starts_with(test, 'bootstrap') AND method = 'monte-carlo' AND p_value * (resamples + 1) < 1.5)""")
    op.execute("""
        UPDATE comparison SET digest = 'before 0007: ' || digest WHERE comparison_id IN (
            SELECT comparison_id FROM comparison_pair JOIN doubtful USING (pair_result_id)
            UNION ALL SELECT comparison_id FROM overall_result WHERE log10_p = '-infinity'::DOUBLE)""")
    op.execute("""
        UPDATE pair_result SET digest = 'before 0007: ' || digest
        WHERE pair_result_id IN (SELECT pair_result_id FROM doubtful)""")
    op.execute("DROP TABLE doubtful")
