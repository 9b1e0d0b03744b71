"""Histories of submissions."""
