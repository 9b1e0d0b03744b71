"""What is remarkable about a submission that is accepted: whatever makes its score meaningless or surprising.

`check`, `apply`, `run` and `submit` all say it, and it is kept with the submission for the boards. Kept messages name
no file: a database may be published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.errors import Category, InputError
from registry.evaluation.ingest.join import Joined
from registry.evaluation.ingest.mistakes.headers import as_header, header
from registry.evaluation.ingest.mistakes.positions import displaced
from registry.evaluation.ingest.mistakes.ranks import contradicted
from registry.evaluation.ingest.mistakes.unicode_normal_form import another_normal_form
from registry.evaluation.ingest.mistakes.vocabulary import strangers
from registry.items import Answer, Item
from registry.messages import Message
from registry.metrics import Metric
from registry.metrics.references import ReferenceMetric
from registry.metrics.word_division import count_tokenized, is_tokenized
from registry.readers import Document, Reader
from registry.readers.names import NamedReader

FEW = 10  # items; answers to fewer may be the same without being copied


@dataclass(frozen=True)
class Remark:
    """A warning about a submission; `advice` is what its author can do about it."""

    category: Category
    message: Message
    advice: str = ""
    line: int | None = None

    def error(self, path: str) -> InputError:
        """The remark on the file at `path`."""
        return InputError("; ".join(filter(None, (str(self.message), self.advice))), path=path, line=self.line,
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
        yield Remark("encoding", form[0], line=form[1])
    if joined.n_missing:
        parameters = {"n": joined.n_missing, "items": len(items), "policy": missing}
        yield Remark("missing", Message("missing-answers", parameters))
    if joined.differing:
        yield Remark("text", Message("other-tokens", {"items": joined.differing}))
    if (found := header(answers, reader)) is not None:
        yield _header(found, found.value, reader)
    if (ranks := contradicted(document, reader)) is not None:
        yield Remark("order", ranks, "ranks do not count: give scores that fall from rank to rank")
    if not with_gold:
        return
    if isinstance(reader, NamedReader) and (strange := strangers(items, answers, reader)) is not None:
        remark = Remark("label", strange.message, strange.advice)
        if strange.all and reader.unknown == "reject":
            raise remark.error(document.path)
        yield remark
    if reader.gives == "segment" and (tokenized := _tokenized(items, joined)) is not None:
        yield Remark("text", tokenized, "give it as it was before it was tokenized")
    if (order := displaced(items, joined.answers, reader)) is not None:
        yield Remark("order", order, "rows have to be in the order of the gold's items")
    if len(items) >= FEW and (copied := _copied(items, joined, reader)) is not None:
        parameters = {"part": copied, "items": len(items)}
        yield Remark("gold", Message("copied-gold", parameters), "is it a system's output?")


def of_runs(documents: Sequence[Document]) -> Iterator[InputError]:
    """Say which files of a submission have the same bytes as an earlier one of it."""
    first: dict[str, str] = {}
    for document in documents:
        if (same := first.setdefault(document.digest, document.path)) is not document.path:
            yield InputError(f"has the same bytes as {same}; is it a run of its own?", path=document.path,
                             category="copy")


def of_copy(other: str) -> Remark:
    """Say that a submission has the same answers as another system's, which is called `other`."""
    return Remark("copy", Message("copied-answers", {"other": other}))


def _header(first: Item | Answer, label: str, reader: Reader) -> Remark:
    return Remark("header", Message("header-as-item", {"key": first.key, "label": label}),
                  f"set {as_header(first, reader)}, or take the line out", first.line)


def _tokenized(items: Sequence[Item], joined: Joined) -> Message | None:
    """Warn if a submission's texts are tokenized and the gold's are not."""
    own = [answer.value for answer in joined.answers if answer is not None]
    if not is_tokenized(own) or is_tokenized([text for item in items for text in item.gold.values()]):
        return None
    sentences, tokenized = count_tokenized(own)
    return Message("tokenized-text", {"tokenized": tokenized, "sentences": sentences})


def _copied(items: Sequence[Item], joined: Joined, reader: Reader) -> str | None:
    """What of the gold the submission has for every item, in the order of the gold's parts."""
    parts: list[str] | None = None
    for item, answer in zip(items, joined.answers, strict=True):
        same = [] if answer is None else list(reader.copied(item.gold, answer.value))
        parts = same if parts is None else [part for part in parts if part in same]
        if not parts:
            return None
    return parts[0] if parts else None
