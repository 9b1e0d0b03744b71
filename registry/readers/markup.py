"""Readers of translation test sets in SGML or XML.

The files have sources, references and hypotheses by document and segment. A segment is identified by its document and
by its id in the document. Attributes of the document are attributes of its items. `Sgml` reads the files of NIST and,
until 2020, of WMT. These files are often not well-formed, so that only known tags are interpreted. `WmtXml` reads WMT's
files since 2021, which contain all systems.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from xml.parsers import expat

from registry.errors import InputError, suggest
from registry.items import Answer, Item
from registry.readers.base import SegmentReader
from registry.readers.parsing.document import Document

Side = Literal["source", "reference", "system"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Text of one segment: its source, a reference translation or a system's output.

    Attributes:
        side: `source`, `reference` or `system`.
        author: Name of the translator or system; empty if the file has none.
        id: Id of the segment in its document.
        text: Text of the segment, in which blanks replace line ends.
        line: Line where the segment begins.
        attributes: Attributes of the item: `document`, and further attributes in the file.
    """

    side: Side
    author: str
    id: str
    text: str
    line: int
    attributes: Mapping[str, str]

    @property
    def key(self) -> str:
        """Name of the item: "DOCUMENT/ID"."""
        return f"{self.attributes['document']}/{self.id}"


def join_lines(text: str) -> str:
    """Join the lines of a text with single blanks; strip lines, and drop empty ones."""
    return " ".join(filter(None, (line.strip() for line in text.split("\n"))))


class MarkupReader(SegmentReader):
    """Base class of readers of translation test sets in SGML or XML.

    Attributes:
        reference: Name of the translator whose text is the gold, if the file has several translators. The manifest
            lists other translators in `references`: by their names if they are in the same file, or by any name if each
            has a separate file.
        system: Name of the submitted system, if the file has several systems.
    """

    absent = "its hypothesis is missing or blank"
    takes_more_files = True

    reference: str | None = None
    system: str | None = None

    @abstractmethod
    def segments(self, document: Document) -> Iterator[Segment]:
        """Yield all segments of a file: sources, references and system outputs.

        Raises:
            InputError: The file does not have the format; the error names the line. The rest of the file cannot be
                read.
        """

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read references (and the source, if its file is given) into items.

        All files must have the same segments, except that the source may have more.
        """
        if "attributes" in documents:
            raise documents["attributes"].error("the gold file already names the documents; remove the option "
                                                "'attributes'")
        texts: dict[str, dict[str, Segment]] = {}
        for role, document in documents.items():
            side: Side = "source" if role == "source" else "reference"
            author = {"gold": self.reference, "source": None}.get(role, role.removeprefix("reference:"))
            by_name_only = document.digest == documents["gold"].digest
            texts[role] = self._choose_segments(document, side, author, by_name_only=by_name_only)
        gold = texts["gold"]
        for role, segments in texts.items():
            document, side = documents[role], "source" if role == "source" else "reference"
            for key, segment in segments.items():
                if key not in gold:
                    if role != "source":  # the source may have segments that are not evaluated
                        document.refuse("this segment is not in the gold; remove it", segment.line, key)
                elif not segment.text:
                    document.refuse(f"the {side} is blank; write its text", segment.line, key)
            if missing := [key for key in gold if key not in segments]:
                document.refuse(f"the {side} of this segment is missing; add it", item=missing[0])
        return [Item(key, {role.removeprefix("reference:"): segments[key].text for role, segments in texts.items()},
                     segment.attributes, segment.line)
                for key, segment in gold.items() if all(key in segments for segments in texts.values())]

    def parse_answers(self, document: Document) -> list[Answer]:
        chosen = self._choose_segments(document, "system", self.system, by_name_only=True)
        return [Answer(key, segment.text, segment.line) for key, segment in chosen.items() if segment.text]

    def implausible(self, items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:  # noqa: ARG002
        return None if answers else (1, "all hypotheses in this file are blank; write the translations")

    def _choose_segments(self, document: Document, side: Side, author: str | None, *,
                         by_name_only: bool) -> dict[str, Segment]:
        """Select the segments of one translator or system.

        Args:
            document: The file.
            side: `source`, `reference` or `system`.
            author: Name of the translator or system. If the file has only one, it may be None or another name.
            by_name_only: True if the name must match although the file has only one translator or system.

        Returns:
            The segments, by name of the item.
        """
        first_lines: dict[str, int] = {}  # by author
        author_segments: dict[str, Segment] = {}
        first_segments: dict[str, Segment] = {}  # of the first author
        for segment in self.segments(document):
            if segment.side != side:
                continue
            first_lines.setdefault(segment.author, segment.line)
            segments = (author_segments if segment.author == author else
                        first_segments if len(first_lines) == 1 else {})
            if (first := segments.setdefault(segment.key, segment)) is not segment:
                document.refuse(f"occurs twice, first in line {first.line}; keep one", segment.line, segment.key)
        if not first_lines:
            document.report_empty(side)
        if len(first_lines) == 1 and (author is None or not by_name_only):
            return first_segments or author_segments
        if first_lines and author not in first_lines:
            names = ", ".join(sorted(first_lines)[:20])
            problem = (f"the file has {len(first_lines)} {side}s ({names}); name one with the option {side!r}"
                       if author is None else f"unknown {side} {author!r}; {suggest(author, first_lines)}")
            raise document.error(problem, list(first_lines.values())[-1])
        return author_segments


_SGML_SIDES: dict[str, Side] = {"srcset": "source", "refset": "reference", "tstset": "system"}
_TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|seg)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))""")
_ENTITY = re.compile(r"&(lt|gt|quot|apos|amp);")
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}


