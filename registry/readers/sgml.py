"""The SGML of NIST's and, until 2020, WMT's translation tasks: sources, references or hypotheses in files of their own.

These files are written for line-wise tools and seldom are well-formed markup, so only the tags that mean something are
looked at; all else within a segment is its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from registry.errors import InputError
from registry.readers.markup import MarkupReader, Segment, Side, plain
from registry.readers.parsing.document import Document

_SIDES: dict[str, Side] = {"srcset": "source", "refset": "reference", "tstset": "system"}
_TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|seg)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))""")
_ENTITY = re.compile(r"&(lt|gt|quot|apos|amp);")
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}


class Sgml(MarkupReader):
    """A `<srcset>`, `<refset>` or `<tstset>` of `<doc docid="d" sysid="x">` elements of `<seg id="1">`, in any case.

    The attribute `sysid` names the translator or the system. The document's other attributes (genre, origlang) are
    attributes of its items. Of entities the five of XML are replaced, others are text.
    """

    name = "sgml"

    def segments(self, document: Document) -> Iterator[Segment]:
        return _Parsing(document).segments()


class _Parsing:
    """The state of one pass over a file: what the line that is read stands in."""

    def __init__(self, document: Document) -> None:
        self._document, self._number = document, 0
        self._side: Side | None = None
        self._of_set: dict[str, str] = {}
        self._of_document: dict[str, str] | None = None
        self._of_items: dict[str, str] = {}
        self._segment: tuple[str, int] | None = None  # its id and line, while it is open
        self._text: list[str] = []

    def segments(self) -> Iterator[Segment]:
        for number, line in self._document.lines():
            self._number, at = number, 0
            for tag in _TAG.finditer(line):
                if self._segment is None:
                    self._begin(tag, ends=bool(tag[1]))
                else:
                    yield self._ended(self._segment, tag, line[at:tag.start()])
                    self._segment = None
                at = tag.end()
            if self._segment is not None:
                self._text.append(line[at:] + "\n")
        if self._segment is not None:
            raise self._wrong(f"the segment of line {self._segment[1]} does not end")

    def _ended(self, segment: tuple[str, int], tag: re.Match[str], text: str) -> Segment:
        if not (tag[1] and tag[2].lower() == "seg"):
            raise self._wrong(f"{tag[0][:60]} before the segment of line {segment[1]} has ended")
        assert self._side is not None
        assert self._of_document is not None
        unescaped = _ENTITY.sub(lambda found: _ENTITIES[found[1]], "".join((*self._text, text)))
        return Segment(self._side, self._of_document.get("sysid", ""), segment[0], plain(unescaped), segment[1],
                       self._of_items)

    def _begin(self, tag: re.Match[str], *, ends: bool) -> None:
        """Take note of a tag outside of segments."""
        name = tag[2].lower()
        if name in _SIDES:
            self._side, self._of_set = (None, {}) if ends else (_SIDES[name], _by(tag[3]))
            self._of_document = None
        elif name == "doc":
            opened = self._of_document = None if ends else {**self._of_set, **_attributes(tag[3])}
            if self._side is None or (opened is not None and not opened.get("docid")):
                raise self._wrong(f"{tag[0][:60]} outside of any set, or without docid")
            self._of_items = {} if opened is None else _of_items(opened)
        elif ends or self._of_document is None or self._side is None:
            raise self._wrong(f"{tag[0][:60]} where no segment can {'end' if ends else 'begin'}")
        else:
            self._segment, self._text = (_attributes(tag[3]).get("id", ""), self._number), []
            if not self._segment[0]:
                raise self._wrong("<seg> has no id")

    def _wrong(self, message: str) -> InputError:
        return self._document.error(message, self._number)


def _by(written: str) -> dict[str, str]:
    """Whose a whole set is, which a document may say otherwise."""
    return {name: value for name, value in _attributes(written).items() if name == "sysid"}


def _of_items(of_document: dict[str, str]) -> dict[str, str]:
    """The attributes of a document's items."""
    of = {name: value for name, value in of_document.items() if name not in ("docid", "sysid") and value}
    return {**of, "document": of_document["docid"]}


def _attributes(written: str) -> dict[str, str]:
    found = {name.lower(): (double or single or bare).strip()
             for name, double, single, bare in _ATTRIBUTE.findall(written)}
    return {name: value for name, value in found.items() if value.isprintable()}
