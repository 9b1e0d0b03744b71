"""What is surprising about an accepted submission: it makes the score meaningless or unexpected.

`check`, `apply`, `run` and `submit` all print these remarks, and the registry keeps them for the boards. Kept remarks
name no file, because a registry may be published. Labels that the gold does not have, a header that is read as an item,
rows in another order, ranks that contradict scores, text in another Unicode form and copies of the gold are remarkable.
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
from registry.column_names import USUAL, usual_form
from registry.columns import JoinedColumns
from registry.errors import Category, InputError, counted, listed, nearest
from registry.identity import canonical_json
from registry.items import Answer, Item, Keyed
from registry.messages import Message
from registry.metrics import Metric
from registry.metrics.texts import ReferenceMetric, count_tokenized, is_tokenized
from registry.missing import MissingPolicy
from registry.readers import Document, Labels, Reader
from registry.readers.base import NamedReader, by_case
from registry.readers.trec import Trec

FEW = 10  # items; answers to fewer may be equal without being copied


@dataclass(frozen=True)
class Remark:
    """One surprising fact about a submission.

    Attributes:
        category: A word that programs can rely on.
        message: The message.
        advice: What to do about it; may be empty.
        line: Of the file, if known.
    """

    category: Category
    message: Message
    advice: str = ""
    line: int | None = None

    def error(self, path: str) -> InputError:
        """Return the remark on the file at `path`."""
        return InputError("; ".join(filter(None, (str(self.message), self.advice))), path=path, line=self.line,
                          category=self.category)


def find_gold_warnings(items: Sequence[Item], reader: Reader, path: str,
                       metrics: Mapping[str, Metric]) -> Iterator[str]:
    """Yield what is surprising about the gold at `path`, also for each metric by its id."""
    if (header := find_header(items, reader)) is not None:
        yield str(_describe_header(header, header.gold, reader).error(path))
    for id_, metric in metrics.items() if reader.gives == "segment" else ():
        if isinstance(metric, ReferenceMetric):
            texts = [item.gold[name] for item in items for name in metric.references if name in item.gold]
            if (misread := metric.describe_misreading(texts)) is not None:
                yield str(InputError(f"metric {id_}: {misread}", path=path))


def find_remarks(items: Sequence[Item], joined: JoinedColumns, reader: Reader, document: Document,
                 missing: MissingPolicy, *, differing: int = 0, with_gold: bool = True) -> Iterator[Remark]:
    """Yield what is surprising about one file of a submission that fits the gold.

    Args:
        items: The items of the gold.
        joined: The file's answers to them.
        reader: Of the submission.
        document: The file.
        missing: What happens to items without an answer.
        differing: The number of answers to a text that differs from the gold's.
        with_gold: False if the items are those of a task pack, without their gold.

    Raises:
        InputError: No label or type is one of the gold's, and the reader does not accept that.
    """
    answers = joined.given
    if (form := _find_other_normal_form(document, items, reader)) is not None:
        yield form
    if joined.n_missing:
        parameters = {"n": joined.n_missing, "items": len(items), "policy": missing.value}
        yield Remark("missing", Message("missing-answers", parameters))
    if differing:
        yield Remark("text", Message("other-tokens", {"items": differing}))
    if (header := find_header(answers, reader)) is not None:
        yield _describe_header(header, header.value, reader)
    if (ranks := _find_contradicted_ranks(document, reader)) is not None:
        yield Remark("order", ranks, "ranks do not count: give scores that fall from rank to rank")
    if not with_gold:
        return
    if isinstance(reader, NamedReader) and (strange := _find_strange_names(items, answers, reader)) is not None:
        remark = Remark("label", strange.message, strange.advice)
        if strange.are_all and reader.unknown == "reject":
            raise remark.error(document.path)
        yield remark
    if reader.gives == "segment" and (tokenized := _find_tokenized_text(items, answers)) is not None:
        yield Remark("text", tokenized, "give it as it was before it was tokenized")
    if (order := find_displaced_rows(items, joined, reader)) is not None:
        yield Remark("order", order, "rows have to be in the order of the gold's items")
    if len(items) >= FEW and (copied := _find_copied_part(items, joined, reader)) is not None:
        copy = Message("copied-gold", {"part": copied, "items": len(items)})
        yield Remark("gold", copy, "is it a system's output?")


def find_equal_files(documents: Sequence[Document]) -> Iterator[InputError]:
    """Yield the files of a submission that have the same bytes as an earlier one of it."""
    first: dict[str, str] = {}
    for document in documents:
        if (same := first.setdefault(document.digest, document.path)) is not document.path:
            yield InputError(f"has the same bytes as {same}; is it a run of its own?", path=document.path,
                             category="copy")


def describe_copy(other: str) -> Remark:
    """Return the remark that a submission has the same answers as another system's submission `other`."""
    return Remark("copy", Message("copied-answers", {"other": other}))


