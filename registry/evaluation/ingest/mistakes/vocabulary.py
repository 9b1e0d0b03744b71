"""Labels and types that a submission has and the gold has not: whatever they are, they count as wrong.

Most often they are the gold's, called otherwise. Where the gold's own names are so many that new ones are to be
expected, as the answers to questions are, a name is told of only if it is more frequent than that explains: as many
answers as have a name that stands once are to be expected to have a new one (Good 1953, "The population frequencies of
species and the estimation of population parameters"); or if no name is the gold's, and a tenth are but for case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from registry.columns import JoinedColumns
from registry.errors import counted, listed, nearest
from registry.identity import canonical_json
from registry.items import Answer, Item
from registry.messages import Message
from registry.readers.names import NamedReader, by_case

_SHOWN = 5  # names in a message
_FEW = 10  # answers with a name; of more, about as many with another one tell that it is the same


@dataclass(frozen=True)
class Strangers:
    """The names of a submission that the gold never has.

    Attributes:
        reader: Of the submission.
        gold: How often each name stands in the gold.
        given: How often each stands in the submission.
        strange: How often those do that the gold has not, as far as that is remarkable.
    """

    reader: NamedReader
    gold: Mapping[str, int]
    given: Mapping[str, int]
    strange: Mapping[str, int]

    @property
    def all(self) -> bool:
        """Whether the submission has no name in common with the gold."""
        return not self.given.keys() & self.gold.keys()

    @property
    def message(self) -> Message:
        """The warning: which names they are, and what they may mean."""
        name, n, of = self.reader.named, sum(self.strange.values()), sum(self.given.values())
        shown = listed(
            [f"{name!r} ({counted(n, 'time')}{self._guess(name)})" for name, n in self.strange.items()], _SHOWN)
        parameters: dict[str, Any] = {"kind": name, "n": n, "answers": of, "names": shown}
        if self.all:
            gold = sorted(self.gold, key=lambda known: (-self.gold[known], known))
            parameters["gold"] = listed(list(map(repr, gold)), _SHOWN)
        return Message("unknown-names", parameters)

    @property
    def advice(self) -> str:
        """What to do about them."""
        likely = self.likely
        if likely and all(old.casefold() == new.casefold() for old, new in likely.items()):
            advice = "if they are the same, set the submission's option fold_case = true"
        else:
            pairs = list(likely.items())[:_SHOWN] or [(next(iter(self.strange)), "...")]
            table = ", ".join(f"{_key(old)} = {canonical_json(new)}" for old, new in pairs)
            advice = f"if they are the gold's, called otherwise, set the submission's option rename = {{ {table} }}"
        return advice + (', else unknown = "accept"' if self.all else "")

    @cached_property
    def likely(self) -> dict[str, str]:
        """The names of the gold that strange ones may stand for."""
        folded, absent = by_case(self.gold), sorted(self.gold.keys() - self.given.keys())
        found = {}
        for name in self.strange:
            if near := [folded[name.casefold()]] if name.casefold() in folded else nearest(name, absent):
                found[name] = near[0]
        if not found and len(self.strange) == len(absent) == 1:  # one name too many here, and one too few
            (name,), (gold,) = self.strange, absent
            if 0.5 < self.strange[name] / max(self.gold[gold], 1) < 2 and self.gold[gold] > _FEW:
                found[name] = gold
        return found

    def _guess(self, name: str) -> str:
        if name not in self.likely:
            return ""
        same = self.likely[name].casefold() == name.casefold()
        return f"; the gold has {self.likely[name]!r}" if same else f"; the gold's {self.likely[name]!r}?"


def strangers(items: Sequence[Item], answers: Sequence[Answer], reader: NamedReader) -> Strangers | None:
    """Find the names of a submission's answers that no answer of the gold has; None where there are none to tell of."""
    gold = reader.names(item.gold for item in items)
    known = {**dict.fromkeys(reader.declared_names(), 0), **gold}
    given = answers.counts if isinstance(answers, JoinedColumns) else reader.names(answer.value for answer in answers)
    strange = Counter(dict(_remarkable(known, given)))
    return Strangers(reader, known, given, dict(strange.most_common())) if strange else None


def _remarkable(gold: Mapping[str, int], given: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    once, folded = list(gold.values()).count(1), by_case(gold)
    strange = sorted(given.keys() - gold.keys())
    are_all = len(strange) == len(given) and 10 * sum(name.casefold() in folded for name in strange) >= len(strange)
    for name in strange:
        same = folded.get(name.casefold())
        if given[name] > once or (same is not None and (are_all or gold[same] > 1)):
            yield name, given[name]


def _key(name: str) -> str:
    """A key as TOML writes it."""
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else canonical_json(name)
