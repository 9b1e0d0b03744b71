"""Formats that are no tables: marked lines, rankings, spans, tagged and plain text."""
