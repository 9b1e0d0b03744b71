"""What was decided of every pair of a leaderboard, as columns: half a million pairs are never as many objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints

Places = Ints


@dataclass(frozen=True)
class PairDecision:
    """What was decided of two systems.

    Attributes:
        a, b: Their places in the standings; on a leaderboard A is the better one.
        significant: Whether they differ significantly.
        row: The difference, A less B, and the p-values; on a leaderboard all `PAIR_KEYS` (reports/columns.py).
    """

    a: int = field(compare=False)
    b: int = field(compare=False)
    significant: bool
    row: Mapping[str, Any]

    @property
    def difference(self) -> float | None:
        """How much better A is."""
        return self.row["difference"]  # type: ignore[no-any-return]

    @property
    def p_value(self) -> float | None:
        """The raw p-value."""
        return self.row["p_value"]  # type: ignore[no-any-return]

    @property
    def p_adjusted(self) -> float | None:
        """The p-value corrected for the family."""
        return self.row["p_adjusted"]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Decisions(Sequence[PairDecision]):
    """The decisions of a leaderboard; a single one is made of its columns when it is asked for.

    Attributes:
        a, b: The places of the systems in the standings, [pairs].
        columns: What differs from pair to pair, by the keys of rows, [pairs] each; masked where it is NULL.
        common: What all pairs have in common.
        systems: What a row says of the system at each place, by keys that end with `_a` and `_b` there.
    """

    a: Places
    b: Places
    columns: Mapping[str, NDArray[Any]]
    common: Mapping[str, Any] = field(default_factory=dict)
    systems: Sequence[Mapping[str, Any]] = ()

    @property
    def significant(self) -> Flags:
        """Whether the two differ significantly, [pairs]."""
        return self.columns["significant"].astype(bool)

    def numbers(self, key: str) -> Floats:
        """A column of numbers, [pairs]; nan where it is NULL."""
        return np.ma.filled(self.columns[key].astype(np.float64), np.nan)

    def __len__(self) -> int:
        return len(self.a)

    @overload
    def __getitem__(self, n: int) -> PairDecision: ...
    @overload
    def __getitem__(self, n: slice) -> Decisions: ...
    def __getitem__(self, n: int | slice) -> PairDecision | Decisions:
        if isinstance(n, slice):
            return self.chosen(np.arange(len(self))[n])
        return next(iter(self.chosen(np.arange(len(self))[[n]])))

    def __iter__(self) -> Iterator[PairDecision]:
        columns = {key: column.tolist() for key, column in self.columns.items()}  # what is masked is None
        for n, (a, b) in enumerate(zip(self.a.tolist(), self.b.tolist(), strict=True)):
            row = {**self.common, **{f"{key}_{side}": value for side, at in (("a", a), ("b", b))
                                     for key, value in (self.systems[at] if self.systems else {}).items()},
                   **{key: column[n] for key, column in columns.items()}}
            yield PairDecision(a, b, row["significant"], row)

    def chosen(self, which: NDArray[Any]) -> Decisions:
        """Some of them, by their numbers or by a mask."""
        return Decisions(self.a[which], self.b[which], {key: column[which] for key, column in self.columns.items()},
                         self.common, self.systems)
