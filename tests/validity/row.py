"""One line of the table of validity: a test, a population, and what must come out."""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.validity.populations import Population

BATCH = 50


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: What the command line calls it, and the seed of all that is random in it.
        null: The population; an alternative where the band is a power.
        test: The examination, from a sample and a generator to a number for each run, or for each run and band.
        band: All of these must hold.
        runs_full, runs_quick: How many test sets; the quick ones are the first of the full ones. Without
            quick ones the suite leaves the row out.
        batch: How many test sets share a matrix and the draws.
    """

    name: str
    null: Population
    test: Callable
    band: tuple
    runs_full: int = 10_000
    runs_quick: int = 300
    batch: int = BATCH

    def outcomes(self, runs):
        """One number for each run."""
        found = []
        for batch, at in enumerate(range(0, runs, self.batch)):
            rng = np.random.default_rng(np.random.SeedSequence(zlib.crc32(self.name.encode()), spawn_key=(batch,)))
            found.append(np.asarray(self.test(self.null.sample(rng, self.batch), rng), dtype=float)[:runs - at])
        return np.concatenate(found)

    def measure(self, runs):
        """What each band says after so many runs."""
        outcomes = self.outcomes(runs)
        columns = outcomes.T if outcomes.ndim == 2 else [outcomes] * len(self.band)
        return [band.measure(column) for band, column in zip(self.band, columns, strict=True)]

    def declared(self, band, runs):
        """The cells of a line that are known before anything is run: (row, population, test, runs, measured)."""
        return self.name, self.null.name, str(self.test), f"{runs:,}", band.what


def slug(test):
    """A test's name and options in one word."""
    return "-".join(re.findall(r"[\w-]+", repr(test).replace("variant=", "").replace("=true", "")))
