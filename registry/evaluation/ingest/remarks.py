"""What is remarkable about a submission that is accepted: whatever makes its score meaningless or surprising.

`check`, `apply`, `run` and `submit` all say it, and it is kept with the submission for the boards. Kept messages name
no file: a database may be published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.errors import Category, InputError, counted
from registry.evaluation.ingest.join import Joined
from registry.evaluation.ingest.mistakes.headers import as_header, header
from registry.evaluation.ingest.mistakes.positions import displaced
from registry.evaluation.ingest.mistakes.ranks import contradicted
from registry.evaluation.ingest.mistakes.unicode_normal_form import another_normal_form
from registry.evaluation.ingest.mistakes.vocabulary import strangers
from registry.items import Answer, Item
from registry.metrics import Metric
from registry.metrics.texts import ReferenceMetric, count_tokenized, is_tokenized
from registry.readers import Document, Reader
from registry.readers.base import NamedReader

FEW = 10  # items; answers to fewer may be the same without being copied
_MISSING = {"worst": ("counts as wrong", "count as wrong"), "own": ("is left out for it", "are left out for it"),
            "drop": ("is left out for all systems", "are left out for all systems")}


@dataclass(frozen=True)
class Remark:
    """What is remarkable: `told` in a sentence without its subject, and what to do about it."""

    category: Category
    told: str
    advice: str = ""
    line: int | None = None

    def error(self, path: str) -> InputError:
        """The remark on the file at `path`."""
        return InputError("; ".join(filter(None, (self.told, self.advice))), path=path, line=self.line,
                          category=self.category)


def of_gold(items: Sequence[Item], reader: Reader, path: str, metrics: Mapping[str, Metric]) -> Iterator[str]:
    """Say what is remarkable about a test set's gold, the file at `path`, and what metrics, by id, take it for."""
    if (found := header(items, reader)) is not None:
        yield str(_header(found, found.gold, reader).error(path))
    for id_, metric in metrics.items() if reader.gives == "segment" else ():
        if isinstance(metric, ReferenceMetric):
            texts = [item.gold[name] for item in items for name in metric.references if name in item.gold]
            if (misread := metric.describe_misreading(texts)) is not None:
                yield str(InputError(f"metric {id_}: {misread}", path=path))


def of_submission(items: Sequence[Item], joined: Joined, reader: Reader, document: Document, *, missing: str,
                  with_gold: bool = True) -> Iterator[Remark]:
    """Say what is remarkable about one file of a submission that fits the gold.

    Args:
        items: The gold's.
        joined: The file's answers to them.
        reader: Of the submission.
        document: The file.
        missing: The policy for items without an answer.
        with_gold: Whether the items have their gold; those of a task pack have not.

    Raises:
        InputError: It has no label or type in common with the gold, and its reader does not accept that.
    """
    answers = joined.given
    if (form := another_normal_form(document, items, reader)) is not None:
        yield Remark("encoding", form.message, line=form.line)
    if joined.n_missing:
        one, several = _MISSING[missing]
        of = f"of {counted(len(items), 'item')}"
        lacking = counted(joined.n_missing, f"{of} has no answer and {one}", f"{of} have no answer and {several}")
        yield Remark("missing", lacking)
    if joined.differing:
        yield Remark("text", f"{counted(joined.differing, 'item has', 'items have')} tokens that differ from the "
                             "gold's")
    if (found := header(answers, reader)) is not None:
        yield _header(found, found.value, reader)
    if (ranks := contradicted(document, reader)) is not None:
        yield Remark("order", ranks, "ranks do not count: give scores that fall from rank to rank")
    if not with_gold:
        return
    if isinstance(reader, NamedReader) and (strange := strangers(items, answers, reader)) is not None:
        remark = Remark("label", strange.told, strange.advice)
        if strange.all and reader.unknown == "reject":
            raise remark.error(document.path)
        yield remark
    if reader.gives == "segment" and (tokenized := _tokenized(items, joined)) is not None:
        yield Remark("text", tokenized, "give it as it was before it was tokenized")
    if (order := displaced(items, joined.answers, reader)) is not None:
        yield Remark("order", order, "rows have to be in the order of the gold's items")
    if len(items) >= FEW and (copied := _copied(items, joined, reader)) is not None:
        yield Remark("gold", f"has {copied} for each of {counted(len(items), 'item')}", "is it a system's output?")


def of_runs(documents: Sequence[Document]) -> Iterator[InputError]:
    """Say which files of a submission have the same bytes as an earlier one of it."""
    first: dict[str, str] = {}
    for document in documents:
        if (same := first.setdefault(document.digest, document.path)) is not document.path:
            yield Remark("copy", f"has the same bytes as {same}", "is it a run of its own?").error(document.path)


def of_copy(other: str) -> Remark:
    """Say that a submission has the same answers as another system's, which is called `other`."""
    return Remark("copy", f"has the same answers as {other}, another system")


def _header(first: Item | Answer, label: str, reader: Reader) -> Remark:
    return Remark("header", f"its first line ({first.key!r}, {label!r}) looks like a header, but counts as an item",
                  f"set {as_header(first, reader)}, or take the line out", first.line)


def _tokenized(items: Sequence[Item], joined: Joined) -> str | None:
    """Say that a submission's texts are tokenized where the gold's are not."""
    own = [answer.value for answer in joined.answers if answer is not None]
    if not is_tokenized(own) or is_tokenized([text for item in items for text in item.gold.values()]):
        return None
    sentences, tokenized = count_tokenized(own)
    return (f"{tokenized} of {sentences} sentences have a blank before the full stop, as tokenized text has, and the "
            "gold's have none")


def _copied(items: Sequence[Item], joined: Joined, reader: Reader) -> str | None:
    """What of the gold the submission has for every item, in the order of the gold's parts."""
    parts: list[str] | None = None
    for item, answer in zip(items, joined.answers, strict=True):
        same = [] if answer is None else list(reader.copied(item.gold, answer.value))
        parts = same if parts is None else [part for part in parts if part in same]
        if not parts:
            return None
    return {"gold": "the gold's own answer", "source": "the source's text"}.get(
        parts[0], f"the text of reference {parts[0]!r}") if parts else None
