-- The leaderboards: what was asked of the pairs of systems on each.
--
-- board: its number, which pairs and standings refer to
-- test_set: the test set
-- track: the track; NULL where the task has none
-- facet: attribute=value where the board is of a part of the items; else NULL
-- metric: the metric
-- signature: identifies gold, test and family of comparisons
-- test: the test, with its options
-- alternative: two-sided, greater (pairs with a baseline, or the candidate, are one-sided) or observed
-- unit: item, cluster or response
-- alpha: the level of significance
-- correction: how p-values are adjusted
-- resamples: draws, where a test draws
-- seed: of the draws
-- interval: how the intervals are made
-- confidence: of the intervals
-- runs: fixed, or random where whole runs were tested
-- n_items: how many items
-- n_units: how many units
-- n_systems: how many submissions
-- family_size: how many pairs p-values are adjusted over, those of other boards included
-- request: all that was asked, as JSON
-- digest: of all that it rests on
-- compared_at: when it was computed, in UTC
-- code_version: of the program that did
-- environment: the versions of Python and packages, and the platform, as JSON
SELECT
    board, test_set, track, facet, metric, signature, test, alternative, unit, alpha, correction, resamples, seed, "interval",
    confidence, runs, n_items, n_units, n_systems, family_size, request, digest, compared_at, code_version, environment
FROM released_board
ORDER BY board
