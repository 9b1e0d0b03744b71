"""Names that identify a leaderboard."""

from __future__ import annotations

from typing import NamedTuple


class LeaderboardKey(NamedTuple):
    """Names of task, test set, track, facet and metric, which identify a leaderboard.

    A facet is a subset of the items, such as `genre=blog`. `metric` is the metric's alias.
    """

    task: str
    test_set: str
    track: str | None
    facet: str | None
    metric: str

    @property
    def name(self) -> str:
        """The name of the leaderboard in tables and messages."""
        return ", ".join(filter(None, (f"{self.task}/{self.test_set}", *self[2:])))
