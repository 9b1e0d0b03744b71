"""What every form of gold and answers is: items with their values, written as files that a reader takes.

What is no value of its form is refused by a ValueError that says what was expected; the form adds the item.
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
        names: What they are called.
        golds: Their gold values; None where there is no gold.
        clusters: The clusters that they are in, if any.
        keyed: Whether the user named them, so that what is aligned is so for certain.
    """

    names: Sequence[str]
    golds: Sequence[Any]
    clusters: Sequence[str] | None = None
    keyed: bool = False


@dataclass(frozen=True)
class Form(ABC):
    """One form, of the items that are given.

    `takes` is the kind of values as metrics call it, `reader` the format of the files that are written, `ending` their
    names' end.
    """

    items: Items

    takes: ClassVar[str]
    reader: ClassVar[str]
    ending: ClassVar[str] = ".jsonl"

    @property
    def options(self) -> Row:
        """Of the reader."""
        return {}

    @property
    def attributes(self) -> Row:
        """The reader's option that names the attributes of items, where these are in clusters."""
        return {} if self.items.clusters is None else {"attributes": ["cluster"]}

    def test_set(self) -> tuple[Row, dict[str, bytes]]:
        """The test set as a manifest declares it, and its files."""
        gold = f"gold{self.ending}"
        table = {"name": "test", "gold": gold, "format": self.reader, "options": self.options}
        if self.items.clusters is not None:
            table["cluster"] = "cluster"
        return table, {gold: self.written(self.items.golds, gold=True)}

    def metric_options(self) -> Row:
        """What a metric has to be told of the gold."""
        return {}

    def check_gold(self, metric: Metric) -> None:  # noqa: B027  # most forms have nothing to check
        """Refuse a gold that a metric cannot score; the error names the item."""

    def is_blank(self, value: Any, gold: Any) -> bool:  # noqa: ARG002
        """Whether an answer says nothing where the gold says something, as if there were none."""
        return False

    @abstractmethod
    def written(self, values: Sequence[Any], *, gold: bool = False) -> bytes:
        """The file of the gold or of a system; what is None has no answer."""

    def each(self, values: Sequence[Any], convert: Callable[[Any], Any]) -> Iterator[tuple[str, Any, Row]]:
        """The items that have a value, with that as `convert` makes it and the item's attributes."""
        clusters = self.items.clusters
        for n, (name, value) in enumerate(zip(self.items.names, values, strict=True)):
            if value is not None:
                try:
                    yield name, convert(value), {} if clusters is None else {"cluster": clusters[n]}
                except ValueError as error:
                    raise InputError(str(error), item=name) from None
