"""Tables of a release.

This module writes the tables from a registry, and loads them into a new registry.

Each table has a file `tables/<order>_<table>.sql` with one SELECT. The comment at the beginning of the file describes
the table and, after a line with only `--`, each column. The file `loading/<order>_<table>.sql` inserts the table into a
registry. The statistics of each statistics family are one more table. Rows contain names instead of ids, and are sorted
by these names, so equal boards give equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import Connection

from registry.boards.stale import find_outdated
from registry.errors import InputError, MismatchError
from registry.families import FAMILIES
from registry.identity import canonical_json, digest
from registry.manifest import read_manifest
from registry.metrics.confusion import NO_LABEL
from registry.publication.tables import USED_ATTRIBUTES
from registry.store import models
from registry.store.catalog import TaskRow
from registry.store.files import FAILURES, explaining, unwrap_error
from registry.store.log import append
from registry.store.rows import get_driver, insert, insert_many, make_parquet_sql, quote
from registry.store.schema import View, parse_sql_file
from registry.submission_fields import SUBMISSION_FIELDS

SUBMITTED = "submitted_files"
ITEM_TABLES = ("items", "item_attributes", "answers", "responses", "labels", "messages")  # next to the statistics

_SCOPE = """
    SET VARIABLE released_task = {task};
    CREATE TEMP TABLE released_board AS
        SELECT row_number() OVER (ORDER BY test_set_position, l.test_set, l.track NULLS FIRST, l.facet NULLS FIRST,
                metric_position) AS board,
            l.*, comparison.request, gold.digest AS gold, gold.n_items AS n_gold_items,
            test_set.cluster_attribute AS cluster, l.created_at AS compared_at, run.code_version, run.environment
        FROM latest_comparison AS l
        JOIN comparison USING (comparison_id)
        JOIN gold_revision AS gold ON gold.gold_revision_id = l.gold_revision_id
        JOIN test_set ON test_set.test_set_id = l.test_set_id
        JOIN run ON run.run_id = l.run_id
        WHERE l.task = (SELECT slug FROM task WHERE task_id = {task});
    CREATE TEMP TABLE released_gold AS SELECT DISTINCT gold_revision_id, test_set FROM released_board;
    CREATE TEMP TABLE released_attribute AS SELECT DISTINCT name FROM ({used_attributes}) WHERE task_id = {task};
    CREATE TEMP TABLE released_metric AS
        SELECT metric_id, arg_min(alias, position) AS metric, min(position) AS position
        FROM task_metric WHERE task_id = {task} AND is_declared GROUP BY metric_id;
    CREATE TEMP TABLE released_submission AS
        SELECT DISTINCT b.test_set, team.name || '/' || system.name || '@' || s.version AS submission,
            team.name AS team, system.name AS system, track.name AS track, {facts}, scoring.n_missing, s.submission_id,
            standing.scoring_id,
            (SELECT count(*) FROM submission_source AS of WHERE of.submission_id = s.submission_id) AS runs
        FROM standing
        JOIN released_board AS b USING (comparison_id)
        JOIN scoring USING (scoring_id)
        JOIN submission AS s ON s.submission_id = standing.submission_id
        JOIN system ON system.system_id = s.system_id
        JOIN team ON team.team_id = system.team_id
        LEFT JOIN track ON track.track_id = s.track_id"""
_AMBIGUOUS = """
    SELECT submission FROM released_submission GROUP BY test_set, submission HAVING count(*) > 1
    UNION ALL SELECT test_set FROM released_gold GROUP BY test_set HAVING count(*) > 1"""
_STATISTICS = """
    SELECT s.test_set, s.submission, m.metric, of_item.replicate AS run, item.key AS item, {columns}
    FROM "statistics_{family}" AS of_item
    JOIN released_submission AS s USING (scoring_id)
    JOIN released_metric AS m USING (metric_id)
    JOIN item USING (item_id){labels}
    ORDER BY s.test_set, m.position, s.submission, run, item.position"""
_LABELS = """
    LEFT JOIN label AS of_gold ON of_gold.label_id = gold_label
    LEFT JOIN label AS of_system ON of_system.label_id = predicted_label"""
_STATISTICS_KEYS = {
    "test_set": "name of the test set", "submission": "team/system@version", "metric": "id of the metric",
    "run": "number of the system's run, from 0"}


_FACTS = [field.name for field in SUBMISSION_FIELDS if field.is_released]


class ReleasedTable(View):
    """A table that releases contain: name, comments, and the SELECT that computes it."""

    @property
    def path(self) -> str:
        """Path of the table's Parquet file within a release."""
        return f"data/{self.name}.parquet"


TOTALS = ReleasedTable(
    "totals", "Sums of statistics over all items.", _STATISTICS_KEYS | {
        "position": "place of the column in its family, from 0", "statistic": "name of the column",
        "total": "sum of the column, in integer steps", "per_one": "number of steps that make 1"},
    """
    SELECT s.test_set, s.submission, m.metric, of.replicate AS run, of.position, of.statistic, of.total, of.per_one
    FROM statistic_total AS of JOIN released_submission AS s USING (scoring_id)
    JOIN released_metric AS m USING (metric_id)
    ORDER BY test_set, metric, submission, run, position""")


