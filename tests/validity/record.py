"""The table of docs/validity.md: what was measured of every row, line by line.

A row's seed is its name, so a line stays true until its row or what the row tests is changed: `python -m tests.validity
--write ROW ...` measures rows in full and puts their lines into the page, in the order of the declaration, and leaves
the others as they are.
"""

from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "validity.md"
HEADER = ("row", "population", "test", "runs", "measured", "value", "error", "expected", "keeps its level", "verdict")
KEEPS = HEADER.index("keeps its level")
DECLARED = 5  # cells of a line that are known before anything is run


def lines_of(row, runs):
    """The lines of a row, measured with so many runs."""
    return [(*row.declared(band, runs), of.value, of.error, of.expected, of.keeps or "-", "ok" if of.holds else "LEFT")
            for band, of in zip(row.band, row.measure(runs), strict=True)]


def markdown(table, header=HEADER):
    """Lines of a table in Markdown."""
    return ["| " + " | ".join(line) + " |" for line in (header, ("---",) * len(header), *table)]


def recorded(page, header=HEADER):
    """The table of a page with this header, [lines] of cells, and between which lines of text it stands."""
    text = page.splitlines()
    first = text.index(markdown([], header)[0])
    last = next((n for n in range(first, len(text)) if not text[n].startswith("|")), len(text))
    return [tuple(line[2:-2].split(" | ")) for line in text[first + 2:last]], (first, last)


def replaced(page, table, header=HEADER):
    """The page with other lines in its table with this header."""
    _, (first, last) = recorded(page, header)
    text = page.splitlines()
    return "\n".join([*text[:first], *markdown(table, header), *text[last:]]) + "\n"


def written(page, table, names):
    """The page with new lines, in the order of the rows' `names`; lines of other rows are dropped."""
    old, _ = recorded(page)
    new, places = {line[0] for line in table}, {name: n for n, name in enumerate(names)}
    lines = [*(line for line in old if line[0] not in new and line[0] in places), *table]
    return replaced(page, sorted(lines, key=lambda line: places[line[0]]))
