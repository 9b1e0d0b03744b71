"""Join the answers of a submission with the items of the gold by their keys.

A problem of the file is passed to `Document.report`, which raises it, or collects it for the command `check`.
"""

from __future__ import annotations

import math
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
from registry.items import Answer, Item, make_duplicate_error
from registry.metrics import Metric
from registry.missing import MissingPolicy
from registry.readers import Document, Reader
from registry.readers.base import NamedReader


@dataclass(frozen=True)
class Policies:
    """Policies for submissions that differ from the gold.

    Attributes:
        missing: What happens with items without an answer: the file is rejected, or the items get the worst score or
            are left out.
        tokens: What happens with text that differs from the gold: `reject` or `warn`.
        metrics: The metrics of the task. Error messages suggest policies that these metrics allow.
    """

    missing: MissingPolicy
    tokens: str = "reject"
    metrics: tuple[Metric, ...] = ()


@dataclass(frozen=True, eq=False)
class FittedFile:
    """A file of a submission, with its answers matched with the items of the gold.

    Attributes:
        answers: The answers in the order of the file.
        joined: The answers in the order of the items.
        remarks: Warnings about the file.
    """

    answers: Sequence[Answer]
    joined: JoinedColumns
    remarks: list[Remark]


def fit_file(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, policies: Policies, document: Document,
             *, with_gold: bool = True) -> FittedFile | None:
    """Match the answers of a file with the items of the gold, and find warnings.

    Args:
        items: The items of the gold.
        answers: Answers of the file, in any order.
        reader: Reader of the submission, which has parsed the answers.
        policies: What happens with missing answers and with text that differs from the gold.
        document: The file. It raises a problem, or collects all problems.
        with_gold: False if the items have no gold, because they come from a task pack.

    Returns:
        The file with matched answers; None if the document has collected a problem.

    Raises:
        InputError: The file does not fit the gold, and the document does not collect problems.
    """
    joined = join(items, answers, reader, policies, document)
    if document.problems is not None and document.problems.counts:
        return None
    remarks = find_remarks(items, joined, reader, document.collect(None), policies.missing,
                           differing=count_differing(items, joined, reader, policies),
                           ignored=find_ignored(items, answers, reader), with_gold=with_gold)
    return FittedFile(answers, joined, list(remarks))


def join(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, policies: Policies,
         document: Document) -> JoinedColumns:
    """Return the answers of a file in the order of the items, matched by key.

    Args:
        items: The items of the gold.
        answers: Answers of the file, in any order.
        reader: Reader of the submission, which has parsed the answers.
        policies: What happens with missing answers and with text that differs from the gold.
        document: The file. It raises a problem, or collects all problems.

    Raises:
        InputError: An answer belongs to no item, two answers belong to the same item, a required answer is missing, or
            an answer has another text than its item. If the document collects problems, nothing is raised.
    """
    columns = as_columns(reader.assign(items, answers, document.path))
    joined = JoinedColumns.match_items(columns, items)
    if not (columns.is_numeric and joined.is_one_to_one):
        for problem in find_disagreements(items, columns, joined, reader, policies, document.path):
            document.report(problem)
    for name, answers_of_column in joined.columns.items():
        if not answers_of_column.n_missing:
            continue
        unanswered = list(compress(items, (~answers_of_column.has_answer).tolist()))
        metrics = [metric for metric in policies.metrics if name in (None, metric.column or next(iter(joined.columns)))]
        absent = reader.absent if name is None else f"it has no {name!r}"
        for item, fault, remedy in policies.missing.find_problems(unanswered, len(items), metrics, absent):
            if item is items[0] and find_header(items, reader) is not None:
                remedy = ("the gold's first line looks like a header: set "
                          f"{suggest_header_options(item, reader)} of the test set")
            document.report(InputError(f"{fault}; {remedy}", path=document.path, item=item.key, category="missing"))
    return joined


