"""Submissions that name no items, brought to the gold's in their order: numbered rows, and tagged text.

Tagged text is cut into the gold's items, whatever its own lines say of sentences and documents. Before, an answer
stands for a run of lines without a gap, so that every token's line is known; spans may go beyond it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, pairwise

from registry.columns import AnswerColumns, Rows
from registry.errors import InputError, counted
from registry.items import Answer, Item, Span, Tagged
from registry.readers.parsing.tagged_blocks import Row


def as_items(answers: AnswerColumns, items: Sequence[Item], path: str) -> AnswerColumns:
    """Give numbered rows the items in whose order they are; blank rows at the end are none.

    Raises:
        InputError: They are not as many; `path` is the submission's file.
    """
    last = int(answers.given[-1]) + 1 if len(answers) else 0
    lines = answers.rows.lines
    n = len(lines) if len(lines) < len(items) else max(last, len(items))
    if n != len(items):
        raise InputError(f"{counted(n, 'row')} where the gold has {counted(len(items), 'item')}, which are in the same "
                         "order: every item has its row, a blank one if it has no answer", path=path,
                         line=lines[n - 1], category="order")
    return replace(answers, rows=Rows(tuple(item.key for item in items), lines[:n]), values=answers.values[:n])


def moved(span: Span, by: int) -> Span:
    """A span so many tokens further on."""
    return Span(span.start + by, span.end + by, span.type)


def runs(rows: Sequence[Row], spans: Iterable[Span]) -> Iterator[Answer]:
    """Give the runs of lines of a file's rows; spans are given by their places among all rows."""
    firsts = [n for n, (line, *_) in enumerate(rows) if not n or line != rows[n - 1][0] + 1]
    within: list[list[Span]] = [[] for _ in firsts]
    for span in spans:
        n = bisect_right(firsts, span.start) - 1
        within[n].append(moved(span, -firsts[n]))
    for n, (first, end) in enumerate(pairwise([*firsts, len(rows)])):
        tokens = tuple(token for _, token, _ in rows[first:end])
        yield Answer(str(n + 1), Tagged(tokens, frozenset(within[n])), rows[first][0])


def recut(items: Sequence[Item], answers: Sequence[Answer], path: str, *, divide: bool) -> list[Answer]:
    """Give the answer to each item of tagged text, of answers that `runs` has given.

    Args:
        items: The gold's, in the order of its text.
        answers: A submission's, in the order of its file.
        path: Of that file.
        divide: A span that lies in two items is one in each of them; else it is refused.

    Raises:
        InputError: There are not as many tokens as in the gold, or a span lies in two items.
    """
    tokens = list(chain.from_iterable(answer.value.tokens for answer in answers))
    lines = [answer.line + n for answer in answers for n in range(len(answer.value.tokens))]
    expected = [(item, token) for item in items for token in item.gold.tokens]
    if len(tokens) != len(expected):
        at = next((n for n, (token, (_, other)) in enumerate(zip(tokens, expected, strict=False)) if token != other),
                  min(len(tokens), len(expected)))
        where = f", and from here on another text, as of item {expected[at][0].key!r}" if at < len(expected) else ""
        raise InputError(f"{counted(len(tokens), 'token')} where the gold has {len(expected)}{where}; every token "
                         "needs its line", path=path, line=lines[min(at, len(lines) - 1)], category="text")
    starts = [0, *accumulate(len(item.gold.tokens) for item in items)]
    found: list[list[Span]] = [[] for _ in items]
    firsts = [0, *accumulate(len(answer.value.tokens) for answer in answers)]
    for first, answer in zip(firsts, answers, strict=False):
        for span in answer.value.spans:
            start, end = first + span.start, first + span.end
            n = bisect_right(starts, start) - 1
            if end > starts[n + 1] and not divide:
                raise InputError(f"a span of type {span.type!r} goes on beyond the end of the gold's item "
                                 f"{items[n].key!r}; invalid_tags = \"begin\" divides it", path=path,
                                 line=lines[start], category="tag")
            while start < end:
                part = min(end, starts[n + 1])
                found[n].append(Span(start - starts[n], part - starts[n], span.type))
                start, n = part, n + 1
    return [Answer(item.key, Tagged(tuple(tokens[start:end]), frozenset(spans)), lines[start])
            for item, spans, start, end in zip(items, found, starts, starts[1:], strict=False)]
