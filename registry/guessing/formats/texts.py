"""Plain text, a segment a line: what is left where nothing tells another format, and lines look like sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean

from registry.errors import InputError, counted
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Given, Guess, System
from registry.guessing.looks import EVEN, WORDS, even_mark, is_json, is_number, tables, text_lines
from registry.guessing.records import mended, readable
from registry.guessing.words import bleu_of, n_words
from registry.readers import Document, Lines

DISTINCT = 0.5  # the share of lines that are no other line again
_GAPS = 0.1  # the share of lines with two blanks or more between words, at which cells may be empty there
_TAG = re.compile(r"\s*<[a-z]+>")
_QUOTED = re.compile(r'"[^"]*"(\s+"[^"]*")+')
_NAME = re.compile(r"[\d_()-]")  # what all names of lines have, and no words do that end all lines of a text


def texts(gold: Document, systems: Sequence[Given], asked: Asked, *, beside: int | None = None) -> Iterator[Guess]:
    """Guess text, unless the lines look like something else; `beside` another guess, so sure, words may be few."""
    if not asked.allows("lines", "segment"):
        return
    words = WORDS if beside is None and asked.metric is None else 0
    documents = (gold, *(given.document for given in systems))
    if asked.kind != "lines" and any(one.path.endswith(".csv") and not tables(one) for one in documents):
        return  # a cell goes on in the next line
    if asked.kind != "lines" and not all(_is_text(document, words) for document in documents):
        return
    for find in (names_before_text, _labels_in_text) if asked.kind != "lines" else ():
        if (no_words := find(documents)) is not None:
            if beside is not None:
                return
            raise no_words
    n = sum(1 for _ in text_lines(gold))
    chosen = tuple(System(given.name, given.document, Lines.build(mended(given.document))) for given in systems)
    why = (f"{gold.path}: text, a segment on each of {counted(n, 'line')}, aligned by its number; resemblance says "
           "that the systems' lines are in this order",)
    is_open = asked.kind is None and asked.metric is None and all(_is_even(given.document) for given in systems)
    sure = OPEN if is_open or beside == OPEN else SURE if beside is None else LIKELY
    yield Guess(gold, Lines.build(mended(gold)), chosen, why, sure, "text, a segment on each line",
                bleu_of(line for _, line in text_lines(gold)), answer="--as lines" if sure == OPEN else "")


def _is_even(document: Document) -> bool:
    """Whether lines may as well be rows of a table: as many words in all, numbers at an end, gaps of blanks."""
    lines = [line.rstrip() for _, line in text_lines(document) if line.strip()]
    gaps = sum(line.startswith(" ") or "  " in line for line in lines)
    if 2 * sum("\t" in line for line in lines) >= len(lines):
        return True  # or lists of answers
    widths = Counter(len(line.split()) for line in lines)
    return max(widths.values()) >= EVEN * len(lines) or any(
        sum(is_number(line.split()[at]) for line in lines) >= max(2, EVEN * (len(lines) - 1)) for at in (0, -1)) or (
        _GAPS * len(lines) <= gaps < len(lines))


def names_before_text(documents: Sequence[Document], kind: str = "lines") -> InputError | None:
    """Say that lines have names, which would count as words of text; `kind` takes them for such."""
    if (tags := _tags(documents)) is not None:
        return InputError(f"lines have {tags} in them, which would count as words of text: take such marks out of all "
                          f"files, as `sed 's/<[^<>]*> *//g' FILE` does, or say --as {kind} if words are meant",
                          path=documents[0].path)
    if (at := _named(documents)) is None:
        return None
    return InputError(f"each line {'begins' if at == 0 else 'ends'} with a name that stands in all files, and would "
                      "count as a word of text: take it off all of them, and have their lines in the same order, or "
                      f"say --as {kind} if words are meant", path=documents[0].path)


def _tags(documents: Sequence[Document]) -> str | None:
    """The mark that most lines of each file begin with, as summaries' sentences stand in <t>; None where none does."""
    found = set[str]()
    for document in documents:
        lines = [line for _, line in text_lines(document) if line.strip()]
        marks = Counter(mark[0] for line in lines if (mark := _TAG.match(line)))
        (first, times), = marks.most_common(1) or [("", 0)]
        if 2 * times <= len(lines):
            return None
        found.add(first)
    return min(found) if len(found) == 1 else None


def _named(documents: Sequence[Document]) -> int | None:
    """Where on each line the same names stand in all files, as in Kaldi's text or sclite's trn; None where none do."""
    for at in (0, -1):
        words = [[line.split()[at] for _, line in text_lines(document) if line.strip()] for document in documents]
        first = set(words[0])
        if 1 < len(first) == len(words[0]) and all(map(_NAME.search, first)) and all(
                2 * len(first.intersection(others)) > max(len(first), len(others)) for others in words[1:]):
            return at
    return None


def _labels_in_text(documents: Sequence[Document]) -> InputError | None:
    """Say that systems' lines are the gold's but for a label before or after the text, which would count as words."""
    gold, *systems = ([line.split() for _, line in text_lines(document)] for document in documents)
    if any(len(lines) != len(gold) for lines in systems):
        return None
    for step, where in ((-1, "begin"), (1, "end")):
        rests = [_unlike(ours[::step], theirs[::step]) for lines in systems for ours, theirs in zip(
            gold, lines, strict=True) if ours != theirs]
        ends = [end for pair in rests for end in pair]
        if ends and None not in ends and (2 * len({*ends}) <= len(rests) or max(map(len, filter(None, ends))) == 1):
            return InputError(f"the systems' lines are the gold's but for how they {where}, with labels, it seems, "
                              "which would count as words of text: leave the label alone on each line, or say --as "
                              "lines if words are meant", path=documents[0].path)
    return None


def _unlike(ours: list[str], theirs: list[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The words of two lines after those that both begin with; None where they begin with no word in common."""
    n = next((n for n, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other),
             min(len(ours), len(theirs)))
    return (tuple(ours[n:]), tuple(theirs[n:])) if n else (None, None)


def are_decimals(lines: Sequence[str]) -> bool:
    """Whether most words of lines are numbers with decimals, as where each token has a log-probability."""
    words = [word for line in lines for word in line.split()]
    return 2 * sum("." in word and is_number(word) for word in words) > len(words)


def _is_text(document: Document, words: int) -> bool:
    lines = [line for _, line in text_lines(document)]
    filled = [line for line in lines if line.strip()]
    marked = [line for line in filled if line.lstrip().startswith("{") or (
        line.lstrip().startswith("<") and not _TAG.match(line))]  # maybe below a line that is not
    if not filled or 2 * len(marked) >= len(filled) or filled[0] in marked[:1] or all(map(is_number, filled)) or (
            is_json(readable(document))):
        return False
    if are_decimals(filled) or _QUOTED.fullmatch(filled[0].strip()):  # which are names of columns
        return False
    if any(table.form.get("separator") != "whitespace" or (not table.header and any(
            column.is_mostly_numeric for column in table.columns)) for table in tables(document)):
        return False  # times or scores, such as RTTM's
    return even_mark(filled) in ("", ",") and mean(map(n_words, filled)) >= words and (
        len(set(filled)) >= DISTINCT * len(filled))
