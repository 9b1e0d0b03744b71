"""Items that an automatic judge has scored, and people some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal

from registry.items import Answer, Item
from registry.readers.parsing.document import Document
from registry.readers.tables import Row, TableReader, numbers_of

LEAST_PROBABILITY = 1e-3  # below it, sums of what items stand for would not be exact


class Judged(TableReader):
    """A judge's score of every item, and people's score of some, in two columns of a system's file.

    What people did not look at must be so by chance: the mean of the others is corrected by what they say of these. The
    gold lists the items, and where some had a better chance than others the probability of each.

    Attributes:
        drawn: How the items that people looked at were drawn: at `random`, all alike, or each with its `probability`.
        judge: The column that holds the judge's scores.
        human: The column that holds people's, empty where they did not look.
        probability: The column of the gold that holds the probabilities, above 0 and at most 1.
    """

    name: ClassVar[str] = "judged"
    gives: ClassVar[str] = "judged"
    absent: ClassVar[str] = "there is no score of it"

    drawn: Literal["random", "probability"] = field(kw_only=True)
    judge: str = "judge"
    human: str = "human"
    probability: str = "probability"

    def offers(self) -> tuple[str, ...]:
        """Nothing that metrics ask for by name."""
        return ()

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the items, with the probability of each where they were not all alike (else None)."""
        wanted = (self.probability,) if self.drawn == "probability" else ()

        def probability(row: Row) -> float | None:
            if not wanted:
                return None
            found = self.required(row.cells[0], self.probability, row)
            if not LEAST_PROBABILITY <= found <= 1:
                raise row.error(f"{self.probability!r} is {found:g}; expected a probability from {LEAST_PROBABILITY:g} "
                                "to 1: leave out items that nobody could have looked at")
            return found

        return [Item(row.key, found, row.attributes, row.line)
                for row, found in self.parsed(documents["gold"], wanted, probability, self.attributes)]

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read a system's scores: the judge's, and people's where there is one."""
        def scores(row: Row) -> dict[str, float]:
            judge, human = (self.number(cell, column, row)
                            for cell, column in zip(row.cells, (self.judge, self.human), strict=True))
            if judge is None and human is not None:
                raise row.error(f"{self.judge!r} is not there, while {self.human!r} is: the judge has to score every "
                                "item")
            return {name: score for name, score in (("judge", judge), ("human", human)) if score is not None}

        return [Answer(row.key, found, row.line)
                for row, found in self.parsed(document, (self.judge, self.human), scores) if found]

    def content(self, value: Any) -> Any:
        """Name and number of each score; the gold's probability."""
        return numbers_of(value) if isinstance(value, Mapping) else value
