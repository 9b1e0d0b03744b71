-- The test sets, in the order of the manifest.
--
-- test_set: its name
-- position: its place in the manifest, from 0
-- cluster: the item attribute that groups items into units; NULL where there is none
-- n_items: how many items its gold has
-- gold: the digest of its gold
SELECT DISTINCT test_set, test_set_position AS position, cluster, n_gold_items AS n_items, gold
FROM released_board
ORDER BY position
