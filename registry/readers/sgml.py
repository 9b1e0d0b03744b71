"""The SGML of NIST's and, until 2020, WMT's translation tasks: sources, references or hypotheses in files of their own.

These files are written for line-wise tools and seldom are well-formed markup, so only the tags that mean something are
looked at; all else within a segment is its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from registry.errors import InputError
from registry.readers.markup import MarkupReader, Segment, Side, plain
from registry.readers.parsing.document import Document

_SIDES: dict[str, Side] = {"srcset": "source", "refset": "reference", "tstset": "system"}
_TAG = re.compile(r"<(/?)(srcset|refset|tstset|doc|seg)\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))""")
_ENTITY = re.compile(r"&(lt|gt|quot|apos|amp);")
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}


@dataclass(frozen=True, repr=False)
class Sgml(MarkupReader):
    """A `<srcset>`, `<refset>` or `<tstset>` of `<doc docid="d" sysid="x">` elements of `<seg id="1">`, in any case.

    The attribute `sysid` names the translator or the system. The document's other attributes (genre, origlang) are
    attributes of its items. Of entities the five of XML are replaced, others are text.
    """

    name: ClassVar[str] = "sgml"

    def segments(self, document: Document) -> Iterator[Segment]:
        """Read all segments."""
        side: Side | None = None
        of_set: dict[str, str] = {}
        of_document: dict[str, str] | None = None
        of_items: dict[str, str] = {}
        segment: tuple[str, int] | None = None  # its id and line, while it is open
        text: list[str] = []

        def wrong(message: str) -> InputError:
            return InputError(message, path=document.path, line=number)

        number = 0
        for number, line in document.lines():
            at = 0
            for tag in _TAG.finditer(line):
                ends, name = bool(tag[1]), tag[2].lower()
                if segment is not None:
                    if not (ends and name == "seg"):
                        raise wrong(f"{tag[0][:60]} before the segment of line {segment[1]} has ended")
                    assert side is not None
                    assert of_document is not None
                    text.append(line[at:tag.start()])
                    unescaped = _ENTITY.sub(lambda found: _ENTITIES[found[1]], "".join(text))
                    by = of_document.get("sysid", "")
                    yield Segment(side, by, segment[0], plain(unescaped), segment[1], of_items)
                    segment = None
                elif name in _SIDES:
                    side, of_set = (None, {}) if ends else (_SIDES[name], _by(tag[3]))
                    of_document = None
                elif name == "doc":
                    of_document = None if ends else {**of_set, **_attributes(tag[3])}
                    if side is None or (of_document is not None and not of_document.get("docid")):
                        raise wrong(f"{tag[0][:60]} outside of any set, or without docid")
                    of_items = {} if of_document is None else _of_items(of_document)
                elif ends or of_document is None or side is None:
                    raise wrong(f"{tag[0][:60]} where no segment can {'end' if ends else 'begin'}")
                else:
                    segment, text = (_attributes(tag[3]).get("id", ""), number), []
                    if not segment[0]:
                        raise wrong("<seg> has no id")
                at = tag.end()
            if segment is not None:
                text.append(line[at:] + "\n")
        if segment is not None:
            raise wrong(f"the segment of line {segment[1]} does not end")


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
