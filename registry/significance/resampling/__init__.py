"""Random draws of units: streams, resamples and swaps, counts of exceedances, and intervals.

All systems share the draws, which depend on the seed alone. Nothing here knows a test.
"""
