"""Statistics are kept as they were given, and counted in steps.

Of families that are not all counts, statistics were rounded before, and P@k was kept as a quotient: their scores have
no step, until they are computed anew.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("score", sa.Column("step", sa.Double(), nullable=True))
    op.execute("""
        UPDATE score SET step = 1 WHERE metric_id IN (
            SELECT metric_id FROM metric WHERE family IN ('prf', 'alignment', 'bleu', 'chrf', 'confusion'))""")
