"""Remarks: what makes the scores of a submission meaningless or surprising."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "remark",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
    )
