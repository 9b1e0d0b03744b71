"""Whether texts without names stand in the gold's order: each resembles its own reference, or source, most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from registry.items import Answer, Item

BLOCK = 25  # segments that are judged together; twice as many where only the source is there to judge by
OTHERS = (1, -1, 7, 13)  # distances of the other references that a segment's own one competes with

_COMPARED = 2**14  # characters of a text: its beginning tells enough, and hostile ones may have 2^24
_SHIFTS = {1: ", most the next one, as if a line were lacking above",
           -1: ", most the one before, as if a line had been added above"}


def misplaced(items: Sequence[Item], answers: Sequence[Answer]) -> tuple[int, str] | None:
    """Say at which line and why a system's texts, whose keys are numbers from 1, do not seem to be in the gold's order.

    None where they are, or nothing tells: where few texts do, or there is no reference and no source.
    """
    by_source = "gold" not in items[0].gold
    if by_source and "source" not in items[0].gold:
        return None
    nearest = _nearest(items, answers, by_source=by_source)
    size, enough = (2 * BLOCK, 1 / 3) if by_source else (BLOCK, 1 / 2)  # of the shuffled, about a fifth is at home
    if len(nearest) < size:
        return None
    starts = [*range(0, len(nearest) - size, size), max(0, len(nearest) - size)]  # the last ends with the file
    blocks = [nearest[at:at + size] for at in starts]
    weak = [block for block in blocks if sum(distance == 0 for _, distance in block) < enough * size]
    if not weak:
        return None
    line, likeliest = weak[0][0][0], Counter(distance for block in weak for _, distance in block).most_common(1)[0]
    why = _SHIFTS.get(likeliest[0], "") if likeliest[1] > size * len(weak) / 2 else ""
    from_there = "" if len(weak) == len(blocks) else f" from about line {line} on"
    what = "seem to be shifted" if why else (
        f"may be {'shifted, ' if from_there else ''}shuffled or no answers to these segments")
    share, own = ("a third", "source") if by_source else ("half", "reference")
    return line, (f"the lines {what}{from_there}: fewer than {share} of the segments there resemble "
                  f"their own {own} more than those of others{why}; mend the file, or set check_order = false")


def _nearest(items: Sequence[Item], answers: Sequence[Answer], *, by_source: bool) -> list[tuple[int, int]]:
    """For every answer that can tell: its line, and how far away the text is that it resembles most.

    A translation resembles its source in length (Gale and Church 1993, "A program for aligning sentences in bilingual
    corpora") and in what is not translated: names, numbers, punctuation.
    """
    texts = [item.gold["source" if by_source else "gold"] for item in items]
    grams = [_trigrams(text) for text in texts]
    ratio = sum(len(answer.value) for answer in answers) / sum(len(texts[int(answer.key) - 1]) for answer in answers)

    def likeness(mine: frozenset[str], length: float, other: int) -> float:
        overlap = _overlap(mine, grams[other])
        return 4 * overlap - abs(length - math.log(ratio * len(texts[other]) + 1)) if by_source else overlap

    found = []
    for answer in answers:
        at, mine, length = int(answer.key) - 1, _trigrams(answer.value), math.log(len(answer.value) + 1)
        rivals = {distance: other for distance in OTHERS if grams[other := (at + distance) % len(grams)] != grams[at]}
        if rivals and len(grams[at]) > 8:  # very short segments resemble anything
            alike = {distance: likeness(mine, length, other) for distance, other in rivals.items()}
            likeliest = max(alike, key=alike.__getitem__)
            found.append((answer.line, 0 if likeness(mine, length, at) > alike[likeliest] else likeliest))
    return found


def _trigrams(text: str) -> frozenset[str]:
    folded = text[:_COMPARED].casefold()
    return frozenset(folded[n:n + 3] for n in range(len(folded) - 2))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """The Dice coefficient."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0
