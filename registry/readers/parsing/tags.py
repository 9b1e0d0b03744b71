"""What to write instead of a tag that no scheme of the IOB family has."""

from __future__ import annotations

import re

_TAG = re.compile(r"O|[BIESLU]-.+")
_PREFIXED = re.compile(r"([BIESLUM])([-_:./]?)(\S*)", re.IGNORECASE)
_SUFFIXED = re.compile(r"(\S*[^-_:./\s])[-_:./]([BIESLUM])", re.IGNORECASE)
_SEPARATED = re.compile(r"[-_:./]")


def is_tag(tag: str) -> bool:
    """Say whether a tag is O, or a prefix of IOB2, BIOES or BILOU, a hyphen and a type."""
    return _TAG.fullmatch(tag) is not None


def suggest_tag(tag: str) -> str | None:
    """Say what to write instead of a tag that is neither O nor a prefix, a hyphen and a type; None if unknown.

    >>> suggest_tag("I_PER"), suggest_tag("PER-B"), suggest_tag("b-per"), suggest_tag("M-PER")
    ("write 'I-PER'", "write 'B-PER'", "write 'B-per'", "write 'I-PER'")
    >>> suggest_tag("B"), suggest_tag("o"), suggest_tag("[CLS]")
    ("its type is missing: write 'B-X', with the same X everywhere", "write 'O'", None)
    """
    if tag in ("o", "0"):
        return "write 'O'"
    if (found := _PREFIXED.fullmatch(tag)) and (found[2] or not found[3]):
        if not found[3]:
            return f"its type is missing: write {_tag(found[1], 'X')!r}, with the same X everywhere"
        better = _tag(found[1], found[3])
        return f"write {better!r}" if better != tag else None  # else it is a tag of another scheme
    if (found := _SUFFIXED.fullmatch(tag)) and _SEPARATED.search(tag):
        return f"write {_tag(found[2], found[1])!r}"
    return None


def _tag(prefix: str, type_: str) -> str:
    return f"{prefix.upper().replace('M', 'I')}-{type_}"
