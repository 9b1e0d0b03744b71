"""Registries as older programs left them: empty ones, and new ones whose migrations are undone by hand."""

import json
import os

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from registry.store import schema
from registry.store.database import CONFIG, Database


def older(path, revision="0006"):
    """A database as the program of that revision made it."""
    config = Config(stdout=open(os.devnull, "w"))  # noqa: SIM115
    config.set_main_option("script_location", str(schema.migrations()))
    engine = create_engine(f"duckdb:///{path}", connect_args={"config": CONFIG})
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()
    config.stdout.close()
    return Database(path)


def back_to(connection, revision):
    """Undo, by hand, the migrations after `revision` in a registry that today's program has filled."""
    for later in sorted(UNDONE, reverse=True):
        if later > revision:
            UNDONE[later](connection)
    connection.execute("UPDATE alembic_version SET version_num = ?", [revision])


def _without(**columns):
    """Undo a migration that added columns, by table, and tables (with no columns)."""
    def undo(connection):
        for table, names in columns.items():
            for name in names:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
            if not names:
                connection.execute(f"DROP TABLE {table}")

    return undo


def _no_chain(connection):
    """The log is no chain, and does not tell that a command ended; nor do comparisons what was asked for."""
    _without(event=["hash"], comparison=["request"], standing=["scoring_id", "kind", "late"])(connection)
    connection.execute("""
        CREATE TABLE former AS SELECT * REPLACE (CAST(row_number() OVER (ORDER BY event_id) AS INTEGER) AS event_id)
        FROM event WHERE action <> 'end'""")
    connection.execute("DELETE FROM event")
    connection.execute("INSERT INTO event FROM former")
    connection.execute("DROP TABLE former")


def _whole_numbers_among_decimals(connection):
    connection.execute("CREATE TABLE former AS FROM statistics_ratio")
    connection.execute("DROP VIEW statistics_ratio")
    for table in ("statistics_ratio_whole", "statistics_ratio_decimal"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("ALTER TABLE former RENAME TO statistics_ratio")


def _pair_results_by_digest(connection):
    """Pair results have a digest and all that was asked of them."""
    connection.execute("""
        CREATE TABLE former AS
        SELECT pair_result_id, concat_ws(' ', a.digest, b.digest, pair_request_id) AS digest,
            a.digest AS statistics_a, b.digest AS statistics_b, metric, test, alternative, method, difference, p_value,
            log10_p, p_low, p_high, if(ci_low IS NULL, NULL, interval) AS interval,
            if(ci_low IS NULL, NULL, confidence) AS confidence, ci_low, ci_high, n_units, n_discordant,
            pair_result.resamples, if(pair_result.resamples IS NULL, NULL, seed) AS seed, note, run_id, statistic,
            favours
        FROM pair_result JOIN pair_request USING (pair_request_id)
        JOIN tested_statistics AS a ON a.tested_statistics_id = statistics_a
        JOIN tested_statistics AS b ON b.tested_statistics_id = statistics_b""")
    for table in ("pair_result", "pair_request", "tested_statistics"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("ALTER TABLE former RENAME TO pair_result")


def _names_of_the_machine(connection):
    """Files are recorded by the paths that were typed, and every event by the account."""
    connection.execute("UPDATE event SET actor = 'zz-account'")
    for table in ("source", "submission_source"):
        connection.execute(f"UPDATE {table} SET name = '/zz/task/' || name")
    for run_id, parameters, inputs in connection.execute("SELECT run_id, parameters, inputs FROM run").fetchall():
        typed = {name: f"/zz/task/{value}" if name == "manifest" else value
                 for name, value in json.loads(parameters).items()}
        read = {f"/zz/task/{name}": digest for name, digest in json.loads(inputs).items()}
        connection.execute("UPDATE run SET parameters = ?, inputs = ? WHERE run_id = ?",
                           [json.dumps(typed), json.dumps(read), run_id])


def _no_studies(connection):
    """Neither they nor, at the end of the log, what was logged of them."""
    of_studies = "WHERE run_id IN (SELECT run_id FROM event WHERE action = 'study')"
    for table in ("run", "event"):
        connection.execute(f"DELETE FROM {table} {of_studies}")
    for table in ("study", "study_part"):
        connection.execute(f"DROP TABLE {table}")


UNDONE = {  # by the migration that is undone
    "0018": _without(task=["salt"]),
    "0017": _without(pair_interval=[]),
    "0016": _without(replicate_factor=[]),
    "0015": _without(task=["anonymous_until", "blind_until"], study=["is_anonymous"]),
    "0014": _without(tombstone=[], event=["salt", "digest"], run=["salt", "digest"], submission=["declared"]),
    "0013": _no_chain,
    "0012": _whole_numbers_among_decimals,
    "0011": _pair_results_by_digest,
    "0010": _without(remark=[]),
    "0009": _names_of_the_machine,
    "0008": _without(score=["step"]),
    "0006": _no_studies,
    "0003": _without(replicate_score=[], comparison=["runs"], standing=["runs", "run_deviation"]),
    "0002": _without(pair_result=["statistic", "favours"], comparison_pair=["is_resolved"], overall_result=[]),
}
