"""Runs whose ranks say another order than their scores: only the scores count, as in trec_eval."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, pairwise
from typing import NamedTuple

from registry.messages import Message
from registry.readers import Document, Reader
from registry.readers.trec import Trec

_FEW = 10  # pairs of documents; fewer tell nothing of the order of scores
_FEW_TIES = 0.01  # the share of neighbours in reverse order that is no fault: some scores are equal by chance
_LOOKED_AT = 2**14  # lines


def contradicted(document: Document, reader: Reader) -> Message | None:
    """Warn if a run's scores do not order documents as its ranks do."""
    if not isinstance(reader, Trec) or reader.syntax != "delimited" or "rank" not in reader.run:
        return None
    steps = _count_steps(document, reader)
    if steps.n >= _FEW and not steps.rises and not steps.falls:
        return Message("equal-scores-of-ranks")
    if steps.n >= _FEW and 2 * steps.rises > steps.n:
        return Message("reversed-ranks", {"rises": steps.rises, "places": steps.n})
    if steps.reversed_ties > _FEW_TIES * steps.n:
        return Message("tied-ranks", {"ties": steps.ties, "places": steps.n, "reversed": steps.reversed_ties})
    return None


class _Steps(NamedTuple):
    """How often the score of a query's next rank is higher, lower, or equal; and equal with names in rising order.

    Equal scores are in the reverse order of names, as in trec_eval.
    """

    n: int
    rises: int
    falls: int
    ties: int
    reversed_ties: int


def _count_steps(document: Document, reader: Trec) -> _Steps:
    query, name, rank, score = (reader.run.index(column) for column in ("query", "document", "rank", "score"))
    ranked = defaultdict[str, list[tuple[int, float, str]]](list)
    for _, line in islice(reader.declared(document).lines(), _LOOKED_AT):
        cells = line.split()
        if len(cells) == len(reader.run) and cells[rank].isdecimal() and not line.startswith("#"):
            ranked[cells[query]].append((int(cells[rank]), float(cells[score]), cells[name]))
    steps = [(earlier, later) for documents in ranked.values() for earlier, later in pairwise(sorted(documents))
             if earlier[0] < later[0]]
    ties = [earlier[2] < later[2] for earlier, later in steps if earlier[1] == later[1]]
    return _Steps(len(steps), sum(later[1] > earlier[1] for earlier, later in steps),
                  sum(later[1] < earlier[1] for earlier, later in steps), len(ties), sum(ties))
