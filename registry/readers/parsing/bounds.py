"""How much is read of one file, so that a hostile submission costs little time and memory.

The number of the gold's items bounds an honest submission: see `Reader.bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass

ONE_ROW = 4  # lines per item of a format with one row per item; the others are blank lines and comments
MANY_ROWS = 1000
LEAST_LINES = 2**15  # that every submission may have, however few items there are
_LEAST_UNFOLDED = 2**22  # bytes
_UNFOLDED_PER_ITEM = 2**12  # bytes: even "A" on every line of a gzip file is far below
_MOST_UNFOLDED = 2**26
_MOST_UNFOLDED_PER_ITEM = 2**16


@dataclass(frozen=True)
class Bounds:
    """The most that is read of a file.

    Attributes:
        lines: Lines, rows or entries; None: as many as of any file.
        unfolded: Bytes that a compressed file may unfold to, whatever its size; None: as many as any file may.
        most_unfolded: Bytes that no compressed file may exceed; None: as many as any file may.
        reason: Where the bounds come from, for messages.
    """

    lines: int | None = None
    unfolded: int | None = None
    most_unfolded: int | None = None
    reason: str = ""

    @classmethod
    def of_submission(cls, n_items: int, lines: int) -> Bounds:
        """Bound a submission to a number of items that has at most so many lines."""
        return cls(max(LEAST_LINES, lines), max(_LEAST_UNFOLDED, _UNFOLDED_PER_ITEM * n_items),
                   max(_MOST_UNFOLDED, _MOST_UNFOLDED_PER_ITEM * n_items),
                   f" of a submission to {n_items:,} item{'s' * (n_items != 1)}; is it for another task?")
