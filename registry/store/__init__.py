"""The DuckDB file: tables, bulk inserts, queries and views. It returns plain arrays and rows."""
