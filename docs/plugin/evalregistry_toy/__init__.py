"""A reader, a metric, an importer, a test and a study: keep what you need, and rename the package."""

from __future__ import annotations

import json
import math
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
from registry.significance.base import Observed, Settings, Tail
from registry.significance.distributions import log_normal_p
from registry.significance.pairwise.base import PairTest
from registry.significance.units import unit_differences
from registry.studies.study import BoardStudy, Case, Finding, option


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


class PairedZ(PairTest):
    """The mean difference of units over its standard error, which is normal if there are many units."""

    name = "z"
    null = "the mean difference of a unit is 0"
    assumes = "units are independent of each other, and there are many"
    citation = "Conover 1999, section 5.7"
    of_unit_scores = True

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compare the mean difference with its standard error."""
        differences, slack = unit_differences(o)
        if len(differences) < 2 or differences.max() - differences.min() <= slack:
            return Tail(math.nan, "asymptotic", note="the difference is the same in every unit")
        z = float(differences.mean() / differences.std(ddof=1)) * math.sqrt(len(differences))
        return Tail(log_normal_p(z, settings.alternative), "asymptotic", statistic=abs(z), favours=z)


class Behind(BoardStudy):
    """The distance of every system to the best one, in units of the score."""

    name = "behind"
    title = "How far behind the best system are the other ones?"
    citation = "-"
    settings = ()
    least: float = option(0.0, "Leave out systems that are nearer than this.", minimum=0.0)

    def run(self, case: Case) -> Finding:
        """Subtract every score from the best one."""
        distances = abs(case.board.scores - case.board.scores[0]).tolist()
        return Finding({"systems": [
            {"system": member.system, "behind": distance}
            for member, distance in zip(case.board.members, distances, strict=True) if distance >= self.least]})


def _lines(of: Mapping[str, int]) -> bytes:
    if not all(item.isprintable() and type(number) is int for item, number in of.items()):
        raise ValueError("an item with line breaks, or no whole number")
    return "".join(f"{item} = {number}\n" for item, number in of.items()).encode()
