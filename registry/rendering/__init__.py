"""Tables as text: terminal, Markdown, LaTeX, TSV, CSV, JSON.

A table is rows of values; rendering escapes them, and knows nothing of what they mean.
"""
