"""Proof by simulation that the tests keep their level, cover, and find what is there. `python -m tests.validity`."""
