"""What is remarkable about submissions, as footnotes of the boards that they stand on."""

from __future__ import annotations

from collections.abc import Sequence

from registry.errors import counted

_NAMED = 5  # systems in a footnote


def footnotes(standings: Sequence[tuple[str, Sequence[str]]], among: str = "") -> tuple[str, ...]:
    """A sentence for each remark, with the names of the systems that it is about.

    Remarks count in all items of a test set; `among` says so where a board has some of them only.

    >>> footnotes([("a", ["came twice"]), ("b", ["came twice", "left"])])
    ('a, b: came twice.', 'b: left.')
    """
    about: dict[str, list[str]] = {}
    for system, remarks in standings:
        for remark in remarks:
            about.setdefault(remark, []).append(system)
    return tuple(f"{_names(systems)}{among}: {remark.rstrip('?.')}{'?' if remark.endswith('?') else '.'}"
                 for remark, systems in about.items())


def _names(systems: Sequence[str]) -> str:
    more = len(systems) - _NAMED
    return ", ".join(systems[:_NAMED]) + (f" and {counted(more, 'more system')}" if more > 0 else "")
