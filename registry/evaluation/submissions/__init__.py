"""Deadlines and limits of submissions, later changes, and purges of teams."""
