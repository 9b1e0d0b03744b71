"""Answers joined to items by key, never by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from registry.errors import InputError
from registry.items import Answer, Item, by_key
from registry.readers import Reader


@dataclass(frozen=True)
class Aligned:
    """A submission's answers in the order of the gold's items, None where there is none.

    `differing` are the answers to a text that is not quite the gold's, let pass under the policy `warn`.
    """

    answers: list[Answer | None]
    differing: int = 0

    @property
    def n_missing(self) -> int:
        """How many items have no answer."""
        return self.answers.count(None)


def align(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, *, missing: str, tokens: str,
          path: str) -> Aligned:
    """Give the answer to each item.

    Args:
        items: The gold's, in its order.
        answers: A submission's, in any order.
        reader: Of the submission.
        missing: The policy for items without an answer: `reject`, `worst` or `drop`.
        tokens: The policy for text that differs from the gold's: `reject` or `warn`.
        path: The submission's file, for errors.

    Raises:
        InputError: An answer is to no item of the gold, two are to the same, items are missing under `reject`, or an
            answer is about another text than the gold.
    """
    answered = by_key(answers, path)
    if found := reader.implausible(items, answers):
        raise InputError(found[1], path=path, line=found[0])
    known = {item.key for item in items}
    unknown = [answer for answer in answers if answer.key not in known]
    if unknown:
        nor = "is" if len(unknown) == 2 else "are"
        more = f" (nor {nor} {len(unknown) - 1} more of the file's {len(answers)})" if len(unknown) > 1 else ""
        raise InputError(f"not in the gold{more}; is this file for another test set?", path=path,
                         line=unknown[0].line, item=unknown[0].key)
    aligned = [answered.get(item.key) for item in items]
    differing = 0
    for item, answer in zip(items, aligned, strict=True):
        if answer is None:
            continue
        if why := reader.incomparable(item.gold, answer.value):
            raise InputError(why, path=path, line=answer.line, item=item.key)
        if found := reader.mismatch(item.gold, answer.value):
            differing += 1
            if tokens == "reject":
                raise InputError(f"{found[1]}; mend the file, or let the manifest say tokens = \"warn\"", path=path,
                                 line=answer.line + found[0], item=item.key)
    absent = [item for item, answer in zip(items, aligned, strict=True) if answer is None]
    if absent and missing == "reject":
        more = f" (nor to {len(absent) - 1} more of the {len(items)} items)" if len(absent) > 1 else ""
        raise InputError(f"{reader.absent}{more}; add it, or let the manifest say missing = \"worst\" or "
                         '"drop"', path=path, item=absent[0].key)
    return Aligned(aligned, differing)
