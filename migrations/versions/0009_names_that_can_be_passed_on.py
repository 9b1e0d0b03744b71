"""Files by their names within a task, the platform by system and processor, and nobody named who did not ask for it.

Until now files were recorded by the paths that were typed, the platform with its kernel, and every event with the
account that the program ran under.
"""

import json
import re
from pathlib import PurePath
from posixpath import dirname, normpath, relpath

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None
changes = {"event": ("actor",), "run": ("parameters", "inputs", "environment"), "source": ("name",),
           "submission_source": ("name",)}

_PROCESSOR = re.compile(r"(?<![^-])(x86_64|amd64|aarch64|arm64|armv\dl?|i[3-6]86|ppc64le|s390x|riscv64)(?![^-])", re.I)


def upgrade() -> None:
    op.alter_column("event", "actor", existing_type=sa.String(), nullable=True)
    connection = op.get_bind()
    connection.execute(sa.text("UPDATE event SET actor = NULL"))
    runs = {row.run_id: [json.loads(value) for value in row[1:]] for row in connection.execute(sa.text(
        "SELECT run_id, parameters, inputs, environment FROM run"))}
    folders = {folder for parameters, _, _ in runs.values() for folder in _folders(parameters)}
    for run_id, (parameters, inputs, environment) in runs.items():
        for key in {"manifest", "path"} & parameters.keys():
            parameters[key] = PurePath(parameters[key]).name
        if "file" in parameters:
            parameters["file"] = ", ".join(PurePath(path).name for path in parameters["file"].split(", "))
        environment["platform"] = _platform(environment.get("platform", ""))
        _update(connection, "run", {"run_id": run_id}, parameters=_json(parameters), environment=_json(environment),
                inputs=_json(_distinct((_name(path, folders), digest) for path, digest in inputs.items())))
    for table, key in (("source", ["digest"]), ("submission_source", ["submission_id", "replicate"])):
        rows = connection.execute(sa.text(f"SELECT name, {', '.join(key)} FROM {table}")).all()  # noqa: S608
        for row in rows:
            _update(connection, table, {column: row._mapping[column] for column in key}, name=_name(row.name, folders))


def _folders(parameters):
    """The folders that a run's files were recorded in: that of the manifest, or what was imported."""
    if "manifest" in parameters:
        yield normpath(dirname(parameters["manifest"]))
    if "path" in parameters:
        yield normpath(parameters["path"])


def _name(path, folders):
    """The path within the deepest of the folders that it is in, else the file's name alone."""
    within = [relpath(path, folder) for folder in folders if path.startswith("/") == folder.startswith("/")]
    inside = [name for name in within if name != "." and not name.startswith("../")]
    return min(inside, key=len, default=PurePath(path).name)


def _distinct(named):
    """Number files that are now called alike."""
    found = {}
    for name, digest in named:
        numbered, n = name, 1
        while found.setdefault(numbered, digest) != digest:
            n += 1
            numbered = f"{name} ({n})"
    return found


def _platform(text):
    """System and processor of what `platform.platform()` gave, as `Linux-6.8.0-x86_64-with-glibc2.36`."""
    processor = _PROCESSOR.search(text)
    system = {"macOS": "Darwin"}.get(text.partition("-")[0], text.partition("-")[0])
    return f"{system} {processor[1]}" if processor else system


def _json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _update(connection, table, key, **values):
    settings, conditions = (mark.join(f"{name} = :{name}" for name in names) for mark, names in (
        (", ", values), (" AND ", key)))
    connection.execute(sa.text(f"UPDATE {table} SET {settings} WHERE {conditions}"), values | key)  # noqa: S608
