"""The base class of the forms of gold and answers: items with their values, written as files for a reader.

A conversion raises ValueError for a value of another form; the form adds the item.
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
        names: Their names.
        golds: Their gold values; None without a gold.
        clusters: Their clusters, if any.
        keyed: True if the user named them, so that they are aligned by name.
    """

    names: Sequence[str]
    golds: Sequence[Any]
    clusters: Sequence[str] | None = None
    keyed: bool = False


@dataclass(frozen=True)
class Form(ABC):
    """The values of items in one form.

    `takes` is the kind of values as metrics call it, `reader` the format of the files that are written, `ending` their
    names' end.
    """

    items: Items

    takes: ClassVar[str]
    reader: ClassVar[str]
    ending: ClassVar[str] = ".jsonl"

    @property
    def options(self) -> Row:
        """The reader's options."""
        return {}

    @property
    def attributes(self) -> Row:
        """The reader's option for the clusters of items, if any."""
        return {} if self.items.clusters is None else {"attributes": ["cluster"]}

    def test_set(self) -> tuple[Row, dict[str, bytes]]:
        """Return the test set as a manifest declares it, and its files."""
        gold = f"gold{self.ending}"
        table = {"name": "test", "gold": gold, "format": self.reader, "options": self.options}
        if self.items.clusters is not None:
            table["cluster"] = "cluster"
        return table, {gold: self.write(self.items.golds, gold=True)}

    def metric_options(self) -> Row:
        """Return the metric's options that depend on the gold."""
        return {}

    def check_gold(self, metric: Metric) -> None:  # noqa: B027  # most forms have nothing to check
        """Refuse a gold that a metric cannot score; the error names the item."""

    def is_blank(self, value: Any, gold: Any) -> bool:  # noqa: ARG002
        """Return whether an answer is empty and the gold is not, so that it counts as missing."""
        return False

    @abstractmethod
    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        """Return the content of the file of the gold or of a system; None is no answer."""

    def iterate(self, values: Sequence[Any], convert: Callable[[Any], Any]) -> Iterator[tuple[str, Any, Row]]:
        """Yield the name, the converted value and the attributes of each item with a value."""
        clusters = self.items.clusters
        for n, (name, value) in enumerate(zip(self.items.names, values, strict=True)):
            if value is not None:
                try:
                    yield name, convert(value), {} if clusters is None else {"cluster": clusters[n]}
                except ValueError as error:
                    raise InputError(str(error), item=name) from None
