"""Text in another Unicode normal form than the gold's: it looks the same, and nothing of it is equal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from registry.errors import InputError, counted
from registry.identity import canonical_json
from registry.items import Item
from registry.readers import Document, Reader


def another_normal_form(document: Document, items: Sequence[Item], reader: Reader) -> InputError | None:
    """Say how much of a submission of text that was read is not in NFC, where all of the gold is."""
    if not reader.is_text:
        return None
    document = reader.declared(document)
    known = another_normal_form, document.repair, document.skip
    if known not in document.made:
        document.made[known] = [] if _is_nfc(document.text()) else [
            number for number, line in document.lines() if not _is_nfc(line)]
    lines = document.made[known]
    if not lines or not all(
            _is_nfc(item.key) and _is_nfc(canonical_json(reader.content(item.gold))) for item in items):
        return None
    what = counted(len(lines), "line is", "lines are")
    return InputError(f"{what} not in Unicode normal form NFC, as the gold is: what looks the same there differs; "
                      "write the file in NFC", path=document.path, line=lines[0])


def _is_nfc(text: str) -> bool:
    return unicodedata.is_normalized("NFC", text)
