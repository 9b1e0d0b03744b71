"""Repeated runs: the score of each, how many a standing rests on and what a comparison takes them for."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "replicate_score",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.UniqueConstraint("scoring_id", "metric_id", "replicate")
    )
    op.execute("INSERT INTO replicate_score SELECT scoring_id, metric_id, 0, value FROM score")
    op.add_column("comparison", sa.Column("runs", sa.String(), server_default="fixed"))
    op.add_column("standing", sa.Column("runs", sa.Integer(), server_default="1"))
    op.add_column("standing", sa.Column("run_deviation", sa.Double()))
