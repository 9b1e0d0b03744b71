"""Answers joined to items by key, never by position."""

from __future__ import annotations

from collections.abc import Sequence

from registry.errors import InputError
from registry.items import Answer, Item, by_key


def align(items: Sequence[Item], answers: Sequence[Answer], *, missing: str, path: str) -> list[Answer | None]:
    """Give the answer to each item, None where there is none.

    Args:
        items: The gold's, in its order.
        answers: A submission's, in any order.
        missing: The policy for items without an answer: `reject`, `worst` or `drop`.
        path: The submission's file, for errors.

    Raises:
        InputError: An answer is to no item of the gold, two are to the same, or items are missing under `reject`.
    """
    answered = by_key(answers, path)
    known = {item.key for item in items}
    unknown = [answer for answer in answers if answer.key not in known]
    if unknown:
        more = f" (nor are {len(unknown) - 1} more of the file's {len(answers)})" if len(unknown) > 1 else ""
        raise InputError(f"not in the gold{more}; is this file for another test set?", path=path,
                         line=unknown[0].line, item=unknown[0].key)
    aligned = [answered.get(item.key) for item in items]
    absent = [item for item, answer in zip(items, aligned, strict=True) if answer is None]
    if absent and missing == "reject":
        more = f" (nor to {len(absent) - 1} more of the {len(items)} items)" if len(absent) > 1 else ""
        raise InputError(f"there is no answer to it{more}; add it, or let the manifest say missing = \"worst\" or "
                         '"drop"', path=path, item=absent[0].key)
    return aligned
