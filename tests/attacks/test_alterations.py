"""Altered registries in the suite: every column and added rows of every table; several alterations in one file.

`python -m tests.attacks.alterations` makes each alone.
"""

import shutil
from contextlib import suppress
from itertools import zip_longest

import pytest
from duckdb import ConstraintException
from typer.testing import CliRunner

from registry.cli.app import app
from registry.evaluation.verifying.derived import RESULT_TABLES, compare_results, derive_results
from registry.evaluation.verifying.faults import set_aside
from registry.evaluation.verifying.log import verify_log, verify_tables
from registry.evaluation.verifying.stored import verify_files, verify_references
from registry.significance import Execution
from registry.store import catalog, models
from registry.store.database import Database
from registry.store.log import Journal, digested_columns
from registry.store.rows import get_driver
from tests.attacks.alterations import (
    DEFINITIONS,
    EMPTY,
    EXEMPT,
    added_row,
    alter,
    changed,
    every_added_row,
    every_column,
    every_table,
    is_key,
    redefine,
    verified,
)
from tests.conftest import ROOT

CHAINED = {"run", "event"}  # tables whose columns enter the chain of the log
FILES = {"source.name", "source.content", "source.digest", "submission_source.name", "submission_source.source_digest"}
SCORES = {"response", "scoring_message", "score", "replicate_score", "statistics_ratio_whole", "statistics_confusion"}
PAIRS, STANDINGS = ("comparison_pair", "pair_result", "pair_interval"), ("standing", "overall_result")
OTHERS = {  # columns of what was put in: the kind of thing that must be named
    "task.slug": "log", "task.title": "task", "task.version": "task", "task.manifest": "task",
    "task.manifest_digest": "task", "task.salt": "task", "gold_revision.digest": "gold",
    "item.item_id": "gold", "item.position": "gold",
    "item.key": "gold", "item_attribute.item_id": "gold", "item_attribute.name": "gold",
    "item_attribute.value": "gold", "team.name": "submission", "team.pseudonym": "pseudonym",
    "system.name": "submission", "system.pseudonym": "pseudonym", "submission.version": "submission",
    "submission.attributes": "submission", "submission.digest": "submission", "submission.declared": "submission",
    "replicate_factor.level": "submission", "gold_source.source_digest": "source", "tested_statistics.digest": "pair",
    "label.name": "statistics", "study.study": "study", "study.subject": "study", "study.digest": "study",
    "study.result": "study", "study.signature": "study", "answer.key": "gold", "answer.type": "gold",
    "answer.item_id": "gold", "tombstone.name": "tombstone", "tombstone.salt": "tombstone",
    "tombstone.names": "tombstone", "comparison.digest": "comparison", "comparison.signature": "comparison",
    "comparison.request": "comparison", "item.gold_revision_id": "gold", "item_attribute.gold_revision_id": "gold",
    "answer.gold_revision_id": "gold_revision", "answer.answer_id": "answer", "answer.in_gold": "gold",
    "label.label_id": "statistics", "label.gold_revision_id": "statistics"}
TOGETHER = [  # columns of OTHERS whose alterations do not keep each other from view, and tell themselves apart
    ["task.title", "team.pseudonym", "replicate_factor.level", "study.subject", "tombstone.salt", "label.name",
     "comparison.signature", "gold_revision.digest"], ["item.position", "study.study"], ["answer.key", "study.digest"]]


def test_nothing_is_found_in_an_untouched_registry(original):
    assert verified(original).faults == []
    with Database(original).reading() as connection:
        empty = {table for table in models.metadata.tables
                 if connection.exec_driver_sql(f'SELECT 1 FROM "{table}" LIMIT 1').first() is None}
    assert empty == EMPTY


def test_every_column_is_covered_or_exempt():
    """A new column fails here until it is in a digest, follows from something, or is exempt for a reason."""
    derived = SCORES | {*PAIRS, *STANDINGS} | CHAINED
    left = [f"{table.name}.{column.name}" for table in models.metadata.tables.values() for column in table.columns
            if table.name not in EMPTY | EXEMPT.keys() | derived and column.name not in digested_columns(table.name)]
    assert set(left) <= OTHERS.keys() | FILES
    assert all(EXEMPT.values())


