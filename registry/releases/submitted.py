"""The submitted files of a release: each under the digest of its bytes, and a table that says whose they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection

from registry.errors import MismatchError
from registry.evaluation.verifying.faults import Fault
from registry.identity import digest
from registry.releases.tables import SUBMITTED
from registry.store import sources
from registry.store.rows import parquet_at

FOLDER = "submitted"
_PATH = f"data/{SUBMITTED}.parquet"
_NAME = re.compile(rf"{FOLDER}/[0-9a-f]{{64}}(\.[a-z0-9]+)?")


def write_submitted(connection: Connection, folder: Path) -> None:
    """Write the files that the table in `folder` names.

    Raises:
        MismatchError: A digest in the registry is none: as a name it could lead out of the folder.
    """
    (folder / FOLDER).mkdir()
    for file, of in connection.exec_driver_sql(
            f"SELECT DISTINCT file, digest FROM {parquet_at(folder / _PATH)} ORDER BY file").all():  # noqa: S608
        if not _NAME.fullmatch(file):
            raise MismatchError(f"{of}: not a digest of a kept file; `registry verify` names what was altered")
        (folder / file).write_bytes(sources.fetch(connection, of))


def verify_submitted(connection: Connection, folder: Path) -> Iterator[Fault]:
    """Hold the files against the table, and the table against the submissions; both may be absent."""
    there = {path.relative_to(folder).as_posix() for path in (folder / FOLDER).rglob("*") if path.is_file()}
    if not (folder / _PATH).is_file():
        for file in sorted(there):
            yield Fault("surplus", "file", file, f"{_PATH} is not there to say whose it is")
        return
    table, submissions = (parquet_at(folder / path) for path in (_PATH, "data/submissions.parquet"))
    named = set()
    for row in connection.exec_driver_sql(
            f"SELECT DISTINCT file, digest, n_bytes FROM {table} ORDER BY ALL"):  # noqa: S608
        named.add(row.file)
        if row.file not in there:
            yield Fault("missing", "file", row.file, f"{_PATH} names it, and it is not there")
            continue
        content = (folder / row.file).read_bytes()
        if digest(content) != row.digest or len(content) != row.n_bytes:
            yield Fault("altered", "file", row.file, f"its bytes are not those of the digest in {_PATH}")
    for file in sorted(there - named):
        yield Fault("surplus", "file", file, f"{_PATH} does not say whose it is")
    for row in connection.exec_driver_sql(f"""
            SELECT coalesce(s.test_set, f.test_set) AS test_set, coalesce(s.submission, f.submission) AS submission,
                coalesce(s.runs, 0) AS runs, coalesce(f.runs, 0) AS files
            FROM {submissions} AS s FULL JOIN (
                SELECT test_set, submission, count(DISTINCT run) AS runs FROM {table} GROUP BY ALL
            ) AS f ON (s.test_set, s.submission) = (f.test_set, f.submission)
            WHERE s.runs IS DISTINCT FROM f.runs ORDER BY ALL"""):  # noqa: S608
        yield Fault("altered", "submission", f"{row.test_set}/{row.submission}",
                    f"has {row.runs} runs, and {row.files} files of it are named in {_PATH}")
