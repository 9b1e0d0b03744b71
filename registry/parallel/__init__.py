"""Parallel work in threads, processes or a dask cluster, and temporary files for large arrays.

The package does not depend on the computations.
"""
