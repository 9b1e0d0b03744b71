"""Attacks on the registry: each one has to fail."""