SUBMISSIONS = ReleasedTable(
    "submissions", "Submissions on the boards.", {
        "test_set": "name of the test set", "submission": "team/system@version", "team": "name of the team",
        "system": "name of the system", "track": "track of the submission; NULL if the task has no tracks",
        **{name: str(models.submission.c[name].comment) for name in _FACTS if name != "track"},
        "n_missing": "number of items without an answer, over all runs", "runs": "number of the system's runs"},
    f"""
    SELECT test_set, submission, team, system, {', '.join(_FACTS)}, n_missing, runs
    FROM released_submission ORDER BY test_set, submission""")  # noqa: S608


def list_tables(*, gold: bool, sources: bool) -> list[ReleasedTable]:
    """Return the definitions of the tables that a release contains.

    Args:
        gold: Whether the gold is released. A release with gold has tables about single items; other releases have
            totals.
        sources: Whether the submitted files are released.
    """
    tables = [ReleasedTable(path.stem.partition("_")[2], *parse_sql_file(path))
              for path in sorted((Path(__file__).parent / "tables").glob("*.sql"))]
    tables.insert([table.name for table in tables].index("messages"), SUBMISSIONS)
    omitted = {*(() if gold else ITEM_TABLES), *(() if sources else (SUBMITTED,))}
    statistics = map(_statistics_table, sorted(FAMILIES)) if gold else [TOTALS]
    return [*(table for table in tables if table.name not in omitted), *statistics]


def _statistics_table(family: str) -> ReleasedTable:
    names = FAMILIES[family].columns
    if family == "confusion":
        about = {"gold": "label of the gold; NULL if it has none", "predicted": "label of the submission"}
        columns, labels = "of_gold.name AS gold, of_system.name AS predicted", _LABELS
    else:
        about = {name: f"{name.replace('_', ' ')} in the item" for name in names}
        columns, labels = ", ".join(f'of_item."{name}"' for name in names), ""
    return ReleasedTable(
        f"statistics_{family}", f"Statistics of metrics of the family {family}, one row per item.",
        _STATISTICS_KEYS | {"item": "key of the item"} | about,
        _STATISTICS.format(family=family, columns=columns, labels=labels))


def require_current(connection: Connection, task: TaskRow) -> None:
    """Check that all leaderboards of a task are up to date.

    Raises:
        MismatchError: A leaderboard is out of date.
    """
    if warnings := find_outdated(connection, task.slug):
        raise MismatchError(str(warnings[0]))


def select_release(connection: Connection, task: TaskRow) -> None:
    """Create temporary tables that list the data for a release.

    The data are the current leaderboards of the task, and their gold, metrics and submissions.

    Raises:
        MismatchError: The task has no leaderboard, or its leaderboards use different versions of the gold.
    """
    facts = ", ".join(f"{'scoring' if name == 'missing' else 's'}.{name}" for name in _FACTS if name != "track")
    for statement in _SCOPE.format(task=task.task_id, facts=facts, used_attributes=USED_ATTRIBUTES).split(";"):
        connection.exec_driver_sql(statement)
    remedy = "run `registry score` and `registry compare` first"
    if not connection.exec_driver_sql("SELECT count(*) FROM released_board").scalar_one():
        raise MismatchError(f"{task.slug}: the task has no public board yet; {remedy}")
    if ambiguous := connection.exec_driver_sql(_AMBIGUOUS).scalar():
        raise MismatchError(f"{task.slug}: boards use different golds or scorings of {ambiguous}; {remedy}")


def write_tables(connection: Connection, folder: Path, tables: Sequence[ReleasedTable]) -> None:
    """Write the tables that have rows into a release, as Parquet files.

    Args:
        connection: Connection to the registry, after `select_release`.
        folder: Folder of the release.
        tables: Definitions of the tables.
    """
    connection.exec_driver_sql("SET threads = 1")  # several threads may divide a file into different row groups
    for table in tables:
        path = folder / table.path
        with explaining(folder.parent):
            n_rows = connection.exec_driver_sql(
                f"COPY ({table.select}) TO {quote(path)} (FORMAT parquet, COMPRESSION zstd)").scalar_one()
        if not n_rows:
            path.unlink()
    connection.exec_driver_sql("RESET threads")


_EXPLANATIONS = (  # what DuckDB's errors mean for a table of a release
    (duckdb.BinderException, "the table, or one that it refers to, has other columns than tables of a release"),
    (duckdb.CatalogException, "the table refers to a missing table"),
    ((duckdb.ConversionException, duckdb.OutOfRangeException), "a value does not have the type of its column"),
    (duckdb.ConstraintException, "a row occurs twice, lacks a value, or refers to a missing row"),
    ((duckdb.InvalidInputException, duckdb.IOException), "damaged, or not a Parquet file"),
)

ACTION = "release"  # action in the log of a registry that was made from a release

