"""Verify that a registry is unaltered, and that its results follow from its inputs."""
