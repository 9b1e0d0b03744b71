"""All pairs of a large leaderboard, in files beside its page: one for each system, read when the system is chosen.

A file is a script, as a page that is opened from a disk may read nothing else. It says which leaderboard and system it
is of, and gives the columns of the system's pairs; it has a number for a name, and holds no name of a system. 5,000
systems make 25 million rows of some 17 characters, of which those of one system are at hand at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from registry.arrays import Ints
from registry.boards.leaderboard import Decisions, Leaderboard
from registry.reports.page.data.boards import board_key
from registry.reports.page.data.pairs import COLUMNS, packed_columns, reaches


def pair_files(boards: Sequence[Leaderboard]) -> Iterator[tuple[str, str]]:
    """Every file of a page: its name within their folder, of the numbers of board and place, and its content."""
    for n, (board, reach) in enumerate(zip(boards, reaches(boards), strict=True)):
        if reach is not None:
            pairs, systems = _written_of(board), len(board.standings)
            rows = np.argsort(np.concatenate([pairs.a, pairs.b]).astype(np.int32), kind="stable")
            ends = np.cumsum(np.bincount(np.concatenate([pairs.a, pairs.b]), minlength=systems))
            for place, of_system in enumerate(np.split(rows, ends[:-1])):
                yield f"{n}/{place}.js", _file(board, pairs, place, of_system % len(pairs))


def pair_file(boards: Sequence[Leaderboard], n: int, place: int) -> str | None:
    """One of these files, of the board of a number and the system at a place; None where there is none."""
    if n >= len(boards) or place >= len(boards[n].standings) or reaches(boards)[n] is None:
        return None
    pairs = _written_of(boards[n])
    return _file(boards[n], pairs, place, np.flatnonzero((pairs.a == place) | (pairs.b == place)))


def _written_of(board: Leaderboard) -> Decisions:
    """The pairs of a board with the columns that files have."""
    pairs = board.decisions
    return Decisions(pairs.a, pairs.b, {name: pairs.columns[name] for name in ("significant", *COLUMNS)})


def _file(board: Leaderboard, pairs: Decisions, place: int, of_system: Ints) -> str:
    """The file of the system at a place, whose pairs these are: their columns, in the order of the others."""
    others = pairs.a[of_system] + pairs.b[of_system] - place
    order = np.argsort(others)
    tested = {} if len(others) == len(board.standings) - 1 else {"others": others[order].tolist()}
    columns = tested | packed_columns(pairs.chosen(of_system[order]))
    return f"evalregistryPairs({json.dumps([board_key(board), place, columns], separators=(',', ':'))});\n"
