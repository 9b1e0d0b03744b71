"""Verify that nobody altered a registry, and that its results can be reproduced."""
