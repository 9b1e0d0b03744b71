"""Analyses over many comparisons: ranked candidates."""
