"""Distributions that scipy has not, or not as exactly."""
