"""Tagged text in columns, cut into blocks of lines: sentences, or whole documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from registry.errors import counted, suggest
from registry.readers.parsing.delimited import Separator, read_header, split
from registry.readers.parsing.document import Document

Row = tuple[int, str, str]  # line, token, tag

_NAME = re.compile(r"[\w.-]+")
_ANY_NAME = re.compile(r"[\w.:-]+(?: [\w.:-]+)*")
_TAG = re.compile(r"[BIESLU]-.+")
_PLACE = re.compile(r"-?[1-9][0-9]{0,3}")


class Block(NamedTuple):
    """A sentence or document: its attributes, its rows, and at which of these (but for the first) sentences begin."""

    attributes: dict[str, str]
    rows: list[Row]
    begins: list[int]


@dataclass(frozen=True)
class Layout:
    """How tagged text is written; see `readers.bio.Bio`, whose options these are."""

    columns: Sequence[str]
    token: str
    label: str
    separator: Separator
    header: bool
    comment: str | None
    comments: str
    id: str
    docstart: str | None
    document: str | None
    sentence_end: tuple[str, ...]
    whole_documents: bool
    outside: tuple[str, ...]

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns of the tag, of what ends sentences, and of the token, as far as there are such."""
        return (self.label, *self.sentence_end[:1], *([self.token] if self.token else []))

    def blocks(self, document: Document) -> Iterator[Block]:
        """Give the sentences of a file, or its documents where these are the items."""
        reading = _Reading(self, document, () if self.header else tuple(self.columns))
        for number, line in document.lines():
            reading.line(number, line)
            if reading.done:
                yield from reading.done
                reading.done.clear()
        reading.end_block()
        yield from reading.done

    def place(self, name: str, columns: Sequence[str]) -> int:
        """Where a column is, given by its name or its number: from 1, or from -1 for the last one."""
        if name in columns or not _PLACE.fullmatch(name):
            return columns.index(name)
        return int(name) - (int(name) > 0)


@dataclass
class _Reading:
    """A file that is being read: what is known at a line, the block that it belongs to, and those that are `done`."""

    layout: Layout
    document: Document
    columns: tuple[str, ...]
    places: list[int] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)  # by comments since the last row
    of_document: dict[str, str] = field(default_factory=dict)
    of_sentence: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    is_start: bool = True  # of a sentence
    done: list[Block] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)  # each word is kept once

    def line(self, number: int, line: str) -> None:
        """Take the next line."""
        of = self.layout
        if not line.strip():
            self._new_document()
            self._end_sentence()
            self.told = {}
            return
        if of.docstart and self.is_start and line.startswith(of.docstart):
            self.end_block()
            self.of_document = {"document": str(int(self.of_document.get("document", "0")) + 1)}
            return
        cells = split(line, of.separator)
        if of.header and not self.columns:
            if not self._is_comment(number, line, cells):
                self.columns = read_header(cells, [name for name in of.wanted if not _PLACE.fullmatch(name)],
                                           self.document, number)
            return
        if self._is_comment(number, line, cells):
            return
        if self.told:
            self._new_document()
        self._row(number, cells)
        if of.sentence_end and len(cells) == len(self.columns) and (
                of.sentence_end[1] in cells[self._places()[1]].split("|")):
            self._end_sentence()

    def end_block(self) -> None:
        """Make the rows that were read a block."""
        self.is_start = True
        if self.rows:
            self.done.append(Block(self.of_document | self.of_sentence, self.rows, self.begins))
            self.rows, self.begins = [], []

    def _is_comment(self, number: int, line: str, cells: list[str]) -> bool:
        """Whether a line is a comment; what it says of the text that follows is kept."""
        of = self.layout
        if not of.comment or not line.startswith(of.comment):
            return False
        anywhere = of.comments == "anywhere"
        if self._is_tagged(cells) if anywhere else not self.is_start:
            return False
        text = line.removeprefix(of.comment)
        name, equals, value = text.partition("=")
        if anywhere and not (equals and _ANY_NAME.fullmatch(name.strip())):
            for part in text.split("\t"):
                self._spoken(part.strip())
            is_told = True
        elif is_told := bool(equals and (_ANY_NAME if anywhere else _NAME).fullmatch(name.strip())):
            self.told[name.strip()] = value.strip()
        if not self.told.get(of.id, "_"):
            raise self.document.error(f"{of.id} is empty; give the sentence a name, or leave out the comment", number)
        return is_told or len(cells) != len(self.columns)

    def _is_tagged(self, cells: list[str]) -> bool:
        """Whether a line has all columns, and a tag where one belongs: the token may be what comments begin with."""
        if not self.columns or len(cells) != len(self.columns):
            return False
        tag = cells[self._places()[0]]
        return tag in self.layout.outside or _TAG.fullmatch(tag) is not None

    def _spoken(self, part: str) -> None:
        """Keep what a part of a comment says, `key = value`, or `key value` of what names a sentence or document."""
        name, equals, value = (text.strip() for text in part.partition("="))
        if equals and _ANY_NAME.fullmatch(name):
            self.told[name] = value
            return
        for known in (self.layout.id, self.layout.document):
            if known and part.startswith(f"{known} ") and len(words := part.removeprefix(known).split()) == 1:
                self.told[known] = words[0]

    def _row(self, number: int, cells: list[str]) -> None:
        if self.is_start:
            if self.rows:
                self.begins.append(len(self.rows))
            else:
                self.of_sentence = self.told
            self.is_start = False
        if self.told:
            self.told = {}
        if not self.columns:
            self.columns = tuple(map(str, range(1, len(cells) + 1)))
        if len(cells) == len(self.columns):
            places = self.places or self._places()
            token, tag = cells[places[-1]] if self.layout.token else "", cells[places[0]]
            wrong = "" if tag and (token or not self.layout.token) else f"the {'token' if tag else 'tag'} is empty"
        else:
            token, tag = cells[0] if self.layout.token else "", ""
            wrong = (f"{counted(len(cells), 'column')} where {counted(len(self.columns), 'is', 'are')} expected "
                     f"({', '.join(self.columns)}; separator {self.layout.separator})")
        if wrong:
            self.document.refuse(wrong, number)
        self.rows.append((number, self.words.setdefault(token, token),
                          "O" if tag in self.layout.outside or not tag else tag))

    def _places(self) -> list[int]:
        """Where the columns are that are wanted."""
        if not self.places:
            wanted = self.layout.wanted
            self.places = [self.layout.place(name, self.columns) for name in wanted]
            for name, at in zip(wanted, self.places, strict=True):
                if not -len(self.columns) <= at < len(self.columns):
                    raise self.document.error(f"no column {name} of {len(self.columns)}; "
                                              f"{suggest(name, self.columns)}", 1 + self.document.skip)
        return self.places

    def _new_document(self) -> None:
        """Begin a document where comments name one."""
        name, told = self.layout.document, self.told
        if name and name in told:
            self.end_block()
            self.of_document = {key: value for key, value in told.items() if key != self.layout.id or key == name}
            self.of_document["document"] = told[name]
            self.told = {key: value for key, value in told.items() if key not in self.of_document}

    def _end_sentence(self) -> None:
        self.is_start = True
        if not self.layout.whole_documents:
            self.end_block()
