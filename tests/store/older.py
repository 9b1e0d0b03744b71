"""Registries as older programs left them: empty ones, and new ones whose migrations are undone by hand."""

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


def before_0014(connection):
    """The log has no salt, nobody was purged, and what manifests declared last is not kept."""
    connection.execute("DROP TABLE tombstone")
    for table, columns in {"event": ["salt", "digest"], "run": ["salt", "digest"], "submission": ["declared"]}.items():
        for column in columns:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("UPDATE alembic_version SET version_num = '0013'")


def before_0013(connection):
    """Comparisons do not say what was asked for, and the log is no chain."""
    before_0014(connection)
    for table, columns in {"event": ["hash"], "comparison": ["request"],
                           "standing": ["scoring_id", "kind", "late"]}.items():
        for column in columns:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("UPDATE alembic_version SET version_num = '0012'")


def before_0012(connection):
    """Whole numbers are among the decimals."""
    before_0013(connection)
    connection.execute("CREATE TABLE former AS FROM statistics_ratio")
    connection.execute("DROP VIEW statistics_ratio")
    for table in ("statistics_ratio_whole", "statistics_ratio_decimal"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("ALTER TABLE former RENAME TO statistics_ratio")
    connection.execute("UPDATE alembic_version SET version_num = '0011'")


def before_0011(connection):
    """Pair results have a digest and all that was asked of them."""
    before_0012(connection)
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
    connection.execute("UPDATE alembic_version SET version_num = '0010'")


def before_0007(connection):
    """Scores have no step, and nothing is remarkable."""
    before_0011(connection)
    connection.execute("ALTER TABLE score DROP COLUMN step")
    connection.execute("DROP TABLE remark")
    connection.execute("UPDATE alembic_version SET version_num = '0006'")
