"""CoNLL columns with one tag per token, in a scheme of the IOB family: sentences are items, spans their answers.

How lines are cut into sentences is in `parsing.tagged_blocks`; here their tags become spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any, Literal
from unicodedata import normalize

from registry.errors import InputError, counted, suggest
from registry.items import Answer, Item, Span, Tagged
from registry.readers.names import SpanReader
from registry.readers.parsing.bounds import ONE_ROW
from registry.readers.parsing.by_order import moved, recut, runs
from registry.readers.parsing.document import Document
from registry.readers.parsing.tagged_blocks import Block, Layout, Row
from registry.readers.parsing.tags import suggest_tag
from registry.values import TERSE

_REMEDY = 'declare another scheme, mend the file, or let invalid_tags = "begin" read it leniently'

Scheme = Literal["iob1", "iob2", "bioes", "bilou"]

# the prefixes of a span's first, inner, last and only token, as far as a scheme has them
PREFIXES: dict[Scheme, str] = {"iob1": "BI", "iob2": "BI", "bioes": "BIES", "bilou": "BILU"}


_ALL_PREFIXES = {prefix for prefixes in PREFIXES.values() for prefix in prefixes}


class Bio(SpanReader):
    """One token per line, its tag in a column; blank lines end sentences, which are the items.

    Attributes:
        scheme: How tags write spans (Tjong Kim Sang and Veenstra 1999, "Representing text chunks"). It is declared and
            never guessed: `iob2` begins every span with B; `iob1` begins one with B only where it follows another of
            its type; `bioes` also marks the last token (E) and spans of one token (S), `bilou` with L and U.
        columns: The names of the columns, in order; the empty list takes as many as the first row has.
        token: The column that holds the token, by its name or its number: from 1, or from -1 for the last one. The
            empty text says that a submission has none, so that they cannot be compared.
        label: The column that holds the tag, likewise.
        separator: Between columns: `tab`, or `whitespace` (any run of blanks).
        invalid_tags: What to do about a tag that the scheme does not allow where it stands: `reject` the file, or let
            it `begin` a span, as lenient scorers do.
        comment: Lines before a sentence's first token that begin with this text are comments; those of the form
            `key = value` (after the text) are attributes of the sentence.
        id: The attribute that names the sentence; without it sentences are numbered from 1.
        docstart: Where a sentence could begin, a line that begins with this text (such as `-DOCSTART-`) begins a
            document instead; the attribute `document` of the sentences that follow is its number from 1.
        header: The first line that is no comment names the columns.
        comments: Where comments are: `before` a sentence's first token, unless they have as many cells as there are
            columns, or `anywhere`. Then all lines are that begin so and are no row with a tag; keys may have colons and
            blanks in them, and what names a sentence or document may do without the `=`: `# id s1`.
        document: The key of the comments that begin a document; all that they say is said of the sentences that follow,
            and the value is their attribute `document`.
        sentence_end: A column and what its cells have, alone or between `|`, where a sentence ends.
        boundaries: Where a submission's items begin and end: as its `own` lines say, or, its tokens being the gold's in
            the same order, where those of the `gold` do.
        outside: The tags of tokens that are in no span.
        item: What an item is: a `sentence`, or a whole `document`, which `docstart` or `document` begins.
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
            raise InputError("option 'sentence_end' of bio names a column and what it has where a sentence ends, such "
                             'as ["MISC", "EndOfSentence"]')
        if self.item == "document" and self.docstart is None and self.document is None:
            raise InputError('option \'item\' of bio is "document": say how documents begin, by \'docstart\' or '
                             "'document'")
        if self.document is not None and not self.comment:
            raise InputError("option 'document' of bio is a key of comments: say how these begin, by 'comment'")
        for role in self._layout.wanted:
            if not (self.header or role in self.columns or self._is_place(role)):
                raise InputError(f"option 'columns' of bio has no column {role!r}; {suggest(role, self.columns)}")

    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        if not self.token:
            raise documents["gold"].error("the gold needs a column of tokens; name it with the option 'token'")
        if self.sentence_end:
            self._refuse_cut_spans(documents["gold"])
        return list(self._sentences(documents["gold"]))

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        if self.boundaries == "own":
            return [Answer(item.key, item.gold, item.line) for item in self._sentences(document)]
        rows: list[Row] = []
        spans: list[Span] = []
        for block in self._layout.blocks(document):
            spans += (moved(span, len(rows)) for span in self._of_block(block, document))
            rows += block.rows
        if not rows:
            document.report_empty("sentence")
        return list(runs(rows, spans))

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:
        """Cut the text as the gold is, where the options say so; see `Reader.assign`."""
        if self.boundaries == "gold":
            answers = recut(items, answers, path, divide=self.invalid_tags == "begin")
        return super().assign(items, answers, path)

    def content(self, value: Any) -> Any:
        return [value.tokens, [[s.start, s.end, s.type] for s in sorted(value.spans)]]

    def task_text(self, value: Any) -> Any:
        return list(value.tokens)

    def most_lines(self, items: Sequence[Item]) -> int:
        """Every token has a line; the gold of another reader may have no tokens."""
        return sum(ONE_ROW * len(item.gold.tokens) + 100 if item.gold.tokens else self.lines_per_item for item in items)

    def unanswered(self, text: Any) -> Any:
        if not isinstance(text, list) or not all(isinstance(token, str) for token in text):
            raise ValueError("expected a list of tokens")
        return Tagged(tuple(text), frozenset())

    def incomparable(self, gold: Any, answer: Any) -> str | None:
        """Sentences of different length have no spans in common terms."""
        if len(gold.tokens) == len(answer.tokens):
            return None
        if not gold.tokens:
            return ("the gold (of another reader) has spans without tokens, which may count anything: submit spans as "
                    "well, or give the gold as bio")
        return (f"{counted(len(answer.tokens), 'token')} where the gold has {len(gold.tokens)}; a blank line too many "
                "or too few at or above this sentence, or another tokenization")

    def mismatch(self, gold: Any, answer: Any) -> tuple[int, str] | None:
        """Say which token is the first to differ."""
        for n, (expected, found) in enumerate(zip(gold.tokens, answer.tokens, strict=True)):
            if expected != found and self.token:
                same = normalize("NFC", expected) == normalize("NFC", found)
                what = ", the same in another Unicode normal form" if same else ""
                return n, f"token {n + 1} is {found!r}, the gold's {expected!r}{what}"
        return None

    def _refuse_cut_spans(self, document: Document) -> None:
        """Refuse spans that go on in the line after the end of their sentence: they would count as two.

        Under iob1 a tag there that goes on could as well begin a span.
        """
        inner, before = PREFIXES[self.scheme][1:3], None
        for block in self._layout.blocks(document) if self.scheme != "iob1" else ():
            begins = {0, *block.begins}
            for at, row in enumerate(block.rows):
                if at in begins and before is not None and row[0] == before[0] + 1 and (
                        before[2][0] in "BI" and row[2][0] in inner and before[2][1:] == row[2][1:]):
                    document.refuse(f"the span of type {row[2][2:]!r} goes on after the end of its sentence in line "
                                    f"{before[0]}, and would be cut in two; leave sentence_end out and take item = "
                                    '"document", or mend the column', row[0], category="tag")
                before = row

    def _sentences(self, document: Document) -> Iterator[Item]:
        number = 0
        for number, block in enumerate(self._layout.blocks(document), 1):
            attributes, rows = block.attributes, block.rows
            spans = frozenset(self._of_block(block, document))
            whole = attributes.get("document", str(number)) if self.item == "document" else str(number)
            if not (key := attributes.pop(self.id, whole)):
                document.refuse("the name of the item is empty; give it one", rows[0][0])
                continue
            yield Item(key, Tagged(tuple(token for _, token, _ in rows), spans), attributes, rows[0][0])
        if not number:
            document.report_empty("sentence")

    def _of_block(self, block: Block, document: Document) -> Iterator[Span]:
        """Read the spans off all sentences of a block."""
        tags = [(line, tag) for line, _, tag in block.rows]
        for start, end in pairwise((0, *block.begins, len(tags))):
            for span in self._spans(tags[start:end], document):
                yield moved(span, start) if start else span

    @property
    def _layout(self) -> Layout:
        return Layout(self.columns, self.token, self.label, self.separator, self.header, self.comment, self.comments,
                      self.id, self.docstart, self.document, self.sentence_end, self.item == "document",
                      self.outside)

    def _is_place(self, role: str) -> bool:
        """Whether a column is given by its number, and there may be one."""
        try:
            at = self._layout.place(role, ())
        except ValueError:
            return False
        return not self.columns or -len(self.columns) <= at < len(self.columns)

    def _spans(self, tags: Sequence[tuple[int, str]], document: Document) -> Iterator[Span]:
        """Read the spans off a sentence's tags, given with their lines."""
        prefixes = PREFIXES[self.scheme]
        inner, ending = tuple(prefixes[1:3]), tuple(prefixes[2:])
        start, type_, closed = 0, "", True  # the span that may still go on, if not closed
        for n, (line, tag) in enumerate(tags):
            prefix, dash, kind = tag.partition("-")
            prefix += dash if prefix == "O" else ""  # "O-" is no tag
            wrong = self._wrong(prefix, kind, "" if closed else type_, tags[n - 1][1] if n else "O")
            no_tag = wrong is not None and wrong.startswith("tag")
            if wrong and (self.invalid_tags == "reject" or no_tag):
                document.refuse(wrong, line, category="tag")
                prefix = "O" if no_tag else prefix
            goes_on = not closed and prefix in inner and kind == type_ and not wrong
            if not closed and not goes_on:
                yield Span(start, n, type_)
                closed = True
            if prefix != "O" and not goes_on:
                start, type_, closed = n, kind, False
            if prefix in ending:
                yield Span(start, n + 1, type_)
                closed = True
        if not closed:
            if ending and self.invalid_tags == "reject":
                document.refuse(
                    f"the sentence ends within a span of type {type_!r}, which {ending[0]}-{type_} should end under "
                    f"the scheme {self.scheme}; {_REMEDY}", tags[-1][0], category="tag")
            yield Span(start, len(tags), type_)

    def _wrong(self, prefix: str, kind: str, open_type: str, before: str) -> str | None:
        """Say what is wrong with a tag after `before`, where a span of `open_type` may go on; None if nothing is."""
        prefixes = PREFIXES[self.scheme]
        tag = f"{prefix}-{kind}" if kind else prefix
        if prefix not in ("O", *prefixes) or bool(kind) == (prefix == "O"):
            remedy = suggest_tag(tag) or ("" if prefix in _ALL_PREFIXES else
                                          f'outside = ["O", "{tag}"] takes it for no span')
            return f"tag {tag!r} is neither O nor one of {', '.join(prefixes)} with '-TYPE'{remedy and f'; {remedy}'}"
        continues = bool(open_type) and kind == open_type
        if self.scheme == "iob1":
            allowed = prefix != "B" or continues
        elif self.scheme == "iob2":
            allowed = prefix != "I" or continues
        else:
            allowed = continues if prefix in prefixes[1:3] else not open_type
        if allowed:
            return None
        return f"{tag!r} cannot follow {before!r} under the scheme {self.scheme}; {_REMEDY}"
