"""BibTeX entries of the program and of all works that it cites."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from registry.references import Reference, find_references
from registry.version import __version__

_PROGRAM = f"""\
@misc{{evalregistry,
  author = {{{{The evalregistry developers}}}},
  title = {{evalregistry: an evaluation registry for shared tasks}},
  version = {{{__version__}}},
  year = {{2026}},
  note = {{Scores, significance and leaderboards from per-item statistics}}
}}
"""


def format_citation() -> str:
    """Return the BibTeX entries of this program and of all works that it cites.

    A comment above entries says what the works are for.
    """
    uses: dict[Reference, dict[str, list[str]]] = {}
    for kind, name, citation in list_citations():
        for work in find_references(citation):
            uses.setdefault(work, {}).setdefault(kind, []).append(name)
    parts = [_PROGRAM]
    for description, works in groupby(uses, lambda work: _describe_uses(uses[work])):
        parts.append(f"% {description}\n" + "\n".join(work.bibtex for work in works))
    return "\n".join(parts)


def _describe_uses(uses: dict[str, list[str]]) -> str:
    """Return what a work is for, such as `Tests: sign, t; studies: correlation`."""
    text = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in uses.items())
    return text[0].upper() + text[1:]


def list_citations() -> Iterator[tuple[str, str, str]]:
    """Yield everything in the program that has sources, such as tests and metrics.

    Yields:
        The kind, the name and the sources.
    """
    from registry.boards.leaderboard import INTERVAL_METHODS
    from registry.metrics import METRICS
    from registry.reports.methods import RANK_METHODS
    from registry.significance import CORRECTIONS, TESTS
    from registry.significance.agreement import CITATIONS
    from registry.significance.overall import OVERALL_TESTS
    from registry.studies import RESOLVED_STUDIES, STUDIES

    yield from (("tests", name, test.citation) for name, test in TESTS.items())
    yield from (("tests", name, test.citation) for name, test in OVERALL_TESTS.items())
    yield from (("corrections", name, correction.citation) for name, correction in CORRECTIONS.items())
    yield from (("ranks", name, sentence) for name, sentence in RANK_METHODS.items())
    yield from (("intervals", name, method.citation) for name, method in INTERVAL_METHODS.items())
    yield from (("agreement", name, citation) for name, citation in CITATIONS.items())
    yield from (("metrics", name, metric.citation) for name, metric in METRICS.items())
    yield from (("studies", name, entry.load().citation) for name, entry in {**STUDIES, **RESOLVED_STUDIES}.items())
