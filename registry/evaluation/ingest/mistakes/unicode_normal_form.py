"""Text in another Unicode normal form than the gold's: it looks the same, and nothing of it is equal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from registry.identity import canonical_json
from registry.items import Item
from registry.messages import Message
from registry.readers import Document, Reader


def another_normal_form(document: Document, items: Sequence[Item], reader: Reader) -> tuple[Message, int] | None:
    """Warn if a submission of text is not in NFC although the gold is; with the first such line."""
    if not reader.is_text:
        return None
    document = reader.declared(document)
    known = another_normal_form, document.repair, document.skip
    if known not in document.made:
        document.made[known] = [] if _is_nfc(document.text()) else [
            number for number, line in document.lines() if not _is_nfc(line)]
    lines = document.made[known]
    if not lines or not all(_is_nfc(canonical_json(reader.content(item.gold))) for item in items):
        return None
    return Message("not-normalized", {"lines": len(lines)}), lines[0]


def _is_nfc(text: str) -> bool:
    return unicodedata.is_normalized("NFC", text)
