"""Formats that their lines tell: trees, rankings, alignments, sets of answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from registry.errors import InputError, listed
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Given, Guess, reworded
from registry.guessing.looks import text_lines
from registry.guessing.records import readable
from registry.guessing.trial import Trial
from registry.readers import Conllu, Document, Naacl, Pharaoh, Reader, Responses, Trec

_LOOKED_AT = 1000  # lines
_SHOWN = 60  # characters of a line
_WORD = re.compile(r"\d+(?:[-.]\d+)?(?:\t[^\t]*){9}")
_LINKS = re.compile(r"\s*|\s*\d+[-p]\d+(?:\s+\d+[-p]\d+)*\s*")
_PAIR = re.compile(r"\d+ \d+ \d+(?: [SP])?(?: [0-9.eE+-]+)?\s*")
_JUDGED = re.compile(r"\S+\s+\S+\s+\S+\s+[+-]?\d+\s*")
_RANKED = re.compile(r"\S+\s+\S+\s+\S+\s+[+-]?\d+\s+[+-]?[0-9.eE+-]+\s+\S+\s*")
_ANSWERS = re.compile(r'\s*\{(?=.*"item"\s*:).*"answers"\s*:.*\}\s*')


class _Format(NamedTuple):
    """A format: the lines of its gold and of its systems, and its readers, those that allow less first."""

    what: str
    gold: re.Pattern[str]
    system: re.Pattern[str]
    readers: Callable[[Document], Sequence[Reader]]


def _counted_from(format_: type[Pharaoh] | type[Naacl], zero: str) -> Callable[[Document], Sequence[Reader]]:
    """Readers of alignments that count words from 0 where a position is 0, else from 1 or, if need be, from 0."""
    position = re.compile(zero, re.MULTILINE)

    def readers(document: Document) -> Sequence[Reader]:
        offsets: tuple[int, ...] = (0,) if position.search(readable(document).text()) else (1, 0)
        return [format_.build({"offset": offset}) for offset in offsets]

    return readers


_FORMATS = (
    _Format("ten columns of CoNLL-U", _WORD, _WORD, lambda _: [
        Conllu(), Conllu(empty_columns="underscore"), Conllu(roots="any"),
        Conllu(roots="any", empty_columns="underscore")]),
    _Format("TREC's judgments and runs", _JUDGED, _RANKED, lambda _: [Trec(), Trec(other_queries="ignore")]),
    _Format("links of words in each line", _LINKS, _LINKS, _counted_from(Pharaoh, r"(?<!\d)0[-p]|[-p]0(?!\d)")),
    _Format("links of words, one a line (NAACL 2003)", _PAIR, _PAIR, _counted_from(Naacl, r"^\d+ (?:0 |\d+ 0\b)")),
    _Format("JSON Lines with sets of answers", _ANSWERS, _ANSWERS, lambda _: [Responses()]),
)


def marked(gold: Document, systems: Sequence[Given], asked: Asked, trial: Trial) -> Iterator[Guess]:
    """Guess the options of formats that lines tell."""
    for format_ in _FORMATS:
        if not _is(gold, format_.gold) or not all(_is(given.document, format_.system) for given in systems):
            continue
        for n, reader in enumerate(format_.readers(gold)):
            items = trial.items(gold, reader)
            if not asked.allows(reader.name, reader.gives) or isinstance(items, InputError):
                continue
            guess = Guess(gold, reader, (), ())
            chosen = [trial.fitting(guess, items, given, format_.readers(given.document)) for given in systems]
            why = [f"{gold.path}: {format_.what}: {reader!r}"]
            for other in dict.fromkeys(system.reader for system in chosen if system.reader != reader):
                names = [system.name for system in chosen if system.reader == other]
                why.append(f"otherwise {listed(names, 3)}: {other!r}")
            if isinstance(reader, Naacl) and _are_rows([gold, *(given.document for given in systems)]):
                yield Guess(gold, reader, tuple(chosen), tuple(why), OPEN, format_.what, answer=f"--as {reader.name}")
            else:
                yield Guess(gold, reader, tuple(chosen), tuple(why), LIKELY if n else SURE)
            if reader.gives != "alignment":
                break  # readers that allow more read the same


def find_fault(gold: Document, systems: Sequence[Given], asked: Asked) -> InputError | None:
    """Return the fault of a gold if its lines and those of all systems are of one format; None without a fault."""
    for format_ in _FORMATS:
        if _is(gold, format_.gold) and all(_is(given.document, format_.system) for given in systems):
            for reader in format_.readers(gold)[:1]:
                if asked.allows(reader.name, reader.gives) and isinstance(
                        fault := Trial(asked.missing).items(gold, reader), InputError):
                    return reworded(fault, f"{fault.message} (read as {reader.name})")
    return None


def _are_rows(documents: Sequence[Document]) -> bool:
    """Whether the first two of three numbers name the same lines in all files, which may be items with a label each."""
    named = [[tuple(line.split()[:2]) for _, line in text_lines(document) if line.strip()] for document in documents]
    return all(len({*of}) == len(of) and {*of} == {*named[0]} for of in named)


def unlike(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say which line of a system is none of the format that the gold's lines tell; None where they tell none."""
    for format_ in _FORMATS:
        for given in systems if _is(gold, format_.gold) else ():
            for number, line in text_lines(given.document):
                if line.strip() and not line.startswith("#") and not format_.system.fullmatch(line):
                    shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
                    return InputError(f"{shown!r} is no line of {format_.what}, which {gold.path} seems to be of",
                                      path=given.document.path, line=number)
    return None


def _is(document: Document, line: re.Pattern[str]) -> bool:
    """Whether the first lines of a file are those of a format."""
    found = (text for _, text in text_lines(document) if text.strip() and not text.startswith("#"))
    looked = list(islice(found, _LOOKED_AT))
    return bool(looked) and all(map(line.fullmatch, looked))
