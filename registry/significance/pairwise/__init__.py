"""Paired tests, one file each; `base.PairTest` is what all of them are.

A test may use all of resampling, exact, correlations and distributions, and no other test but one that it extends.
"""
