"""Connects readers, metrics, tests and the store: ingest, score, compare, check and verify.

Commands import the modules that they use, so that commands that only show results do not import scipy.
"""
