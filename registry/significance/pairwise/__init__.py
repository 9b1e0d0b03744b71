"""Paired tests, one module per group of tests.

`base.PairTest` is the base class of all tests. A test may import resampling, exact, correlations and distributions. It
imports no other test, except one that it extends.
"""
