"""A reader, a metric and an importer of their own: take what you need, and rename the package."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from registry.errors import InputError
from registry.importers import Importer, TaskFolder
from registry.items import Answer, Item
from registry.metrics import QuotientMetric
from registry.readers import Document
from registry.readers.base import NamedReader


class Properties(NamedReader):
    """Lines of `item = label`.

    Attributes:
        separator: What stands between the two.
    """

    name = "properties"
    gives = "label"
    named = "label"

    separator: str = "="

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items with their labels."""
        document, items = documents["gold"], []
        for number, line in document.lines():
            key, separator, label = (part.strip() for part in line.partition(self.separator))
            if separator and key and label:
                items.append(Item(key, label, {}, number))
            elif line.strip():
                document.refuse(f"expected `item {self.separator} label`", number)
        if not items:
            document.report_empty("item")
        return items

    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Count the labels."""
        return Counter(values)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Another label."""
        return name(value)


class Within(QuotientMetric):
    """The share of items whose number is at most `width` from the gold's, from 0 to 1; no answer counts as wrong."""

    takes = "label"
    citation = "Gaudette and Japkowicz 2009"

    width: int = 1

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (1 if the number is near enough, 1)."""
        return (int(answer is not None and abs(int(answer.value) - int(item.gold)) <= self.width), 1)

    def uncountable(self, value: Any) -> str | None:
        """Labels have to be whole numbers."""
        return None if str(value).lstrip("-").isdigit() else f"{value!r} is no whole number, which Within needs"


class Votes(Importer):
    """A JSON file `{"gold": {item: number}, "systems": {name: {item: number}}}`."""

    name = "votes"

    def read(self, path: Path) -> TaskFolder:
        """Declare every system, scored by `Within`."""
        document = Document.load(path)
        try:
            votes = json.loads(document.content)
            files = {"gold.txt": _lines(votes["gold"])}
            systems = {f"system{n}.txt": name for n, name in enumerate(votes["systems"], 1)}  # names are no paths
            files |= {file: _lines(votes["systems"][name]) for file, name in systems.items()}
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            raise InputError('expected {"gold": {item: number}, "systems": {name: {item: number}}}', path=path
                             ) from None
        return TaskFolder({
            "task": {"plugins": ["evalregistry-toy"]},
            "test_set": [{"name": "test", "gold": "gold.txt", "format": "properties"}],
            "metric": [{"name": "Within"}],
            "significance": {"seed": 1},
            "submit": [{"file": file, "system": name} for file, name in systems.items()],
        }, files, {document.name: document.digest})


def _lines(of: Mapping[str, int]) -> bytes:
    if not all(item.isprintable() and type(number) is int for item, number in of.items()):
        raise ValueError("an item with line breaks, or no whole number")
    return "".join(f"{item} = {number}\n" for item, number in of.items()).encode()
