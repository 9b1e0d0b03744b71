"""Random resamples and permutations, and their p-values and intervals.

All systems share the random numbers, which depend only on the seed. These modules do not depend on the tests.
"""
