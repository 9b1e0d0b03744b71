"""Tests of two systems, one file each."""