def named(connection, alteration, *steps):
    """Whether any of some steps finds a fault after an alteration, which is undone."""
    connection.exec_driver_sql(alteration.sql)
    try:
        return any(list(step(connection)) for step in steps)
    finally:
        connection.rollback()


def test_columns_and_rows_in_digests_of_tables_are_named(copy):
    """Each table is altered in one place at a time, and all tables at once: each has its own digest."""
    by_table = {}
    for alteration in (*every_column(()), *every_table(), *every_added_row()):
        column = alteration.name.partition(".")[2].partition(" ")[0]
        columns = digested_columns(alteration.table)
        if columns and not alteration.name.endswith("(max)") and (not column or column in columns):
            by_table.setdefault(alteration.table, []).append(alteration)
    unnamed, n = [], 0
    with Database(copy).writing(dry_run=True) as connection:
        for together in zip_longest(*by_table.values()):
            altered = {}
            for alteration in filter(None, together):
                with suppress(ConstraintException):  # another column would have to differ, too
                    if get_driver(connection).execute(alteration.sql).fetchone() != (0,):
                        altered[alteration.table] = alteration.name
            unnamed += altered.keys() - {fault.name for fault in verify_tables(connection)}
            n += len(altered)
            connection.rollback()
    assert unnamed == []
    assert n > 150


def test_columns_of_the_log_and_of_files_are_named(copy):
    unnamed = []
    with Database(copy).writing(dry_run=True) as connection:
        for alteration in every_column(()):
            steps = ((lambda c: verify_log(c, None), verify_tables) if alteration.table in CHAINED else
                     (verify_files,) if alteration.name.partition(" ")[0] in FILES else ())
            unnamed += [alteration.name] if steps and not named(connection, alteration, *steps) else []
    assert unnamed == []


@pytest.mark.parametrize("group", TOGETHER, ids=lambda group: group[0])
def test_what_was_put_in_is_named(group, copy):
    for alteration in every_column(()):
        if alteration.name.partition(" ")[0] in group:
            alter(copy, alteration.sql)
    assert {OTHERS[name] for name in group} <= {fault.of for fault in verified(copy, "none").faults}


