"""A table in long form: a row for every score, with the item, the system and perhaps the run that it is of."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, ClassVar

from registry.errors import InputError
from registry.importers.base import require_metric
from registry.importers.files import Place
from registry.importers.scored import Collected, Measure, Run, ScoredImporter, standing_twice
from registry.manifest.folder import TaskFolder
from registry.readers import Scores
from registry.readers.parsing.delimited import Separator
from registry.readers.parsing.parquet import MAGIC
from registry.readers.parsing.table_columns import Syntax
from registry.readers.tables import Row, as_text, shown


class Long(ScoredImporter):
    """Delimited text with a header, JSON or Parquet: a row for every score of every system.

    Attributes:
        item: The columns that together name an item.
        system: The column that names the system.
        score: The column that holds the score.
        run: The column that tells the runs of a system apart.
        test_set: The column that names the benchmark, where there are several.
        attributes: Columns that are attributes of the item.
        syntax: `delimited`, `jsonl` or `json`, whose columns may be paths; Parquet is known by its content.
        separator: Between columns of text: `comma`, `semicolon`, `tab` or `whitespace`.
        columns: The names of the columns in order, where the text has no header.
        unscored: What stands in place of a score where there is none.
        metric: What boards call the mean of the scores.
    """

    name: ClassVar[str] = "long"

    item: tuple[str, ...] = ("item",)
    system: str = "system"
    score: str = "score"
    run: str | None = None
    test_set: str | None = None
    attributes: tuple[str, ...] = ()
    syntax: Syntax = "delimited"
    separator: Separator = "comma"
    columns: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ("",)
    metric: str = "score"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_metric(self.name, self.metric)
        if not self.item:
            raise InputError("option 'item' of long must name one column or more: an item has a row for each system")
        if "item" in self.attributes:
            raise InputError("option 'attributes' of long cannot name 'item', which the items' own names are called")

    def read(self, path: Path) -> TaskFolder:
        """Read the table once; every run's scores become a file of their own."""
        collected = Collected(path, self.missing, self.better)
        document = collected.load(path)
        reader = Scores(item=self.item, attributes=self.attributes, separator=self.separator, columns=self.columns,
                        unscored=self.unscored, syntax="parquet" if document.content.startswith(MAGIC) else self.syntax)
        names = (self.system, *(name for name in (self.run, self.test_set) if name is not None))
        found: dict[tuple[str, str, str], Run] = defaultdict(dict)
        for row in reader.rows(document, (self.score, *names), self.attributes):
            place = Place(document.path, row.line)
            score, *cells = row.cells
            of = {name: _named(cell, name, row) for name, cell in zip(names, cells, strict=True)}
            system, run, test_set = of[self.system], of.get(self.run or "", "1"), of.get(self.test_set or "", "test")
            collected.describe(test_set, row.key, row.attributes, place)
            number, scores = reader.number(score, self.score, row), found[test_set, system, run]
            if row.key in scores:
                raise standing_twice(f"{row.key} (system {system!r})", place, scores[row.key][1], (
                    "; if these are runs, --option run says which column tells them apart" if self.run is None else ""))
            scores[row.key] = (number, place)
        for (test_set, system, run), scores in found.items():
            collected.add(test_set, system, run, scores)
        return collected.imported(Measure(name=self.metric))


def _named(cell: Any, column: str, row: Row) -> str:
    """A name as text, which a whole number may be."""
    if (text := as_text(cell)) is None or not text.strip() or not text.isprintable():
        raise row.error(f"{column!r} is {shown(cell)}; expected a name")
    return text
