"""Parallel work: threads, processes, a dask cluster, and the memory that arrays may take.

It knows nothing of what is computed.
"""
