"""Base class of the forms of gold and answers.

A form, such as labels or spans, writes the values of items as a file for a reader. Functions that convert one value
raise a ValueError if the value is invalid; the form adds the name of the item to the error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from registry.errors import InputError
from registry.metrics import Metric

Row = dict[str, Any]


@dataclass(frozen=True)
class Items:
    """The items of a gold.

    Attributes:
        names: The names of the items.
        golds: The gold value of each item; None for an item without a gold.
        clusters: The cluster of each item; None without clusters.
        keyed: True if the user named the items, so that values are aligned by name.
    """

    names: Sequence[str]
    golds: Sequence[Any]
    clusters: Sequence[str] | None = None
    keyed: bool = False


@dataclass(frozen=True)
class Form(ABC):
    """The values of items in one form, such as labels.

    Attributes:
        items: The items with their gold.
        takes: The kind of values, as in metrics.
        reader: The name of the reader for the files.
        ending: The end of the names of files.
    """

    items: Items

    takes: ClassVar[str]
    reader: ClassVar[str]
    ending: ClassVar[str] = ".jsonl"

    @property
    def options(self) -> Row:
        """The options of the reader."""
        return {}

    @property
    def attributes(self) -> Row:
        """The option of the reader for the clusters of items; empty without clusters."""
        return {} if self.items.clusters is None else {"attributes": ["cluster"]}

    def test_set(self) -> tuple[Row, dict[str, bytes]]:
        """Return the [[test_set]] table of the manifest, and the files by name."""
        gold = f"gold{self.ending}"
        table = {"name": "test", "gold": gold, "format": self.reader, "options": self.options}
        if self.items.clusters is not None:
            table["cluster"] = "cluster"
        return table, {gold: self.write(self.items.golds, gold=True)}

    def metric_options(self) -> Row:
        """Return the metric's options that depend on the gold."""
        return {}

    def check_gold(self, metric: Metric) -> None:  # noqa: B027  # most forms have nothing to check
        """Raise an error that names the item if the metric cannot score a gold value."""

    def is_blank(self, value: Any, gold: Any) -> bool:  # noqa: ARG002
        """Return True if an answer counts as missing, because it is empty and the gold is not."""
        return False

    @abstractmethod
    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        """Return the content of a file with these values, of the gold or of a system; None is a missing answer."""

    def iterate(self, values: Sequence[Any], convert: Callable[[Any], Any]) -> Iterator[tuple[str, Any, Row]]:
        """Yield the name, the converted value and the attributes of each item with a value."""
        clusters = self.items.clusters
        for n, (name, value) in enumerate(zip(self.items.names, values, strict=True)):
            if value is not None:
                try:
                    yield name, convert(value), {} if clusters is None else {"cluster": clusters[n]}
                except ValueError as error:
                    raise InputError(str(error), item=name) from None
