"""Evaluation of n-best lists."""
