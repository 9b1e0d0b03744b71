"""What it takes to make a comparison again, and the log as a chain of hashes."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.get_bind().commit()  # DuckDB adds no column to a table of which this transaction has changed rows
    op.add_column("event", sa.Column("hash", sa.String(), nullable=True))
    op.add_column("comparison", sa.Column("request", sa.String(), nullable=True))
    op.add_column("standing", sa.Column("scoring_id", sa.Integer(), nullable=True))
    op.add_column("standing", sa.Column("kind", sa.String(), nullable=True))
    op.add_column("standing", sa.Column("late", sa.Boolean(), nullable=True))
