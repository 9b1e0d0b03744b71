"""No table changes: views and macros of regions came, and an upgrade is what makes those of a database anew."""

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
