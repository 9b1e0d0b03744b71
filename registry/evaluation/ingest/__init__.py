"""A manifest's task, gold and submissions into the store."""
