"""Boards that stay open: what can be said of a history of submissions, and what may be shown of it meanwhile."""
