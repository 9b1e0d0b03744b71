"""Exact p-values: permutation tests on a lattice of whole numbers, and the bootstrap of infinitely many resamples.

Only a matrix and a pair go in. A lattice that is too large is refused, and the test draws instead.
"""
