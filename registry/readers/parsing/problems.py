"""What is wrong with a file, collected so that whoever checks it sees all of it at once."""

from __future__ import annotations

from collections import Counter

from registry.errors import InputError

_LINES = 10**6  # with problems, which are remembered


class Problems:
    """What is wrong with one file, in the order in which it was found; of every line the first problem only.

    What follows from a problem in the same line is none of its own. All are counted by their category, `limit` of them
    are kept. `notes` are what is read as if nothing were.
    """

    def __init__(self, limit: int | None) -> None:
        self.found: list[InputError] = []
        self.counts: Counter[str] = Counter()
        self.notes: list[InputError] = []
        self._limit = limit
        self._lines: set[int] = set()

    def add(self, error: InputError) -> None:
        """Note a problem."""
        if error.line is not None and error.line in self._lines:
            return
        self.counts[error.category] += 1
        if error.line is not None and len(self._lines) < _LINES:
            self._lines.add(error.line)
        if self._limit is None or len(self.found) < self._limit:
            self.found.append(error)
