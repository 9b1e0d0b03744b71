"""Studies of several test sets at once: their averages, the ranks over them, and on how many of them one is better."""
