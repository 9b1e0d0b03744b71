"""The tables of a release: read from a registry, and loaded into a new one.

A table's file `tables/<order>_<table>.sql` is one SELECT; its leading comment says what the table is and, after a line
with nothing but `--`, what each column is. `loading/<order>_<table>.sql` inserts it into a registry. The statistics are
one further table for each family. Rows have names instead of the registry's numbers, in an order that follows from
these names, so the same boards give the same bytes.
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
from registry.store import models
from registry.store.catalog import TaskRow
from registry.store.files import FAILURES, cause_of, explaining
from registry.store.log import append
from registry.store.rows import driver_of, insert, insert_many, parquet_at, quoted
from registry.store.schema import View, described
from registry.submission_fields import SUBMISSION_FIELDS

SUBMITTED = "submitted_files"
OF_ITEMS = ("items", "item_attributes", "answers", "responses", "labels", "remarks")  # and the statistics

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
_SEVERAL = """
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
_OF_STATISTICS = {
    "test_set": "what was answered", "submission": "team/system@version", "metric": "the metric",
    "run": "of the system, from 0"}


_FACTS = [field.name for field in SUBMISSION_FIELDS if field.is_released]


class ReleasedTable(View):
    """One table: its name, what it is (`comment`), what its columns are, and the SELECT that gives its rows."""

    @property
    def path(self) -> str:
        """Where it is within a release."""
        return f"data/{self.name}.parquet"


TOTALS = ReleasedTable(
    "totals", "Sums over all items of what metrics add up.", _OF_STATISTICS | {
        "position": "the column's place in its family, from 0", "statistic": "the column",
        "total": "its sum, in whole steps", "per_one": "how many steps are 1"},
    """
    SELECT s.test_set, s.submission, m.metric, of.replicate AS run, of.position, of.statistic, of.total, of.per_one
    FROM statistic_total AS of JOIN released_submission AS s USING (scoring_id)
    JOIN released_metric AS m USING (metric_id)
    ORDER BY test_set, metric, submission, run, position""")


SUBMISSIONS = ReleasedTable(
    "submissions", "The submissions that boards show.", {
        "test_set": "what was answered", "submission": "team/system@version", "team": "the team's name",
        "system": "the system's name", "track": "the track it competes in; NULL where the task has none",
        **{name: str(models.submission.c[name].comment) for name in _FACTS if name != "track"},
        "n_missing": "how many items have no answer, over all of its runs", "runs": "how many runs the system has"},
    f"""
    SELECT test_set, submission, team, system, {', '.join(_FACTS)}, n_missing, runs
    FROM released_submission ORDER BY test_set, submission""")  # noqa: S608


def released_tables(*, gold: bool, sources: bool) -> list[ReleasedTable]:
    """The tables of a release, with what tells of single items or totals instead, and the one of submitted files."""
    found = [ReleasedTable(path.stem.partition("_")[2], *described(path))
             for path in sorted((Path(__file__).parent / "tables").glob("*.sql"))]
    found.insert([table.name for table in found].index("remarks"), SUBMISSIONS)
    without = {*(() if gold else OF_ITEMS), *(() if sources else (SUBMITTED,))}
    counted = map(_statistics_table, sorted(FAMILIES)) if gold else [TOTALS]
    return [*(table for table in found if table.name not in without), *counted]


def _statistics_table(family: str) -> ReleasedTable:
    """The statistics of a family, for every item."""
    names = FAMILIES[family].columns
    if family == "confusion":
        told = {"gold": "the gold's label; NULL where it has none", "predicted": "the submission's label"}
        chosen, labels = "of_gold.name AS gold, of_system.name AS predicted", _LABELS
    else:
        told = {name: f"{name.replace('_', ' ')} in the item" for name in names}
        chosen, labels = ", ".join(f'of_item."{name}"' for name in names), ""
    return ReleasedTable(
        f"statistics_{family}", f"What metrics of the family {family} add up: a row for every item.",
        _OF_STATISTICS | {"item": "the item's key"} | told,
        _STATISTICS.format(family=family, columns=chosen, labels=labels))


def require_current(connection: Connection, task: TaskRow) -> None:
    """Raise an error if boards of a task are out of date.

    Raises:
        MismatchError: They are.
    """
    if warnings := find_outdated(connection, task.slug):
        raise MismatchError(str(warnings[0]))


def choose(connection: Connection, task: TaskRow) -> None:
    """Say what is released, the boards of a task as they stand and all that they rest on, in temporary tables.

    Raises:
        MismatchError: There is no board, or boards rest on different golds.
    """
    facts = ", ".join(f"{'scoring' if name == 'missing' else 's'}.{name}" for name in _FACTS if name != "track")
    for statement in _SCOPE.format(task=task.task_id, facts=facts).split(";"):
        connection.exec_driver_sql(statement)
    remedy = "`registry score` and `registry compare` first"
    if not connection.exec_driver_sql("SELECT count(*) FROM released_board").scalar_one():
        raise MismatchError(f"{task.slug}: there is no public board to release yet; {remedy}")
    if several := connection.exec_driver_sql(_SEVERAL).scalar():
        raise MismatchError(f"{task.slug}: boards rest on different golds or scorings of {several}; {remedy}")


def write_tables(connection: Connection, folder: Path, tables: Sequence[ReleasedTable]) -> None:
    """Write tables that have rows into `folder`, one Parquet file each."""
    connection.exec_driver_sql("SET threads = 1")  # several threads might cut a file into other groups of rows
    for table in tables:
        path = folder / table.path
        with explaining(folder.parent):
            written = connection.exec_driver_sql(
                f"COPY ({table.select}) TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)").scalar_one()
        if not written:
            path.unlink()
    connection.exec_driver_sql("RESET threads")


_WRONG = (  # what kinds of errors say of a table of a release
    (duckdb.BinderException, "its columns, or those of a table that it refers to, are not those of a release"),
    (duckdb.CatalogException, "it refers to a table that is not there"),
    ((duckdb.ConversionException, duckdb.OutOfRangeException), "a value is not of the column's type"),
    (duckdb.ConstraintException, "a row is there twice, is without a value, or refers to one that is not there"),
    ((duckdb.InvalidInputException, duckdb.IOException), "it is damaged, or no Parquet file"),
)

ACTION = "release"  # in the log of a registry that was made of a release

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
        labels = _INSERTED_LABELS
        columns = [f"coalesce({side}.label_id, {NO_LABEL})" for side in ("of_gold", "of_system")]
    return _INSERT_STATISTICS.format(
        table=models.statistics[family].name, names=", ".join(f'"{name}"' for name in names),
        columns=", ".join(columns), family=family, labels=labels)
