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
    """The items of a test set with their gold.

    Attributes:
        names: The names of the items.
        golds: The gold value of each item; None for an item without a gold.
        clusters: The cluster of each item; None without clusters.
        has_keys: True if the user named the items. Values are then matched by name instead of position.
    """

    names: Sequence[str]
    golds: Sequence[Any]
    clusters: Sequence[str] | None = None
    has_keys: bool = False


@dataclass(frozen=True)
class Form(ABC):
    """Base class of the data types of answers, such as labels, spans or texts.

    A form writes Python values to a file that one of the readers of file formats can read.

    Attributes:
        items: The items with their gold.
        takes: The kind of values, such as `label`. A metric declares the kind that it compares by the same word.
        reader: The name of the reader that reads the files.
        ending: The end of the file names.
    """

    items: Items

    takes: ClassVar[str]
    reader: ClassVar[str]
    ending: ClassVar[str] = ".jsonl"

    @property
    def options(self) -> Row:
        """Options for the reader of the files."""
        return {}

    @property
    def attributes(self) -> Row:
        """Reader option that loads the clusters of the items; empty without clusters."""
        return {} if self.items.clusters is None else {"attributes": ["cluster"]}

    def test_set(self) -> tuple[Row, dict[str, bytes]]:
        """Return the `[[test_set]]` table of the manifest, and its files by name."""
        gold = f"gold{self.ending}"
        table = {"name": "test", "gold": gold, "format": self.reader, "options": self.options}
        if self.items.clusters is not None:
            table["cluster"] = "cluster"
        return table, {gold: self.write(self.items.golds, gold=True)}

    def metric_options(self) -> Row:
        """Return metric options that depend on the gold, such as names of references."""
        return {}

    def check_gold(self, metric: Metric) -> None:  # noqa: B027  # most forms have nothing to check
        """Check that a metric can score all gold values.

        Raises:
            InputError: The metric cannot score a gold value.
        """

    def is_blank(self, value: Any, gold: Any) -> bool:  # noqa: ARG002
        """Return True if an empty answer counts as missing.

        For example, an empty text is missing unless the gold text is empty, too.
        """
        return False

    @abstractmethod
    def write(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        """Return the content of a file with the values of the gold or of one system.

        Args:
            values: One value per item; None is a missing answer.
            gold: True if these are the values of the gold.
        """

    def iterate(self, values: Sequence[Any], convert: Callable[[Any], Any]) -> Iterator[tuple[str, Any, Row]]:
        """Convert all values; yield item name, converted value and attributes of each.

        Args:
            values: One value per item; items with the value None are skipped.
            convert: A function that converts a value. If it raises a ValueError, the item is added to the message.

        Raises:
            InputError: A value cannot be converted.
        """
        clusters = self.items.clusters
        for n, (name, value) in enumerate(zip(self.items.names, values, strict=True)):
            if value is not None:
                try:
                    yield name, convert(value), {} if clusters is None else {"cluster": clusters[n]}
                except ValueError as error:
                    raise InputError(str(error), item=name) from None
