"""The steps of an evaluation: ingest, score, compare, check and verify.

Each command imports only the modules that it uses. So commands that only show results do not import scipy.
"""
