INSERT INTO comparison (comparison_id, digest, sequence, test_set_id, gold_revision_id, track_id, facet, metric_id,
    alias, test, alternative, unit, alpha, correction, resamples, seed, "interval", confidence, n_items, n_units,
    n_systems, family_size, signature, run_id, created_at, runs, request)
SELECT b.board, b.digest, 1, test_set.test_set_id, test_set.gold_revision_id, track.track_id, b.facet, m.metric_id,
    b.metric, b.test, b.alternative, b.unit, b.alpha, b.correction, b.resamples, b.seed, b."interval", b.confidence,
    b.n_items, b.n_units, b.n_systems, b.family_size, b.signature, 1, b.compared_at, b.runs, b.request
FROM data_boards AS b
JOIN test_set ON test_set.name = b.test_set
JOIN task_metric AS m ON m.alias = b.metric
LEFT JOIN track ON track.name = b.track;
