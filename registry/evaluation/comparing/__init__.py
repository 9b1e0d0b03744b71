"""Compare systems: test all pairs, correct p-values, rank systems, store results."""
