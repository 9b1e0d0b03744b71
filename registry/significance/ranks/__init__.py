"""Ranks of systems: from pairwise decisions, from joint resamples, and as letters.

They take scores, decisions or resampled scores as arrays, and know no test.
"""