class Sgml(MarkupReader):
    """SGML of NIST: `<srcset>`, `<refset>` or `<tstset>` with `<doc>` and `<seg>`.

    This file format is for translations with their sources and references. A document is `<doc docid="d" sysid="x">`, a
    segment `<seg id="1">`; letter case does not matter. The attribute `sysid` names the translator or the system. Other
    attributes of the document (genre, origlang) are attributes of its items. The five entities of XML are replaced by
    their characters; other entities remain text.
    """

    name = "sgml"

    def segments(self, document: Document) -> Iterator[Segment]:
        return _SgmlParsing(document).segments()


class _SgmlParsing:
    """Parser of one SGML file, which yields its segments."""

    def __init__(self, document: Document) -> None:
        self._document, self._number = document, 0
        self._side: Side | None = None
        self._set_author: dict[str, str] = {}
        self._document_attributes: dict[str, str] | None = None
        self._item_attributes: dict[str, str] = {}
        self._segment: tuple[str, int] | None = None  # its id and line, while it is open
        self._text: list[str] = []

    def segments(self) -> Iterator[Segment]:
        for number, line in self._document.lines():
            self._number, offset = number, 0
            for tag in _TAG.finditer(line):
                if self._segment is None:
                    self._read_tag(tag, ends=bool(tag[1]))
                else:
                    yield self._end_segment(self._segment, tag, line[offset:tag.start()])
                    self._segment = None
                offset = tag.end()
            if self._segment is not None:
                self._text.append(line[offset:] + "\n")
        if self._segment is not None:
            raise self._fail(f"the segment in line {self._segment[1]} has no end tag; add </seg>")

    def _end_segment(self, segment: tuple[str, int], tag: re.Match[str], text: str) -> Segment:
        if not (tag[1] and tag[2].lower() == "seg"):
            raise self._fail(f"{tag[0][:60]} is within the segment of line {segment[1]}; add </seg> before it")
        assert self._side is not None
        assert self._document_attributes is not None
        unescaped = _ENTITY.sub(lambda match: _ENTITIES[match[1]], "".join((*self._text, text)))
        return Segment(self._side, self._document_attributes.get("sysid", ""), segment[0], join_lines(unescaped),
                       segment[1], self._item_attributes)

    def _read_tag(self, tag: re.Match[str], *, ends: bool) -> None:
        name = tag[2].lower()
        if name in _SGML_SIDES:
            self._side, self._set_author = (None, {}) if ends else (_SGML_SIDES[name], _read_author(tag[3]))
            self._document_attributes = None
        elif name == "doc":
            opened = None if ends else {**self._set_author, **_read_attributes(tag[3])}
            self._document_attributes = opened
            if self._side is None or (opened is not None and not opened.get("docid")):
                raise self._fail(f"{tag[0][:60]} has no docid, or is outside of a set; correct the tag")
            self._item_attributes = {} if opened is None else _describe_document(opened)
        elif ends or self._document_attributes is None or self._side is None:
            raise self._fail(f"{tag[0][:60]}: no segment can {'end' if ends else 'begin'} here; correct the tags")
        else:
            self._segment, self._text = (_read_attributes(tag[3]).get("id", ""), self._number), []
            if not self._segment[0]:
                raise self._fail("<seg> has no id; add one")

    def _fail(self, message: str) -> InputError:
        return self._document.error(message, self._number)


def _read_author(tag_text: str) -> dict[str, str]:
    """Return the attribute `sysid` of a tag, which names a system or a translator.

    Args:
        tag_text: Text of the tag after its name, such as ` sysid="A" setid="x"`.

    Returns:
        `{"sysid": "A"}`; empty if the tag has no such attribute.
    """
    return {name: value for name, value in _read_attributes(tag_text).items() if name == "sysid"}


def _describe_document(tag_attributes: dict[str, str]) -> dict[str, str]:
    attributes = {name: value for name, value in tag_attributes.items() if name not in ("docid", "sysid") and value}
    return {**attributes, "document": tag_attributes["docid"]}


