"""How long the names of a task's participants, and its scores, are hidden."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.get_bind().commit()  # DuckDB adds no column to a table of which this transaction has changed rows
    op.add_column("task", sa.Column("anonymous_until", sa.DateTime(), nullable=True))
    op.add_column("task", sa.Column("blind_until", sa.DateTime(), nullable=True))
    op.add_column("study", sa.Column("is_anonymous", sa.Boolean(), server_default="false"))
