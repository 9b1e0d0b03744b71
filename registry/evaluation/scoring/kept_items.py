"""The items of a gold revision that count for a submission, and the order in which their statistics are digested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.identity import digest_array, digest_json, digest_lines


@dataclass(frozen=True, eq=False)
class KeptItems:
    """Items that count; mostly they are the same for one submission after the other.

    Attributes:
        of_all: Which of the gold's items they are, [items].
        ids: In the database, in the order of the gold.
        by_key: Their places in the order of their keys.
        digest: Of their keys.
    """

    of_all: Flags
    ids: Ints
    by_key: Ints
    digest: str

    @classmethod
    def of(cls, kept: Flags, first: int, keys: list[str]) -> KeptItems:
        """Those that are `kept` of a gold revision, whose items have these keys, and ids from the `first` on."""
        at = np.flatnonzero(kept)
        of_kept = [keys[n] for n in at.tolist()]
        by_key = np.array(sorted(range(len(at)), key=of_kept.__getitem__), dtype=np.int64)
        return cls(kept, first + at, by_key, digest_lines(sorted(of_kept)))

    def digest_of(self, runs: Sequence[Floats]) -> str:
        """The digest of their statistics, [runs] of [items, columns] in the order of the gold."""
        return digest_json([self.digest, *(digest_array(of_run.take(self.by_key, axis=0)) for of_run in runs)])
