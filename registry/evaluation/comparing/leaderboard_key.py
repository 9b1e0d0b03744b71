"""Names that identify a leaderboard."""

from __future__ import annotations

from typing import NamedTuple


class LeaderboardKey(NamedTuple):
    """Names that identify a leaderboard; `metric` is the metric's alias."""

    task: str
    test_set: str
    track: str | None
    facet: str | None
    metric: str

    @property
    def name(self) -> str:
        """The name of the leaderboard in tables and messages."""
        return ", ".join(filter(None, (f"{self.task}/{self.test_set}", *self[2:])))
