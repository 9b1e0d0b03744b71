"""WMT's XML of translation tasks since 2021: sources, references and hypotheses of all systems in one file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from registry.errors import InputError
from registry.readers.markup import MarkupReader, Segment, Side, plain
from registry.readers.parsing.document import Document

_SIDES: dict[str, tuple[Side, str]] = {
    "src": ("source", "translator"), "ref": ("reference", "translator"), "hyp": ("system", "system")}
_ALLOWED = {  # what may stand in what
    "dataset": (None,), "collection": ("dataset",), "doc": ("dataset", "collection"), "src": ("doc",), "ref": ("doc",),
    "hyp": ("doc",), "p": tuple(_SIDES), "seg": ("p", *_SIDES)}


class WmtXml(MarkupReader):
    """`<doc>` elements with their `<src>`, `<ref translator="A">` and `<hyp system="X">`, each of `<seg id="1">`.

    The document's attributes (origlang, domain, ...) and the `collection` it is in are attributes of its items.

    Attributes:
        collections: If given, documents of other collections are passed over.
        testsuites: False passes over documents with an attribute `testsuite`, which mostly have no reference.
    """

    name = "wmt-xml"

    collections: tuple[str, ...] = ()
    testsuites: bool = True

    def segments(self, document: Document) -> Iterator[Segment]:
        parsing = _Parsing(document)
        for segment in parsing.segments():
            if self.collections and segment.attributes.get("collection") not in self.collections:
                continue
            if self.testsuites or "testsuite" not in segment.attributes:
                yield segment


class _Parsing:
    """The state of one pass over a file; no entity is expanded, and nothing is read that the file refers to."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._open: list[tuple[str, dict[str, str]]] = []
        self._text: list[str] = []
        self._number = self._line = 0  # of the file's lines; XML also counts lone carriage returns
        self._of_document: dict[str, str] = {}
        self._found: list[Segment] = []
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.XmlDeclHandler = self._declaration
        self._parser.EntityDeclHandler = self._entity
        self._parser.ExternalEntityRefHandler = self._entity
        self._parser.SkippedEntityHandler = self._entity
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    def segments(self) -> Iterator[Segment]:
        try:
            for number, line in self._document.lines():
                self._number = number
                self._parser.Parse(line, False)
                self._parser.Parse("\n", False)
                yield from self._found
                self._found.clear()
            self._parser.Parse("", True)
        except expat.ExpatError as error:
            raise self._wrong(f"not XML: {expat.ErrorString(error.code)}") from None

    def _wrong(self, message: str) -> InputError:
        return self._document.error(message, self._number)

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:  # noqa: ARG002
        if encoding is not None and encoding.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            raise self._wrong(f"the file says that it is {encoding}; save it as UTF-8, and let it say so")

    def _entity(self, *_: Any) -> int:
        raise self._wrong("an entity is declared or referred to, which is not read; write the text itself")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        inside = self._open[-1][0] if self._open else None
        if name not in _ALLOWED:
            raise self._wrong(f"unknown element <{name[:40]}>")
        if inside not in _ALLOWED[name]:
            raise self._wrong(f"<{name}> in <{inside}>" if inside else f"<{name}> where <dataset> is expected")
        if name in ("doc", "seg") and not attributes.get("id", "").strip():
            raise self._wrong(f"<{name}> has no id")
        if not "".join(attributes.values()).isprintable():
            raise self._wrong(f"a control or invisible character in an attribute of <{name}>")
        self._open.append((name, attributes))
        if name == "doc":
            self._of_document = self._attributes()
        elif name == "seg":
            self._text, self._line = [], self._number

    def _characters(self, text: str) -> None:
        if not self._open:
            return
        if self._open[-1][0] == "seg":
            self._text.append(text)
        elif text.strip():
            raise self._wrong(f"text outside of any <seg>: {text.strip()[:40]!r}")

    def _end(self, name: str) -> None:
        _, attributes = self._open.pop()
        above = dict(self._open)
        if name != "seg":
            return
        element = next(known for known in _SIDES if known in above)
        side, names = _SIDES[element]
        self._found.append(Segment(side, above[element].get(names, ""), attributes["id"].strip(),
                                   plain("".join(self._text)), self._line, self._of_document))

    def _attributes(self) -> dict[str, str]:
        """Those of the document that was opened last, one mapping for all its segments."""
        opened = dict(self._open)
        of = {name: value for name, value in opened["doc"].items() if name != "id" and value}
        collection = opened.get("collection", {}).get("id", "")
        return {**of, **({"collection": collection} if collection else {}), "document": opened["doc"]["id"].strip()}
