"""Join a file of a submission with the gold's items: by key, never by position.

All commands use these functions. `Document.report` raises or collects every problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats
from registry.columns import AnswerColumns, JoinedColumns, Places, Rows, StatisticColumns, as_columns
from registry.errors import InputError
from registry.evaluation.ingest.remarks import Remark, find_header, find_remarks, suggest_header_options
from registry.identity import canonical_json, canonical_text, digest, digest_lines
from registry.items import Answer, Item, standing_twice
from registry.metrics import Metric
from registry.missing import MissingPolicy
from registry.readers import Document, Reader
from registry.readers.base import NamedReader


@dataclass(frozen=True)
class Policies:
    """How a submission may differ from the gold.

    Attributes:
        missing: What happens to items without an answer.
        tokens: `reject` or `warn`: what happens if its text differs from the gold's.
        metrics: The metrics of the task; remedies depend on them.
    """

    missing: MissingPolicy
    tokens: str = "reject"
    metrics: tuple[Metric, ...] = ()


@dataclass(frozen=True, eq=False)
class FittedFile:
    """A file that fits the gold.

    Attributes:
        answers: The answers, as the file has them.
        joined: The answers to the items.
        remarks: Remarks on the file.
    """

    answers: Sequence[Answer]
    joined: JoinedColumns
    remarks: list[Remark]


def fit_file(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, policies: Policies, document: Document,
             *, with_gold: bool = True) -> FittedFile | None:
    """Join a file's answers with the items, and find remarks on the file.

    Args:
        items: The items of the gold, in its order.
        answers: Answers of the file, in any order.
        reader: Reader of the submission.
        policies: Policies of the submission.
        document: The file; receives problems.
        with_gold: False if the items come from a task pack, without gold.

    Returns:
        The joined file; None if the document has collected a problem.

    Raises:
        InputError: The file does not fit, and the document collects no problems.
    """
    joined = join(items, answers, reader, policies, document)
    if document.problems is not None and document.problems.counts:
        return None
    remarks = find_remarks(items, joined, reader, document.collect(None), policies.missing,
                           differing=count_differing(items, joined, reader, policies), with_gold=with_gold)
    return FittedFile(answers, joined, list(remarks))


def join(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, policies: Policies,
         document: Document) -> JoinedColumns:
    """Join a file's answers with the items; see `fit_file` for the arguments.

    Raises:
        InputError: An answer belongs to no item, two answers belong to one item, an item lacks an answer that its
            policy requires, or an answer is about another text; and the document collects no problems.
    """
    columns = as_columns(reader.assign(items, answers, document.path))
    joined = JoinedColumns.of_items(columns, items)
    if not (columns.is_numeric and joined.is_one_to_one):
        for problem in find_disagreements(items, columns, joined, reader, policies, document.path):
            document.report(problem)
    if joined.n_missing:
        unanswered = list(compress(items, (~joined.there).tolist()))
        for item, fault, remedy in policies.missing.find_problems(unanswered, len(items), policies.metrics,
                                                                  reader.absent):
            if item is items[0] and find_header(items, reader) is not None:
                remedy = ("the gold's first line looks like a header: set "
                          f"{suggest_header_options(item, reader)} of the test set")
            document.report(InputError(f"{fault}; {remedy}", path=document.path, item=item.key, category="missing"))
    return joined


def find_disagreements(items: Sequence[Item], answers: AnswerColumns, joined: JoinedColumns, reader: Reader,
                       policies: Policies, path: str) -> Iterator[InputError]:
    """Yield errors of answers that do not fit the items; missing answers are not among them.

    The error of the first unknown item has their number. If an item has several answers, only the first is compared.
    """
    first: dict[str, Answer] = {}
    for answer in answers:
        if (earlier := first.setdefault(answer.key, answer)) is not answer:
            yield standing_twice(answer, earlier, path, reader.repeated)
    if implausible := reader.implausible(items, answers):
        yield InputError(implausible[1], path=path, line=implausible[0], category="order")
    known = {item.key for item in items}
    unknown = [] if reader.ignores_others else [answer for answer in answers if answer.key not in known]
    if unknown and unknown[0] == answers[0] and find_header(answers, reader) is not None:
        remedy = f"set {suggest_header_options(unknown[0], reader)}, or remove the line"
        yield InputError(f"not in the gold, but like a header; {remedy}", path=path, line=unknown[0].line,
                         item=unknown[0].key, category="header")
        del unknown[0]
    for n, answer in enumerate(unknown):
        nor = "is" if len(unknown) == 2 else "are"
        more = "" if n or len(unknown) == 1 else f" (nor {nor} {len(unknown) - 1} more of the file's {len(answers)})"
        yield InputError(f"not in the gold{more}; is this file for another test set?", path=path, line=answer.line,
                         item=answer.key, category="unknown")
    for item, answer in zip(items, joined, strict=True):
        if answer is None:
            continue
        if why := reader.incomparable(item.gold, answer.value):
            yield InputError(why, path=path, line=answer.line, item=item.key, category="text")
        elif policies.tokens == "reject" and (mismatch := reader.mismatch(item.gold, answer.value)):
            yield InputError(f'{mismatch[1]}; correct the file, or set tokens = "warn" in the manifest', path=path,
                             line=answer.line + mismatch[0], item=item.key, category="text")


def count_differing(items: Sequence[Item], joined: JoinedColumns, reader: Reader, policies: Policies) -> int:
    """Count the answers to a text that differs from the gold's, which the policy `warn` accepts."""
    if policies.tokens == "reject" or type(reader).mismatch is Reader.mismatch:
        return 0
    return sum(answer is not None and reader.mismatch(item.gold, answer.value) is not None
               for item, answer in zip(items, joined, strict=True))


