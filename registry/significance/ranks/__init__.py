"""Ranks of systems: from pairwise decisions, from joint draws of all differences, and as letters.

They take scores, decisions or the influences of units as arrays, and know no test.
"""
