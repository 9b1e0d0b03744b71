"""What metrics share that compare a segment of text with one or several references, which the test set names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from registry.arrays import Floats
from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.base import AdditiveMetric


class ReferenceMetric(AdditiveMetric):
    """A metric of segments against their `references`; an item without an answer counts as an empty segment."""

    takes = "segment"

    references: tuple[str, ...] = ("gold",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.references or len(set(self.references)) < len(self.references):
            raise InputError(f"option 'references' of {self.name} must name one or more references, each once")

    @property
    def counts_silence(self) -> bool:
        """Whether an item may have no reference text, and what a system says counts as an insertion."""
        return False

    def check_gold(self, items: Sequence[Item]) -> None:
        for item in items:
            if not self.counts_silence and self.texts_of(item) == [""]:
                raise InputError(f"the reference is blank, which {self.name} cannot score; leave the item out of all "
                                 "files (WER and CER count insertions there)", item=item.key)

    def texts_of(self, item: Item) -> list[str]:
        """Return the references of an item that are not blank; an empty text if all are."""
        return [text for name in self.references if (text := item.gold[name]).strip()] or [""]

    def needs(self) -> tuple[str, ...]:
        return self.references

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        return tuple(self.corpus_statistics([item], [answer])[0])

    def describe_misreading(self, texts: Sequence[str]) -> str | None:  # noqa: ARG002
        """Say what of the gold's texts it would take for words that are none, and what to declare; None if nothing."""
        return None

    @abstractmethod
    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Give the statistics of many segments, [items, columns]; scorers of text are fast on many only."""


def texts(answers: Sequence[Answer | None]) -> list[str]:
    """The segments of a system, empty where there is none."""
    return ["" if answer is None else answer.value for answer in answers]
