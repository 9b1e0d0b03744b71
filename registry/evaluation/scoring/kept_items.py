"""The items of a gold revision that count for a submission, and the order in which their statistics are digested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.identity import digest_array, digest_json, digest_lines


@dataclass(frozen=True, eq=False)
class KeptItems:
    """Items that count.

    Attributes:
        ids: In the database, in the order of the gold.
        by_key: Their places in the order of their keys.
        digest: Of their keys.
    """

    ids: Ints
    by_key: Ints
    digest: str

    def digest_of(self, runs: Sequence[Floats]) -> str:
        """The digest of their statistics, [runs] of [items, columns] in the order of the gold."""
        return digest_json([self.digest, *(digest_array(of_run.take(self.by_key, axis=0)) for of_run in runs)])


class ItemsOfRevision:
    """The items of a gold revision, the first of which has the id `first`."""

    def __init__(self, first: int, keys: list[str]) -> None:
        self._first, self._keys = first, keys
        self._last: tuple[bytes, KeptItems] | None = None

    def kept(self, kept: Flags) -> KeptItems:
        """Those that count, of [items]; mostly they are the same for one submission after the other."""
        mask = kept.tobytes()
        if self._last is None or self._last[0] != mask:
            at = np.flatnonzero(kept)
            keys = [self._keys[n] for n in at]
            by_key = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
            self._last = mask, KeptItems(self._first + at, by_key, digest_lines(sorted(keys)))
        return self._last[1]
