"""How many words a text has, also in scripts that write none apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from registry.metrics import BLEU

_KANA_AND_OTHERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"  # Thai, Lao, Burmese, Khmer
_UNDIVIDED = re.compile(f"[{_KANA_AND_OTHERS}\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_NOT_CHINESE = re.compile(f"[{_KANA_AND_OTHERS}]")
_A_WORD = 2  # characters, in such scripts


def n_words(text: str) -> int:
    """How many words a text has, about, where no blanks stand between them.

    >>> [n_words(text) for text in ("It rains again.", "今天又下雨了。", "体育", "")]
    [3, 4, 1, 0]
    """
    if text.isascii():
        return len(text.split())
    undivided = len(_UNDIVIDED.findall(text))
    return len(_UNDIVIDED.sub(" ", text).split()) + undivided // _A_WORD


def bleu_of(texts: Iterable[str]) -> BLEU | None:
    """BLEU of characters, for texts most of whose characters are words or parts of them; None: the usual one."""
    text = "".join(texts)
    if text.isascii() or 2 * len(_UNDIVIDED.findall(text)) <= len(text):
        return None
    return BLEU(tokenize="char" if _NOT_CHINESE.search(text) else "zh")
