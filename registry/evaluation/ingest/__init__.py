"""Read the task, gold and submissions of a manifest, and store them."""
