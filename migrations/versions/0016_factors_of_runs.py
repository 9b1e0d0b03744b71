"""What tells the runs of a submission apart, where more does than their number: prompts, annotators."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "replicate_factor",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("factor", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.UniqueConstraint("submission_id", "replicate", "factor"))
