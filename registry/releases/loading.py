"""A release as a registry: what its tables hold, under new numbers, in the tables of a database.

What `loading/<order>_<table>.sql` says brings in one table. So boards, pages and comparisons are made of a release by
the code that makes them of any registry. What a release does not tell, such as the files of submissions, is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import Connection

from registry.errors import InputError
from registry.families import FAMILIES
from registry.identity import canonical_json, digest
from registry.manifest import read_manifest
from registry.metrics.confusion import NO_LABEL
from registry.store import models
from registry.store.files import FAILURES, cause_of
from registry.store.log import append
from registry.store.rows import driver_of, insert, insert_many, parquet_at
from registry.submission_fields import SUBMISSION_FIELDS

_WRONG = (  # what kinds of errors say of a table of a release
    (duckdb.BinderException, "its columns, or those of a table that it refers to, are not those of a release"),
    (duckdb.CatalogException, "it refers to a table that is not there"),
    ((duckdb.ConversionException, duckdb.OutOfRangeException), "a value is not of the column's type"),
    (duckdb.ConstraintException, "a row is there twice, is without a value, or refers to one that is not there"),
    ((duckdb.InvalidInputException, duckdb.IOException), "it is damaged, or no Parquet file"),
)

ACTION = "release"  # in the log of a registry that was made of a release

_STATISTICS = """
    INSERT INTO "{table}" (scoring_id, metric_id, replicate, item_id, {names})
    SELECT s.submission_id, m.metric_id, of.run, i.item_id, {columns}
    FROM data_statistics_{family} AS of
    JOIN known_submission AS s USING (test_set, submission)
    JOIN known_item AS i ON i.test_set = of.test_set AND i.item = of.item
    JOIN task_metric AS m ON m.alias = of.metric{labels}
    ORDER BY ALL"""
_LABELS = """
    LEFT JOIN label AS of_gold ON of_gold.name = of.gold AND of_gold.gold_revision_id = s.test_set_id
    LEFT JOIN label AS of_system ON of_system.name = of.predicted AND of_system.gold_revision_id = s.test_set_id"""


def load(connection: Connection, folder: Path, told: dict[str, Any]) -> None:
    """Bring the release in `folder` into a new registry.

    Args:
        connection: To the registry, in a transaction.
        folder: The release.
        told: What its `release.json` says.

    Raises:
        ManifestError: Its manifest is none.
        InputError: Its tables are not those of a release.
    """
    statements = {path.stem.partition("_")[2]: path.read_text("utf-8")
                  for path in sorted((Path(__file__).parent / "loading").glob("*.sql"))}
    statements["submissions"] = statements["submissions"].replace("{facts}", ", ".join(
        field.column for field in SUBMISSION_FIELDS if field.is_released and field.name != "track"))
    statements |= {f"statistics_{family}": _statistics(family) for family in FAMILIES}
    if not (folder / "data" / "boards.parquet").is_file():
        raise InputError("is missing; every release has it", path=Path("data/boards.parquet"))
    # no other file's name goes into SQL
    there = [name for name in statements if (folder / "data" / f"{name}.parquet").is_file()]
    for name in there:
        with _bringing_in(name):
            connection.exec_driver_sql(
                f'CREATE TEMP VIEW "data_{name}" AS FROM {parquet_at(folder / "data" / f"{name}.parquet")}')
    _begin(connection, folder / "manifest.toml", told)
    for name in there:
        with _bringing_in(name):
            driver_of(connection).execute(statements[name])
    for name in there:
        connection.exec_driver_sql(f'DROP VIEW "data_{name}"')


@contextmanager
def _bringing_in(table: str) -> Iterator[None]:
    """Say which file is wrong, and how, where DuckDB cannot bring in a table."""
    try:
        yield
    except FAILURES as error:
        for kinds, why in _WRONG:
            if isinstance(cause_of(error), kinds):
                raise InputError(why, path=Path("data") / f"{table}.parquet") from None
        raise


def _begin(connection: Connection, path: Path, told: dict[str, Any]) -> None:
    """Make the rows of the task and of the release itself, which all others refer to."""
    if not path.is_file():
        raise InputError("is missing, or no plain file; every release has it", path=Path(path.name))
    manifest = read_manifest(path.read_bytes(), path)
    stored = canonical_json(manifest.model_dump(mode="json", exclude={"submit"}))
    with _bringing_in("boards"):
        newest = connection.exec_driver_sql("""
            SELECT compared_at, code_version, environment FROM data_boards
            ORDER BY compared_at DESC, board LIMIT 1""").first()
    if newest is None:
        raise InputError("has no rows", path=Path("data/boards.parquet"))
    insert(connection, models.run, command=ACTION, parameters=canonical_json(told), inputs="{}",
           started_at=newest.compared_at, ended_at=newest.compared_at, code_version=newest.code_version,
           code_revision=None, code_dirty=None, environment=newest.environment)
    insert(connection, models.task, slug=manifest.task.id, title=manifest.task.title, version=manifest.task.version,
           manifest=stored, manifest_digest=digest(stored.encode()), seed=manifest.significance.seed or 0,
           created_at=newest.compared_at)
    insert_many(connection, models.publication, [
        {"published_at": newest.compared_at, "has_sources": False, "program": told.get("program", "")}])
    append(connection, [{"run_id": 1, "at": newest.compared_at, "actor": None, "action": ACTION,
                         "subject": manifest.task.id, "details": canonical_json(told)}])


def _statistics(family: str) -> str:
    """The statement that brings in the statistics of a family."""
    names, labels = FAMILIES[family].columns, ""
    columns = [f'of."{name}"' for name in names]
    if family == "confusion":
        labels = _LABELS
        columns = [f"coalesce({side}.label_id, {NO_LABEL})" for side in ("of_gold", "of_system")]
    return _STATISTICS.format(table=models.statistics[family].name, names=", ".join(f'"{name}"' for name in names),
                              columns=", ".join(columns), family=family, labels=labels)
