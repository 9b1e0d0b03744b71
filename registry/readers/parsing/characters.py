"""Characters that cannot be seen: named where they are refused, and left out where the task allows that."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from itertools import groupby

_PART = 2**20  # bytes
_WITHIN = bytes(range(0x80, 0xC0))  # bytes of a character of UTF-8 after its first one


def invisible(text: str) -> str:
    """Say that a text is not printable, by the first character that is not."""
    first = next(character for character in text if not character.isprintable())
    name = unicodedata.name(first, "")
    return f"a control or invisible character, U+{ord(first):04X}" + (f" ({name})" if name else "")


def unprintable(row: Mapping[str, str], wanted: Collection[str], *, can_repair: bool) -> str:
    """Say which column of a row is not printable, and what to do where it is none of those that have to be there."""
    name, cell = next((name, cell) for name, cell in row.items() if not (name + cell).isprintable())
    where = f"{invisible(name + cell)}, in column {name!r}"
    if name in wanted:
        return where + ('; repair = ["invisible"] leaves such out' if can_repair else "")
    return f"{where}; attributes = [] leaves columns out that nothing needs, else it names those that are kept"


def visible(text: str) -> dict[int, str]:
    """What stands for the characters of a text that are control or format characters, or blanks of other kinds."""
    kinds = {character: unicodedata.category(character) for character in set(text) - {"\n", "\t"}
             if not character.isprintable()}
    return {ord(character): " " if kind[0] == "Z" else "" for character, kind in kinds.items()
            if kind[0] == "Z" or kind in ("Cc", "Cf")}


def most_marks(line: str) -> int:
    """How many combining marks stand in a row at most."""
    runs = groupby(line, lambda character: unicodedata.combining(character) > 0)
    return max((sum(1 for _ in run) for are_marks, run in runs if are_marks), default=0)


def count_characters(content: bytes, start: int, end: int) -> int:
    """Return how many characters a part of a UTF-8 file has, without decoding it."""
    return sum(len(content[at:min(at + _PART, end)].translate(None, _WITHIN)) for at in range(start, end, _PART))
