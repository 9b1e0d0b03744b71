"""A leaderboard of more pairs than a page has room for."""

from dataclasses import replace
from functools import cache

import numpy as np

from registry.boards.leaderboard import Decisions
from tests.reports.boards import leaderboard

N = 210  # systems, of 21,945 pairs
NAMES = [f"system-{n}" for n in range(N)]


def repeated(value, times):
    """A column of one value; messages are a tuple, which is one value too."""
    column = np.empty(times, dtype=object)
    column.fill(value)
    return np.ma.MaskedArray(column, np.full(times, value is None))


@cache
def large():
    """A system's place is its score; two differ by their distance, significantly from 30 places on."""
    few = leaderboard(NAMES[:2])
    a, b = np.triu_indices(N, 1)
    (one,) = few.decisions
    columns = {key: repeated(value, len(a)) for key, value in one.row.items()}
    apart = b - a
    columns |= {"difference": apart / 1000, "p_value": 10.0**-apart, "p_adjusted": np.minimum(1, 5 * 10.0**-apart),
                "n_discordant": apart, "significant": apart >= 30}
    standings = [replace(few.standings[0], rank=n + 1, system=name, display_name=name, team=name,
                         submission=f"{name}/{name}@1", score=1 - n / 1000) for n, name in enumerate(NAMES)]
    comparison = few.comparison._replace(family_size=len(a))
    return replace(few, comparison=comparison, decisions=Decisions(a, b, columns), standings=tuple(standings))
