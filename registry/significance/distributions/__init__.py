"""Distributions whose formulas scipy lacks or computes too coarsely: tails by logarithms, intervals of proportions.

They take and return numbers, and know nothing of systems.
"""
