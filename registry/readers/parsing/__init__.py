"""Functions that parse text, tables and JSON, for readers of several formats."""
