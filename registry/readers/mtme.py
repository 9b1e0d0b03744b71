"""Scores of translations in mt-metrics-eval's files: those of people are the gold, those of metrics are submissions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from registry.errors import InputError, counted
from registry.items import Answer, Item
from registry.readers.base import Reader
from registry.readers.lines import read_attributes
from registry.readers.parsing.characters import invisible
from registry.readers.parsing.delimited import FEW_CELLS, split
from registry.readers.parsing.document import Document
from registry.readers.tables import as_number

_NO_SCORE = "None"
_OWN = {"seg": ("system", "segment"), "doc": ("system", "position"), "domain": ("domain", "system"), "sys": ("system",)}


class Score(NamedTuple):
    """One line: where it stands, what it scores, by the names of `_OWN`, and the score, if there is one."""

    line: int
    of: tuple[str, ...]
    value: float | None


class Mtme(Reader):
    """One score per line, `SYSTEM SCORE`: those of a system's segments stand together, in the order of the test set.

    What is evaluated here are metrics, so that items are what they score: translations of segments by systems, each
    called `SYSTEM SEGMENT` (counted from 1). Those that nobody judged (`None`) are no items, and what a metric says of
    them is passed over.

    Attributes:
        level: What a score is of: a segment (`seg`), a document (`doc`), a `domain` (`DOMAIN SYSTEM SCORE`) or a whole
            system (`sys`).
        exclude: Systems that are passed over, such as references that were judged as if they were systems'.
        length: How many segments or documents every system has, where that is to be checked in all files.
        attributes: The names of the tab-separated columns in the test set's `attributes` file, one line per segment.

    Source: https://github.com/google-research/mt-metrics-eval (README, "File organization and naming convention").
    """

    name = "mtme"
    gives = "score"
    absent = "there is no score of it"
    takes_more_files = True

    level: Literal["seg", "doc", "domain", "sys"] = "seg"
    exclude: tuple[str, ...] = ()
    length: int | None = None
    attributes: tuple[str, ...] = ("domain", "document")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(names := self.attributes + _OWN["seg"])) < len(names):
            raise InputError(f"option 'attributes' of mtme names a column twice, 'system' or 'segment': "
                             f"{', '.join(self.attributes)}")
        if self.length is not None and (self.length < 1 or self.level not in ("seg", "doc")):
            raise InputError('option \'length\' of mtme is how many scores each system has at level "seg" or "doc"')

    @property
    def ignores_others(self) -> bool:
        """Metrics score what nobody judged."""
        return True

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read what was judged, with the attributes of its segments."""
        document = documents["gold"]
        if other := documents.keys() - {"gold", "attributes"}:
            raise documents[min(other)].error("scores have neither references nor a source; leave both out")
        scores = list(self._scores(document))
        if all(score.value is None for score in scores):
            document.report_empty("score")
        of_segments: dict[str, dict[str, str]] = {}
        if "attributes" in documents:
            if self.level != "seg":
                raise documents["attributes"].error(
                    f'attributes are those of segments, and scores those of level "{self.level}"; leave attributes out')
            n = self.length or max((int(score.of[1]) for score in scores), default=0)
            of_segments = {str(number): attributes for number, attributes in enumerate(
                read_attributes(documents["attributes"], self.attributes, n), 1)}
        return [Item(" ".join(score.of), score.value, dict(zip(_OWN[self.level], score.of, strict=True))
                     | of_segments.get(score.of[-1], {}), score.line) for score in scores if score.value is not None]

    def parse_answers(self, document: Document) -> list[Answer]:
        return [Answer(" ".join(score.of), score.value, score.line)
                for score in self._scores(document) if score.value is not None]

    def _scores(self, document: Document) -> Iterator[Score]:
        """Read every line, with the segments or documents counted; all systems must have as many."""
        numbered = self.level in ("seg", "doc")
        counts: Counter[str] = Counter()
        last, system = {}, ""
        for line, names, value in self._lines(document):
            if numbered:
                if names[-1] != system and names[-1] in counts:
                    document.refuse(f"the scores of system {names[-1]!r} do not stand together; mend the order of the "
                                    "lines", line)
                (system,) = names
                counts[system] += 1
                last[system] = line
                names = (system, str(counts[system]))
            yield Score(line, names, value)
        expected = self.length or (Counter(counts.values()).most_common(1)[0][0] if counts else 0)
        for system, n in counts.items():
            if n != expected:
                where = "as option 'length' says" if self.length else "as others have"
                document.refuse(f"{counted(n, 'score')} of system {system!r}, and not {expected}, {where}: which ones "
                                "are lacking or too many cannot be told", last[system])

    def _lines(self, document: Document) -> Iterator[tuple[int, tuple[str, ...], float | None]]:
        of = ("DOMAIN", "SYSTEM") if self.level == "domain" else ("SYSTEM",)
        none = True
        for number, line in document.lines():
            cells = split(line, "whitespace", FEW_CELLS)
            if not cells:
                continue
            none = False
            *names, score = cells
            value = None if score == _NO_SCORE else as_number(score, text=True)
            wrong = ""
            if len(names) != len(of):
                wrong = f"{counted(len(cells), 'column')} where {len(of) + 1} are expected ({' '.join(of)} SCORE)"
            elif value is not None and not math.isfinite(value):
                wrong = f"the score is {score[:40]!r}; expected a finite number, or None where there is none"
            elif not line.replace("\t", "").isprintable():
                wrong = invisible(line.replace("\t", ""))
            if wrong:
                document.refuse(wrong, number)
            elif names[-1] not in self.exclude:
                yield number, tuple(names), value
        if none:
            document.report_empty("score")
