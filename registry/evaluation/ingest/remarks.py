"""Warnings about valid submissions with scores that are probably meaningless.

Examples are labels that the gold does not have, a header that is read as an item, rows in another order, ranks that
contradict scores, and copies of the gold. `check`, `apply`, `run` and `submit` print these warnings, which are called
remarks in the code. The registry stores them without names of files, because it may be published.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

import numpy as np

from registry.arrays import Floats
from registry.column_names import USUAL, normalize
from registry.columns import JoinedColumns
from registry.errors import Category, InputError, counted, listed, nearest
from registry.identity import canonical_json
from registry.items import Answer, Item, Keyed
from registry.messages import Message
from registry.metrics import Metric
from registry.metrics.texts import ReferenceMetric, count_tokenized, is_tokenized
from registry.missing import MissingPolicy
from registry.readers import Document, Labels, Reader
from registry.readers.base import NamedReader, index_by_case
from registry.readers.trec import Trec

_EXAMPLES = 3  # items in a message
FEW = 10  # items; with fewer items, equal answers may be chance and not copies


@dataclass(frozen=True)
class Remark:
    """Warning that a valid file of a submission probably gets meaningless scores.

    Attributes:
        category: The kind of warning, such as `header`; it is the same in all versions of the program.
        message: The message.
        advice: Advice for the user; may be empty.
        line: Number of the line in the file; None if unknown.
    """

    category: Category
    message: Message
    advice: str = ""
    line: int | None = None

    def error(self, path: str) -> InputError:
        """Return the warning as an error object with the path of the file."""
        return InputError("; ".join(filter(None, (str(self.message), self.advice))), path=path, line=self.line,
                          category=self.category)


def find_gold_warnings(items: Sequence[Item], reader: Reader, path: str,
                       metrics: Mapping[str, Metric]) -> Iterator[str]:
    """Yield warnings about valid gold that probably leads to meaningless scores.

    Args:
        items: The items of the gold.
        reader: Reader of the gold, which has parsed the items.
        path: Path of the gold file.
        metrics: The metrics by their ids.
    """
    if (header := find_header(items, reader)) is not None:
        yield str(_describe_header(header, header.gold, reader).error(path))
    for id_, metric in metrics.items() if reader.gives == "segment" else ():
        if isinstance(metric, ReferenceMetric):
            texts = [item.gold[name] for item in items for name in metric.references if name in item.gold]
            if (misread := metric.find_tokenization_fault(texts)) is not None:
                yield str(InputError(f"metric {id_}: {misread}", path=path))


def find_remarks(items: Sequence[Item], joined: JoinedColumns, reader: Reader, document: Document,
                 missing: MissingPolicy, *, differing: int = 0, ignored: Sequence[str] = (),
                 with_gold: bool = True) -> Iterator[Remark]:
    """Yield warnings about a valid file that probably gets meaningless scores.

    For example, the file has labels that the gold lacks, or its rows are in another order.

    Args:
        items: Items of the gold.
        joined: The answers of the file in the order of the items.
        reader: Reader of the submission, which has parsed the answers.
        document: The file.
        missing: Policy for items without an answer.
        differing: Number of answers whose text differs from the gold.
        ignored: Items of the file that the gold does not have and that are ignored.
        with_gold: False if the items have no gold, because they come from a task pack.

    Raises:
        InputError: The gold has none of the submission's labels or types, and the reader does not accept that.
    """
    answers = joined.given
    if (form := _find_other_normal_form(document, items, reader)) is not None:
        yield form
    for name, column in joined.columns.items():
        if column.n_missing and reader.answers_all:
            parameters = {"n": column.n_missing, "items": len(items), "policy": missing.value}
            yield Remark("missing", Message("missing-answers", parameters | ({} if name is None else {"column": name})))
    if ignored:
        examples = list(ignored[:_EXAMPLES])
        yield Remark("unknown", Message("ignored-items", {"items": len(ignored), "examples": examples}))
    if differing:
        yield Remark("text", Message("other-tokens", {"items": differing}),
                     "check that the file has the gold's tokens in the same order")
    if (header := find_header(answers, reader)) is not None:
        yield _describe_header(header, header.value, reader)
    if (ranks := _find_contradicted_ranks(document, reader)) is not None:
        yield Remark("order", ranks,
                     "ranks in the file are ignored; write scores that decrease from each rank to the next")
    if not with_gold:
        return
    if isinstance(reader, NamedReader) and (strange := _find_strange_names(items, answers, reader)) is not None:
        remark = Remark("label", strange.message, strange.advice)
        if strange.are_all and reader.unknown == "reject":
            raise remark.error(document.path)
        yield remark
    if reader.gives == "segment" and (tokenized := _find_tokenized_text(items, answers)) is not None:
        yield Remark("text", tokenized, "submit the text without tokenization")
    if (order := find_displaced_rows(items, joined, reader)) is not None:
        yield Remark("order", order, "put the rows into the order of the gold's items")
    if len(items) >= FEW and (copied := _find_copied_part(items, joined, reader)) is not None:
        copy = Message("copied-gold", {"part": copied, "items": len(items)})
        yield Remark("gold", copy, "check that the file is the output of a system")


def find_equal_files(documents: Sequence[Document]) -> Iterator[InputError]:
    """Yield a warning for each file with the same bytes as an earlier file."""
    first: dict[str, str] = {}
    for document in documents:
        if (same := first.setdefault(document.digest, document.path)) is not document.path:
            yield InputError(f"has the same bytes as {same}; check that it is another run", path=document.path,
                             category="copy")


def describe_copy(other: str) -> Remark:
    """Return a warning that a submission has the same answers as another system's.

    Args:
        other: Name of the other system's submission.
    """
    return Remark("copy", Message("copied-answers", {"other": other}), "check that this is the correct file")


def _find_tokenized_text(items: Sequence[Item], answers: JoinedColumns) -> Message | None:
    texts = answers.values.tolist()
    if not is_tokenized(texts) or is_tokenized([text for item in items for text in item.gold.values()]):
        return None
    sentences, tokenized = count_tokenized(texts)
    return Message("tokenized-text", {"tokenized": tokenized, "sentences": sentences})


def _find_copied_part(items: Sequence[Item], joined: JoinedColumns, reader: Reader) -> str | None:
    """Find a part of the gold, such as one reference, that all answers repeat.

    Returns:
        The name of the first such part; None if no part is equal to the answers for all items.
    """
    parts: list[str] | None = None
    for item, answer in zip(items, joined, strict=True):
        same = [] if answer is None else list(reader.find_copied(item.gold, answer.value))
        parts = same if parts is None else [part for part in parts if part in same]
        if not parts:
            return None
    return parts[0] if parts else None


_FEW_LINES = 3  # lines; in shorter files a header cannot be recognised


def find_header(entries: Sequence[Keyed], reader: Reader) -> Keyed | None:
    """Return the first row of a file of labels if it looks like a header of columns.

    A row looks like a header if no other row has the same label, and if it contains a usual name of a column or is the
    only row with a key without digits. Without this check, a header that is also in the gold is scored as an item.

    Args:
        entries: The rows of the file, as items or answers.
        reader: Reader of the file, which has parsed the rows.
    """
    if not isinstance(reader, Labels) or reader.syntax != "delimited" or reader.header or len(entries) < _FEW_LINES:
        return None
    first = entries[0]
    if any(_get_label(other) == _get_label(first) for other in islice(entries, 1, None)):  # usually one of the next
        return None
    is_column = not USUAL.isdisjoint((normalize(first.key), normalize(_get_label(first))))
    is_unlike = not _has_digit(first.key) and all(_has_digit(other.key) for other in islice(entries, 1, None))
    return first if is_column or is_unlike else None


def suggest_header_options(first: Item | Answer, reader: Reader) -> str:
    """Suggest options of a reader that make the first row a header.

    Example: `options = { header = true, label = "class" }`.
    """
    names = {"label": _get_label(first)} if getattr(reader, "item", None) == "" else {
        "item": first.key, "label": _get_label(first)}
    other = {option: cell for option, cell in names.items() if getattr(reader, option, cell) != cell}
    options = ["header = true", *(f"{name} = {json.dumps(cell, ensure_ascii=False)}" for name, cell in other.items())]
    return f"options = {{ {', '.join(options)} }}"


def _describe_header(first: Item | Answer, label: str, reader: Reader) -> Remark:
    return Remark("header", Message("header-as-item", {"key": first.key, "label": label}),
                  f"if it is a header, set {suggest_header_options(first, reader)}, or remove the line", first.line)


def _get_label(entry: Item | Answer) -> str:
    label: str = entry.gold if isinstance(entry, Item) else entry.value
    return label


def _has_digit(key: str) -> bool:
    return any(map(str.isdecimal, key))


def _find_other_normal_form(document: Document, items: Sequence[Item], reader: Reader) -> Remark | None:
    """Warn about lines that are not in Unicode form NFC, if the whole gold is in NFC."""
    if not reader.is_text:
        return None
    document = reader.apply_options(document)
    key = _find_other_normal_form, document.repair, document.skip
    if key not in document.cache:
        document.cache[key] = [] if _is_nfc(document.text()) else [
            number for number, line in document.lines() if not _is_nfc(line)]
    lines = document.cache[key]
    if not lines or not all(_is_nfc(item.key) and _is_nfc(canonical_json(reader.content(item.gold)))
                            for item in items):
        return None
    return Remark("encoding", Message("not-normalized", {"lines": len(lines)}), line=lines[0])


def _is_nfc(text: str) -> bool:
    return unicodedata.is_normalized("NFC", text)


_FEW_STEPS = 10  # pairs of documents; with fewer pairs the order of scores is unclear
_FEW_TIES = 0.01  # acceptable share of neighbours with equal scores in reverse order, because some are chance
_MOST_LINES = 2**14  # number of lines that are read to compare ranks with scores


def _find_contradicted_ranks(document: Document, reader: Reader) -> Message | None:
    """Warn if the scores of a TREC run contradict its ranks.

    Metrics use only the scores, as trec_eval does.
    """
    if not isinstance(reader, Trec) or reader.syntax != "delimited" or "rank" not in reader.run:
        return None
    query, name, rank, score = (reader.run.index(column) for column in ("query", "document", "rank", "score"))
    ranked = defaultdict[str, list[tuple[int, float, str]]](list)
    for _, line in islice(reader.apply_options(document).lines(), _MOST_LINES):
        cells = line.split()
        if len(cells) == len(reader.run) and cells[rank].isdecimal() and not line.startswith("#"):
            ranked[cells[query]].append((int(cells[rank]), float(cells[score]), cells[name]))
    steps = [(earlier, later) for documents in ranked.values() for earlier, later in pairwise(sorted(documents))
             if earlier[0] < later[0]]
    n = len(steps)
    rises = sum(later[1] > earlier[1] for earlier, later in steps)
    falls = sum(later[1] < earlier[1] for earlier, later in steps)
    ties = [earlier[2] < later[2] for earlier, later in steps if earlier[1] == later[1]]
    reversed_ties = sum(ties)  # trec_eval sorts documents with equal scores by name, in reverse order
    if n >= _FEW_STEPS and not rises and not falls:
        return Message("equal-scores-of-ranks")
    if n >= _FEW_STEPS and 2 * rises > n:
        return Message("reversed-ranks", {"rises": rises, "places": n})
    if reversed_ties > _FEW_TIES * n:
        return Message("tied-ranks", {"ties": len(ties), "places": n, "reversed": reversed_ties})
    return None


_FEW_ROWS = 50  # rows; with fewer rows a random order looks like a bad system
_SHIFTED = 1e-6  # probability that a file in the correct order is called shifted
_CHANCE = 2  # standard errors above chance below which the order is called random
_RECODED = 0.9  # share of rows above which each gold label seems to have another name in the file


def find_displaced_rows(items: Sequence[Item], joined: JoinedColumns, reader: Reader) -> Message | None:
    """Warn if the rows of a file of labels without keys seem to be in a wrong order.

    If the rows are shifted by one, labels agree far more often with a neighbouring item than with their own item. If
    the rows are in another order, labels agree only as often as random labels.
    """
    if not isinstance(reader, Labels) or reader.item or not joined.is_numeric or len(items) < _FEW_ROWS:
        return None
    gold, answers = joined.encode_labels(item.gold for item in items), joined.values
    for distance, side in ((1, "after"), (-1, "before")):
        if _agrees_with_neighbours(gold, answers, distance):
            return Message("shifted-rows", {"side": side, "is_recoded": _is_recoded(gold, answers)})
    return Message("unordered-rows") if _is_chance(gold, answers) else None


def _agrees_with_neighbours(gold: Floats, answers: Floats, distance: int) -> bool:
    """Return whether labels agree better with the gold of other rows than their own.

    If so, the file seems to be shifted. The two numbers of agreements are compared by a one-sided sign test.

    Args:
        gold: Gold label of each row, encoded as a number.
        answers: Label of each row in the file; nan if missing.
        distance: Number of rows from an answer to the other row; 1 is the next row.
    """
    from scipy.stats import binom

    inner = slice(1, -1)
    with_own, with_neighbour = answers[inner] == gold[inner], answers[inner] == np.roll(gold, -distance)[inner]
    better, worse = int((with_neighbour & ~with_own).sum()), int((with_own & ~with_neighbour).sum())
    return better > worse and float(binom.sf(better - 1, better + worse, 0.5)) < _SHIFTED


def _is_recoded(gold: Floats, answers: Floats) -> bool:
    """Return whether a file seems to use other names for the same labels.

    For example, the gold has `pos` and `neg`, and the file has `1` and `0`. Evidence is that almost all items with the
    same gold label have the same answer. This is also true for a file with shifted rows if labels follow each other in
    a fixed order.

    Args:
        gold: Gold label of each row, encoded as a number.
        answers: Label of each row in the file; nan if missing.
    """
    is_answered = ~np.isnan(answers)
    n_most = sum(Counter(answers[is_answered & (gold == label)].tolist()).most_common(1)[0][1]
                 for label in set(gold[is_answered].tolist()))
    return n_most > _RECODED * int(is_answered.sum())


def _is_chance(gold: Floats, answers: Floats) -> bool:
    """Return whether answers agree with the gold no more often than shuffled answers.

    The number of agreements is compared with its mean and standard deviation over all orders of the answers. The
    formulas are known from the matching problem of two shuffled decks of cards.
    """
    is_answered = ~np.isnan(answers)
    n = int(is_answered.sum())
    gold_counts, counts = (Counter(labels[is_answered].tolist()) for labels in (gold, answers))
    if n < _FEW_ROWS or min(len(counts), len(set(gold.tolist()))) < 2:
        return False
    products = [(times * counts[label], times + counts[label]) for label, times in gold_counts.items()]
    total = sum(product for product, _ in products)
    variance = (n * n * total - n * sum(product * both for product, both in products) + total * total) / (
        n * n * (n - 1))
    matches = int((gold[is_answered] == answers[is_answered]).sum())
    return variance > 0 and (matches - total / n) / math.sqrt(variance) < _CHANCE


_SHOWN = 5  # largest number of names in a message
_RENAMED = 20  # largest number of names in advice, which users copy
_FEW_NAMES = 10  # answers; a new name can mean an absent name of similar frequency only if this is more frequent


@dataclass(frozen=True)
class _StrangeNames:
    """Labels or types in a submission that the gold does not have.

    Answers with such names count as wrong.

    Attributes:
        reader: Reader of the submission.
        gold: Frequency of each name in the gold.
        given: Frequency of each name in the submission.
        strange: Frequency in the submission of each name that the message lists.
    """

    reader: NamedReader
    gold: Mapping[str, int]
    given: Mapping[str, int]
    strange: Mapping[str, int]

    @property
    def are_all(self) -> bool:
        """True if the submission and the gold have no label or type in common."""
        return not self.given.keys() & self.gold.keys()

    @property
    def message(self) -> Message:
        """A warning that lists the unknown labels or types, with similar gold names."""
        name, n, total = self.reader.named, sum(self.strange.values()), sum(self.given.values())
        shown = listed(
            [f"{name!r} ({counted(n, 'time')}{self._guess(name)})" for name, n in self.strange.items()], _SHOWN)
        parameters: dict[str, Any] = {"kind": name, "n": n, "answers": total, "names": shown}
        if self.are_all:
            gold = sorted(self.gold, key=lambda gold_name: (-self.gold[gold_name], gold_name))
            parameters["gold"] = listed(list(map(repr, gold)), _SHOWN)
        return Message("unknown-names", parameters)

    @property
    def advice(self) -> str:
        """Advice on options that accept or rename the unknown labels or types."""
        likely = self.likely or {next(iter(self.strange)): f"GOLD {self.reader.named.upper()}"}
        renamed = {old: new for old, new in likely.items() if old.casefold() != new.casefold()}
        pairs = [f"{_format_toml_key(old)} = {canonical_json(new)}" for old, new in renamed.items()][:_RENAMED]
        fold = "fold_case = true" * (len(renamed) < len(likely))
        if not renamed:
            advice = f"if upper and lower case mean the same, set the submission's option {fold}"
        else:
            options = f"options {fold} and" if fold else "option"
            kind = self.reader.named
            subject = f"these {kind}s mean {kind}s" if len(likely) > 1 else f"{next(iter(likely))!r} means a {kind}"
            advice = f"if {subject} of the gold, set the submission's {options} rename = {{ {', '.join(pairs)} }}"
        return advice + (', otherwise set unknown = "accept", and they count as wrong' if self.are_all else "")

    @cached_property
    def likely(self) -> dict[str, str]:
        """For some unknown labels or types, the name of the gold that they probably mean."""
        folded, absent = index_by_case(self.gold), sorted(self.gold.keys() - self.given.keys())
        likely = {}
        for name in self.strange:
            if similar := [folded[name.casefold()]] if name.casefold() in folded else nearest(name, absent):
                likely[name] = similar[0]
        if not likely and len(self.strange) == len(absent) == 1:  # one new name and one absent name
            (name,), (absent_name,) = self.strange, absent
            n = self.gold[absent_name]
            if 0.5 < self.strange[name] / max(n, 1) < 2 and n > _FEW_NAMES:
                likely[name] = absent_name
        return likely

    def _guess(self, name: str) -> str:
        if name not in self.likely:
            return ""
        same = self.likely[name].casefold() == name.casefold()
        return f"; the gold has {self.likely[name]!r}" if same else f"; did you mean the gold's {self.likely[name]!r}?"


def _find_strange_names(items: Sequence[Item], answers: JoinedColumns, reader: NamedReader) -> _StrangeNames | None:
    """Find suspicious labels or types of a submission that the gold does not have.

    A name is a label or a type. Some unknown names are expected if there are many possible names. Good (1953) estimates
    how often they occur together: as often as there are names that occur once in the gold. An unknown name is
    suspicious

    - if it alone occurs more often than that;
    - if it differs only in letter case from a gold name that occurs more than once;
    - if no name of the submission is in the gold, and it differs only in letter case from a gold name, like at least a
      tenth of the other names.
    """
    # Good, "The population frequencies of species and the estimation of population parameters".
    gold = reader.names(item.gold for item in items)
    expected = {**dict.fromkeys(reader.list_declared_names(), 0), **gold}
    given = answers.counts if answers.is_numeric else reader.names(answers.values.tolist())
    n_singletons, folded = list(expected.values()).count(1), index_by_case(expected)
    unknown = sorted(given.keys() - expected.keys())
    are_all = len(unknown) == len(given) and 10 * sum(name.casefold() in folded for name in unknown) >= len(unknown)
    strange = Counter[str]()
    for name in unknown:
        same = folded.get(name.casefold())
        if given[name] > n_singletons or (same is not None and (are_all or expected[same] > 1)):
            strange[name] = given[name]
    return _StrangeNames(reader, expected, given, dict(strange.most_common())) if strange else None


def _format_toml_key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else canonical_json(name)
