"""How many words a text has, also in scripts that write none apart."""

from __future__ import annotations

from collections.abc import Iterable

from registry.metrics import BLEU
from registry.metrics.texts import UNDIVIDED, choose_tokenizer

_A_WORD = 2  # characters, in such scripts


def n_words(text: str) -> int:
    """How many words a text has, about, where no blanks stand between them.

    >>> [n_words(text) for text in ("It rains again.", "今天又下雨了。", "体育", "")]
    [3, 4, 1, 0]
    """
    if text.isascii():
        return len(text.split())
    undivided = len(UNDIVIDED.findall(text))
    return len(UNDIVIDED.sub(" ", text).split()) + undivided // _A_WORD


def bleu_of(texts: Iterable[str]) -> BLEU | None:
    """BLEU of characters, for texts most of whose characters are words or parts of them; None: the usual one."""
    tokenizer = choose_tokenizer(texts)
    return None if tokenizer is None else BLEU(tokenize=tokenizer)
