"""Patterns of files, such as `{team}/{system}.tsv`, in manifests and on the command line.

A name in braces is a capture: it stands for one or more characters of the path except `/`. A capture that occurs twice
stands for the same text. `*` stands for any characters except `/`, and captures nothing. All other characters stand for
themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

BRACES = re.compile(r"\{([^{}]*)\}")
COMPOSED = ("team", "system", "version", "test_set", "track")  # keys of [[submit]] whose value may contain captures
# captures that distinguish replicates of one submission; all but `run` have the same meaning for all systems
FACTORS = ("run", "prompt", "annotator", "seed")
SYNONYMS = {"model": "system", "benchmark": "test_set"}
CAPTURES = (*COMPOSED, *FACTORS, *SYNONYMS)


class Match(NamedTuple):
    """File that matches a pattern.

    Attributes:
        path: Path of the file, relative to the folder of the search.
        captures: The text that each name in braces stands for.
        is_ambiguous: True if the path can be divided in several ways. The first names then have the longest texts.
    """

    path: Path
    captures: dict[str, str]
    is_ambiguous: bool


def list_captures(text: str) -> list[str]:
    """Return the names in braces in a pattern of files, in their order.

    >>> list_captures("{team}/{system}.{run}.tsv")
    ['team', 'system', 'run']
    """
    return BRACES.findall(text)


def find_matches(root: Path, parts: list[str], path: Path = Path(), captures: Mapping[str, str] | None = None, *,
                 is_ambiguous: bool = False, is_inside: bool = False) -> Iterator[Match]:
    """Yield the files and folders that match a pattern such as `{team}/{run}.tsv`.

    A name in braces does not match files and folders that begin with a dot.

    Args:
        root: The folder of the search.
        parts: The pattern, one part per level of folders.
        path: A folder relative to `root`, where the search begins.
        captures: The text that names in braces match in earlier parts of the pattern.
        is_ambiguous: True if earlier parts can be divided in several ways.
        is_inside: True to search no folder outside `root`, to which a symbolic link may lead.
    """
    captures = captures or {}
    if not parts:
        yield Match(path, dict(captures), is_ambiguous)
        return
    part, rest, folder = parts[0], parts[1:], root / path
    if not BRACES.search(part) and "*" not in part:
        if (folder / part).exists() or (folder / part).is_symlink():
            yield from find_matches(root, rest, path / part, captures, is_ambiguous=is_ambiguous, is_inside=is_inside)
        return
    if not folder.is_dir() or (is_inside and not folder.resolve().is_relative_to(root.resolve())):
        return
    lazy, greedy = (_make_expression(part, captures, quantifier) for quantifier in ("+?", "+"))
    for entry in sorted(folder.iterdir()):
        first, last = lazy.fullmatch(entry.name), greedy.fullmatch(entry.name)
        if not entry.name.startswith(".") and first and last:
            divided = is_ambiguous or first.groupdict() != last.groupdict()
            yield from find_matches(root, rest, path / entry.name, {**captures, **last.groupdict()},
                                    is_ambiguous=divided, is_inside=is_inside)


def assign_names(captures: Mapping[str, str], keys: Collection[str] = (), used: Collection[str] = ()) -> dict[str, str]:
    """Find out what the names in braces of a pattern mean, such as system and run.

    `{model}` means the system, and `{benchmark}` the test set. If the pattern has no name for the system, the run or
    the team is the system.

    Args:
        captures: The text that each name in braces stands for.
        keys: Names that have a value elsewhere, such as `system`.
        used: Captures that a value elsewhere contains, so that they have no meaning by themselves.

    >>> assign_names({"model": "aspen", "benchmark": "qa", "run": "1"})
    {'run': '1', 'system': 'aspen', 'test_set': 'qa'}
    >>> assign_names({"team": "birch", "run": "1"}), assign_names({"team": "birch", "run": "1"}, keys=["system"])
    ({'team': 'birch', 'system': 'run1'}, {'team': 'birch', 'run': '1'})
    """
    names = dict(captures)
    for synonym, name in SYNONYMS.items():
        if synonym in names and synonym not in used and name not in names:
            names[name] = names.pop(synonym)
    if "system" not in names and "system" not in keys:
        if "run" in names and "run" not in used:
            run = names.pop("run")
            names["system"] = f"run{run}" if run.isdecimal() else run
        elif "team" in names:
            names["system"] = names["team"]
    return names


def compile_glob(glob: str) -> re.Pattern[str]:
    """Convert a file name with wildcards to a regular expression.

    `*` matches any characters except `/`, and `?` matches one such character.
    """
    text = re.escape(glob.removeprefix("./")).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.compile(text, re.DOTALL)


def _make_expression(part: str, captures: Mapping[str, str], quantifier: str) -> re.Pattern[str]:
    """Convert part of a file pattern, such as `{system}.tsv`, to a regex.

    Args:
        part: The text between two slashes of the pattern.
        captures: The text that names in braces match in earlier parts. They must match the same text again.
        quantifier: The quantifier of new names in braces: `+`, or `+?` for the shortest match.
    """
    text, new = "", set[str]()
    for n, piece in enumerate(BRACES.split(part)):
        if n % 2 == 0:
            text += ".*".join(map(re.escape, piece.split("*")))
        elif piece in captures:
            text += re.escape(captures[piece])
        else:
            text += f"(?P={piece})" if piece in new else f"(?P<{piece}>.{quantifier})"
            new.add(piece)
    return re.compile(text, re.DOTALL)