def join_again(items: Sequence[Item], reader: Reader, documents: Sequence[Document],
               missing: MissingPolicy) -> list[JoinedColumns]:
    """Read an accepted submission's runs again, and join them with the items."""
    policies = Policies(missing, tokens="warn")
    return [join(items, reader.read_answers(document), reader, policies, document) for document in documents]


Bytes = NDArray[np.uint8]

_MAX_BYTES = 2**27  # bytes of all lines, each as long as the longest
_MAX_CODES = 2**12


def digest_submission(reader: Reader, items: Sequence[Item], runs: Sequence[Sequence[Answer]]) -> str:
    """Return the digest of a submission's answers, independent of the order of its lines."""
    return join_digests([digest_run(reader, items, answers) for answers in runs])


def digest_run(reader: Reader, items: Sequence[Item], answers: Sequence[Answer]) -> str:
    """Return the digest of one file's answers to the gold's items, independent of the order of its lines."""
    if isinstance(reader, NamedReader):
        answers = reader.fold_names(items, answers)
    if isinstance(answers, AnswerColumns) and (fast := _digest_columns(reader, answers)) is not None:
        return fast
    return digest_lines(sorted(canonical_json([answer.key, reader.content(answer.value)]) for answer in answers))


def join_digests(digests: list[str]) -> str:
    """Return the digest of a submission from the digests of its runs."""
    return digests[0] if len(digests) == 1 else digest_lines(digests)


@dataclass(frozen=True, eq=False)
class _Heads:
    """The parts of the lines `["key",value]` that depend on keys alone: `["key",` in the order of the lines."""

    order: Places
    lines: Bytes
    sizes: Places

    def select(self, is_selected: Flags) -> _Heads:
        """Return the heads of some lines."""
        return _Heads(self.order[is_selected], self.lines[is_selected], self.sizes[is_selected])


@dataclass(frozen=True, eq=False)
class _Ends:
    """The parts of the lines that depend on values: the distinct texts, and the index of each line's text."""

    texts: Bytes
    sizes: Places
    codes: Places

    @property
    def lines(self) -> Bytes:
        """Return the text of each line."""
        return self.texts.take(self.codes, axis=0)


