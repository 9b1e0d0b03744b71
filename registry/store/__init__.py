"""Access to the DuckDB file of a registry: tables, views, queries and inserts.

The functions return plain arrays and rows.
"""
