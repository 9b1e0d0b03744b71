"""N-best lists as Moses and its kin write them: `id ||| text ||| features ||| score`, several lines for a segment."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from registry.items import Answer, Item
from registry.readers.base import SegmentReader
from registry.readers.parsing.document import Document
from registry.readers.tables import as_number

_SEPARATOR = "|||"
_WHOLE = re.compile(r"[0-9]{1,15}")


class NBest(SegmentReader):
    """Submissions for a gold of `lines`: of every segment's candidates one is the answer.

    Attributes:
        first_id: The id of the first segment.
        pick: Which candidate: the `first` of the list, or the one with the highest `score` (the first of equal ones).
    """

    name = "nbest"
    absent = "there is no candidate for it, or a blank one"

    first_id: int = 0
    pick: Literal["first", "score"] = "first"

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """An n-best list is no gold."""
        raise documents["gold"].error('an n-best list holds no references; take format = "lines" for the gold, and '
                                      '"nbest" for submissions')

    def parse_answers(self, document: Document) -> list[Answer]:
        """Read the picked candidates; those of one segment stand together."""
        picked: dict[str, tuple[float, Answer]] = {}
        before = None
        for line, key, text, score in self._candidates(document):
            if key in picked and key != before:
                document.refuse("its candidates do not stand together", line, key)
            if key not in picked or (self.pick == "score" and score > picked[key][0]):
                picked[key] = score, Answer(key, text, line)
            before = key
        if not picked:
            document.report_empty("candidate")
        return [answer for _, answer in picked.values() if answer.value]

    def _candidates(self, document: Document) -> Iterator[tuple[int, str, str, float]]:
        for number, line in document.lines():
            if not line.strip():
                continue
            cells = [cell.strip() for cell in line.split(_SEPARATOR, 5)]
            if wrong := self._wrong(cells):
                document.refuse(wrong, number)
                continue
            score = as_number(cells[3], text=True) if self.pick == "score" else 0.0
            yield number, str(int(cells[0]) - self.first_id + 1), cells[1], score

    def _wrong(self, cells: list[str]) -> str:
        """Say what is wrong with a line, if anything is."""
        if not 2 <= len(cells) <= 5:  # a fifth one holds alignments
            return "expected `id ||| text ||| features ||| score`"
        if not _WHOLE.fullmatch(cells[0]) or int(cells[0]) < self.first_id:
            return (f"{cells[0][:40]!r} is no id of a segment; expected a whole number from {self.first_id} (option "
                    "'first_id')")
        if self.pick == "score" and (len(cells) < 4 or math.isnan(as_number(cells[3], text=True))):
            return 'the candidate has no score, which pick = "score" needs'
        return ""
