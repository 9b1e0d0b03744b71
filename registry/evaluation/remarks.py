"""What is remarkable about a submission that is accepted: whatever makes its score meaningless or surprising.

`check`, `apply`, `run` and `submit` all say it, and it is kept with the submission for the boards. Kept messages name
no file: a database may be published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.errors import InputError, counted
from registry.evaluation.alignment import Aligned
from registry.evaluation.headers import header
from registry.evaluation.normal_form import another_normal_form
from registry.evaluation.vocabulary import strangers
from registry.items import Item
from registry.readers import Document, Reader
from registry.readers.names import NamedReader

_MISSING = {"worst": ("counts as wrong", "count as wrong"), "own": ("is left out for it", "are left out for it"),
            "drop": ("is left out for all systems", "are left out for all systems")}


def of_gold(items: Sequence[Item], reader: Reader, path: str) -> list[InputError]:
    """Say what is remarkable about a test set's gold."""
    if (found := header(items, reader)) is None:
        return []
    return [InputError(f"looks like a header, with {found.gold!r} for its label, but counts as an item; set header = "
                       "true, or take the line out", path=path, line=found.line, item=found.key, category="header")]


def of_submission(items: Sequence[Item], aligned: Aligned, reader: Reader, document: Document, *, missing: str,
                  with_gold: bool = True) -> Iterator[InputError]:
    """Say what is remarkable about one file of a submission that fits the gold.

    Args:
        items: The gold's.
        aligned: The file's answers to them.
        reader: Of the submission.
        document: The file.
        missing: The policy for items without an answer.
        with_gold: Whether the items have their gold; those of a task pack have not.

    Raises:
        InputError: It has no label or type in common with the gold, and its reader does not accept that.
    """
    path, answers = document.path, [answer for answer in aligned.answers if answer is not None]
    if (remark := another_normal_form(document, items, reader)) is not None:
        yield remark
    if aligned.n_missing:
        one, several = _MISSING[missing]
        of = f"of {counted(len(items), 'item')}"
        lacking = counted(aligned.n_missing, f"{of} has no answer and {one}", f"{of} have no answer and {several}")
        yield InputError(lacking, path=path, category="missing")
    if aligned.differing:
        yield InputError(f"{counted(aligned.differing, 'item has', 'items have')} tokens that differ from the gold's",
                         path=path, category="text")
    if (found := header(answers, reader)) is not None:
        yield InputError(f"its first line ({found.key!r}, {found.value!r}) looks like a header, but counts as an item; "
                         "set header = true, or take the line out", path=path, line=found.line, category="header")
    if not with_gold:
        return
    if isinstance(reader, NamedReader) and (strange := strangers(items, answers, reader)) is not None:
        if strange.all and strange.reader.unknown == "reject":
            raise strange.error(path)
        yield strange.error(path)
    if (copied := _copied(items, aligned, reader)) is not None:
        yield InputError(f"has {copied} for each of {counted(len(items), 'item')}; is it a system's output?",
                         path=path, category="gold")


def of_runs(documents: Sequence[Document]) -> Iterator[InputError]:
    """Say which files of a submission have the same bytes as an earlier one of it."""
    first: dict[str, str] = {}
    for document in documents:
        if (same := first.setdefault(document.digest, document.path)) is not document.path:
            yield InputError(f"has the same bytes as {same}; is it a run of its own?", path=document.path,
                             category="copy")


def of_copy(other: str, path: str) -> InputError:
    """Say that a submission has the same answers as another system's, which is called `other`."""
    return InputError(f"has the same answers as {other}, another system", path=path, category="copy")


def _copied(items: Sequence[Item], aligned: Aligned, reader: Reader) -> str | None:
    """What of the gold the submission has for every item, in the order of the gold's parts."""
    parts: list[str] | None = None
    for item, answer in zip(items, aligned.answers, strict=True):
        same = [] if answer is None else list(reader.copied(item.gold, answer.value))
        parts = same if parts is None else [part for part in parts if part in same]
        if not parts:
            return None
    return {"gold": "the gold's own answer", "source": "the source's text"}.get(
        parts[0], f"the text of reference {parts[0]!r}") if parts else None
