INSERT INTO test_set (test_set_id, task_id, name, position, cluster_attribute, gold_revision_id, is_declared)
SELECT position + 1, 1, test_set, position, "cluster", position + 1, TRUE FROM data_test_sets;
INSERT INTO gold_revision (gold_revision_id, test_set_id, revision, digest, task_version, reader, n_items, run_id,
    created_at)
SELECT position + 1, position + 1, 1, gold, task.version, '', n_items, 1, run.started_at
FROM data_test_sets, task, run;
