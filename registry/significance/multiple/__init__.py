"""Corrections for multiple comparisons: of p-values, of joint draws, and over several test sets.

A correction takes a family of p-values or draws, and knows no test.
"""