_INSERT_STATISTICS = """
    INSERT INTO "{table}" (scoring_id, metric_id, replicate, item_id, {names})
    SELECT s.submission_id, m.metric_id, of.run, i.item_id, {columns}
    FROM data_statistics_{family} AS of
    JOIN known_submission AS s USING (test_set, submission)
    JOIN known_item AS i ON i.test_set = of.test_set AND i.item = of.item
    JOIN task_metric AS m ON m.alias = of.metric{labels}
    ORDER BY ALL"""
_INSERTED_LABELS = """
    LEFT JOIN label AS of_gold ON of_gold.name = of.gold AND of_gold.gold_revision_id = s.test_set_id
    LEFT JOIN label AS of_system ON of_system.name = of.predicted AND of_system.gold_revision_id = s.test_set_id"""


def load_release(connection: Connection, folder: Path, release: dict[str, Any]) -> None:
    """Fill a new registry with the contents of a release.

    Args:
        connection: Connection to the registry, in a transaction.
        folder: Folder of the release.
        release: Contents of the file `release.json` of the release.

    Raises:
        ManifestError: The manifest is invalid.
        InputError: A table is missing or invalid.
    """
    statements = {path.stem.partition("_")[2]: path.read_text("utf-8")
                  for path in sorted((Path(__file__).parent / "loading").glob("*.sql"))}
    statements["submissions"] = statements["submissions"].replace("{facts}", ", ".join(
        field.column for field in SUBMISSION_FIELDS if field.is_released and field.name != "track"))
    statements |= {f"statistics_{family}": _insert_statistics(family) for family in FAMILIES}
    if not (folder / "data" / "boards.parquet").is_file():
        raise InputError("the file is missing; every release has it", path=Path("data/boards.parquet"))
    # SQL statements contain only names of known tables, never names of other files.
    tables = [name for name in statements if (folder / "data" / f"{name}.parquet").is_file()]
    for name in tables:
        with _explain_errors(name):
            connection.exec_driver_sql(
                f'CREATE TEMP VIEW "data_{name}" AS FROM {make_parquet_sql(folder / "data" / f"{name}.parquet")}')
    _insert_task(connection, folder / "manifest.toml", release)
    for name in tables:
        with _explain_errors(name):
            get_driver(connection).execute(statements[name])
    for name in tables:
        connection.exec_driver_sql(f'DROP VIEW "data_{name}"')


@contextmanager
def _explain_errors(table: str) -> Iterator[None]:
    """Convert DuckDB's errors in a `with` block into errors about a table's file.

    Raises:
        InputError: The file is damaged or has invalid rows.
    """
    try:
        yield
    except FAILURES as error:
        for kinds, explanation in _EXPLANATIONS:
            if isinstance(unwrap_error(error), kinds):
                raise InputError(explanation, path=Path("data") / f"{table}.parquet") from None
        raise


def _insert_task(connection: Connection, path: Path, release: dict[str, Any]) -> None:
    """Insert the task of a release, and log the command that created it.

    Args:
        connection: Connection to the new registry.
        path: Path of the manifest in the release.
        release: Contents of the file `release.json`.
    """
    if not path.is_file():
        raise InputError("the file is missing, or is not a regular file; every release has it", path=Path(path.name))
    manifest = read_manifest(path.read_bytes(), path)
    stored = canonical_json(manifest.model_dump(mode="json", exclude={"submit"}))
    with _explain_errors("boards"):
        newest = connection.exec_driver_sql("""
            SELECT compared_at, code_version, environment FROM data_boards
            ORDER BY compared_at DESC, board LIMIT 1""").first()
    if newest is None:
        raise InputError("the table has no rows", path=Path("data/boards.parquet"))
    insert(connection, models.run, command=ACTION, parameters=canonical_json(release), inputs="{}",
           started_at=newest.compared_at, ended_at=newest.compared_at, code_version=newest.code_version,
           code_revision=None, code_dirty=None, environment=newest.environment)
    insert(connection, models.task, slug=manifest.task.id, title=manifest.task.title, version=manifest.task.version,
           manifest=stored, manifest_digest=digest(stored.encode()), seed=manifest.significance.seed or 0,
           created_at=newest.compared_at)
    insert_many(connection, models.publication, [
        {"published_at": newest.compared_at, "has_sources": False, "program": release.get("program", "")}])
    append(connection, [{"run_id": 1, "at": newest.compared_at, "actor": None, "action": ACTION,
                         "subject": manifest.task.id, "details": canonical_json(release)}])


def _insert_statistics(family: str) -> str:
    """Return the SQL that loads the statistics of one family from a release."""
    names, labels = FAMILIES[family].columns, ""
    columns = [f'of."{name}"' for name in names]
    if family == "confusion":
        labels = _INSERTED_LABELS
        columns = [f"coalesce({side}.label_id, {NO_LABEL})" for side in ("of_gold", "of_system")]
    return _INSERT_STATISTICS.format(
        table=models.statistics[family].name, names=", ".join(f'"{name}"' for name in names),
        columns=", ".join(columns), family=family, labels=labels)
