"""Deadlines, limits, later declarations, and purges of teams."""
