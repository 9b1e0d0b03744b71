"""Reader of CoNLL columns with one tag per token, in a scheme of the IOB family.

Sentences (or documents) are items, and their answers are spans. `Layout` divides lines into blocks, and `Bio` turns the
tags of a block into spans. With `boundaries = "gold"`, `recut_answers` divides the text of a submission into the gold's
items, whatever blocks the submission has.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from typing import Any, Literal, NamedTuple
from unicodedata import normalize

from registry.errors import InputError, counted, suggest
from registry.items import Answer, Item, Span, Tagged
from registry.readers.base import SpanReader
from registry.readers.parsing.delimited import Separator, read_header, split_cells
from registry.readers.parsing.document import ONE_ROW, Document
from registry.values import TERSE

_TAG = re.compile(r"O|[BIESLU]-.+")
_PREFIXED = re.compile(r"([BIESLUM])([-_:./]?)(\S*)", re.IGNORECASE)
_SUFFIXED = re.compile(r"(\S*[^-_:./\s])[-_:./]([BIESLUM])", re.IGNORECASE)
_SEPARATED = re.compile(r"[-_:./]")


def is_tag(tag: str) -> bool:
    """Return True if a tag is "O", or a prefix and a type such as "B-PER".

    The prefix is one of IOB2, BIOES or BILOU.
    """
    return _TAG.fullmatch(tag) is not None


def suggest_tag(tag: str) -> str | None:
    """Return a correction of an invalid tag; None if the intended tag is unclear.

    >>> suggest_tag("I_PER"), suggest_tag("PER-B"), suggest_tag("b-per"), suggest_tag("M-PER")
    ("write 'I-PER'", "write 'B-PER'", "write 'B-per'", "write 'I-PER'")
    >>> suggest_tag("B"), suggest_tag("o"), suggest_tag("[CLS]")
    ("add a type: write 'B-X', with the same type X in all tags", "write 'O'", None)
    """
    if tag in ("o", "0"):
        return "write 'O'"
    if (match := _PREFIXED.fullmatch(tag)) and (match[2] or not match[3]):
        if not match[3]:
            return f"add a type: write {_format_tag(match[1], 'X')!r}, with the same type X in all tags"
        better = _format_tag(match[1], match[3])
        return f"write {better!r}" if better != tag else None  # else it is a tag of another scheme
    if (match := _SUFFIXED.fullmatch(tag)) and _SEPARATED.search(tag):
        return f"write {_format_tag(match[2], match[1])!r}"
    return None


def _format_tag(prefix: str, type_: str) -> str:
    return f"{prefix.upper().replace('M', 'I')}-{type_}"


Row = tuple[int, str, str]  # line, token, tag

_NAME = re.compile(r"[\w.-]+")
_ANY_NAME = re.compile(r"[\w.:-]+(?: [\w.:-]+)*")
_PLAIN_TAG = re.compile(r"[BIESLU]-.+")
_PLACE = re.compile(r"-?[1-9][0-9]{0,3}")


class Block(NamedTuple):
    """Tokens of one item: a sentence, or a document of several sentences.

    Attributes:
        attributes: Maps attributes of the item, such as "document", to their values.
        rows: Line number, token and tag of each token.
        begins: Indexes in `rows` of the first token of each sentence, except the first sentence.
    """

    attributes: dict[str, str]
    rows: list[Row]
    begins: list[int]


@dataclass(frozen=True)
class Layout:
    """Layout of a file with one token per line; most attributes are options of `Bio`.

    Attributes:
        whole_documents: True if documents are the items, False if sentences are.
    """

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
    def required_columns(self) -> tuple[str, ...]:
        """Names of the columns to read: tag, end of sentence, and token.

        The last two are left out if the options do not name them.
        """
        return (self.label, *self.sentence_end[:1], *([self.token] if self.token else []))

    def blocks(self, document: Document) -> Iterator[Block]:
        """Divide a file into blocks, one per item (sentence or document), and yield them."""
        parsing = _BlockParsing(self, document, () if self.header else tuple(self.columns))
        for number, line in document.lines():
            parsing.read_line(number, line)
            yield from parsing.blocks
            parsing.blocks.clear()
        parsing.end_block()
        yield from parsing.blocks

    def find_column(self, name: str, columns: Sequence[str]) -> int:
        """Return the index (from 0, or negative from the end) of a column.

        Args:
            name: Name of the column, or its number as text: "1" is the first column, "-1" the last.
            columns: Names of all columns.

        Raises:
            ValueError: There is no column with this name.
        """
        if name in columns or not _PLACE.fullmatch(name):
            return columns.index(name)
        return int(name) - (int(name) > 0)


@dataclass
class _BlockParsing:
    """Parser that divides a file, line by line, into sentences or documents."""

    layout: Layout
    document: Document
    columns: tuple[str, ...]
    places: list[int] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)  # from comments since the last row
    document_facts: dict[str, str] = field(default_factory=dict)
    sentence_facts: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    is_start: bool = True  # of a sentence
    blocks: list[Block] = field(default_factory=list)  # complete
    words: dict[str, str] = field(default_factory=dict)  # shares equal words to save memory

    def read_line(self, number: int, line: str) -> None:
        layout = self.layout
        if not line.strip():
            self._begin_document()
            self._end_sentence()
            self.facts = {}
            return
        if layout.docstart and self.is_start and line.startswith(layout.docstart):
            self.end_block()
            self.document_facts = {"document": str(int(self.document_facts.get("document", "0")) + 1)}
            return
        cells = split_cells(line, layout.separator)
        if layout.header and not self.columns:
            if not self._read_comment(number, line, cells):
                names = [name for name in layout.required_columns if not _PLACE.fullmatch(name)]
                self.columns = read_header(cells, names, self.document, number, ["header=false"])
            return
        if self._read_comment(number, line, cells):
            return
        if self.facts:
            self._begin_document()
        self._add_row(number, cells)
        if layout.sentence_end and len(cells) == len(self.columns) and (
                layout.sentence_end[1] in cells[self._find_columns()[1]].split("|")):
            self._end_sentence()

    def end_block(self) -> None:
        self.is_start = True
        if self.rows:
            self.blocks.append(Block(self.document_facts | self.sentence_facts, self.rows, self.begins))
            self.rows, self.begins = [], []

    def _read_comment(self, number: int, line: str, cells: list[str]) -> bool:
        """If a line is a comment, store the attributes that it declares.

        Args:
            number: Line number.
            line: The line.
            cells: Cells of the line.

        Returns:
            True if the line is a comment.
        """
        layout = self.layout
        if not layout.comment or not line.startswith(layout.comment):
            return False
        anywhere = layout.comments == "anywhere"
        if self._has_tag(cells) if anywhere else not self.is_start:
            return False
        text = line.removeprefix(layout.comment)
        name, equals, value = text.partition("=")
        if anywhere and not (equals and _ANY_NAME.fullmatch(name.strip())):
            for part in text.split("\t"):
                self._read_statement(part.strip())
            has_facts = True
        elif has_facts := bool(equals and (_ANY_NAME if anywhere else _NAME).fullmatch(name.strip())):
            self.facts[name.strip()] = value.strip()
        if not self.facts.get(layout.id, "_"):
            raise self.document.error(f"the comment {layout.id!r} is empty; write the name of the sentence, or remove "
                                      "the comment", number)
        return has_facts or len(cells) != len(self.columns)

    def _has_tag(self, cells: list[str]) -> bool:
        """Return True if a line such as "# O" is a token with a valid tag, not a comment."""
        if not self.columns or len(cells) != len(self.columns):
            return False
        tag = cells[self._find_columns()[0]]
        return tag in self.layout.outside or _PLAIN_TAG.fullmatch(tag) is not None

    def _read_statement(self, part: str) -> None:
        """Store the attribute that a comment declares as "KEY = VALUE".

        The equals sign may be absent if the key is that of names of sentences or documents.
        """
        name, equals, value = (text.strip() for text in part.partition("="))
        if equals and _ANY_NAME.fullmatch(name):
            self.facts[name] = value
            return
        for key in (self.layout.id, self.layout.document):
            if key and part.startswith(f"{key} ") and len(words := part.removeprefix(key).split()) == 1:
                self.facts[key] = words[0]

    def _add_row(self, number: int, cells: list[str]) -> None:
        if self.is_start:
            if self.rows:
                self.begins.append(len(self.rows))
            else:
                self.sentence_facts = self.facts
            self.is_start = False
        self.facts = {}
        if not self.columns:
            self.columns = tuple(map(str, range(1, len(cells) + 1)))
        if len(cells) == len(self.columns):
            places = self.places or self._find_columns()
            token, tag = cells[places[-1]] if self.layout.token else "", cells[places[0]]
            wrong = "" if tag and (token or not self.layout.token) else f"the {'token' if tag else 'tag'} is empty"
        else:
            token, tag = cells[0] if self.layout.token else "", ""
            wrong = (f"the line has {counted(len(cells), 'column')}; expected {len(self.columns)} "
                     f"({', '.join(self.columns)}) with the separator {self.layout.separator}")
        if wrong:
            self.document.refuse(wrong, number)
        self.rows.append((number, self.words.setdefault(token, token),
                          "O" if tag in self.layout.outside or not tag else tag))

    def _find_columns(self) -> list[int]:
        if not self.places:
            required = self.layout.required_columns
            self.places = [self.layout.find_column(name, self.columns) for name in required]
            for name, place in zip(required, self.places, strict=True):
                if not -len(self.columns) <= place < len(self.columns):
                    raise self.document.error(f"column {name!r} is not among the {len(self.columns)} columns of the "
                                              f"file; {suggest(name, self.columns)}", 1 + self.document.skip)
        return self.places

    def _begin_document(self) -> None:
        name, facts = self.layout.document, self.facts
        if name and name in facts:
            self.end_block()
            self.document_facts = {key: value for key, value in facts.items() if key != self.layout.id or key == name}
            self.document_facts["document"] = facts[name]
            self.facts = {key: value for key, value in facts.items() if key not in self.document_facts}

    def _end_sentence(self) -> None:
        self.is_start = True
        if not self.layout.whole_documents:
            self.end_block()


def move_span(span: Span, distance: int) -> Span:
    """Return a copy of a span that begins and ends `distance` tokens later."""
    return Span(span.start + distance, span.end + distance, span.type)


def split_at_gaps(rows: Sequence[Row], spans: Iterable[Span]) -> Iterator[Answer]:
    """Divide the tokens of a file into sentences at lines without tokens.

    Args:
        rows: Line number, token and tag of each token in the file.
        spans: Spans whose positions count tokens from the beginning of the file.

    Yields:
        An answer with the spans of each sentence.
    """
    firsts = [n for n, (line, *_) in enumerate(rows) if not n or line != rows[n - 1][0] + 1]
    run_spans: list[list[Span]] = [[] for _ in firsts]
    for span in spans:
        n = bisect_right(firsts, span.start) - 1
        run_spans[n].append(move_span(span, -firsts[n]))
    for n, (first, end) in enumerate(pairwise([*firsts, len(rows)])):
        tokens = tuple(token for _, token, _ in rows[first:end])
        yield Answer(str(n + 1), Tagged(tokens, frozenset(run_spans[n])), rows[first][0])


def recut_answers(items: Sequence[Item], answers: Sequence[Answer], path: str, *, divide: bool) -> list[Answer]:
    """Divide the tokens and spans of a submission at the ends of the gold's items.

    Gold and submission must have the same tokens in the same order, but may have other sentences.

    Args:
        items: Items of the gold, in the order of the text.
        answers: Answers with the submission's tokens and spans, in the order of the file.
        path: Path of the submission, for errors.
        divide: True to divide a span that crosses the end of an item, False to raise an error.

    Raises:
        InputError: The number of tokens differs from the gold, or a span crosses the end of an item.
    """
    tokens = list(chain.from_iterable(answer.value.tokens for answer in answers))
    lines = [answer.line + n for answer in answers for n in range(len(answer.value.tokens))]
    expected = [(item, token) for item in items for token in item.gold.tokens]
    if len(tokens) != len(expected):
        position = next((n for n, (token, (_, other)) in enumerate(zip(tokens, expected, strict=False))
                         if token != other), min(len(tokens), len(expected)))
        difference = ""
        if position < len(expected):
            difference = f", and the first different token is here, in item {expected[position][0].key!r}"
        raise InputError(f"the file has {counted(len(tokens), 'token')}, but the gold has {len(expected)}{difference}; "
                         "write one line for each token of the gold", path=path,
                         line=lines[min(position, len(lines) - 1)], category="text")
    starts = [0, *accumulate(len(item.gold.tokens) for item in items)]
    item_spans: list[list[Span]] = [[] for _ in items]
    firsts = [0, *accumulate(len(answer.value.tokens) for answer in answers)]
    for first, answer in zip(firsts, answers, strict=False):
        for span in answer.value.spans:
            start, end = first + span.start, first + span.end
            n = bisect_right(starts, start) - 1
            if end > starts[n + 1] and not divide:
                raise InputError(f"a span of type {span.type!r} begins in the gold's item {items[n].key!r} and ends "
                                 "after it; correct the tags, or set invalid_tags = \"begin\" to split the span at the "
                                 "end of the item", path=path,
                                 line=lines[start], category="tag")
            while start < end:
                part = min(end, starts[n + 1])
                item_spans[n].append(Span(start - starts[n], part - starts[n], span.type))
                start, n = part, n + 1
    return [Answer(item.key, Tagged(tuple(tokens[start:end]), frozenset(spans)), lines[start])
            for item, spans, start, end in zip(items, item_spans, starts, starts[1:], strict=False)]


_REMEDY = 'correct the tags, set another scheme, or set invalid_tags = "begin" to accept such tags'

Scheme = Literal["iob1", "iob2", "bioes", "bilou"]

# prefixes of a span's first, inner, last and only token
PREFIXES: dict[Scheme, str] = {"iob1": "BI", "iob2": "BI", "bioes": "BIES", "bilou": "BILU"}


_ALL_PREFIXES = {prefix for prefixes in PREFIXES.values() for prefix in prefixes}


class Bio(SpanReader):
    """One token per line with its tag in a column; blank lines end sentences.

    This file format is for spans, such as named entities, that are encoded as BIO tags. Sentences are the items, unless
    the option `item` selects documents.

    Attributes:
        scheme: Tagging scheme (Tjong Kim Sang and Veenstra 1999, "Representing text chunks"). The scheme is declared
            and never guessed. `iob2` begins every span with B. `iob1` uses B only directly after another span of the
            same type. `bioes` also marks the last token (E) and spans of one token (S); `bilou` uses L and U instead.
        columns: Names of the columns, in order; empty for as many columns as the first row has.
        token: Column of the token, by name or number: from 1, or from -1 for the last column. Empty if a submission has
            no tokens, which are then not compared.
        label: Column of the tag, by name or number.
        separator: Separator of columns: `tab`, or `whitespace` (any run of blanks).
        invalid_tags: Treatment of a tag that the scheme does not allow after the previous tag: `reject` the file, or
            `begin` a span, as lenient scorers do.
        comment: Beginning of comments, which are lines before the first token of a sentence. A comment with
            `key = value` is an attribute of the sentence.
        id: Attribute with the name of the sentence; if it is absent, sentences are numbered from 1.
        docstart: Beginning of lines (such as `-DOCSTART-`) that begin a document. The number of the document, from 1,
            is the attribute `document` of its sentences.
        header: True if the first line that is not a comment names the columns.
        comments: Places of comments. `before`: only before the first token of a sentence, and not if the line has as
            many cells as columns. `anywhere`: every line that begins like a comment and is not a row with a tag; keys
            may contain colons and blanks, and the name of a sentence or document needs no `=`: `# id s1`.
        document: Key of the comments that begin a document. Its value is the attribute `document` of the following
            sentences, and other attributes in the same comments apply to these sentences too.
        sentence_end: Column, and value (alone or between `|`), that mark the last token of a sentence.
        boundaries: Boundaries of a submission's items: its `own` lines, or the `gold` items, if both have the same
            tokens in the same order.
        outside: Tags of tokens outside of all spans.
        item: Kind of items: `sentence`, or `document`, which `docstart` or `document` begins.
    """

    name = "bio"
    forms = ("scheme", "separator")
    _distinct = ("columns",)

    scheme: Scheme
    columns: tuple[str, ...] = ("token", "label")
    token: str = "token"
    label: str = "label"
    separator: Literal["tab", "whitespace"] = "tab"
    invalid_tags: Literal["reject", "begin"] = "reject"
    comment: str | None = None
    id: str = "id"
    docstart: str | None = None
    header: bool = field(default=False, kw_only=True, metadata=TERSE)
    comments: Literal["before", "anywhere"] = field(default="before", kw_only=True, metadata=TERSE)
    document: str | None = field(default=None, kw_only=True, metadata=TERSE)
    sentence_end: tuple[str, ...] = field(default=(), kw_only=True, metadata=TERSE)
    boundaries: Literal["own", "gold"] = field(default="own", kw_only=True, metadata=TERSE)
    outside: tuple[str, ...] = field(default=("O",), kw_only=True, metadata=TERSE)
    item: Literal["sentence", "document"] = field(default="sentence", kw_only=True, metadata=TERSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sentence_end) not in (0, 2):
            raise InputError("option 'sentence_end' of bio must be a column and the value that marks the end of a "
                             'sentence, such as ["MISC", "EndOfSentence"]')
        if self.item == "document" and self.docstart is None and self.document is None:
            raise InputError("option item = \"document\" of bio needs a mark of where documents begin; set the option "
                             "'docstart' or 'document' too")
        if self.document is not None and not self.comment:
            raise InputError("option 'document' of bio is the key of a comment; also set the option 'comment', the "
                             "text that begins a comment line")
        for role in self._layout.required_columns:
            if not (self.header or role in self.columns or self._is_column_number(role)):
                raise InputError(f"option 'columns' of bio has no column {role!r}; {suggest(role, self.columns)}")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        if not self.token:
            raise documents["gold"].error("the gold has no column of tokens; name the column with the option 'token'")
        if self.sentence_end:
            self._refuse_cut_spans(documents["gold"])
        return list(self._read_sentences(documents["gold"]))

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        if self.boundaries == "own":
            return [Answer(item.key, item.gold, item.line) for item in self._read_sentences(document)]
        rows: list[Row] = []
        spans: list[Span] = []
        for block in self._layout.blocks(document):
            spans += (move_span(span, len(rows)) for span in self._read_block(block, document))
            rows += block.rows
        if not rows:
            document.report_empty("sentence")
        return list(split_at_gaps(rows, spans))

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:
        if self.boundaries == "gold":
            answers = recut_answers(items, answers, path, divide=self.invalid_tags == "begin")
        return super().assign(items, answers, path)

    def content(self, value: Any) -> Any:
        return [value.tokens, [[s.start, s.end, s.type] for s in sorted(value.spans)]]

    def task_text(self, value: Any) -> Any:
        return list(value.tokens)

    def most_lines(self, items: Sequence[Item]) -> int:
        # the gold of another reader may have no tokens
        return sum(ONE_ROW * len(item.gold.tokens) + 100 if item.gold.tokens else self.lines_per_item for item in items)

    def make_unanswered(self, text: Any) -> Any:
        if not isinstance(text, list) or not all(isinstance(token, str) for token in text):
            raise ValueError("expected a list of tokens")
        return Tagged(tuple(text), frozenset())

    def incomparable(self, gold: Any, answer: Any) -> str | None:
        if len(gold.tokens) == len(answer.tokens):
            return None
        if not gold.tokens:
            return ("the gold has spans without tokens, so tags of tokens cannot be compared with it; submit a file of "
                    "spans, or write the gold in the format bio")
        return (f"the sentence has {counted(len(answer.tokens), 'token')}, but the gold sentence has "
                f"{len(gold.tokens)}; check the blank lines up to this sentence, and the tokenization")

    def mismatch(self, gold: Any, answer: Any) -> tuple[int, str] | None:
        for n, (expected, token) in enumerate(zip(gold.tokens, answer.tokens, strict=True)):
            if expected != token and self.token:
                same = normalize("NFC", expected) == normalize("NFC", token)
                hint = "; only the Unicode normal form (NFC or NFD) differs" if same else ""
                return n, f"token {n + 1} is {token!r}, but the gold token is {expected!r}{hint}"
        return None

    def _refuse_cut_spans(self, document: Document) -> None:
        """Report gold spans that continue in the next sentence.

        Spans must not cross sentences. In the scheme iob1 such spans cannot be detected, because the next tag may also
        begin a new span.
        """
        inner, previous = PREFIXES[self.scheme][1:3], None
        for block in self._layout.blocks(document) if self.scheme != "iob1" else ():
            begins = {0, *block.begins}
            for position, row in enumerate(block.rows):
                if position in begins and previous is not None and row[0] == previous[0] + 1 and (
                        previous[2][0] in "BI" and row[2][0] in inner and previous[2][1:] == row[2][1:]):
                    document.refuse(f"the span of type {row[2][2:]!r} continues after the sentence end in line "
                                    f"{previous[0]}; correct the column of sentence ends, or remove sentence_end and "
                                    'set item = "document"', row[0], category="tag")
                previous = row

    def _read_sentences(self, document: Document) -> Iterator[Item]:
        number = 0
        for number, block in enumerate(self._layout.blocks(document), 1):
            attributes, rows = block.attributes, block.rows
            spans = frozenset(self._read_block(block, document))
            default_name = attributes.get("document", str(number)) if self.item == "document" else str(number)
            if not (key := attributes.pop(self.id, default_name)):
                document.refuse("the name of the item is empty; write a name", rows[0][0])
                continue
            yield Item(key, Tagged(tuple(token for _, token, _ in rows), spans), attributes, rows[0][0])
        if not number:
            document.report_empty("sentence")

    def _read_block(self, block: Block, document: Document) -> Iterator[Span]:
        """Yield the spans of an item that consists of one or several sentences.

        Args:
            block: Tokens and tags of the item.
            document: The file, to which invalid tags are reported.
        """
        tags = [(line, tag) for line, _, tag in block.rows]
        for start, end in pairwise((0, *block.begins, len(tags))):
            for span in self._read_spans(tags[start:end], document):
                yield move_span(span, start) if start else span

    @property
    def _layout(self) -> Layout:
        return Layout(self.columns, self.token, self.label, self.separator, self.header, self.comment, self.comments,
                      self.id, self.docstart, self.document, self.sentence_end, self.item == "document",
                      self.outside)

    def _is_column_number(self, name: str) -> bool:
        try:
            place = self._layout.find_column(name, ())
        except ValueError:
            return False
        return not self.columns or -len(self.columns) <= place < len(self.columns)

    def _read_spans(self, tags: Sequence[tuple[int, str]], document: Document) -> Iterator[Span]:
        """Convert the tags of one sentence to spans, and yield them.

        For example, the tags B-PER, I-PER and O are one span of type PER with two tokens.

        Args:
            tags: Line number and tag of each token.
            document: The file, to which invalid tags are reported.
        """
        prefixes = PREFIXES[self.scheme]
        inner, ending = tuple(prefixes[1:3]), tuple(prefixes[2:])
        start, type_, is_closed = 0, "", True  # the span that may continue, unless it is closed
        for n, (line, tag) in enumerate(tags):
            prefix, dash, kind = tag.partition("-")
            prefix += dash if prefix == "O" else ""  # "O-" is no tag
            fault = self._find_fault(prefix, kind, "" if is_closed else type_, tags[n - 1][1] if n else "O")
            is_no_tag = fault is not None and fault.startswith("tag")
            if fault and (self.invalid_tags == "reject" or is_no_tag):
                document.refuse(fault, line, category="tag")
                prefix = "O" if is_no_tag else prefix
            continues = not is_closed and prefix in inner and kind == type_ and not fault
            if not is_closed and not continues:
                yield Span(start, n, type_)
                is_closed = True
            if prefix != "O" and not continues:
                start, type_, is_closed = n, kind, False
            if prefix in ending:
                yield Span(start, n + 1, type_)
                is_closed = True
        if not is_closed:
            if ending and self.invalid_tags == "reject":
                document.refuse(
                    f"the sentence ends within a span of type {type_!r}, but in the scheme {self.scheme} a span must "
                    f"end with the tag {ending[0]}-{type_}; {_REMEDY}", tags[-1][0], category="tag")
            yield Span(start, len(tags), type_)

    def _find_fault(self, prefix: str, kind: str, open_type: str, previous: str) -> str | None:
        """Return a message if a tag is not allowed after the previous tag; else None.

        Args:
            prefix: Prefix of the tag, such as "B", or "O".
            kind: Type of the tag, such as "PER"; empty for "O".
            open_type: Type of the span that the tag may continue; empty if there is none.
            previous: The previous tag.
        """
        prefixes = PREFIXES[self.scheme]
        tag = f"{prefix}-{kind}" if kind else prefix
        if prefix not in ("O", *prefixes) or bool(kind) == (prefix == "O"):
            remedy = suggest_tag(tag) or ("" if prefix in _ALL_PREFIXES else
                                          f'set outside = ["O", "{tag}"] to ignore this tag')
            return (f"tag {tag!r} is not valid; expected O, or {', '.join(f'{prefix}-TYPE' for prefix in prefixes)}"
                    f"{remedy and f'; {remedy}'}")
        continues = bool(open_type) and kind == open_type
        if self.scheme == "iob1":
            allowed = prefix != "B" or continues
        elif self.scheme == "iob2":
            allowed = prefix != "I" or continues
        else:
            allowed = continues if prefix in prefixes[1:3] else not open_type
        if allowed:
            return None
        return f"{tag!r} cannot follow {previous!r} in the scheme {self.scheme}; {_REMEDY}"
