"""One file of all systems beside a gold's: a column of labels for each, where none is called as one system's is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from registry.guessing.guess import SURE
from registry.guessing.tables.answering import Pairing
from registry.guessing.tables.keys import Matched

_OF_ONE = frozenset((  # what columns of one system are called, in one of their words
    "answer", "answers", "label", "labels", "output", "pred", "predicted", "prediction", "predictions", "preds",
    "response", "score", "scores", "y"))
_ENOUGH = 3  # columns that are systems for sure: of two, one may describe items


def readings(found: Sequence[Pairing], matched: Sequence[Matched]) -> Iterator[
        tuple[Pairing, list[tuple[Matched, int]]]]:
    """Give pairings with the systems' columns; where one file has several columns of labels, all as a system each."""
    done: set[int] = set()
    for of in found:
        same = [one for one in found if one.value == of.value and not one.note and not of.note]
        if len(matched) > 1 or len(same) < _ENOUGH or not _are_systems(matched[0], [one.columns[0] for one in same]):
            yield of, list(zip(matched, of.columns, strict=True))
        elif of.value not in done:
            done.add(of.value)
            (file,) = matched
            yield replace(of, sure=SURE), [(file.of_column(n), n) for n in (one.columns[0] for one in same)]


def _are_systems(file: Matched, columns: Sequence[int]) -> bool:
    """Whether columns are called as systems may be: by words that neither all have nor one system's columns."""
    words = [frozenset(re.findall("[a-z]+|[0-9]+", file.table.names[n].casefold())) for n in columns]
    own = [of - frozenset.intersection(*words) for of in words]
    decimals = [column.is_mostly_numeric and not column.is_whole for column in map(file.table.column, columns)]
    return file.table.header and all(of and not of & _OF_ONE for of in own) and not any(
        decimals)  # of which one may say how sure another is
