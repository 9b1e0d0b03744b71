"""What tests say beside p: their own statistic, whether Monte Carlo decides, and tests of all systems at once."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("pair_result", sa.Column("statistic", sa.Double(), nullable=True))
    op.add_column("pair_result", sa.Column("favours", sa.SmallInteger(), nullable=True))
    op.add_column("comparison_pair", sa.Column("is_resolved", sa.Boolean(), nullable=True))
    op.create_table(
        "overall_result",
        sa.Column("comparison_id", sa.Integer(), nullable=False),
        sa.Column("test", sa.String(), nullable=False),
        sa.Column("statistic", sa.Double(), nullable=False),
        sa.Column("degrees", sa.Integer(), nullable=False),
        sa.Column("p_value", sa.Double(), nullable=False),
        sa.Column("log10_p", sa.Double(), nullable=False),
        sa.UniqueConstraint("comparison_id")
    )
