"""The settings of the comparison behind a leaderboard."""

from __future__ import annotations

from typing import NamedTuple


class Comparison(NamedTuple):
    """The settings of the comparison behind a leaderboard and its size, with the test of all systems at once if any."""

    comparison_id: int
    better: str
    test: str
    alternative: str
    unit: str
    runs: str
    alpha: float
    correction: str
    resamples: int
    seed: int
    confidence: float
    n_items: int
    n_units: int
    n_systems: int
    family_size: int
    signature: str
    overall: str | None
    statistic: float | None
    degrees: int | None
    p_value: float | None
    cluster: str | None = None  # the attribute that groups items; None if the test set declares none