def _find_tokenized_text(items: Sequence[Item], answers: JoinedColumns) -> Message | None:
    """Describe texts that are tokenized although the gold's are not."""
    texts = answers.values.tolist()
    if not is_tokenized(texts) or is_tokenized([text for item in items for text in item.gold.values()]):
        return None
    sentences, tokenized = count_tokenized(texts)
    return Message("tokenized-text", {"tokenized": tokenized, "sentences": sentences})


def _find_copied_part(items: Sequence[Item], joined: JoinedColumns, reader: Reader) -> str | None:
    """Return the part of the gold that the submission repeats for every item; the first part of several."""
    parts: list[str] | None = None
    for item, answer in zip(items, joined, strict=True):
        same = [] if answer is None else list(reader.find_copied(item.gold, answer.value))
        parts = same if parts is None else [part for part in parts if part in same]
        if not parts:
            return None
    return parts[0] if parts else None


_FEW_LINES = 3  # of fewer nothing can be told about a header


def find_header(entries: Sequence[Keyed], reader: Reader) -> Keyed | None:
    """Return the first item or answer if it looks like the header of a file of labels, whose reader expects none.

    No other entry has its label, and it has the name of a column, or has no digit although all other keys have one. If
    the gold and all submissions have the header, nothing is refused: it becomes an item and a class.
    """
    if not isinstance(reader, Labels) or reader.syntax != "delimited" or reader.header or len(entries) < _FEW_LINES:
        return None
    first = entries[0]
    if any(_label(other) == _label(first) for other in islice(entries, 1, None)):  # mostly one of the next
        return None
    is_column = not USUAL.isdisjoint((usual_form(first.key), usual_form(_label(first))))
    is_unlike = not _has_digit(first.key) and all(_has_digit(other.key) for other in islice(entries, 1, None))
    return first if is_column or is_unlike else None


def header_options(first: Item | Answer, reader: Reader) -> str:
    """Return the options of the reader that read the line as a header."""
    names = {"label": _label(first)} if getattr(reader, "item", None) == "" else {
        "item": first.key, "label": _label(first)}
    other = {option: cell for option, cell in names.items() if getattr(reader, option, cell) != cell}
    options = ["header = true", *(f"{name} = {json.dumps(cell, ensure_ascii=False)}" for name, cell in other.items())]
    return f"options = {{ {', '.join(options)} }}"


def _describe_header(first: Item | Answer, label: str, reader: Reader) -> Remark:
    return Remark("header", Message("header-as-item", {"key": first.key, "label": label}),
                  f"set {header_options(first, reader)}, or take the line out", first.line)


def _label(entry: Item | Answer) -> str:
    label: str = entry.gold if isinstance(entry, Item) else entry.value
    return label


def _has_digit(key: str) -> bool:
    return any(map(str.isdecimal, key))


def _find_other_normal_form(document: Document, items: Sequence[Item], reader: Reader) -> Remark | None:
    """Describe the lines of a text file that are not in NFC, if all of the gold is."""
    if not reader.is_text:
        return None
    document = reader.declare(document)
    key = _find_other_normal_form, document.repair, document.skip
    if key not in document.made:
        document.made[key] = [] if _is_nfc(document.text()) else [
            number for number, line in document.lines() if not _is_nfc(line)]
    lines = document.made[key]
    if not lines or not all(_is_nfc(item.key) and _is_nfc(canonical_json(reader.content(item.gold)))
                            for item in items):
        return None
    return Remark("encoding", Message("not-normalized", {"lines": len(lines)}), line=lines[0])


def _is_nfc(text: str) -> bool:
    return unicodedata.is_normalized("NFC", text)


_FEW_STEPS = 10  # pairs of documents; fewer tell nothing of the order of scores
_FEW_TIES = 0.01  # the share of neighbours in reverse order that is no fault: some scores are equal by chance
_MOST_LINES = 2**14  # of a run that are read for its ranks


