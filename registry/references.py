"""Published works that the program cites, with their BibTeX entries.

The file `references.bib` has one entry per work. Code cites a work by the names of its authors and its year, such as
`Holm 1979`. `find_references` maps such texts to entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

_FILE = Path(__file__).with_name("references.bib")
_ENTRY = re.compile(r"^@(\w+)\{([^,]+),\n(.*?)^\}\n", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},?$", re.MULTILINE)


@dataclass(frozen=True)
class Reference:
    """A published work.

    Attributes:
        key: The key of its BibTeX entry, such as `holm-1979-simple`.
        bibtex: The BibTeX entry.
        fields: The fields of the entry as plain text.
    """

    key: str
    bibtex: str = field(repr=False)
    fields: dict[str, str] = field(compare=False, repr=False)

    @cached_property
    def authors(self) -> list[tuple[str, str]]:
        """Family name and given names of each author.

        An author such as Student has no given names.
        """
        names = (name.partition(", ") for name in self.fields["author"].split(" and "))
        return [(family, given) for family, _, given in names]

    @property
    def citations(self) -> list[str]:
        """The texts that cite the work: `Holm 1979`, or `A and B 2009`.

        A work with three authors has two: `A, B and C 2009` and `A et al. 2009`.
        """
        families = [family for family, _ in self.authors]
        names = [_join(families), *([f"{families[0]} et al."] if len(families) > 2 else [])]
        year = self.fields.get("year")
        return [f"{name} {year}" if year else f"{name}, {self.fields['title']}" for name in names]

    @property
    def link(self) -> str:
        """The web address of the work; empty if it has none."""
        doi = self.fields.get("doi", "")
        return self.fields.get("url") or (doi and f"https://doi.org/{quote(doi, safe='/:;().-_')}")

    @property
    def description(self) -> str:
        """The entry of the work in a list of references, without the link."""
        known = self.fields.get
        authors = _join([f"{given} {family}".strip() for family, given in self.authors])
        edition = known("edition") and f", {known('edition')} edition"
        parts = [authors, known("year"), f"{self.fields['title']}{edition or ''}", self._place, known("howpublished")]
        return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)

    @property
    def _place(self) -> str:
        known = self.fields.get
        if "journal" in self.fields:
            number, pages = known("number"), known("pages")
            return (f"{known('journal')}, {known('volume')}" + (f"({number})" if number else "")
                    + (f":{pages}" if pages else ""))
        if "eprint" in self.fields:
            return f"arXiv:{known('eprint')}"
        chapter, pages = known("chapter"), known("pages")
        parts = [(book := known("booktitle")) and f"In {book}", chapter and f"chapter {chapter}",
                 pages and f"pages {pages}", known("publisher")]
        return ", ".join(filter(None, parts))

    def __str__(self) -> str:
        return f"{self.description} {self.link}".strip()

    def described(self) -> dict[str, Any]:
        """Return the work as JSON."""
        return {"key": self.key, "text": self.description, "link": self.link, "bibtex": self.bibtex}


def find_references(*citations: str) -> tuple[Reference, ...]:
    """Find the published works that some texts cite.

    Each work is returned once, in the order of authors and year.

    >>> [work.key for work in find_references("Yeh 2000, section 3.2; Noreen 1989", "as Yeh (2000) shows")]
    ['noreen-1989-computer', 'yeh-2000-accurate']
    """
    works, pattern = _load_citations()
    found = {works[_normalize(match[0])] for text in citations for match in pattern.finditer(text)}
    return tuple(sorted(found, key=lambda work: work.key))


def split_citations(text: str) -> Iterator[str | tuple[Reference, ...]]:
    """Split a text into plain parts and the works that it cites there; works next to each other are one part.

    >>> [part if isinstance(part, str) else len(part) for part in split_citations("a test (Noreen 1989; Yeh 2000).")]
    ['a test (', 2, ').']
    """
    works, pattern = _load_citations()
    end = 0
    for match in re.finditer(rf"{pattern.pattern}(?:; {pattern.pattern})*", text):
        yield text[end:match.start()]
        yield tuple(works[_normalize(citation[0])] for citation in pattern.finditer(match[0]))
        end = match.end()
    yield text[end:]


def shorten_citation(citation: str) -> str:
    """Remove chapters and sections from a citation.

    A part without a year, such as `that of the scores`, names no work and is left out.

    >>> shorten_citation("Yeh 2000, section 3.2; Gaudette and Japkowicz 2009; that of the scores")
    'Yeh 2000; Gaudette and Japkowicz 2009'
    """
    pattern = _load_citations()[1]
    parts = ((pattern.search(part), part.strip()) for part in citation.split(";"))
    return "; ".join(match[0] if match else part for match, part in parts if match or re.search(r"\d{4}", part))


@cache
def load_references() -> tuple[Reference, ...]:
    """Return all works, in the order of their keys."""
    text = _FILE.read_text("utf-8")
    return tuple(Reference(match[2], match[0], {name: _make_plain(value) for name, value in _FIELD.findall(match[3])})
                 for match in _ENTRY.finditer(text))


@cache
def _load_citations() -> tuple[dict[str, Reference], re.Pattern[str]]:
    """Load all works by the texts that cite them, such as `Holm 1979`.

    Returns:
        The works, and a regular expression that finds these texts.
    """
    # `Angelopoulos et al. 2023` is the work with more authors, because the other one is cited by all three names.
    entries = sorted(load_references(), key=lambda work: len(work.authors))
    works = {citation: work for work in entries for citation in work.citations}
    longest_first = sorted(works, key=len, reverse=True)
    # The year may be in parentheses: `Yeh (2000)`.
    texts = (re.sub(r"\\ (\d{4})$", r" \\(?\1", re.escape(text)) for text in longest_first)
    return works, re.compile(rf"(?<!\w)(?<!\band )(?:{'|'.join(texts)})(?!\w)")


def _normalize(citation: str) -> str:
    return citation.replace("(", "")


def _join(names: Iterable[str]) -> str:
    """Join names: `A`, `A and B`, or `A, B and C`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _make_plain(value: str) -> str:
    """Convert the value of a BibTeX field to plain text: `{MTP$_2$}` -> `MTP2`."""
    text = re.sub(r"[{}$]|(?<=\$)_", "", value)
    for latex, plain in (("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘"), ("'", "’"), (r"\_", "_")):
        text = text.replace(latex, plain)
    return text
