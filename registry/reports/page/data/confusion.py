"""Confusion matrices: every cell where labels are few, each system's most frequent confusions where they are many."""

from __future__ import annotations

from collections.abc import Sequence

from registry.boards.details import OTHER, Cell, Confusions
from registry.reports.page.data.columns import Json

CELLS = 40_000  # on a page; systems come in the order of the page
MATRIX = 12  # labels up to which a matrix is drawn
LISTED = 30  # confusions of a system that are listed where there are more


def confusions_data(confusions: Sequence[Confusions], systems: Sequence[tuple[str, str]]) -> Json:
    """For every test set the labels, and by the systems' numbers their cells: gold, predicted (-1: none), how often."""
    room, found = CELLS, {}
    for of in confusions:
        matrix, cells = len(of.labels) <= MATRIX, {}
        for n, system in enumerate(systems):
            chosen = [cell for cell in of.systems.get(system, ()) if matrix or _is_confused(cell, typed=of.typed)]
            chosen = chosen if matrix else chosen[:LISTED]
            room -= len(chosen)
            if room < 0:
                break
            if chosen:
                cells[str(n)] = [number for cell in chosen for number in (
                    -1 if cell.gold is None else cell.gold, -1 if cell.predicted is None else cell.predicted,
                    cell.items)]
        found[of.test_set] = {"typed": of.typed, "matrix": matrix, "labels": of.labels, "gold": of.gold,
                              "other": of.labels[-1] == OTHER, "systems": cells,
                              "left_out": sum(system in of.systems for system in systems) - len(cells)}
    return found


def _is_confused(cell: Cell, *, typed: bool) -> bool:
    """Whether labels differ; of types, whether gold and system have one each at the place."""
    return cell.gold != cell.predicted and not (typed and None in (cell.gold, cell.predicted))
