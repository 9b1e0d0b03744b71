"""Exact p-values without simulation, for permutation tests and the bootstrap.

The bootstrap has infinitely many resamples. The sums of whole numbers are computed on a lattice. If the lattice is too
large, these functions return no result, and the test simulates its p-value.
"""
