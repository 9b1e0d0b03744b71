"""Pair results are keyed by columns: the statistics of both systems, and the request, each by a number.

A digest and a text for every pair took minutes and most of the file where there were half a million. What a pair was
asked for is found from a comparison that shows it; results that no comparison shows, and those that migration 0007 took
out of use, are kept under requests that are not asked again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None
changes = {"pair_result": ("digest", "statistics_a", "statistics_b", "metric", "test", "alternative", "interval",
                           "confidence", "seed")}

REQUEST = ("metric", "test", "alternative", "resamples", "seed", "interval", "confidence", "runs", "is_valid")
KEPT = ("method", "difference", "p_value", "log10_p", "p_low", "p_high", "ci_low", "ci_high", "n_units",
        "n_discordant", "resamples", "statistic", "favours", "note", "run_id")


def upgrade() -> None:
    op.create_table(
        "pair_request",
        sa.Column("pair_request_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("test", sa.String(), nullable=False),
        sa.Column("alternative", sa.String(), nullable=False),
        sa.Column("resamples", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("interval", sa.String(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("runs", sa.String(), nullable=False),
        sa.Column("is_valid", sa.Boolean(), nullable=False),
        sa.UniqueConstraint(*REQUEST),
    )
    op.create_table(
        "tested_statistics",
        sa.Column("tested_statistics_id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.UniqueConstraint("digest"),
    )
    op.execute("ALTER TABLE pair_result RENAME TO former_pair_result")
    op.create_table(
        "pair_result",
        sa.Column("pair_result_id", sa.Integer(), nullable=False),
        sa.Column("pair_request_id", sa.Integer(), nullable=False),
        sa.Column("statistics_a", sa.Integer(), nullable=False),
        sa.Column("statistics_b", sa.Integer(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("difference", sa.Double(), nullable=True),
        sa.Column("p_value", sa.Double(), nullable=True),
        sa.Column("log10_p", sa.Double(), nullable=True),
        sa.Column("p_low", sa.Double(), nullable=True),
        sa.Column("p_high", sa.Double(), nullable=True),
        sa.Column("ci_low", sa.Double(), nullable=True),
        sa.Column("ci_high", sa.Double(), nullable=True),
        sa.Column("n_units", sa.Integer(), nullable=False),
        sa.Column("n_discordant", sa.Integer(), nullable=False),
        sa.Column("resamples", sa.Integer(), nullable=True),
        sa.Column("statistic", sa.Double(), nullable=True),
        sa.Column("favours", sa.SmallInteger(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
    )
    # a pair that was not drawn, and asked for again with more draws, is there once for each number of draws
    op.execute("""
        CREATE TEMPORARY TABLE asked AS
        WITH shown AS (
            SELECT pair_result_id, min(comparison_id) AS comparison_id FROM comparison_pair GROUP BY ALL
        ), known AS (
            SELECT former.*, c.resamples AS first_resamples, c.seed AS asked_seed, c.interval AS asked_interval,
                c.confidence AS asked_confidence, coalesce(c.runs, 'fixed') AS runs,
                c.comparison_id IS NOT NULL AND NOT starts_with(former.digest, 'before 0007: ') AS is_valid
            FROM former_pair_result AS former LEFT JOIN shown USING (pair_result_id)
            LEFT JOIN comparison AS c USING (comparison_id)
        )
        SELECT * EXCLUDE (resamples, seed, interval, confidence), resamples AS drawn,
            coalesce(resamples, first_resamples * power(10, row_number() OVER (
                PARTITION BY statistics_a, statistics_b, metric, test, alternative, first_resamples, asked_seed,
                asked_interval, asked_confidence, runs, is_valid, resamples ORDER BY pair_result_id) - 1), 0)::INTEGER
                AS resamples,
            coalesce(asked_seed, seed, 0) AS seed, coalesce(asked_interval, interval, 'dual') AS interval,
            coalesce(asked_confidence, confidence, 0.95) AS confidence
        FROM known""")
    columns = ", ".join(REQUEST)
    op.execute(f"""
        INSERT INTO pair_request SELECT row_number() OVER (ORDER BY least), {columns}
        FROM (SELECT {columns}, min(pair_result_id) AS least FROM asked GROUP BY {columns})""")  # noqa: S608
    op.execute("""
        INSERT INTO tested_statistics SELECT row_number() OVER (ORDER BY digest), digest
        FROM (SELECT statistics_a AS digest FROM asked UNION SELECT statistics_b FROM asked)""")
    kept = ", ".join("asked.drawn" if name == "resamples" else f"asked.{name}" for name in KEPT)
    op.execute(f"""
        INSERT INTO pair_result
        SELECT asked.pair_result_id, request.pair_request_id, a.tested_statistics_id, b.tested_statistics_id, {kept}
        FROM asked JOIN tested_statistics AS a ON a.digest = asked.statistics_a
        JOIN tested_statistics AS b ON b.digest = asked.statistics_b
        JOIN pair_request AS request ON {" AND ".join(f"request.{name} = asked.{name}" for name in REQUEST)}
        ORDER BY asked.pair_result_id""")  # noqa: S608
    op.execute("DROP TABLE asked")
    op.drop_table("former_pair_result")