def _find_contradicted_ranks(document: Document, reader: Reader) -> Message | None:
    """Describe how the scores of a run order documents otherwise than its ranks; only scores count, as in trec_eval."""
    if not isinstance(reader, Trec) or reader.syntax != "delimited" or "rank" not in reader.run:
        return None
    query, name, rank, score = (reader.run.index(column) for column in ("query", "document", "rank", "score"))
    ranked = defaultdict[str, list[tuple[int, float, str]]](list)
    for _, line in islice(reader.declare(document).lines(), _MOST_LINES):
        cells = line.split()
        if len(cells) == len(reader.run) and cells[rank].isdecimal() and not line.startswith("#"):
            ranked[cells[query]].append((int(cells[rank]), float(cells[score]), cells[name]))
    steps = [(earlier, later) for documents in ranked.values() for earlier, later in pairwise(sorted(documents))
             if earlier[0] < later[0]]
    n = len(steps)
    rises = sum(later[1] > earlier[1] for earlier, later in steps)
    falls = sum(later[1] < earlier[1] for earlier, later in steps)
    ties = [earlier[2] < later[2] for earlier, later in steps if earlier[1] == later[1]]
    reversed_ties = sum(ties)  # equal scores are in the reverse order of names, as in trec_eval
    if n >= _FEW_STEPS and not rises and not falls:
        return Message("equal-scores-of-ranks")
    if n >= _FEW_STEPS and 2 * rises > n:
        return Message("reversed-ranks", {"rises": rises, "places": n})
    if reversed_ties > _FEW_TIES * n:
        return Message("tied-ranks", {"ties": len(ties), "places": n, "reversed": reversed_ties})
    return None


_FEW_ROWS = 50  # of fewer chance cannot be distinguished from a bad system
_SHIFTED = 1e-6  # the probability that a file in order is called shifted
_CHANCE = 2  # standard errors
_RECODED = 0.9  # the share of rows whose label follows from the gold's, in a file with other codes


def find_displaced_rows(items: Sequence[Item], joined: JoinedColumns, reader: Reader) -> Message | None:
    """Describe how numbered rows of labels do not seem to be in the order of the gold's items.

    Labels of a file that is shifted by a row agree with the neighbouring items far more often than with their own. In
    another order they agree as often as if they had been dealt out at random, like a random baseline.
    """
    if not isinstance(reader, Labels) or reader.item or not joined.is_numeric or len(items) < _FEW_ROWS:
        return None
    gold, given = joined.coded(item.gold for item in items), joined.values
    for by, side in ((1, "after"), (-1, "before")):
        if _agrees_with_neighbours(gold, given, by):
            return Message("shifted-rows", {"side": side, "is_recoded": _is_recoded(gold, given)})
    return Message("unordered-rows") if _is_chance(gold, given) else None


def _agrees_with_neighbours(gold: Floats, given: Floats, by: int) -> bool:
    """Return whether rows agree with the gold `by` rows on more often than with their own, by a one-sided sign test."""
    from scipy.stats import binom

    inner = slice(1, -1)
    own, beside = given[inner] == gold[inner], given[inner] == np.roll(gold, -by)[inner]
    better, worse = int((beside & ~own).sum()), int((own & ~beside).sum())
    return better > worse and float(binom.sf(better - 1, better + worse, 0.5)) < _SHIFTED


def _is_recoded(gold: Floats, given: Floats) -> bool:
    """Return whether labels follow from the gold's of the same rows: most have the one that their gold label has most.

    A shifted file in which labels follow each other in a fixed order looks the same.
    """
    there = ~np.isnan(given)
    n_most = sum(Counter(given[there & (gold == label)].tolist()).most_common(1)[0][1]
                 for label in set(gold[there].tolist()))
    return n_most > _RECODED * int(there.sum())


def _is_chance(gold: Floats, given: Floats) -> bool:
    """Return whether agreement is within some standard errors of its mean over all orders of the given labels.

    The moments are those of the number of matches of two decks of cards, one of which is shuffled.
    """
    there = ~np.isnan(given)
    n = int(there.sum())
    of_gold, of_given = (Counter(labels[there].tolist()) for labels in (gold, given))
    if n < _FEW_ROWS or min(len(of_given), len(set(gold.tolist()))) < 2:
        return False
    products = [(times * of_given[label], times + of_given[label]) for label, times in of_gold.items()]
    total = sum(product for product, _ in products)
    variance = (n * n * total - n * sum(product * both for product, both in products) + total * total) / (
        n * n * (n - 1))
    matches = int((gold[there] == given[there]).sum())
    return variance > 0 and (matches - total / n) / math.sqrt(variance) < _CHANCE


