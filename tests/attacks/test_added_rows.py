"""Rows that nothing calls for and that no digest covers: `registry verify` names them, or counts them in a note."""

from registry.evaluation.verifying.stored import verify_use
from registry.store.database import Database
from tests.attacks.alterations import alter, every_added_row, every_table, verified

ADDED = {  # rows of tables without a digest: the kind of thing that must be named
    "a row of item_attribute repeated": "gold", "a row of run repeated": "run",
    "a row of label added with another name (max)": "label", "a part of a finished study added": "study_part",
    "a row of pair_result added with another pair_result_id (max)": "pair_result",
    "an answer that nobody gives added": "answer", "a row that calls the registry a public file": "publication",
    "a total added": "statistic_total"}


def test_rows_that_stand_twice_or_were_added_are_named(copy):
    """Of tables without a key a row can be the same; the last pair is one that a purge has emptied."""
    for alteration in (*every_table(), *every_added_row()):
        if alteration.name in ADDED:
            alter(copy, alteration.sql)
    assert set(ADDED.values()) <= {fault.of for fault in verified(copy, "none").faults}


def test_rows_of_a_metric_without_a_score_are_named(copy):
    """Nothing is compared of metrics that a scoring has no score by, such as those of other tasks."""
    alter(copy, "INSERT INTO metric SELECT * REPLACE (9 AS metric_id, 'Mean' AS name) FROM metric LIMIT 1")
    with Database(copy).writing(dry_run=True) as connection:
        assert list(verify_use(connection)) == []
        for table in ("replicate_score", "statistics_confusion", "statistics_ratio_whole"):
            connection.exec_driver_sql(f"INSERT INTO {table} SELECT * REPLACE (9 AS metric_id) FROM {table} LIMIT 1")
            assert table in {fault.of for fault in verify_use(connection)}


def test_parts_of_unfinished_studies_are_noted(copy):
    """Nothing says what they must hold, so they are no fault, and `verify` does not pass over them in silence."""
    alter(copy, "INSERT INTO study_part VALUES ('sha256:0', '[]', '{}')")
    found = verified(copy, "none")
    assert found.faults == []
    assert "1 part of unfinished studies cannot be verified" in str(found.notes)
