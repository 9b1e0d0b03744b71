"""One segment per line: translations and other text, with one or several named references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from registry.errors import InputError, counted
from registry.items import Answer, Item
from registry.readers.base import Reader
from registry.readers.document import Document

BLOCK = 25  # segments that are judged together
OTHERS = (1, -1, 7, 13)  # distances of the other references that a segment's own one competes with


@dataclass(frozen=True, repr=False)
class Lines(Reader):
    """One segment per line, known by its number from 1.

    The gold of a segment is its references by name: `gold`, and those of the manifest's `references`. A blank line is
    no answer.

    Attributes:
        attributes: The names of the tab-separated columns in the test set's `attributes` file, such as domain and
            document; that file has one line per segment.
        check_order: Refuse files whose lines seem to be shuffled or shifted: where a segment's own reference resembles
            it less often than those of other segments do.
    """

    name: ClassVar[str] = "lines"
    gives: ClassVar[str] = "segment"
    absent: ClassVar[str] = "its line is blank"
    takes_more_files: ClassVar[bool] = True

    attributes: tuple[str, ...] = ("document",)
    check_order: bool = True

    def __post_init__(self) -> None:
        if len(set(self.attributes)) < len(self.attributes):
            raise InputError(f"option 'attributes' of lines names a column twice: {', '.join(self.attributes)}")

    def read_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the references, which must have equally many lines, and the attributes."""
        references = {role.removeprefix("reference:"): document for role, document in documents.items()
                      if role != "attributes"}
        texts = {name: [line for _, line in document.lines()] for name, document in references.items()}
        n = len(texts["gold"])
        for name, lines in texts.items():
            if len(lines) != n:
                raise InputError(f"{counted(len(lines), 'line')} where the gold has {n}", path=references[name].path)
            if blank := [number for number, line in enumerate(lines, 1) if not line.strip()]:
                raise InputError("the reference is blank", path=references[name].path, line=blank[0],
                                 item=str(blank[0]))
        attributes = self._attributes(documents["attributes"], n) if "attributes" in documents else [{}] * n
        return [Item(str(at + 1), {name: lines[at] for name, lines in texts.items()}, attributes[at], at + 1)
                for at in range(n)]

    def read_answers(self, document: Document) -> list[Answer]:
        """Read a system's segments."""
        return [Answer(str(number), line, number) for number, line in document.lines() if line.strip()]

    def implausible(self, items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:
        """Say where and why the file does not seem to go with the gold: its length, or the order of its lines."""
        if not answers:
            return 1, "no segment in this file: all lines are blank"
        last = answers[-1].line
        if last > len(items):
            return last, (f"{counted(last, 'line')} where the gold has {len(items)}; a line was added, or "
                          "a line end stands within one")
        if not self.check_order or len(items) < BLOCK:
            return None
        wins = _own_reference_wins(items, answers)
        if len(wins) < BLOCK:
            return None
        starts = [*range(0, len(wins) - BLOCK, BLOCK), max(0, len(wins) - BLOCK)]  # the last one ends with the file
        blocks = [wins[at:at + BLOCK] for at in starts]
        weak = [block for block in blocks if sum(won for _, won in block) < len(block) / 2]
        if not weak:
            return None
        line = weak[0][0][0]
        what = "shuffled" if len(weak) == len(blocks) else f"shifted or shuffled from about line {line} on"
        return line, (f"the lines seem to be {what}: fewer than half of the segments there resemble their own "
                      "reference more than those of others; mend the file, or set check_order = false")

    def _attributes(self, document: Document, n: int) -> list[dict[str, str]]:
        rows = []
        for number, line in document.lines():
            cells = line.split("\t")
            if len(cells) != len(self.attributes):
                raise InputError(f"{counted(len(cells), 'column')} where {counted(len(self.attributes), 'is', 'are')} "
                                 f"expected ({', '.join(self.attributes)})", path=document.path, line=number)
            rows.append(dict(zip(self.attributes, cells, strict=True)))
        if len(rows) != n:
            raise InputError(f"{counted(len(rows), 'line')} where the gold has {n}", path=document.path)
        return rows

    def content(self, value: Any) -> Any:
        """A segment is its text, a gold its references by name."""
        return dict(value) if isinstance(value, Mapping) else value


def _own_reference_wins(items: Sequence[Item], answers: Sequence[Answer]) -> list[tuple[int, bool]]:
    """For every answer that can tell: its line, and whether its own reference is the one it resembles most."""
    grams = [_trigrams(item.gold["gold"]) for item in items]
    found = []
    for answer in answers:
        at = answer.line - 1
        mine = _trigrams(answer.value)
        own = _overlap(mine, grams[at])
        others = [grams[(at + distance) % len(grams)] for distance in OTHERS]
        rivals = [_overlap(mine, other) for other in others if other != grams[at]]
        if rivals and len(grams[at]) > 8:  # very short segments resemble anything
            found.append((answer.line, own > max(rivals)))
    return found


def _trigrams(text: str) -> frozenset[str]:
    folded = text.casefold()
    return frozenset(folded[n:n + 3] for n in range(len(folded) - 2))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """The Dice coefficient."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0
