"""Tests of correlation coefficients."""
