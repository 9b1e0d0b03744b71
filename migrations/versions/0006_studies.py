"""Studies: what was found, and the parts of those that are not finished."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "study",
        sa.Column("study_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("result", sa.String(), nullable=False),
        sa.Column("signature", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "study_part",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("result", sa.String(), nullable=False),
        sa.UniqueConstraint("digest", "key"),
    )
