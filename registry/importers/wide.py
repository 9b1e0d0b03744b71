"""A table with a row for every item and a column of scores for every system."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from registry.errors import InputError, suggest
from registry.importers.base import Importer, require_metric, title
from registry.importers.files import Place
from registry.importers.scored import Collected, Measure, Run, standing_twice, system_and_team
from registry.manifest.fields import BRACES, braces
from registry.manifest.folder import TaskFolder
from registry.readers import Document, Scores
from registry.readers.parsing.delimited import Separator, Written, read_cells, read_header
from registry.readers.parsing.parquet import MAGIC, parquet_head
from registry.readers.tables import as_number, is_unscored


class _Head(NamedTuple):
    """The columns and the first row of a table, and where both stand in a text."""

    columns: Sequence[str]
    first: Sequence[Any]
    line: int | None = None
    first_line: int | None = None


class Wide(Importer):
    """Delimited text with a header, or Parquet: a row for every item, a column of scores for every system.

    Attributes:
        item: The columns that together name an item; without any the rows are numbered from 1.
        attributes: Columns that are attributes of the item.
        systems: The columns of the systems; without any all that no other option names.
        runs: What these columns are called where a system has several, one for each run: `{system}.{run}`.
        separator: Between columns of text: `comma`, `semicolon`, `tab` or `whitespace`.
        unscored: What stands in place of a score where a system has none for the item.
        better: Whether `higher` or `lower` scores are the better ones.
        metric: What boards call the mean of the scores.
        missing: Items without a score by one of the systems: `reject` the table, or `drop` the item for all systems.
    """

    name: ClassVar[str] = "wide"

    item: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    separator: Separator = "comma"
    unscored: tuple[str, ...] = ("",)
    better: Literal["higher", "lower"] = "higher"
    metric: str = "score"
    missing: Literal["reject", "drop"] = "reject"
    runs: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_metric(self.name, self.metric)
        if self.runs is not None and sorted(braces(self.runs)) != ["run", "system"]:
            raise InputError(f"option 'runs' is {self.runs!r}; it must have {{system}} and {{run}}, each once, as in "
                             '"{system}.{run}"')

    def read(self, path: Path) -> TaskFolder:
        """Declare every system's column as its submission; the table itself is the gold, which lists the items."""
        collected = Collected(path, self.missing, self.better)
        document = collected.load(path)
        is_parquet = document.content.startswith(MAGIC)
        head = self._parquet(document) if is_parquet else self._delimited(document)
        systems = self.systems or tuple(name for name in head.columns if name not in (*self.item, *self.attributes))
        if not systems:
            raise InputError("no column is left for a system", path=path, line=head.line)
        if not all(name.strip() for name in systems):
            raise InputError("a column has no name; if it names the items, as row names do, --option 'item=[\"\"]'; "
                             "else name it in the header", path=path, line=head.line)
        self._look_at(systems, dict(zip(head.columns, head.first, strict=False)), Place(document.path, head.first_line),
                      text=not is_parquet)
        if self.runs is not None:
            columns = _systems_and_runs(systems, self.runs, Place(document.path, head.line))
            return self._of_runs(document, columns, collected)
        file = "scores.parquet" if is_parquet else "scores.csv"
        written = {"syntax": "parquet"} if is_parquet else {"separator": self.separator}
        options = {**written, "item": list(self.item), "attributes": list(self.attributes),
                   "unscored": list(self.unscored)}
        return TaskFolder({
            "task": {"title": title(path)},
            "test_set": [{"name": "test", "gold": file, "format": "scores", "options": options}],
            "submission": {"missing": self.missing},
            "metric": [Measure(name=self.metric).metric(self.better)],
            "submit": [{"file": file, **system_and_team(name), "options": {"score": name}} for name in systems],
        }, {file: document.content}, collected.digests, copies={file: document.path})

    def _of_runs(self, document: Document, columns: Mapping[str, tuple[str, str]],
                 collected: Collected) -> TaskFolder:
        """Make a file of every run's column."""
        reader = Scores(item=self.item, attributes=self.attributes, separator=self.separator, unscored=self.unscored,
                        syntax="parquet" if document.content.startswith(MAGIC) else "delimited")
        scores: dict[str, Run] = {column: {} for column in columns}
        for row in reader.rows(document, tuple(columns), self.attributes):
            place = Place(document.path, row.line)
            collected.describe("test", row.key, row.attributes, place)
            for (column, found), cell in zip(scores.items(), row.cells, strict=True):
                if row.key in found:
                    raise standing_twice(row.key, place, found[row.key][1])
                found[row.key] = (reader.number(cell, column, row), place)
        for column, (system, run) in columns.items():
            collected.add("test", system, run, scores[column])
        return collected.imported(Measure(name=self.metric))

    def _delimited(self, document: Document) -> _Head:
        rows = read_cells(document, Written(self.separator))
        line, header = next(rows, (1, []))
        if len(header) == 1 and any(mark in header[0] for mark in "\t,;|"):
            raise document.error(f"only one column, {header[0]!r}; --option separator=comma, semicolon, tab or "
                                 "whitespace says what separates them", line=line)
        columns = read_header(header, (*self.item, *self.attributes, *self.systems), document, line)
        first_line, first = next(rows, (line, []))
        return _Head(columns, first, line, first_line)

    def _parquet(self, document: Document) -> _Head:
        columns, first = parquet_head(document)
        for name in (*self.item, *self.attributes, *self.systems):
            if name not in columns:
                raise document.error(f"no column {name!r}; {suggest(name, columns)}")
        return _Head(columns, first)

    def _look_at(self, systems: tuple[str, ...], first: dict[str, Any], place: Place, *, text: bool) -> None:
        """See that the systems' columns are some, by the first row; all others are the reader's."""
        for name in systems:
            cell = first.get(name)
            is_there = not is_unscored(cell, self.unscored) and str(cell).strip()
            is_meant = isinstance(cell, bool) and self.systems  # else a flag of the items might be taken for a system
            if is_there and not is_meant and math.isnan(as_number(cell, text=text)):
                raise place.error(f"column {name!r} has {str(cell)[:60]!r}, which is no score; if it names the items, "
                                  f"--option item={name}; else --option systems or unscored")


def _systems_and_runs(columns: Iterable[str], pattern: str, place: Place) -> dict[str, tuple[str, str]]:
    """The system and run of every column, which is called by the pattern in one way."""
    found = {}
    for column in columns:
        first, last = (re.fullmatch(_expression(pattern, how), column, re.DOTALL) for how in (".+?", ".+"))
        if first is None or last is None:
            raise place.error(f"the column {column!r} is not called {pattern}; --option systems names those that are "
                              "systems', --option attributes others")
        if first.groupdict() != last.groupdict():
            raise place.error(f"the column {column!r} is called {pattern} in more than one way; give it another name")
        found[column] = (first["system"], first["run"])
    return found


def _expression(pattern: str, how: str) -> str:
    """The pattern as an expression."""
    pieces = enumerate(BRACES.split(pattern))
    return "".join(f"(?P<{piece}>{how})" if n % 2 else re.escape(piece) for n, piece in pieces)
