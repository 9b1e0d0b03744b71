-- The interval of every difference of every comparison, not corrected for the number of pairs: the test's own, or in
-- closed form. One row per comparison and pair, in the direction of the board. Of units that are right or wrong it is
-- Bonett and Price's (2012), which the counts tell; others in closed form are in the table pair_interval.
--
-- comparison_id: id of the comparison
-- position: place of the pair on the board, from 0
-- ci_low: lower end of the confidence interval; NULL if there is none
-- ci_high: upper end of the confidence interval
WITH asked AS (
    SELECT
        comparison_id,
        TRY_CAST(json_extract_string(request, '$.intervals.quantile') AS DOUBLE) AS quantile
    FROM comparison
),

found AS (
    SELECT
        comparison_pair.comparison_id,
        comparison_pair.position,
        comparison_pair.is_swapped,
        coalesce(pair_result.ci_low, pair_interval.low) AS low,
        coalesce(pair_result.ci_high, pair_interval.high) AS high,
        CASE
            WHEN pair_result.ci_low IS NULL AND pair_interval.pair_result_id IS NULL AND pair_result.difference IS NOT NULL
                THEN asked.quantile
            ELSE NULL
        END AS quantile,
        pair_result.n_units + 2 AS units,
        pair_result.difference * pair_result.n_units / (pair_result.n_units + 2) AS centre,
        (pair_result.n_discordant + 2) / (pair_result.n_units + 2) AS discordant
    FROM comparison_pair
    JOIN asked USING (comparison_id)
    JOIN pair_result USING (pair_result_id)
    LEFT JOIN pair_interval USING (pair_result_id)
),

reached AS (
    SELECT *, quantile * sqrt(greatest(0, discordant - centre * centre) / units) AS reach FROM found
),

ends AS (
    SELECT
        comparison_id,
        position,
        is_swapped,
        CASE WHEN reach IS NULL THEN low ELSE greatest(-1, centre - reach) END AS low,
        CASE WHEN reach IS NULL THEN high ELSE least(1, centre + reach) END AS high
    FROM reached
),

final AS (
    SELECT
        comparison_id,
        position,
        CASE WHEN is_swapped THEN -high ELSE low END AS ci_low,
        CASE WHEN is_swapped THEN -low ELSE high END AS ci_high
    FROM ends
)
SELECT * FROM final
