"""From decisions to ranks, groups and the best."""
