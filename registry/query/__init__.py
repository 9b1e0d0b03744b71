"""SQL that a user wrote: a process of its own, limits, and the data model.

It reads a database that it cannot change, and knows neither tasks nor metrics.
"""
