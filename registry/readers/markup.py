"""Test sets of translation in marked-up files: sources, references and hypotheses by document and segment.

What the formats have in common: which reference and which system of a file are meant, and how items are made of them.
A segment is known by its document and its id in it; the document and what the file says of it are item attributes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from registry.errors import suggest
from registry.items import Answer, Item
from registry.readers.base import SegmentReader
from registry.readers.parsing.document import Document

Side = Literal["source", "reference", "system"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment of a file.

    Attributes:
        side: What it is.
        by: Whose it is: a translator's or a system's name; empty where the file names nobody.
        id: Its id in its document.
        text: Of it; line ends within have become blanks.
        line: Where it begins.
        attributes: The item's: `document`, and what the file says of it.
    """

    side: Side
    by: str
    id: str
    text: str
    line: int
    attributes: Mapping[str, str]

    @property
    def key(self) -> str:
        """The item that it belongs to."""
        return f"{self.attributes['document']}/{self.id}"


def plain(text: str) -> str:
    """The text of a segment on one line."""
    return " ".join(filter(None, (line.strip() for line in text.split("\n"))))


class MarkupReader(SegmentReader):
    """What readers of marked-up test sets share.

    Attributes:
        reference: Whose reference is the gold, where the file has several. Of the further `references` of the test set
            each is the one of that name, or the only one of another file.
        system: Whose hypotheses are the submission, where its file has several systems'.
    """

    absent = "there is no hypothesis for it, or a blank one"
    takes_more_files = True

    reference: str | None = None
    system: str | None = None

    @abstractmethod
    def segments(self, document: Document) -> Iterator[Segment]:
        """Read all segments of a file.

        Raises:
            InputError: The file is not of the format; names the line. What follows the place cannot be read.
        """

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the references, which have the same segments, and the source if the test set names its file."""
        if "attributes" in documents:
            raise documents["attributes"].error("documents are named in the gold itself; leave attributes out")
        texts: dict[str, dict[str, Segment]] = {}
        for role, document in documents.items():
            side: Side = "source" if role == "source" else "reference"
            wanted = {"gold": self.reference, "source": None}.get(role, role.removeprefix("reference:"))
            by_name_only = document.digest == documents["gold"].digest
            texts[role] = self._chosen(document, side, wanted, by_name_only=by_name_only)
        gold = texts["gold"]
        for role, found in texts.items():
            document, what = documents[role], "source" if role == "source" else "reference"
            for key, segment in found.items():
                if key not in gold:
                    if role != "source":  # not all that was translated has to be evaluated
                        document.refuse("not in the gold", segment.line, key)
                elif not segment.text:
                    document.refuse(f"the {what} is blank", segment.line, key)
            if lacking := [key for key in gold if key not in found]:
                document.refuse(f"has no such {what}", item=lacking[0])
        return [Item(key, {role.removeprefix("reference:"): found[key].text for role, found in texts.items()},
                     segment.attributes, segment.line)
                for key, segment in gold.items() if all(key in found for found in texts.values())]

    def parse_answers(self, document: Document) -> list[Answer]:
        chosen = self._chosen(document, "system", self.system, by_name_only=True)
        return [Answer(key, segment.text, segment.line) for key, segment in chosen.items() if segment.text]

    def implausible(self, items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:  # noqa: ARG002
        """A file of blank hypotheses answers nothing."""
        return None if answers else (1, "no hypothesis in this file that is not blank")

    def _chosen(self, document: Document, side: Side, wanted: str | None, *, by_name_only: bool) -> dict[str, Segment]:
        """The segments of one side and name by key; the only name of a file is meant where none need be given."""
        firsts: dict[str, int] = {}  # the line where each name comes first
        found: dict[str, Segment] = {}
        first_found: dict[str, Segment] = {}
        for segment in self.segments(document):
            if segment.side != side:
                continue
            firsts.setdefault(segment.by, segment.line)
            kept = found if segment.by == wanted else first_found if len(firsts) == 1 else {}
            if (first := kept.setdefault(segment.key, segment)) is not segment:
                document.refuse(f"stands twice, first in line {first.line}; keep one", segment.line, segment.key)
        if not firsts:
            document.report_empty(side)
        if len(firsts) == 1 and (wanted is None or not by_name_only):
            return first_found or found
        if firsts and wanted not in firsts:
            names = ", ".join(sorted(firsts)[:20])
            what = (f"{len(firsts)} {side}s in this file ({names}); name one with the option {side!r}"
                    if wanted is None else f"unknown {side} {wanted!r}; {suggest(wanted, firsts)}")
            raise document.error(what, list(firsts.values())[-1])
        return found
