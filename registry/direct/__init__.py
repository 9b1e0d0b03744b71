"""Evaluation of Python values: makes a leaderboard from lists, arrays, dicts and data frames."""
