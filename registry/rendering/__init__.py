"""Tables as text: terminal, Markdown, LaTeX, HTML, TSV, CSV, JSON.

A table has rows of values. This package escapes and formats the values, whatever they mean.
"""
