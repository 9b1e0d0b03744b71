"""Tables as text: terminal, Markdown, LaTeX, HTML, TSV, CSV, JSON.

A table has rows of values. This package formats and escapes the values without knowledge of their meaning.
"""
