"""How to cite a task: an entry for BibTeX, and CITATION.cff (Citation File Format 1.2.0, Druskat et al. 2021).

Both say what the manifest declares of the task. Texts are escaped, so that they can be nothing but text: BibTeX counts
braces even where TeX does not, and YAML takes what JSON writes in double quotes.
"""

from __future__ import annotations

import json
import re
import unicodedata

from registry.manifest.spec import Task
from registry.rendering.latex import escape

CITATION = "CITATION.cff"

_BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_CITE = "If you use this shared task or its results, please cite it as below."


def bibtex(task: Task, date: str | None) -> str:
    """An entry of BibTeX; `date` is the day of publication, as ISO 8601 writes it."""
    title = _plain(task.title) or task.id
    authors = " and ".join(f"{{{_tex(name)}}}" for name in task.organisers)
    cited = filter(None, [_tex(task.citation or "")])
    fields = {
        "title": f"{{{_tex(title)}}}", "author": authors, "year": (date or "")[:4],
        "url": re.sub(r"[{}\\]", lambda found: f"%{ord(found[0]):02X}", task.url or ""),
        "note": ". ".join((f"Shared task, version {_tex(task.version)}", *cited))}
    written = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{task.id}-{task.version},\n{written}\n}}\n"


def citation_file(task: Task, date: str | None) -> str:
    """CITATION.cff, of a data set; without organisers its author is "The organisers of" the task."""
    title = _plain(task.title) or task.id
    fields = {
        "cff-version": "1.2.0", "type": "dataset", "message": _plain(task.citation or "") or _CITE,
        "title": title, "abstract": _plain(task.description), "version": task.version, "date-released": date,
        "url": task.url, "license": _listed(task.licence), "keywords": ["shared task", "evaluation", "leaderboard"],
        "authors": [{"name": name} for name in task.organisers or [f"The organisers of {title}"]]}
    return "".join(_yaml(name, value) for name, value in fields.items() if value)


def _listed(licence: str | None) -> list[str] | None:
    """The licences between which there is a choice, all of which SPDX lists: what the format can say of them."""
    names = (licence or "").split(" OR ")
    return names if all(re.fullmatch(r"(?!LicenseRef-)[A-Za-z0-9.+-]+", name) for name in names) else None


def _yaml(name: str, value: str | list[str] | list[dict[str, str]]) -> str:
    if isinstance(value, str):
        return f"{name}: {_quoted(value)}\n"
    return f"{name}:\n" + "".join(
        f"  - {_quoted(one)}\n" if isinstance(one, str) else f"  - name: {_quoted(one['name'])}\n" for one in value)


def _quoted(text: str) -> str:
    return json.dumps(_plain(text), ensure_ascii=False)


def _tex(text: str) -> str:
    return "".join(_BRACES.get(c) or (escape(c) if c.isascii() else c) for c in _plain(text))


def _plain(text: str) -> str:
    """A text on one line, without what cannot be seen."""
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c) not in _INVISIBLE)
