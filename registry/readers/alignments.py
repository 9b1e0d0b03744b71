"""Readers of word alignments of sentence pairs.

Two formats are supported: lines of `1-2` (Pharaoh), and the tables of the NAACL 2003 shared task. Files count words
from 0 or from 1, and do not say which. The user therefore declares it with the option `offset`, for the gold and for
each submission.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from registry.errors import InputError, counted
from registry.items import Answer, Item, Link, Links, Response
from registry.readers.base import Reader
from registry.readers.parsing.delimited import FEW_CELLS, iterate_words, split_cells
from registry.readers.parsing.document import ONE_ROW, Document

Row = tuple[int, str, list[tuple[Link, bool]]]  # line, item, and links with whether they are sure

_NUMBER = re.compile(r"[0-9]{1,9}")
_SHARED = 2**12  # number of distinct links that are stored once and shared
MIN_LINKS = 10  # so many sure links of first words in the gold show that a file without any counts from 1


class _Alignments(Reader):
    """Base class of readers of word alignments (links in sentence pairs).

    Attributes:
        offset: Number of a sentence's first word: 0 or 1.
        check_offset: True to reject a submission with offset 0 that seems to count words from 1.
    """

    gives = "alignment"

    offset: Literal[0, 1]
    check_offset: bool = True

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        document = documents["gold"]
        return [Item(key, Links(_sort_links(link for link, is_sure in links if is_sure),
                                _sort_links(link for link, is_sure in links if not is_sure)), {}, line)
                for line, key, links in self._check_links(document)]

    def parse_answers(self, document: Document) -> list[Answer]:
        answers = []
        for line, key, links in self._check_links(document):
            if possible := [link for link, is_sure in links if not is_sure]:
                document.refuse(f"link {self._format_link(possible[0])} is marked as possible, but only the gold can "
                                "have possible links; mark the link as sure, or remove it", line, key)
            answers.append(Answer(key, Links(_sort_links(link for link, _ in links)), line))
        return answers

    def implausible(self, items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:
        """Check whether a submission seems to count words from 1 instead of from 0.

        The message is returned if the submission has no link of a first word although the gold has many.

        Returns:
            Line number and message; None if the submission is plausible.
        """
        if not self.check_offset or self.offset == 1:
            return None
        gold = sum(0 in link for item in items for link in item.gold.sure)
        links = [link for answer in answers for link in answer.value.sure]
        if gold < MIN_LINKS or len(links) < MIN_LINKS or any(0 in link for link in links):
            return None
        return answers[0].line, ("no link has position 0, so the file seems to count words from 1; set offset = 1, or "
                                 "check_offset = false if words count from 0")

    def content(self, value: Any) -> Any:
        return [value.sure, value.possible]

    def make_unanswered(self, text: Any) -> Any:  # noqa: ARG002
        return Links()

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Return one answer for each link between two words, with a key such as "1-2".

        The key has the source word and the target word, counted from 1. Sure and possible links are included.
        """
        return [Response(f"{source + 1}-{target + 1}") for source, target in sorted(value.sure + value.possible)]

    @abstractmethod
    def _read_rows(self, document: Document) -> Iterator[Row]:
        """Yield the line number, name and word links of each sentence pair in a file."""

    def _check_links(self, document: Document) -> Iterator[Row]:
        row = None
        for row in self._read_rows(document):
            line, key, links = row
            if len({link for link, _ in links}) < len(links):
                twice = next(link for link, count in Counter(link for link, _ in links).items() if count > 1)
                document.refuse(f"link {self._format_link(twice)} occurs twice; keep one", line, key)
            yield row
        if row is None:
            document.report_empty("alignment")

    def _format_link(self, link: Link) -> str:
        return f"{link[0] + self.offset}-{link[1] + self.offset}"

    def _parse_link(self, source: str, target: str, link: str) -> Link:
        """Convert the positions of two linked words to numbers, counted from 0.

        Args:
            source: Position in the source sentence, as text.
            target: Position in the target sentence, as text.
            link: The whole link, for errors.

        Raises:
            ValueError: A position is not a number, or is less than `offset`.
        """
        for position in (source, target):
            if not _NUMBER.fullmatch(position):
                raise ValueError(f"{link}: position {position!r} is not a number; write a whole number")
            if int(position) < self.offset:
                raise ValueError(f"{link}: position 0 does not exist, because offset = 1 counts words from 1; correct "
                                 "the link, or the option 'offset'")
        return int(source) - self.offset, int(target) - self.offset


def _sort_links(links: Iterable[Link]) -> tuple[Link, ...]:
    return tuple(sorted(set(links)))


