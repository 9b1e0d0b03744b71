"""Texts whose words are not what a metric takes for words: scripts without blanks, and text that is tokenized."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

_KANA_AND_OTHERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"  # Thai, Lao, Burmese, Khmer
UNDIVIDED = re.compile(f"[{_KANA_AND_OTHERS}\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_NOT_CHINESE = re.compile(f"[{_KANA_AND_OTHERS}]")
_ENDING = re.compile(r"\S(\s?)[.!?]$")  # of a sentence
_FEW = 5  # sentences
_LETTER = re.compile(r"[^\W\d_]")


def choose_tokenizer(texts: Iterable[str]) -> Literal["char", "zh"] | None:
    """Return the tokenizer of BLEU for texts most of whose characters are of a script without blanks between words.

    >>> [choose_tokenizer([text]) for text in ("It rains again.", "今天又下雨了。", "また雨が降っている。")]
    [None, 'zh', 'char']
    """
    text = "".join(texts)
    if text.isascii() or 2 * len(UNDIVIDED.findall(text)) <= len(text):
        return None
    return "char" if _NOT_CHINESE.search(text) else "zh"


def describe_undivided(texts: Iterable[str], name: str, remedy: str) -> str | None:
    """Say that a metric takes clauses for words, if the texts' script has no blanks between words; else None.

    Args:
        texts: Of the gold.
        name: Of the metric.
        remedy: What to declare instead; `{tokenizer}` stands for BLEU's.
    """
    tokenizer = choose_tokenizer(texts)
    return tokenizer and (f"most characters of the gold are of a script without blanks between words, and {name} takes "
                          f"what blanks divide for words; {remedy.format(tokenizer=tokenizer)}")


def count_tokenized(texts: Iterable[str]) -> tuple[int, int]:
    """Count the texts that end in a full stop, and those with a blank before it, as tokenized text has.

    >>> count_tokenized(["It rains .", "It rains.", "It rains"])
    (2, 1)
    """
    blanks = [found[1] for text in texts if (found := _ENDING.search(text.rstrip()))]
    return len(blanks), sum(map(bool, blanks))


def is_tokenized(texts: Sequence[str]) -> bool:
    """Say whether most of the sentences in some texts end in a blank and a full stop."""
    sentences, tokenized = count_tokenized(texts)
    return sentences >= _FEW and 2 * tokenized > sentences


def share_of_latin_letters(texts: Iterable[str]) -> float:
    """Return the share of letters that are a to z in either case; 1 if there is no letter."""
    letters = _LETTER.findall("".join(texts))
    return sum(letter.isascii() for letter in letters) / len(letters) if letters else 1.0
