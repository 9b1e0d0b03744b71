"""The database's file: who may create it, how this process opens it, and what DuckDB says where it cannot be used."""
