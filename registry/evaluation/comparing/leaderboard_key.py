"""What a leaderboard is called."""

from __future__ import annotations

from typing import NamedTuple


class LeaderboardKey(NamedTuple):
    """What tells a leaderboard from all others; the metric by its alias."""

    task: str
    test_set: str
    track: str | None
    facet: str | None
    metric: str

    @property
    def name(self) -> str:
        """What people call the board."""
        return ", ".join(filter(None, (f"{self.task}/{self.test_set}", *self[2:])))
