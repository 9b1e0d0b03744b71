"""Find similar names of teams and systems.

Similar names look the same or differ only in letter case. The registry treats such names as different teams or systems.
So a team with two spellings has two places on a leaderboard, and a team could imitate the name of another team. The
method is that of Unicode Technical Standard 39, with a smaller table: similar letters of Latin, Greek and Cyrillic
script, accents, compatibility forms such as full-width letters, blanks, dashes, and invisible characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

_MOST = 10  # largest number of pairs to list
_MOST_DIFFERENCES = 3  # largest number of differences to list for a pair
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_INVISIBLE = re.compile(  # characters that Unicode calls default ignorable
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff]")
_SHAPES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХҮԌԚԜ" "авеѕіјкмнорстухүһԁԛԝӏӀѵ" "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" "αεγηικνορτυχωϲϳ" "ıɑɡ‘’ʼ",
    "ABESIJKMHOPCTYXYGQW" "abesijkmhopctyxyhdqwllv" "ABEZHIKMNOPTYX" "aeynikvoptuxwcj" "iag'''")


@dataclass(frozen=True)
class SimilarNames:
    """Two names that look the same or differ only in letter case.

    Attributes:
        task: The task's id.
        first: The older name, if one of the two is already stored.
        second: The new name.
        team: The team whose systems have these names; None if teams have these names.
    """

    task: str
    first: str
    second: str
    team: str | None = None

    @property
    def warning(self) -> str:
        """A warning that the two names look the same, with advice."""
        kind, owner = ("team", "") if self.team is None else ("system", f" of {self.team!r}")
        fault = "differ only in letter case"
        if self.first.lower() != self.second.lower():
            fault = f"look alike ({_describe_differences(self.first, self.second)})"
        return (f"{self.task}: the {kind}s {self.first!r} and {self.second!r}{owner} {fault}; if they are one {kind}, "
                "write its name in one way, and `registry withdraw` the submissions under the other name")


def find_similar_names(task: str, old: Mapping[str, Collection[str]],
                       current: Mapping[str, Collection[str]]) -> list[SimilarNames]:
    """Find new names of teams and systems that look like another name.

    Args:
        task: The task's id.
        old: For each team, the names of its systems that are already stored.
        current: For each team, the names of all its systems, stored or new.
    """
    pairs = [SimilarNames(task, *pair) for pair in _find_pairs(old.keys(), current.keys())]
    for team, systems in current.items():
        pairs += [SimilarNames(task, *pair, team) for pair in _find_pairs(old.get(team, ()), systems)]
    return pairs


def warnings_about(pairs: Sequence[SimilarNames]) -> Iterator[str]:
    """Yield warnings about the first ten pairs of names, and count the other pairs."""
    yield from (pair.warning for pair in pairs[:_MOST])
    if len(pairs) > _MOST:
        yield f"{pairs[0].task}: {len(pairs) - _MOST} more pairs of names differ only in letter case or look alike"


def skeleton(name: str) -> str:
    """Return a normal form of a name: names that look the same have the same form.

    >>> skeleton("Аspen") == skeleton("aspen"), skeleton("Aspen") == skeleton("Ａｓｐｅｎ"), skeleton("Aspen 2")
    (True, True, 'aspen 2')
    """
    if not name.isascii():
        name = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", name))
        name = _MARKS.sub("", _INVISIBLE.sub("", name)).translate(_SHAPES)
        name = "".join("-" if unicodedata.category(c) == "Pd" else c for c in name)
    return unicodedata.normalize("NFKC", " ".join(name.split()).casefold())


def _find_pairs(old: Collection[str], current: Collection[str]) -> list[tuple[str, str]]:
    groups = defaultdict[str, list[str]](list)
    for name in sorted(current, key=lambda name: (name not in old, name)):
        for key in {skeleton(name), name.casefold()}:
            groups[key].append(name)
    pairs = {pair: None for group in groups.values() for pair in combinations(group, 2) if pair[1] not in old}
    return list(pairs)


def _describe_differences(first: str, second: str) -> str:
    parts = [(first[a:b], second[c:d]) for tag, a, b, c, d in SequenceMatcher(
        None, first, second, autojunk=False).get_opcodes() if tag != "equal"]
    shown = [f"{_describe_characters(a)} in one is {_describe_characters(b)} in the other"
             for a, b in parts[:_MOST_DIFFERENCES]]
    return ", ".join(shown) + (", and more" if len(parts) > _MOST_DIFFERENCES else "")


def _describe_characters(text: str) -> str:
    return " + ".join(f"U+{ord(c):04X} {unicodedata.name(c, 'without a name')}" for c in text) or "nothing"
