"""Licences by their SPDX identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator

NONE_DECLARED = "No licence is declared: whoever wants to reuse the release has to ask the organisers."


def identifiers(expression: str) -> list[str]:
    """The identifiers in an SPDX expression, in their order.

    >>> identifiers("(CC-BY-4.0 OR LicenseRef-ours) AND Apache-2.0 WITH LLVM-exception")
    ['CC-BY-4.0', 'LicenseRef-ours', 'Apache-2.0', 'LLVM-exception']
    """
    found = re.findall(r"[A-Za-z0-9.+-]+", expression)
    return list(dict.fromkeys(name for name in found if name not in ("AND", "OR", "WITH")))


def is_listed(identifier: str) -> bool:
    """Whether SPDX lists the licence, rather than the organisers."""
    return not identifier.startswith("LicenseRef-")


def address(identifier: str) -> str:
    """Where SPDX has the text of a licence that it lists."""
    return f"https://spdx.org/licenses/{identifier.removesuffix('+')}"


def licence_files(expression: str | None) -> Iterator[tuple[str, str]]:
    """A file for each licence: its name and what it says."""
    for identifier in identifiers(expression or ""):
        where = f"Its text: {address(identifier)}.html" if is_listed(identifier) else \
            "SPDX does not list it; its text is the organisers' to give."
        yield f"LICENSES/{identifier}.txt", f"SPDX-License-Identifier: {identifier}\n\n{where}\n"
