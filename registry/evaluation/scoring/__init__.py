"""Compute and store sufficient statistics and scores of submissions."""
