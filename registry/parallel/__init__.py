"""Parallel work in threads, processes or a dask cluster.

The package also makes temporary files for large arrays.

The package does not depend on the computations.
"""
