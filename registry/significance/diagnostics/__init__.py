"""Warnings about unreliable results: misused tests, and violated assumptions."""
