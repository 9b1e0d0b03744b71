"""Warnings of results that data do not support: tests that do not fit, pairs that differ by more than their scores."""
