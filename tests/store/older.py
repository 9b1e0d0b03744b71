"""Registries as older programs left them, made from new ones by undoing migrations by hand."""


def before_0012(connection):
    """Whole numbers are among the decimals."""
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
