"""What is wrong with a file, collected so that whoever checks it sees all of it at once."""

from __future__ import annotations

from collections import Counter

from registry.errors import InputError

MOST = 10_000  # problems, after which a file is read no further


class TooManyProblemsError(InputError):
    """A file has more problems than are collected."""


class Problems:
    """What is wrong with one file, in the order in which it was found; of every line the first problem only.

    What follows from a problem in the same line is none of its own. All are counted by their category, `limit` of them
    are kept. `notes` are what is read as if nothing were. With `stops`, one more than `MOST` problems end the reading.
    """

    def __init__(self, limit: int | None, *, stops: bool = True) -> None:
        self.found: list[InputError] = []
        self.counts: Counter[str] = Counter()
        self.notes: list[InputError] = []
        self.stopped: TooManyProblemsError | None = None
        self._limit, self._stops = limit, stops
        self._lines: set[int] = set()

    def add(self, error: InputError) -> None:
        """Note a problem.

        Raises:
            TooManyProblemsError: There are `MOST` problems already.
        """
        if error.line is not None and error.line in self._lines:
            return
        if self._stops and self.counts.total() >= MOST:
            raise TooManyProblemsError(f"the check stopped here, after {MOST:,} errors; correct these and check again",
                                       path=error.path, line=error.line)
        self._note(error)

    def end(self, error: InputError) -> None:
        """Note the error that ended the reading of the file."""
        if isinstance(error, TooManyProblemsError):
            self.stopped = error
        elif error.line is None or error.line not in self._lines:
            self._note(error)

    def _note(self, error: InputError) -> None:
        self.counts[error.category] += 1
        if error.line is not None and self._stops:
            self._lines.add(error.line)
        if self._limit is None or len(self.found) < self._limit:
            self.found.append(error)
