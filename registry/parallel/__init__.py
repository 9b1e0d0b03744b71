"""Parallel work: threads, processes, a dask cluster, and the memory that arrays may take.

The package is independent of the computations.
"""
