"""Digests of what tables hold, for the log: of columns from which nothing secret can be guessed.

Most columns follow from kept files, or the log names them. Numbers of rows and runs, times, flags and settings do not,
so a command logs a digest of them when it ends. Names of participants, scores, answers and digests of these are left
out: somebody who may not see them could confirm a guess by the digest, and a purge could not take it back. Tables with
a row per item or pair are left out, too: `registry verify` derives them again, and they may be large.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import BigInteger, Boolean, Connection, DateTime, Integer, SmallInteger

from registry.store import models
from registry.submission_fields import SUBMISSION_FIELDS

_SAFE = (BigInteger, Boolean, DateTime, Integer, SmallInteger)  # types of columns that nothing can be guessed from
_TEXTS = {  # by table: other columns, of what tasks declare and of settings
    "task": (), "test_set": ("name", "cluster_attribute"), "gold_revision": ("task_version", "reader"),
    "gold_source": ("role", "reader"), "track": ("name",), "team": (), "system": (),
    "submission": [field.column for field in SUBMISSION_FIELDS if field.type == "setting"], "submission_source": (),
    "replicate_factor": ("factor",),
    "tombstone": (), "scoring": ("missing",), "metric": ("name", "family", "better"), "task_metric": ("alias",),
    "score": (), "source": (), "tested_statistics": (), "study": (),
    "pair_request": ("metric", "test", "alternative", "interval", "confidence", "runs"),
    "comparison": ("facet", "alias", "test", "alternative", "unit", "alpha", "correction", "interval", "confidence",
                   "runs"),
}
_LENGTH = 32  # hexadecimal digits

TableDigests = Mapping[str, str]


def columns_of(table: str) -> list[str]:
    """The columns of a table that its digest covers; none if the table has no digest."""
    if table not in _TEXTS:
        return []
    return [column.name for column in models.metadata.tables[table].columns
            if isinstance(column.type, _SAFE) or column.name in _TEXTS[table]]


def table_digests(connection: Connection) -> TableDigests:
    """Return the digests of tables, which do not depend on the order of rows."""
    found = connection.exec_driver_sql(" UNION ALL ".join(map(_digest, _TEXTS)))
    return {table: digest[:_LENGTH] for table, digest in found}


def _digest(table: str) -> str:
    columns = ", ".join(f'"{name}"' for name in columns_of(table))
    return (f"SELECT '{table}', sha256(coalesce(string_agg(line, '\n' ORDER BY line), '')) "  # noqa: S608 - names
            f"FROM (SELECT json_array({columns})::VARCHAR AS line FROM main.\"{table}\")")