def _rounds(tables, owners):
    """Alterations in rounds: in each, an owner (a scoring or comparison) has one altered or added row of a table.

    Yields the table, the column, whether a row is added in which it differs, and the owner.
    """
    rounds = []
    for table in tables:
        columns = list(models.metadata.tables[table].columns)
        differing = [column for column in columns if is_key(column)] or columns
        for n, (column, is_added) in enumerate([*((column, False) for column in columns), (differing[-1], True)]):
            of = owners[table]
            while len(rounds) <= n // len(of):
                rounds.append([])
            rounds[n // len(of)].append((table, column, is_added, of[n % len(of)]))
    return rounds


def _alter_row(path, column, is_added, condition):
    """Alter the first row of a column's table that a condition selects, or add a copy of it that differs."""
    table = column.table.name
    alter(path, added_row(column, of=condition) if is_added else f"""
        UPDATE {table} SET "{column.name}" = {changed(column)}
        WHERE rowid = (SELECT min(rowid) FROM {table} WHERE {condition})""")


def test_columns_of_scores_are_named(original, tmp_path):
    with Database(original).reading() as connection:
        owners = {table: connection.exec_driver_sql(
            f"SELECT DISTINCT scoring_id FROM {table} ORDER BY 1").scalars().all() for table in SCORES}
    unnamed = []
    for n, altered in enumerate(_rounds(sorted(SCORES), owners)):
        path = shutil.copyfile(original, tmp_path / f"{n}.duckdb")
        for _, column, is_added, scoring_id in altered:
            _alter_row(path, column, is_added, f"scoring_id = {scoring_id}")
        with Database(path).reading() as connection:
            names = dict(map(tuple, connection.exec_driver_sql("""
                SELECT scoring_id, team.name || '/' || system.name FROM scoring JOIN submission USING (submission_id)
                JOIN system USING (system_id) JOIN team USING (team_id)""")))
        found = {(fault.of, fault.name) for fault in verified(path, "none").faults}
        unnamed += [(table, column.name, is_added) for table, column, is_added, scoring_id in altered if not any(
            (of == table.partition("_")[0] if table.startswith("stat") else of == table.replace("_", " "))
            and names[scoring_id] in name for of, name in found)
            and not {("row", table), (column.name.removesuffix("_id"), str(scoring_id + 1000))} & found]
    assert unnamed == []


def test_columns_of_results_are_named(original, tmp_path):
    with Database(original).reading() as connection:
        made = dict(map(tuple, connection.exec_driver_sql("""
            SELECT max(comparison_id), arg_max(split_part(signature, '|', -1), comparison_id) FROM comparison
            WHERE comparison_id NOT IN (SELECT comparison_id FROM standing WHERE scoring_id IS NULL)
            GROUP BY test_set_id, track_id, facet, alias ORDER BY 1""")))
    owners = {table: list(made) for table in (*PAIRS, *STANDINGS)}
    unnamed = []
    for n, altered in enumerate(_rounds(PAIRS, owners) + _rounds(STANDINGS, owners)):
        path = shutil.copyfile(original, tmp_path / f"{n}.duckdb")
        for table, column, is_added, comparison_id in altered:
            _alter_row(path, column, is_added, f"comparison_id = {comparison_id}" if "pair_" not in table else f"""
                pair_result_id IN (SELECT pair_result_id FROM comparison_pair WHERE comparison_id = {comparison_id})""")
        found = {(fault.of, fault.name) for fault in _faults_of_results(path, list(made))}
        for table, column, is_added, comparison_id in altered:
            if not any(name == made[comparison_id] or of == table or of == column.name.removesuffix("_id")
                       for of, name in found):
                unnamed.append((table, column.name, is_added))
    assert unnamed == []


def _faults_of_results(path, comparisons):
    """What is found in comparisons and references, without anything else."""
    with Database(path).writing(dry_run=True) as connection:
        faults = [*verify_references(connection), *verify_log(connection, None)]
        (task,) = catalog.tasks(connection)
        set_aside(connection, RESULT_TABLES)
        faults += derive_results(connection, Journal("verify", {}), task, comparisons, Execution(workers=1))
        return [*faults, *compare_results(connection, comparisons)]


def test_a_forged_view_neither_passes_nor_hides_other_faults(copy):
    """The board without its winner was shown, and `verify` said that all was well."""
    for what in ("a winner off the board", "an operator replaced", "a digest function replaced"):
        redefine(copy, DEFINITIONS[what][0])
    alter(copy, "UPDATE score SET value = 0.5 WHERE scoring_id <= 1")
    found = {(fault.of, fault.name.partition(",")[0]) for fault in verified(copy, "none").faults}
    assert {("view", "ranked_submission"), ("macro", "="), ("macro", "sha256")} <= found
    assert "score" in {of for of, _ in found}


def test_a_registry_without_its_task_is_no_empty_one(copy):
    alter(copy, "DELETE FROM task")
    assert {"task", "row"} <= {fault.of for fault in verified(copy, "none").faults}


def test_what_was_altered_before_a_command_stays_named(copy):
    """A command that writes logs new digests of the tables, and that they were not as the last one left them."""
    alter(copy, "UPDATE submission SET created_at = created_at - INTERVAL 1 DAY WHERE submission_id = 1")
    done = CliRunner().invoke(app, ["withdraw", "small/test/dee/dee", "--reason", "asked", "--db", str(copy)])
    assert done.exit_code == 0, done.output
    with Database(copy).writing(dry_run=True) as connection:
        (fault,) = verify_tables(connection)
    assert (fault.of, fault.name) == ("row", "submission")
    assert "before run" in fault.message


@pytest.mark.parametrize("manifest", sorted(ROOT.glob("sample_data/*/task.toml")), ids=lambda path: path.parent.name)
def test_sample_tasks_have_no_faults(manifest, scored):
    scored(manifest)
    assert verified("registry.duckdb", "none").faults == []
