"""Citations of tasks: BibTeX entries and CITATION.cff."""

from __future__ import annotations

import json
import re
import unicodedata

from registry.manifest.spec import Task
from registry.rendering.latex import escape_latex

CITATION = "CITATION.cff"

_BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_CITE = "If you use this shared task or its results, please cite it as below."


def bibtex(task: Task, date: str | None) -> str:
    """Return the BibTeX entry with which papers cite a task.

    `date` is the day of publication, such as `2026-03-01`; None: the entry has no year.
    """
    title = _make_line(task.title) or task.id
    authors = " and ".join(f"{{{_escape_bibtex(name)}}}" for name in task.organisers)
    citation = filter(None, [_escape_bibtex(task.citation or "")])
    fields = {
        "title": f"{{{_escape_bibtex(title)}}}", "author": authors, "year": (date or "")[:4],
        "url": re.sub(r"[{}\\]", lambda match: f"%{ord(match[0]):02X}", task.url or ""),
        "note": ". ".join((f"Shared task, version {_escape_bibtex(task.version)}", *citation))}
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{task.id}-{task.version},\n{lines}\n}}\n"


def citation_file(task: Task, date: str | None) -> str:
    """Return the content of CITATION.cff, the file with which papers cite a task.

    Args:
        task: The task. If it names no organisers, the author is "The organisers of" the task.
        date: The day of publication, such as `2026-03-01`; None: the file has no date.
    """
    title = _make_line(task.title) or task.id
    fields = {
        "cff-version": "1.2.0", "type": "dataset", "message": _make_line(task.citation or "") or _CITE,
        "title": title, "abstract": _make_line(task.description), "version": task.version, "date-released": date,
        "url": task.url, "license": _split_licences(task.licence),
        "keywords": ["shared task", "evaluation", "leaderboard"],
        "authors": [{"name": name} for name in task.organisers or [f"The organisers of {title}"]]}
    return "".join(_format_yaml(name, value) for name, value in fields.items() if value)


def _split_licences(licence: str | None) -> list[str] | None:
    """Split a licence such as `MIT OR Apache-2.0` into its identifiers.

    The result is None if a part is not an SPDX identifier, because CITATION.cff supports no other licences.
    """
    names = (licence or "").split(" OR ")
    return names if all(re.fullmatch(r"(?!LicenseRef-)[A-Za-z0-9.+-]+", name) for name in names) else None


def _format_yaml(name: str, value: str | list[str] | list[dict[str, str]]) -> str:
    if isinstance(value, str):
        return f"{name}: {_quote(value)}\n"
    return f"{name}:\n" + "".join(
        f"  - {_quote(entry)}\n" if isinstance(entry, str) else f"  - name: {_quote(entry['name'])}\n"
        for entry in value)


def _quote(text: str) -> str:
    return json.dumps(_make_line(text), ensure_ascii=False)


def _escape_bibtex(text: str) -> str:
    return "".join(_BRACES.get(c) or (escape_latex(c) if c.isascii() else c) for c in _make_line(text))


def _make_line(text: str) -> str:
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c) not in _INVISIBLE)
