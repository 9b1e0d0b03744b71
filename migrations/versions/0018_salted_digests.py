"""A salt for the digests of tasks that hide or have hidden names, scores or gold."""

import json
import secrets

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("task", sa.Column("salt", sa.String(), nullable=True))
    connection = op.get_bind()
    tasks = connection.execute(sa.text("SELECT task_id, slug, manifest, anonymous_until, blind_until FROM task")).all()
    hidden = set(connection.execute(sa.text("SELECT subject FROM event WHERE action = 'hide'")).scalars())
    for task in tasks:
        withholds_gold = not json.loads(task.manifest).get("release", {}).get("gold", True)
        if withholds_gold or task.slug in hidden or task.anonymous_until or task.blind_until:
            connection.execute(sa.text("UPDATE task SET salt = :salt WHERE task_id = :task_id"),
                               {"salt": secrets.token_hex(16), "task_id": task.task_id})