def find_disagreements(items: Sequence[Item], answers: AnswerColumns, joined: JoinedColumns, reader: Reader,
                       policies: Policies, path: str) -> Iterator[InputError]:
    """Yield an error for each answer that does not fit the items.

    Missing answers are not reported here. If an item has several answers, only the first one is compared with the gold.

    Args:
        items: The items of the gold.
        answers: The answers in the order of the file.
        joined: The same answers in the order of the items.
        reader: Reader of the submission, which has parsed the answers.
        policies: What happens with text that differs from the gold.
        path: Path of the file.
    """
    first: dict[str, Answer] = {}
    for answer in answers:
        if (earlier := first.setdefault(answer.key, answer)) is not answer:
            yield make_duplicate_error(answer, earlier, path)
    if implausible := reader.implausible(items, answers):
        yield InputError(implausible[1], path=path, line=implausible[0], category="order")
    item_keys = {item.key for item in items}
    unknown = [] if reader.ignores_others else [answer for answer in answers if answer.key not in item_keys]
    if unknown and unknown[0] == answers[0] and find_header(answers, reader) is not None:
        remedy = f"set {suggest_header_options(unknown[0], reader)}, or remove the line"
        yield InputError(f"not in the gold, and its line looks like a header; {remedy}", path=path,
                         line=unknown[0].line, item=unknown[0].key, category="header")
        del unknown[0]
    for n, answer in enumerate(unknown):
        nor = "is" if len(unknown) == 2 else "are"
        more = "" if n or len(unknown) == 1 else f" (nor {nor} {len(unknown) - 1} more of the file's {len(answers)})"
        ignore = "" if len(unknown) == len(answers) else (
            "; if the gold has only some of the file's items, set the submission's option unknown_items = \"ignore\"")
        yield InputError(f"not in the gold{more}; check that the file belongs to this test set{ignore}", path=path,
                         line=answer.line, item=answer.key, category="unknown")
    for item, answer in zip(items, joined, strict=True):
        if answer is None:
            continue
        if why := reader.incomparable(item.gold, answer.value):
            yield InputError(why, path=path, line=answer.line, item=item.key, category="text")
        elif policies.tokens == "reject" and (mismatch := reader.mismatch(item.gold, answer.value)):
            yield InputError(f'{mismatch[1]}; correct the file, or set tokens = "warn" in the manifest', path=path,
                             line=answer.line + mismatch[0], item=item.key, category="text")


def count_differing(items: Sequence[Item], joined: JoinedColumns, reader: Reader, policies: Policies) -> int:
    """Count answers whose text differs from the gold; 0 if such answers are rejected."""
    if policies.tokens == "reject" or type(reader).mismatch is Reader.mismatch:
        return 0
    return sum(answer is not None and reader.mismatch(item.gold, answer.value) is not None
               for item, answer in zip(items, joined, strict=True))


def find_ignored(items: Sequence[Item], answers: Sequence[Answer], reader: Reader) -> list[str]:
    """Return the items of a submission that the gold does not have; [] if they are rejected."""
    if reader.unknown_items == "reject":
        return []
    known = {item.key for item in items}
    return list(dict.fromkeys(answer.key for answer in answers if answer.key not in known))


def join_again(items: Sequence[Item], reader: Reader, documents: Sequence[Document],
               missing: MissingPolicy) -> list[JoinedColumns]:
    """Read the stored files of a submission, and match the answers with the items.

    Args:
        items: The items of the gold.
        reader: Reader of the submission.
        documents: The stored files, one for each run.
        missing: Policy for items without an answer.
    """
    policies = Policies(missing, tokens="warn")
    return [join(items, reader.read_answers(document), reader, policies, document) for document in documents]


Bytes = NDArray[np.uint8]

_MAX_BYTES = 2**27  # size of an array of lines, which are padded to the length of the longest
_MAX_CODES = 2**12


def digest_submission(reader: Reader, items: Sequence[Item], runs: Sequence[Sequence[Answer]]) -> str:
    """Return the digest of a submission's answers; the order of lines has no effect.

    Args:
        reader: Reader of the submission.
        items: The items of the gold.
        runs: The answers of each run.
    """
    return join_digests([digest_run(reader, items, answers) for answers in runs])


