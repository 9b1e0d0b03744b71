"""Names of teams, systems, test sets and files in tasks that the program makes from files of users."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from registry.errors import InputError
from registry.files import avoid_reserved

_MAX_BYTES = 150  # of a file name, whose ending and temporary copy need more


def make_name(text: str) -> str:
    """Make a valid name of a team or system: `_` replaces the characters `/` and `@`.

    >>> make_name(" Grüße@2 "), make_name("a/b")
    ('Grüße_2', 'a_b')
    """
    return re.sub(r"[/@]", "_", unicodedata.normalize("NFC", text)).strip()


def split_model(model: str) -> dict[str, str]:
    """Split a model's name at the last slash into the names of team and system.

    >>> split_model("openai/gpt-4o"), split_model("aspen@2")
    ({'system': 'gpt-4o', 'team': 'openai'}, {'system': 'aspen_2'})
    """
    team, _, system = map(make_name, model.strip("/ ").rpartition("/"))
    return {"system": system, "team": team} if team else {"system": system}


def split_models(models: Iterable[str]) -> dict[str, dict[str, str]]:
    """Split the name of each model at the last slash into names of team and system.

    Raises:
        InputError: Two models would have the same name.
    """
    owners: dict[tuple[str, str], str] = {}
    names = {}
    for model in models:
        names[model] = name = split_model(model)
        owner = owners.setdefault((name.get("team", name["system"]), name["system"]), model)
        if owner != model:
            raise InputError(f"the systems {owner!r} and {model!r} would both get the name {name['system']!r}; rename "
                             "one")
    return names


def make_slug(text: str) -> str:
    """Convert a text to an id with only letters from a to z, digits and a few marks.

    The id is empty if the text has no such letter and no digit.

    >>> make_slug("Grüße 2"), make_slug("HumanEval+"), make_slug("日本")
    ('Grusse_2', 'HumanEvalplus', '')
    """
    letters = "".join(letter for letter in unicodedata.normalize("NFKD", text.replace("ß", "ss"))
                      if not unicodedata.combining(letter))
    return re.sub(r"[^A-Za-z0-9._-]+", "_", _spell_plus(letters)).lstrip("._-").rstrip("_")[:_MAX_BYTES]


def make_slugs(names: Iterable[str], path: Path) -> dict[str, str]:
    """Map the name of each test set to a distinct id.

    Args:
        names: The names.
        path: The imported folder or file, for errors.

    Raises:
        InputError: Two names have the same id, or a name has no letter from a to z and no digit.
    """
    owners: dict[str, str] = {}
    slugs = {}
    for name in names:
        if not (slug := make_slug(name)):
            raise InputError(f"the name of the test set {name!r} has no letter from a to z and no digit, so it cannot "
                             "make an id; rename the test set", path=path)
        if (owner := owners.setdefault(slug.lower(), name)) is not name:
            raise InputError(f"the test sets {owner!r} and {name!r} would both get the id {slug!r}; rename one",
                             path=path)
        slugs[name] = slug
    return slugs


def make_metric_id(name: str) -> str:
    """Return the id of a metric that has a common name; empty if the name has no letter from a to z and no digit.

    >>> make_metric_id("nDCG@10"), make_metric_id("F1 of A, B"), make_metric_id("chrF++")
    ('nDCG_10', 'F1-of-A-B', 'chrFpp')
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", name.replace("++", "pp").replace("@", "_")).strip("-._")


def name_files(names: Iterable[str]) -> dict[str, str]:
    """Map each name to a distinct file name without its ending.

    Letters of all scripts are kept. Names that would differ only in case get a number, because some systems do not
    distinguish them.

    >>> name_files(["Grüße", "模型", "Aspen", "aspen", "a/b", "!"])
    {'Grüße': 'Grüße', '模型': '模型', 'Aspen': 'Aspen', 'aspen': 'aspen-2', 'a/b': 'a_b', '!': 'file'}
    """
    used: set[str] = set()
    files = {}
    for name in names:
        spelled = re.sub(r"[^\w.-]+", "_", _spell_plus(unicodedata.normalize("NFC", name))).lstrip("._-")
        stem = avoid_reserved(spelled.encode()[:_MAX_BYTES].decode(errors="ignore").rstrip("_.") or "file")
        file, n = stem, 1
        while file.casefold() in used:
            n += 1
            file = f"{stem}-{n}"
        used.add(file.casefold())
        files[name] = file
    return files


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts names by the numbers in them: `v9` before `v10`."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text)]


def _spell_plus(name: str) -> str:
    return re.sub(r"\++$", lambda match: "plus" * len(match[0]), name)  # HumanEval+ is not HumanEval
