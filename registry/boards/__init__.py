"""Leaderboards as immutable data: loading, selection, statements, and changes."""