def _digest_columns(reader: Reader, answers: AnswerColumns) -> str | None:
    """Return the digest of a run without a Python object for each answer: lines are arrays of bytes, padded with 0.

    Returns None if a key occurs twice, or if the arrays would be too large.
    """
    if (heads := _make_heads(answers.rows)) is None:
        return None
    if len(answers.given) < len(heads.order):
        is_given = np.zeros(len(heads.order), dtype=bool)
        is_given[answers.given] = True
        heads = heads.select(is_given[heads.order])
    ends, width = [], heads.lines.shape[1]
    for texts, codes in _make_ends(reader, answers, answers.values[heads.order]):
        ends.append(_Ends(*_pad([text.encode() for text in texts]), codes))
        width += ends[-1].texts.shape[1]
        if width * len(codes) > _MAX_BYTES:
            return None
    if all(len(set(end.sizes.tolist())) == 1 for end in ends):  # most often, as with 0.0 and 1.0
        lines, places = _make_frame(heads, sum(int(end.sizes[0]) for end in ends))
        whole = lines.copy()
        whole[places] = np.concatenate([end.lines for end in ends], axis=1)
        return digest(whole.tobytes())
    sizes = sum((end.sizes[end.codes] for end in ends), heads.sizes)
    prefixes = _make_prefixes(int(sizes.max(initial=0)))[sizes]
    whole = np.concatenate([prefixes, heads.lines, *(end.lines for end in ends)], axis=1)
    return digest(whole[whole != 0].tobytes())


def _make_ends(reader: Reader, answers: AnswerColumns, values: Floats) -> Iterator[tuple[list[str], Places]]:
    """Yield the texts and codes of `_Ends`; statistics have the form of `readers.tables.numbers_of`."""
    if not isinstance(answers, StatisticColumns):
        distinct, codes = _find_distinct(values)
        yield [f"{canonical_json(reader.content(answers.meant(value)))}]" for value in distinct.tolist()], codes
        return
    for n, name in enumerate(sorted(answers.names), 1):
        distinct, codes = np.unique(values[:, answers.names.index(name)], return_inverse=True)
        prefix, suffix = "[" if n == 1 else ",", "]]" if n == len(answers.names) else ""
        yield [f"{prefix}{canonical_json([name, value])}{suffix}" for value in distinct.tolist()], codes


def _find_distinct(values: Floats) -> tuple[Floats, Places]:
    """Return the distinct values, and the index of each value among them; small counts need no sorting."""
    largest = values.max(initial=0)
    if largest >= _MAX_CODES or np.signbit(values).any() or (values != (codes := values.astype(np.int64))).any():
        return np.unique(values, return_inverse=True)
    occurs = np.bincount(codes) > 0
    return np.flatnonzero(occurs).astype(np.float64), (np.cumsum(occurs) - 1)[codes]


@lru_cache(maxsize=1)
def _make_frame(heads: _Heads, end_size: int) -> tuple[Bytes, Places]:
    """Return all lines with gaps for their ends, and the positions of these, [lines, bytes of an end]."""
    sizes, ends = heads.sizes + end_size, np.ones((len(heads.order), end_size), dtype=np.uint8)
    whole = np.concatenate([_make_prefixes(int(sizes.max(initial=0)))[sizes], heads.lines, ends], axis=1)
    is_byte = whole != 0
    return whole[is_byte], np.cumsum(is_byte.sum(axis=1))[:, None] + np.arange(-end_size, 0)


@lru_cache(maxsize=1)
def _make_heads(rows: Rows) -> _Heads | None:
    keys = rows.keys
    heads = [f"[{canonical_text(key)}," for key in keys]
    encoded = [head.encode() for head in heads]
    if not keys or len(set(keys)) < len(keys) or max(map(len, encoded)) * len(heads) > _MAX_BYTES:
        return None
    order = sorted(range(len(heads)), key=heads.__getitem__)
    return _Heads(np.array(order, dtype=np.int64), *_pad([encoded[n] for n in order]))


@lru_cache(maxsize=1)
def _make_prefixes(max_size: int) -> Bytes:
    # These are the prefixes of `digest_lines`.
    return _pad([b"%d:" % size for size in range(max_size + 1)])[0]


def _pad(parts: list[bytes]) -> tuple[Bytes, Places]:
    """Return texts as bytes padded with NUL, [texts, bytes of the longest], and the size of each."""
    sizes = np.array(list(map(len, parts)), dtype=np.int64)
    array = np.array(parts or [b" "], dtype=np.bytes_)
    return array.view(np.uint8).reshape(len(array), -1), sizes
