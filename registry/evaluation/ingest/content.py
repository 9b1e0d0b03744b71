"""What a submission says, whatever the order of its lines and the form of its files: its digest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats
from registry.columns import AnswerColumns, Places, Rows, StatisticColumns
from registry.identity import canonical_json, canonical_text, digest, digest_lines
from registry.items import Answer, Item
from registry.readers import Reader
from registry.readers.base import NamedReader

Bytes = NDArray[np.uint8]

_WIDEST = 2**27  # bytes of all lines, each as long as the longest
_MOST_CODES = 2**12


def content_digest(reader: Reader, items: Sequence[Item], runs: Sequence[Sequence[Answer]]) -> str:
    """The digest of what a submission says, whatever the order of its lines; of several runs that of their digests."""
    return digest_of_runs([run_digest(reader, items, answers) for answers in runs])


def run_digest(reader: Reader, items: Sequence[Item], answers: Sequence[Answer]) -> str:
    """The digest of what one file says of the gold's items; see `content_digest`."""
    if isinstance(reader, NamedReader):
        answers = reader.folded(items, answers)
    if isinstance(answers, AnswerColumns) and (found := _digest_of_columns(reader, answers)) is not None:
        return found
    return digest_lines(sorted(canonical_json([answer.key, reader.content(answer.value)]) for answer in answers))


def digest_of_runs(digests: list[str]) -> str:
    """The digest of a submission, of whose runs these are the digests."""
    return digests[0] if len(digests) == 1 else digest_lines(digests)


@dataclass(frozen=True, eq=False)
class _Heads:
    """What of the lines `["key",value]` rests on keys alone: `["key",` in the order of the lines."""

    order: Places
    lines: Bytes
    sizes: Places

    def of(self, kept: Flags) -> _Heads:
        """Those of some lines."""
        return _Heads(self.order[kept], self.lines[kept], self.sizes[kept])


@dataclass(frozen=True, eq=False)
class _Ends:
    """What of the lines rests on values: its different texts, and the place of each line's."""

    texts: Bytes
    sizes: Places
    codes: Places

    @property
    def lines(self) -> Bytes:
        """That of each line."""
        return self.texts.take(self.codes, axis=0)


def _digest_of_columns(reader: Reader, answers: AnswerColumns) -> str | None:
    """The same digest without a Python object for every answer: all lines at once, as bytes padded with 0.

    Gives nothing where a key stands twice, or the lines are too wide together.
    """
    if (heads := _heads(answers.rows)) is None:
        return None
    if len(answers.given) < len(heads.order):
        there = np.zeros(len(heads.order), dtype=bool)
        there[answers.given] = True
        heads = heads.of(there[heads.order])
    ends, width = [], heads.lines.shape[1]
    for texts, codes in _ends(reader, answers, answers.values[heads.order]):
        ends.append(_Ends(*_padded([text.encode() for text in texts]), codes))
        width += ends[-1].texts.shape[1]
        if width * len(codes) > _WIDEST:
            return None
    if len({1, *(len(set(of.sizes.tolist())) for of in ends)}) == 1:  # most often: 0.0 and 1.0, say
        lines, places = _frame(heads, sum(int(of.sizes[0]) for of in ends))
        whole = lines.copy()
        whole[places] = np.concatenate([of.lines for of in ends], axis=1)
        return digest(whole.tobytes())
    sizes = sum((of.sizes[of.codes] for of in ends), heads.sizes)
    whole = np.concatenate([_counts(int(sizes.max(initial=0)))[sizes], heads.lines, *(of.lines for of in ends)], axis=1)
    return digest(whole[whole != 0].tobytes())


def _ends(reader: Reader, answers: AnswerColumns, values: Floats) -> Iterator[tuple[list[str], Places]]:
    """What of the lines rests on values, part after part: its different texts, and the place of each line's.

    Statistics are written as `readers.tables.numbers_of` lists them.
    """
    if not isinstance(answers, StatisticColumns):
        known, codes = _coded(values)
        yield [f"{canonical_json(reader.content(answers.meant(value)))}]" for value in known.tolist()], codes
        return
    for n, name in enumerate(sorted(answers.names), 1):
        known, codes = np.unique(values[:, answers.names.index(name)], return_inverse=True)
        before, after = "[" if n == 1 else ",", "]]" if n == len(answers.names) else ""
        yield [f"{before}{canonical_json([name, value])}{after}" for value in known.tolist()], codes


def _coded(values: Floats) -> tuple[Floats, Places]:
    """The different values, and the place of each among them; small counts, which most are, are not sorted for that."""
    largest = values.max(initial=0)
    if largest >= _MOST_CODES or np.signbit(values).any() or (values != (codes := values.astype(np.int64))).any():
        return np.unique(values, return_inverse=True)
    there = np.bincount(codes) > 0
    return np.flatnonzero(there).astype(np.float64), (np.cumsum(there) - 1)[codes]


@lru_cache(maxsize=1)
def _frame(heads: _Heads, of_end: int) -> tuple[Bytes, Places]:
    """All lines with these heads, each with its count of bytes, and where their ends go, [lines, bytes of an end]."""
    sizes, ends = heads.sizes + of_end, np.ones((len(heads.order), of_end), dtype=np.uint8)
    whole = np.concatenate([_counts(int(sizes.max(initial=0)))[sizes], heads.lines, ends], axis=1)
    there = whole != 0
    return whole[there], np.cumsum(there.sum(axis=1))[:, None] + np.arange(-of_end, 0)


@lru_cache(maxsize=1)
def _heads(rows: Rows) -> _Heads | None:
    keys = rows.keys
    heads = [f"[{canonical_text(key)}," for key in keys]
    encoded = [head.encode() for head in heads]
    if not keys or len(set(keys)) < len(keys) or max(map(len, encoded)) * len(heads) > _WIDEST:
        return None
    order = sorted(range(len(heads)), key=heads.__getitem__)
    return _Heads(np.array(order, dtype=np.int64), *_padded([encoded[n] for n in order]))


@lru_cache(maxsize=1)
def _counts(most: int) -> Bytes:
    """What `digest_lines` writes before lines of 0 to so many bytes."""
    return _padded([b"%d:" % size for size in range(most + 1)])[0]


def _padded(parts: list[bytes]) -> tuple[Bytes, Places]:
    """Texts without NUL as bytes padded with it, [texts, bytes of the longest], and the size of each."""
    sizes = np.array(list(map(len, parts)), dtype=np.int64)
    array = np.array(parts or [b" "], dtype=np.bytes_)
    return array.view(np.uint8).reshape(len(array), -1), sizes
