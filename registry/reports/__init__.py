"""Frozen boards and their renderers."""
