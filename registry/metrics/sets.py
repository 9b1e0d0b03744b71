"""Metrics of sets of answers: exact match of key and type, summed over all items (micro-averaged)."""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass
from typing import Any, ClassVar

from registry.metrics.matches import FBeta, MatchMetric, Precision, Recall


@dataclass(frozen=True, repr=False)
class _SetMetric(MatchMetric):
    """What the three share."""

    takes: ClassVar[str] = "answer"
    terse: ClassVar[bool] = True
    citation: ClassVar[str] = "Manning, Raghavan and Schütze 2008, section 8.3"

    def members(self, value: Any) -> Set[Hashable]:
        """The answers, whatever their scores."""
        return {(key, type_) for key, type_, _ in value.responses if self.type in (None, type_)}


@dataclass(frozen=True, repr=False)
class SetP(_SetMetric, Precision):
    """Precision: the share of a system's answers that the gold has; undefined where the system has none."""

    name: ClassVar[str] = "SetP"


@dataclass(frozen=True, repr=False)
class SetR(_SetMetric, Recall):
    """Recall: the share of the gold's answers that the system has."""

    name: ClassVar[str] = "SetR"


@dataclass(frozen=True, repr=False)
class SetF(_SetMetric, FBeta):
    """F-beta: the harmonic mean of precision and recall, recall weighted by beta squared, from 0 to 1."""

    name: ClassVar[str] = "SetF"
    citation: ClassVar[str] = "van Rijsbergen 1979, chapter 7"
