"""Labels that stand in the order of the gold's items, where nothing but their number says whose they are.

Such a file may be shifted or in another order and still have as many rows as the gold. Where it is shifted by a row,
its labels agree with the items beside theirs far more often than with their own. Where its order is another one they
agree as often as if they had been dealt out at random (and so do those of a random baseline).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from registry.arrays import Floats
from registry.columns import JoinedColumns
from registry.items import Item
from registry.messages import Message
from registry.readers import Labels, Reader

_FEW = 50  # items; of fewer chance cannot be told from a bad system
_BESIDE = 1e-6  # the probability with which a file in order is taken for one that is shifted
_CHANCE = 2  # standard errors
_RECODED = 0.9  # the share of rows whose label follows from the gold's, in a file with other codes


def displaced(items: Sequence[Item], answers: Sequence[object], reader: Reader) -> Message | None:
    """Warn if rows without item ids do not seem to be in the order of the gold's items."""
    if not isinstance(reader, Labels) or reader.item or not isinstance(answers, JoinedColumns) or len(items) < _FEW:
        return None
    gold, given = answers.coded(item.gold for item in items), answers.values
    for by, side in ((1, "after"), (-1, "before")):
        if _agrees_beside(gold, given, by):
            return Message("shifted-rows", {"side": side, "is_recoded": _is_recoded(gold, given)})
    return Message("unordered-rows") if _is_chance(gold, given) else None


def _agrees_beside(gold: Floats, given: Floats, by: int) -> bool:
    """Whether rows agree with the gold `by` rows on more often than with their own: a one-sided sign test."""
    from scipy.stats import binom

    inner = slice(1, -1)
    own, beside = given[inner] == gold[inner], given[inner] == np.roll(gold, -by)[inner]
    better, worse = int((beside & ~own).sum()), int((own & ~beside).sum())
    return better > worse and float(binom.sf(better - 1, better + worse, 0.5)) < _BESIDE


def _is_recoded(gold: Floats, given: Floats) -> bool:
    """Return whether labels follow from the gold's of the same rows: most have the one that their gold label has most.

    A shifted file in which labels follow each other in a fixed order looks the same.
    """
    there = ~np.isnan(given)
    n_most = sum(Counter(given[there & (gold == label)].tolist()).most_common(1)[0][1]
                 for label in set(gold[there].tolist()))
    return n_most > _RECODED * int(there.sum())


def _is_chance(gold: Floats, given: Floats) -> bool:
    """Whether agreement is within some standard errors of its mean over all orders of the labels that are given.

    The moments are those of the number of matches of two decks of cards, one of which is shuffled.
    """
    there = ~np.isnan(given)
    n = int(there.sum())
    of_gold, of_given = (Counter(labels[there].tolist()) for labels in (gold, given))
    if n < _FEW or min(len(of_given), len(set(gold.tolist()))) < 2:
        return False
    products = [(times * of_given[label], times + of_given[label]) for label, times in of_gold.items()]
    total = sum(product for product, _ in products)
    variance = (n * n * total - n * sum(product * both for product, both in products) + total * total) / (
        n * n * (n - 1))
    matches = int((gold[there] == given[there]).sum())
    return variance > 0 and (matches - total / n) / math.sqrt(variance) < _CHANCE
