"""Correlations with gold values: coefficients under item weights, and their resamples and swaps.

They may know matrices and random draws, and no test.
"""
