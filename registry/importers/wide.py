"""A table with a row for every item and a column of scores for every system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from registry.errors import InputError
from registry.importers.base import Imported, Importer, title
from registry.readers import Document
from registry.readers.delimited import Separator, read_cells, read_header

_FILE = "scores.csv"


@dataclass(frozen=True, repr=False)
class Wide(Importer):
    """Delimited text with a header: a row for every item, a column of scores for every system.

    Attributes:
        item: The columns that together name an item; without any the rows are numbered from 1.
        attributes: Columns that are attributes of the item.
        systems: The columns of the systems; without any all that no other option names.
        separator: Between columns: `comma`, `tab` or `whitespace`.
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

    def read(self, path: Path) -> Imported:
        """Declare every system's column as its submission; the table itself is the gold, which lists the items."""
        document = Document.load(path)
        line, header = next(read_cells(document, self.separator), (1, []))
        columns = read_header(header, (*self.item, *self.attributes, *self.systems), document, line)
        systems = self.systems or tuple(name for name in columns if name not in (*self.item, *self.attributes))
        if not systems:
            raise InputError("no column is left for a system", path=path, line=line)
        options = {"separator": self.separator, "item": list(self.item), "attributes": list(self.attributes),
                   "unscored": list(self.unscored)}
        return Imported({
            "task": {"title": title(path)},
            "test_set": [{"name": "test", "gold": _FILE, "format": "scores", "options": options}],
            "submission": {"missing": self.missing},
            "metric": [{"id": self.metric, "name": "Mean", "options": {"better": self.better}}],
            "submit": [{"file": _FILE, "system": name, "options": {"score": name}} for name in systems],
        }, {_FILE: document.content}, {document.path: document.digest})
