"""The composers: apply, submit, score, compare and check join readers, metrics, tests and the store.

Commands import the rooms that they use, so that what only shows results does not wait for what computes them.
"""