def digest_run(reader: Reader, items: Sequence[Item], answers: Sequence[Answer]) -> str:
    """Return the digest of the answers in one file; the order of lines has no effect."""
    if isinstance(reader, NamedReader):
        answers = reader.fold_names(items, answers)
    if isinstance(answers, AnswerColumns) and (fast := _digest_columns(reader, answers)) is not None:
        return fast
    return digest_lines(sorted(canonical_json([answer.key, reader.content(answer.value)]) for answer in answers))


def join_digests(digests: list[str]) -> str:
    """Combine the digests of a submission's runs into one digest."""
    return digests[0] if len(digests) == 1 else digest_lines(digests)


@dataclass(frozen=True, eq=False)
class _Heads:
    """First parts of the lines from which the digest of a file is computed.

    The digest is computed from a text with one line `["key",value]` for each answer, sorted by key. This class has the
    part `["key",` of every line.

    Attributes:
        order: For each line, the index of its answer in the submitted file.
        lines: The bytes of each first part, padded with 0, [lines, bytes].
        sizes: Number of bytes of each first part.
    """

    order: Places
    lines: Bytes
    sizes: Places

    def select(self, is_selected: Flags) -> _Heads:
        """Select some of the lines by a mask."""
        return _Heads(self.order[is_selected], self.lines[is_selected], self.sizes[is_selected])


@dataclass(frozen=True, eq=False)
class _Ends:
    """Second parts of the lines from which the digest of a file is computed.

    The digest is computed from a text with one line `["key",value]` for each answer. This class has the part `value]`
    of every line. Equal parts are stored once.

    Attributes:
        texts: The bytes of each distinct part, padded with 0, [distinct parts, bytes].
        sizes: Number of bytes of each distinct part.
        codes: For each line, the index of its part in `texts`, [lines].
    """

    texts: Bytes
    sizes: Places
    codes: Places

    @property
    def lines(self) -> Bytes:
        """The bytes of the end of each line, padded with 0, [lines, bytes]."""
        return self.texts.take(self.codes, axis=0)


def _digest_columns(reader: Reader, answers: AnswerColumns) -> str | None:
    """Compute the digest of a run with byte arrays, without an object per answer.

    Returns:
        The digest; None if a key occurs twice or the arrays would be too large.
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
    """Make the second parts of the lines from which the digest of a file is computed.

    The digest is computed from a text with one line `["key",value]` for each answer. The second part is `value]`. If
    answers consist of several numbers, it is made piece by piece: one piece for each number.

    Yields:
        The distinct pieces, and for each line the index of its piece.
    """
    if not isinstance(answers, StatisticColumns):
        distinct, codes = _find_distinct(values)
        yield [f"{canonical_json(reader.content(answers.decode(value)))}]" for value in distinct.tolist()], codes
        return
    for n, name in enumerate(sorted(answers.names), 1):
        distinct, codes = np.unique(values[:, answers.names.index(name)], return_inverse=True)
        prefix, suffix = "[" if n == 1 else ",", "]]" if n == len(answers.names) else ""
        yield [f"{prefix}{canonical_json([name, None if math.isnan(value) else value])}{suffix}"
               for value in distinct.tolist()], codes


def _find_distinct(values: Floats) -> tuple[Floats, Places]:
    # np.unique with return_inverse, but faster for small whole numbers
    largest = values.max(initial=0)
    if largest >= _MAX_CODES or np.signbit(values).any() or (values != (codes := values.astype(np.int64))).any():
        return np.unique(values, return_inverse=True)
    occurs = np.bincount(codes) > 0
    return np.flatnonzero(occurs).astype(np.float64), (np.cumsum(occurs) - 1)[codes]


@lru_cache(maxsize=1)
def _make_frame(heads: _Heads, end_size: int) -> tuple[Bytes, Places]:
    """Make the text for the digest of a file, with gaps for the values.

    The text has one line `["key",value]` for each answer.

    Args:
        heads: The first parts of the lines, `["key",`.
        end_size: Number of bytes of each gap; all gaps have the same size.

    Returns:
        The bytes of all lines, and the positions of the bytes in each gap, [lines, bytes per gap].
    """
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
    sizes = np.array(list(map(len, parts)), dtype=np.int64)
    array = np.array(parts or [b" "], dtype=np.bytes_)
    return array.view(np.uint8).reshape(len(array), -1), sizes
