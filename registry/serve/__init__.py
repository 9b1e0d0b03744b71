"""A registry's site over HTTP: its pages and tables, and answers to SQL.

The server reads snapshots of the registry, which contain only public data (`snapshots`). It makes every
answer once for a snapshot (`reading`), and answers SQL as `registry query` does.
"""
