"""All tables, views and macros, with their comments, as `registry/store` declares them.

No version is released yet, so no registry has to be upgraded: a change of the declarations changes this migration, and
`schema.REVISION` names it. Release 0.2.0 freezes it into explicit operations. From then on every change of the schema
is a migration of its own.
"""

from alembic import op

from registry.store import schema

revision = schema.REVISION
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    schema.create(op.get_bind())