class Pharaoh(_Alignments):
    """One sentence pair per line: links such as `1-2`, separated by blanks.

    This file format is for word alignments. Sentence pairs are numbered from 1. An empty line is an alignment without
    links.

    Attributes:
        offset: Number of a sentence's first word: 0 or 1.
        check_offset: True to reject a submission with offset 0 that links no first word, because it seems to count from
            1.
        sure: Text between the positions of a sure link.
        possible: Text between the positions of a possible link, in the gold.
    """

    name = "pharaoh"
    lines_per_item = ONE_ROW

    sure: str = "-"
    possible: str = "p"

    def __post_init__(self) -> None:
        super().__post_init__()
        for marker in (self.sure, self.possible):
            if not marker or re.search(r"[\s0-9]", marker):
                raise InputError(f"marker {marker!r} of pharaoh is not valid; expected text without digits and blanks")
        if self.sure == self.possible:
            raise InputError(f"options 'sure' and 'possible' of pharaoh are both {self.sure!r}; set different markers")

    def _read_rows(self, document: Document) -> Iterator[Row]:
        parsed: dict[str, tuple[Link, bool]] = {}  # links repeat, so that each distinct link is parsed and stored once
        for number, line in document.lines():
            links = []
            for text in iterate_words(line):
                link = parsed.get(text)
                try:
                    link = self._parse_line(text) if link is None else link
                except ValueError as error:
                    document.refuse(str(error), number)
                    continue
                if len(parsed) < _SHARED:
                    parsed[text] = link
                links.append(link)
            yield number, str(number - self.skip), links

    def _parse_line(self, text: str) -> tuple[Link, bool]:
        for marker in sorted((self.sure, self.possible), key=len, reverse=True):  # one mark may begin with the other
            source, separator, target = text.partition(marker)
            if separator:
                return self._parse_link(source, target, f"link {text!r}"), marker == self.sure
        raise ValueError(f"{text!r} is not a link; expected two positions with {self.sure!r} or {self.possible!r} "
                         f"between them, such as 0{self.sure}1")


class Naacl(_Alignments):
    """One link per line: number of the sentence pair, positions, type, confidence.

    This file format is for word alignments. The type is `S` (sure, also if absent) or `P` (possible). Links of a
    sentence pair are consecutive. Leading zeros in the numbers of pairs are ignored, and so are confidences. Source:
    Mihalcea and Pedersen 2003, "An evaluation exercise for word alignment", section 3.

    Attributes:
        offset: Number of a sentence's first word: 0 or 1.
        check_offset: True to reject a submission with offset 0 that links no first word, because it seems to count from
            1.
        null: Treatment of links with position 0 if words are counted from 1: `reject` the file, or `drop` these links.
        sure: Mark of sure links.
        possible: Mark of possible links, in the gold.
    """

    name = "naacl"
    absent = "it has no link"

    null: Literal["reject", "drop"] = "reject"
    sure: str = "S"
    possible: str = "P"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sure == self.possible:
            raise InputError(f"options 'sure' and 'possible' of naacl are both {self.sure!r}; set different markers")

    def _read_rows(self, document: Document) -> Iterator[Row]:
        for key, group in groupby(self._read_lines(document), key=lambda entry: entry[1]):
            entries = list(group)
            yield entries[0][0], key, [entry for _, _, entry in entries if entry is not None]

    def _read_lines(self, document: Document) -> Iterator[tuple[int, str, tuple[Link, bool] | None]]:
        for number, line in document.lines():
            cells = split_cells(line, "whitespace", FEW_CELLS)
            if not cells:
                continue
            if not 3 <= len(cells) <= 5:
                document.refuse(f"the line has {counted(len(cells), 'column')}; expected 3 to 5 (sentence pair, source "
                                f"word, target word, {self.sure} or {self.possible}, confidence)", number)
                continue
            pair, source, target, *rest = cells
            if not _NUMBER.fullmatch(pair):
                document.refuse(f"the number of the sentence pair is {pair!r}; expected a whole number", number)
                continue
            entry = None
            try:
                entry = self._parse_entry(source, target, rest)
            except ValueError as error:
                document.refuse(str(error), number)
            yield number, str(int(pair)), entry

    def _parse_entry(self, source: str, target: str, rest: Sequence[str]) -> tuple[Link, bool] | None:
        marker = rest[0] if rest else self.sure
        if marker not in (self.sure, self.possible):
            if len(rest) == 2 or not re.fullmatch(r"[0-9.eE+-]+", marker):
                raise ValueError(f"marker {marker!r} is unknown; expected {self.sure!r} or {self.possible!r}")
            marker = self.sure
        if self.null == "drop" and self.offset == 1 and "0" in (source, target):
            return None
        return self._parse_link(source, target, f"link {source} {target}"), marker == self.sure
