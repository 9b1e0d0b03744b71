-- The test sets, in the order of the manifest.
--
-- test_set: name of the test set
-- position: place in the manifest, from 0
-- cluster: item attribute that groups items into units; NULL if items are the units
-- n_items: number of items in the gold
-- gold: digest of the gold
SELECT DISTINCT test_set, test_set_position AS position, cluster, n_gold_items AS n_items, gold
FROM released_board
ORDER BY position
