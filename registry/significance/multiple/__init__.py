"""Corrections of families of p-values."""
