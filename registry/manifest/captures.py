"""The names in braces that a pattern of files captures: `{team}/{system}.{run}.tsv`."""

from __future__ import annotations

import re

BRACES = re.compile(r"\{([^{}]*)\}")
COMPOSED = ("team", "system", "version", "test_set", "track")  # keys of a [[submit]] that captures can stand in
# captures that tell the replicates of one submission apart; a run is its system's own, all else is shared by systems
FACTORS = ("run", "prompt", "annotator", "seed")


def braces(text: str) -> list[str]:
    """The names in the braces of a text, in their order.

    >>> braces("{team}/{system}.{run}.tsv")
    ['team', 'system', 'run']
    """
    return BRACES.findall(text)
