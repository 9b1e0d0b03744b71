"""Tables as GitHub's Markdown, every mark in a cell escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from registry.rendering.table import Table, cells, visible


def markdown_table(table: Table) -> str:
    """A table with its title, captions and signature."""
    columns, rows = cells(table)
    parts = [f"**{plain_markdown(table.title)}**\n\n"] if table.title else []
    parts += markdown_rows([c.heading for c in columns], rows, [c.right for c in columns])
    parts += [f"\n{plain_markdown(caption)}\n" for caption in table.captions]
    if table.signature:
        parts.append(f"\n`{visible(table.signature).replace('`', '')}`\n")
    return "".join(parts)


def markdown_rows(headings: Sequence[str], rows: Iterable[Sequence[str]],
                  right: Sequence[bool] | None = None) -> Iterator[str]:
    """The lines of a table, one after the other; `right` tells which columns are numbers."""
    yield "| " + " | ".join(map(plain_markdown, headings)) + " |\n"
    yield "|" + "|".join(" ---: " if r else " --- " for r in right or [False] * len(headings)) + "|\n"
    for row in rows:
        yield "| " + " | ".join(map(plain_markdown, row)) + " |\n"


def plain_markdown(cell: str) -> str:
    """A text with every mark escaped."""
    escaped = cell.replace("\\", "\\\\")
    for mark in "`*_[]<>|#$":
        escaped = escaped.replace(mark, "\\" + mark)
    return visible(escaped)
