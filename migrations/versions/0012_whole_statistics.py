"""Whole numbers of the family ratio in a table of their own; what there is stays where it is."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None
renames = {"statistics_ratio": "statistics_ratio_decimal"}


def upgrade() -> None:
    op.rename_table("statistics_ratio", "statistics_ratio_decimal")
    op.create_table(
        "statistics_ratio_whole",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("numerator", sa.Integer(), nullable=False),
        sa.Column("denominator", sa.Integer(), nullable=False),
    )
