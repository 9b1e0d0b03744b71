"""Tables as text: terminal, Markdown, LaTeX, TSV, CSV, JSON."""
