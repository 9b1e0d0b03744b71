-- The leaderboards, with the settings of their tests.
--
-- board: number of the board, to which pairs and standings refer
-- test_set: name of the test set
-- track: name of the track; NULL if the task has no tracks
-- facet: attribute=value if the board has a part of the items; else NULL
-- metric: id of the metric
-- signature: identifies gold, test and family of comparisons
-- test: test with its options
-- alternative: two-sided, greater (one-sided in pairs with a baseline, or for a candidate) or observed
-- unit: item, cluster or response
-- alpha: significance level
-- correction: correction of p-values for multiple tests
-- resamples: number of resamples, if the test is a simulation
-- seed: seed of the resamples
-- interval: method of the confidence intervals
-- confidence: confidence level of the intervals
-- runs: fixed, or random if whole runs were resampled
-- n_items: number of items
-- n_units: number of units
-- n_systems: number of submissions
-- family_size: number of pairs in the correction, including pairs of other boards
-- request: all settings of the comparison, as JSON
-- digest: digest of all inputs of the comparison
-- compared_at: time of the comparison, in UTC
-- code_version: version of the program that compared the systems
-- environment: versions of Python and packages, and the platform, as JSON
SELECT
    board, test_set, track, facet, metric, signature, test, alternative, unit, alpha, correction, resamples, seed, "interval",
    confidence, runs, n_items, n_units, n_systems, family_size, request, digest, compared_at, code_version, environment
FROM released_board
ORDER BY board
