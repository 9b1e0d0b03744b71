"""Words of the log and parameters of runs by salted digests, so that a purge can take them away; tombstones; and what
manifests declared last.

All entries of the log are hashed anew. Heads that were published before do not carry over.
"""

import hashlib
import json
import secrets

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None
changes = {"event": ("hash",)}

_RUN = ("command", "digest", "started_at", "code_version", "code_revision", "code_dirty", "environment")
_EVENT = ("event_id", "run_id", "at", "action", "digest")
# Until now only manifests could change these, so they are what was declared; `submit` declares nothing.
_DECLARED = """
    SELECT submission_id, kind, track.name AS track, withdrawn, late, attributes
    FROM submission LEFT JOIN track USING (track_id) JOIN run ON run.run_id = submission.run_id
    WHERE command <> 'submit'"""


def upgrade() -> None:
    connection = op.get_bind()
    connection.commit()  # DuckDB adds no column to a table of which this transaction has changed rows
    for table in ("run", "event"):
        op.add_column(table, sa.Column("salt", sa.String(), nullable=True))
        op.add_column(table, sa.Column("digest", sa.String(), nullable=True))
    op.add_column("submission", sa.Column("declared", sa.String(), nullable=True))
    op.create_table(
        "tombstone",
        sa.Column("tombstone_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("salt", sa.String(), nullable=False),
        sa.Column("names", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("tombstone_id"),
        sa.UniqueConstraint("team_id"),
    )
    connection.commit()
    of_runs = _of_runs(connection)
    _hash(connection, of_runs)
    _update(connection, "submission", "submission_id", ("declared",), [
        (row.submission_id, _json({**row._mapping, "attributes": json.loads(row.attributes)}, without="submission_id"))
        for row in connection.execute(sa.text(_DECLARED)).all()])


def _of_runs(connection):
    """Give every run's parameters their digest; gives the digests of the runs."""
    of_runs, rows = {}, []
    for row in connection.execute(sa.text("SELECT * FROM run ORDER BY run_id")).mappings().all():
        salt = secrets.token_hex(16)
        digest = _digest([salt, row["parameters"]])
        rows.append((row["run_id"], salt, digest))
        of_runs[row["run_id"]] = _digest([str((dict(row) | {"digest": digest})[name]) for name in _RUN])
    _update(connection, "run", "run_id", ("salt", "digest"), rows)
    return of_runs


def _hash(connection, of_runs):
    """Chain all entries of the log."""
    before, rows = None, []
    for row in connection.execute(sa.text("SELECT * FROM event ORDER BY event_id")).mappings().all():
        salt = secrets.token_hex(16)
        digest = _digest([salt, row["actor"], row["subject"], row["details"]])
        entry = dict(row) | {"digest": digest}
        before = _digest([before, of_runs.get(row["run_id"]), *(str(entry[name]) for name in _EVENT)])
        rows.append((row["event_id"], salt, digest, before))
    _update(connection, "event", "event_id", ("salt", "digest", "hash"), rows)


def _update(connection, table, key, columns, rows):
    """Set columns of many rows, each given with its key first, in one statement."""
    if not rows:
        return
    driver = connection.connection.driver_connection
    texts = ", ".join(f"{column} VARCHAR" for column in columns)
    driver.execute(f"CREATE TEMP TABLE new_values ({key} INTEGER, {texts})")
    given = ", ".join(f"unnest(${n}) AS c{n}" for n in range(1, len(columns) + 2))
    driver.execute(f"INSERT INTO new_values SELECT {given}", list(map(list, zip(*rows))))  # noqa: B905
    values = ", ".join(f"{column} = new_values.{column}" for column in columns)
    driver.execute(f"UPDATE {table} SET {values} FROM new_values WHERE {table}.{key} = new_values.{key}")  # noqa: S608
    driver.execute("DROP TABLE new_values")


def _digest(value):
    return "sha256:" + hashlib.sha256(_json(value).encode()).hexdigest()


def _json(value, without=None):
    value = value if without is None else {name: of for name, of in value.items() if name != without}
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