_SHOWN = 5  # names in a message
_RENAMED = 20  # names in a remedy, which is copied as a whole
_FEW_NAMES = 10  # answers with a name; if more have a new name, and about as many lack an old one, they are the same


@dataclass(frozen=True)
class _StrangeNames:
    """Labels or types of a submission that the gold does not have; they count as wrong.

    Attributes:
        reader: Of the submission.
        gold: The number of times each name is in the gold.
        given: The number of times each name is in the submission.
        strange: The same of the remarkable names that the gold does not have.
    """

    reader: NamedReader
    gold: Mapping[str, int]
    given: Mapping[str, int]
    strange: Mapping[str, int]

    @property
    def are_all(self) -> bool:
        """True if the submission has no name in common with the gold."""
        return not self.given.keys() & self.gold.keys()

    @property
    def message(self) -> Message:
        """Return the names, and the names that they may stand for."""
        name, n, total = self.reader.named, sum(self.strange.values()), sum(self.given.values())
        shown = listed(
            [f"{name!r} ({counted(n, 'time')}{self._guess(name)})" for name, n in self.strange.items()], _SHOWN)
        parameters: dict[str, Any] = {"kind": name, "n": n, "answers": total, "names": shown}
        if self.are_all:
            gold = sorted(self.gold, key=lambda known: (-self.gold[known], known))
            parameters["gold"] = listed(list(map(repr, gold)), _SHOWN)
        return Message("unknown-names", parameters)

    @property
    def advice(self) -> str:
        """Return what to do about them."""
        likely = self.likely or {next(iter(self.strange)): "..."}
        others = {old: new for old, new in likely.items() if old.casefold() != new.casefold()}
        pairs = [f"{_toml_key(old)} = {canonical_json(new)}" for old, new in others.items()][:_RENAMED]
        fold = "fold_case = true" * (len(others) < len(likely))
        if not others:
            advice = f"if they are the same, set the submission's option {fold}"
        else:
            options = f"options {fold} and" if fold else "option"
            advice = (f"if they are the gold's, called otherwise, set the submission's {options} "
                      f"rename = {{ {', '.join(pairs)} }}")
        return advice + (', else unknown = "accept"' if self.are_all else "")

    @cached_property
    def likely(self) -> dict[str, str]:
        """Return the gold's names that strange names may stand for."""
        folded, absent = by_case(self.gold), sorted(self.gold.keys() - self.given.keys())
        likely = {}
        for name in self.strange:
            if near := [folded[name.casefold()]] if name.casefold() in folded else nearest(name, absent):
                likely[name] = near[0]
        if not likely and len(self.strange) == len(absent) == 1:  # one name too many here, and one too few
            (name,), (gold,) = self.strange, absent
            if 0.5 < self.strange[name] / max(self.gold[gold], 1) < 2 and self.gold[gold] > _FEW_NAMES:
                likely[name] = gold
        return likely

    def _guess(self, name: str) -> str:
        if name not in self.likely:
            return ""
        same = self.likely[name].casefold() == name.casefold()
        return f"; the gold has {self.likely[name]!r}" if same else f"; the gold's {self.likely[name]!r}?"


def _find_strange_names(items: Sequence[Item], answers: JoinedColumns, reader: NamedReader) -> _StrangeNames | None:
    """Find the names of a submission that are in no answer of the gold.

    If the gold has so many names that new ones are to be expected, as answers to questions, a name is remarkable only
    if it is more frequent than that explains: as many answers as have a name that occurs once are expected to have a
    new one (Good 1953, "The population frequencies of species and the estimation of population parameters"). All are
    remarkable if no name is the gold's and a tenth differ only in letter case.
    """
    gold = reader.names(item.gold for item in items)
    known = {**dict.fromkeys(reader.list_declared_names(), 0), **gold}
    given = answers.counts if answers.is_numeric else reader.names(answers.values.tolist())
    once, folded = list(known.values()).count(1), by_case(known)
    unknown = sorted(given.keys() - known.keys())
    are_all = len(unknown) == len(given) and 10 * sum(name.casefold() in folded for name in unknown) >= len(unknown)
    strange = Counter[str]()
    for name in unknown:
        same = folded.get(name.casefold())
        if given[name] > once or (same is not None and (are_all or known[same] > 1)):
            strange[name] = given[name]
    return _StrangeNames(reader, known, given, dict(strange.most_common())) if strange else None


def _toml_key(name: str) -> str:
    """Return a key as TOML writes it."""
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else canonical_json(name)
