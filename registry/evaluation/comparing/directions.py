"""Directions of one-sided tests.

A direction must be declared before the data are seen, because a direction that follows the observed scores doubles the
error rate. With `alternative = "greater"` and a candidate, one-sided tests show that the candidate is better than
another system. Without a candidate, they show that a system is better than a baseline. All other pairs are tested
two-sided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from registry.arrays import Ints
from registry.errors import InputError, UnknownNameError
from registry.manifest import Significance
from registry.significance.base import Alternative

SIDES: dict[Alternative, int] = {"two-sided": 0, "greater": 1, "less": -1}

OBSERVED = "observed"  # the alternative of a test that takes its direction from the data

_ERROR = "a direction that follows the observed scores doubles the error rate (9.6 % measured at 5 %)"


class _Member(Protocol):
    @property
    def team(self) -> str: ...
    @property
    def system(self) -> str: ...
    @property
    def kind(self) -> str: ...


def is_candidate(member: _Member, settings: Significance) -> bool:
    """Return whether a system is the candidate, which should beat the others.

    The settings name the candidate as `system` or `team/system`.
    """
    return settings.candidate in (member.system, f"{member.team}/{member.system}")


def choose_sides(members: Sequence[_Member], settings: Significance, a: Ints, b: Ints) -> Ints:
    """Choose the alternative hypothesis of each pair of systems.

    If a candidate is declared, it is expected to beat all other systems. Otherwise, systems are expected to beat
    baselines.

    Args:
        members: The systems.
        settings: The settings of the comparison.
        a: Index of the first system of each pair, [pairs].
        b: Index of the second system of each pair, [pairs].

    Returns:
        1 for "A is better", -1 for "B is better", 0 for two-sided, [pairs].
    """
    if settings.alternative == "two-sided":
        return np.zeros(len(a), dtype=np.int64)
    is_favoured = np.array([member.kind != "baseline" if settings.candidate is None else is_candidate(member, settings)
                            for member in members], dtype=np.int64)
    return is_favoured[a] - is_favoured[b]


def has_one_sided(members: Sequence[_Member], settings: Significance) -> bool:
    """Return whether at least one pair of these systems is tested one-sided."""
    return bool(choose_sides(members, settings, *np.triu_indices(len(members), 1)).any())


def explain_missing_direction(members: Sequence[_Member], settings: Significance) -> str | None:
    """Return an error message if one-sided tests are requested without a direction.

    The direction is declared by a candidate (the system that should be better) or by baselines.

    Returns:
        The message; None if a direction is declared, if tests are two-sided, or if no pair exists.
    """
    is_declared = settings.candidate is not None or any(member.kind == "baseline" for member in members)
    if settings.alternative == "two-sided" or is_declared or len(members) < 2:
        return None
    return (f"alternative = \"greater\" needs a direction that is declared before the data are seen, because {_ERROR}; "
            "set candidate = \"SYSTEM\", mark the system to beat by kind = \"baseline\", or set "
            "alternative = \"two-sided\"")


def check_candidate(boards: Sequence[Sequence[_Member]], settings: Significance) -> None:
    """Check that the candidate of one-sided tests names exactly one system.

    Args:
        boards: The systems of each leaderboard.
        settings: The settings of the comparison, which may name a candidate (the system that should be better).

    Raises:
        UnknownNameError: No leaderboard has a system with this name.
        InputError: Several systems have this name.
    """
    members = [member for board in boards for member in board]
    if settings.candidate is None or not members:
        return
    names = sorted({f"{member.team}/{member.system}" for member in members if is_candidate(member, settings)})
    if not names:
        raise UnknownNameError("candidate", settings.candidate, sorted({
            f"{member.team}/{member.system}" for member in members}))
    if len(names) > 1:
        raise InputError(f"candidate {settings.candidate!r} matches {len(names)} systems ({', '.join(names)}); write "
                         "team/system")