def _read_attributes(text: str) -> dict[str, str]:
    attributes = {name.lower(): (double or single or bare).strip()
                  for name, double, single, bare in _ATTRIBUTE.findall(text)}
    return {name: value for name, value in attributes.items() if value.isprintable()}


_XML_SIDES: dict[str, tuple[Side, str]] = {
    "src": ("source", "translator"), "ref": ("reference", "translator"), "hyp": ("system", "system")}
_ALLOWED = {  # elements that an element may contain
    "dataset": (None,), "collection": ("dataset",), "doc": ("dataset", "collection"), "src": ("doc",), "ref": ("doc",),
    "hyp": ("doc",), "p": tuple(_XML_SIDES), "seg": ("p", *_XML_SIDES)}


class WmtXml(MarkupReader):
    """XML of WMT: `<doc>` with `<src>`, `<ref translator="A">`, `<hyp system="X">`.

    This file format is for translations with their sources and references. Each element contains segments
    `<seg id="1">`. The attributes of the document (origlang, domain, ...), and the collection that contains the
    document, are attributes of its items.

    Attributes:
        collections: Names of the collections to read; empty for all.
        testsuites: False to ignore documents with an attribute `testsuite`, most of which have no reference.
    """

    name = "wmt-xml"

    collections: tuple[str, ...] = ()
    testsuites: bool = True

    def segments(self, document: Document) -> Iterator[Segment]:
        parsing = _XmlParsing(document)
        for segment in parsing.segments():
            if self.collections and segment.attributes.get("collection") not in self.collections:
                continue
            if self.testsuites or "testsuite" not in segment.attributes:
                yield segment


class _XmlParsing:
    """Parser of one XML file, which yields its segments.

    It expands no entities and reads no other file.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._open: list[tuple[str, dict[str, str]]] = []
        self._text: list[str] = []
        self._number = self._line = 0  # of the file's lines; XML also counts lone carriage returns
        self._document_attributes: dict[str, str] = {}
        self._segments: list[Segment] = []
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.XmlDeclHandler = self._check_declaration
        self._parser.EntityDeclHandler = self._refuse_entity
        self._parser.ExternalEntityRefHandler = self._refuse_entity
        self._parser.SkippedEntityHandler = self._refuse_entity
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.CharacterDataHandler = self._add_text

    def segments(self) -> Iterator[Segment]:
        try:
            for number, line in self._document.lines():
                self._number = number
                self._parser.Parse(line, False)
                self._parser.Parse("\n", False)
                yield from self._segments
                self._segments.clear()
            self._parser.Parse("", True)
        except expat.ExpatError as error:
            raise self._fail(f"not XML: {expat.ErrorString(error.code)}") from None

    def _fail(self, message: str) -> InputError:
        return self._document.error(message, self._number)

    def _check_declaration(self, version: str, encoding: str | None, standalone: int) -> None:  # noqa: ARG002
        if encoding is not None and encoding.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            raise self._fail(f'the file declares the encoding {encoding}; save it as UTF-8, and declare '
                             'encoding="UTF-8"')

    def _refuse_entity(self, *_: Any) -> int:
        raise self._fail("the file declares or uses an XML entity, which is not supported; write the text instead of "
                         "the entity")

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        inside = self._open[-1][0] if self._open else None
        if name not in _ALLOWED:
            raise self._fail(f"unknown element <{name[:40]}>")
        if inside not in _ALLOWED[name]:
            raise self._fail(f"<{name}> cannot be in <{inside}>; correct the elements" if inside else
                             f"the file begins with <{name}>; expected <dataset>")
        if name in ("doc", "seg") and not attributes.get("id", "").strip():
            raise self._fail(f"<{name}> has no id; add one")
        if not "".join(attributes.values()).isprintable():
            raise self._fail(f"an attribute of <{name}> has a control or invisible character; remove it")
        self._open.append((name, attributes))
        if name == "doc":
            self._document_attributes = self._read_attributes()
        elif name == "seg":
            self._text, self._line = [], self._number

    def _add_text(self, text: str) -> None:
        if not self._open:
            return
        if self._open[-1][0] == "seg":
            self._text.append(text)
        elif text.strip():
            raise self._fail(f"the text {text.strip()[:40]!r} is outside of <seg>; move or remove it")

    def _end_element(self, name: str) -> None:
        _, attributes = self._open.pop()
        parents = dict(self._open)
        if name != "seg":
            return
        element = next(tag for tag in _XML_SIDES if tag in parents)
        side, names = _XML_SIDES[element]
        self._segments.append(Segment(side, parents[element].get(names, ""), attributes["id"].strip(),
                                   join_lines("".join(self._text)), self._line, self._document_attributes))

    def _read_attributes(self) -> dict[str, str]:
        elements = dict(self._open)
        attributes = {name: value for name, value in elements["doc"].items() if name != "id" and value}
        if collection := elements.get("collection", {}).get("id", ""):
            attributes["collection"] = collection
        return {**attributes, "document": elements["doc"]["id"].strip()}
