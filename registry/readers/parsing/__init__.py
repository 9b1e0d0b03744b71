"""Parsing of text, tables and JSON, for readers of several formats."""
