"""The HTTP server of a registry: pages, tables for programs, and SQL queries.

The server reads snapshots of the registry, which by default contain only public data (module `snapshots`). Each
response is made once for each snapshot (module `source`). SQL queries run as in `registry query`.
"""
