"""SQL queries of users: checks, a process with limits, and the data model.

A query reads a database, and cannot change it. This package does not depend on tasks or metrics.
"""
