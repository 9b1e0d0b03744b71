"""Files that nearly are text, a segment a line: references beside sources, and numbers of tokens in place of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from registry.errors import InputError
from registry.guessing.formats.texts import are_decimals
from registry.guessing.guess import Given
from registry.guessing.looks import WORDS, text_lines
from registry.readers import Document

_LOOKED_AT = 200  # lines
_PAIR = 2  # columns at least
_CLASSES = 1000  # at the most, as of images


def beside_text(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say which column of a gold has the references, where systems have a segment on each line and nothing else."""
    rows = [line.split("\t") for _, line in text_lines(gold) if line.strip()]
    width = len(rows[0]) if rows else 0
    found = [[line for _, line in text_lines(given.document)] for given in systems]
    if width < _PAIR or {len(row) for row in rows} != {width} or not all(
            len(lines) == len(rows) and not any("\t" in line for line in lines) for lines in found):
        return None
    shared = Counter({n: sum(len({*row[n].split()} & {*line.split()}) for lines in found for row, line in zip(
        rows[:_LOOKED_AT], lines, strict=False)) for n in range(width)})
    (of, words), = shared.most_common(1)
    if words < WORDS * len(found) * min(len(rows), _LOOKED_AT) / 2:
        return None
    return InputError(f"the systems' lines are text like its column {of + 1} of {width}, which alone is to be the "
                      f"reference: write that, as `cut -f {of + 1} FILE` does", path=gold.path)


def numbers_of_tokens(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say how numbers of tokens are written, of which each line has those of its text."""
    for document in (gold, *(given.document for given in systems)):
        lines = [line for _, line in text_lines(document) if line.strip()]
        widths = {len(line.split()) for line in lines}
        if len(widths) == 1 and _PAIR <= max(widths) <= _CLASSES and are_decimals(lines):
            return InputError(f"has {max(widths)} numbers on each line, as of how sure a system is of as many classes: "
                              "write the label that has the highest one", path=document.path)
        if lines and are_decimals(lines) and sum(len(line.split()) for line in lines) > _PAIR * len(lines):
            return InputError("has several numbers on each line. Log-probabilities of tokens are read (--as logprobs "
                              '--option base=e) from lines such as {"item": "1", "logprobs": [-2.5, -0.1]}, and the '
                              'gold from such as {"item": "1"}, with --option syntax=jsonl; of other numbers give one '
                              "for each item", path=document.path)
    return None
