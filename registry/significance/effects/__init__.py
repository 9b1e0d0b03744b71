"""Effect sizes of a pair with their intervals, equivalence, clustering, normality, and the power of tests.

They may know resamples and distributions; they decide nothing about significance.
"""
