"""A declarative, database-backed evaluation registry for shared tasks.

Gold annotations and system outputs become per-item sufficient statistics in DuckDB; significance tests run over those
statistics on demand; every result is stored with what it takes to reproduce it.
"""

__version__ = "0.1.0"
