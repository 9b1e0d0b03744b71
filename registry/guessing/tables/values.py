"""What the values of items are: labels or numbers. Whole numbers may be either, and then the user has to say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from statistics import mean
from typing import Any

from registry.errors import listed
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked
from registry.guessing.looks import WORDS, is_number, is_other_number
from registry.guessing.words import n_words
from registry.metrics import Metric, Spearman
from registry.readers.bio import is_tag

_SHOWN, _SHORT = 5, 40  # values in a message, and characters of one
_BETWEEN = re.compile(r"[\s,;|]+")  # several answers
_MARK = re.compile(r"[,;|]")
_LIST = re.compile(r"\[.*\]")
_MOST = 0.9  # the share of cells that are of one kind, of which the others are rather mistakes
_QUOTED = re.compile(r'"[+-]?[\d.]+"')  # numbers as words, where quotes belong to the cells
_TWO = 2  # values, of which either stands for yes
_FEW = 10  # items; of more, labels that are mostly different ones may be words of a text


@dataclass(frozen=True)
class Kind:
    """A format that the values fit, and why.

    Attributes:
        format: The reader.
        sure: How sure it is.
        means: What they are taken for, as a question says it.
        why: What it rests on.
        metric: The metric of the gold's values and the systems', where it is not the usual one of the format's.
    """

    format: str
    sure: int
    means: str
    why: str
    metric: Metric | None = None


def kinds(right: Sequence[str], answers: Sequence[Sequence[str]], asked: Asked) -> Iterator[Kind]:
    """Say what the gold's values and the systems' may be, as far as the user leaves it open."""
    labels, numbers = (asked.allows(name, gives) for name, gives in (("labels", "label"), ("scores", "score")))
    values, given = frozenset(right), frozenset(cell for cells in answers for cell in cells)
    same = renamed("labels", values, given).get("rename", {}) if labels else {}
    given = frozenset(same.get(cell, cell) for cell in given)
    shown = listed(sorted(values), _SHOWN)
    as_labels = f"the gold has {len(values)}: {shown}"
    numeric = all(map(is_number, values)) and (all(map(is_number, given - {""})) or _are_decimals(values))
    if not numeric:
        if labels:
            common = {value.casefold() for value in values} & {value.casefold() for value in given}
            if _are_decimals(values) or (any(map(is_other_number, values)) and all(
                    is_number(value) or is_other_number(value) for value in values)):
                return  # numbers, though not all, or not as they are read
            if not common and (all(map(is_number, given - {""})) or several(values, list(given)) or all(
                    map(_LIST.fullmatch, values))):
                return  # how sure a system is, at best, or several answers
            mostly_unlike = 2 * len(values) > len(right)
            is_text = asked.kind is None and mostly_unlike and mean(map(n_words, right)) >= WORDS
            are_sets = asked.kind is None and _are_sets(values)
            odd = _odd(right, answers) if numbers else None
            is_unlike = mostly_unlike and len(right) > _FEW
            is_worded = asked.kind is None and is_unlike and 2 * sum(len(cell.split()) > 1 for cell in right) >= len(
                right)  # texts of few words, or words in parts
            is_open = is_text or is_worded or not common or are_sets or odd
            sure = OPEN if is_open else LIKELY if is_unlike else SURE
            yield Kind("labels", sure, f"labels of items ({shown})" + (
                ", right where every letter is the gold's"
                if is_text or is_worded else ", each combination one of its own; as sets, write those of each as "
                '{"item": "a", "answers": ["x", "y"]} on a line, of gold and systems (--as responses)'
                if are_sets else f"; {odd}" if odd else ""), as_labels)
        return
    sure_of_labels, sure_of_numbers = _sure(values, frozenset(filter(is_number, given)))
    if labels != numbers:
        sure_of_labels = sure_of_numbers = SURE  # the user has said so
    if labels and sure_of_labels is not None and (not numbers or {*map(str.strip, values)} & {*map(str.strip, given)}):
        yield Kind("labels", sure_of_labels, f"they are names of classes ({shown})", as_labels)
    if numbers and sure_of_numbers is not None:
        yield Kind("scores", sure_of_numbers, f"they are numbers, of which more is more ({shown})",
                   f"numbers, {len(values)} different ones: {shown}", Spearman())


def _odd(right: Sequence[str], answers: Sequence[Sequence[str]]) -> str | None:
    """What seems to be a mistake, in words: nearly all cells are numbers or tags, or all are numbers in quotes."""
    if len({*right}) > _TWO and all(map(_QUOTED.fullmatch, right)):
        return "they are numbers, but for the quotes"
    for cells in (right, *answers):
        filled = [cell for cell in cells if cell.strip()]
        for is_one, what in ((is_number, "numbers"), (is_tag, "tags of tokens")):
            others = [cell for cell in filled if not is_one(cell)]
            if 0 < len(others) <= (1 - _MOST) * len(filled):
                return f"nearly all are {what}, and {others[0][:_SHORT]!r} is none"
    return None


def several(right: Set[str], cells: Sequence[str]) -> str | None:
    """A cell of systems' that mostly have several of the gold's labels, between blanks or marks; None where few do."""
    parts = {cell: _BETWEEN.split(cell.strip()) for cell in cells}
    found = [cell for cell, of in parts.items() if len(of) > 1 and right >= set(of)]
    return found[0] if found and not right & parts.keys() and 2 * len(found) > len(parts) else None


def _are_sets(values: Set[str]) -> bool:
    """Whether values seem to be several labels each, between marks: most of these stand in other values as well."""
    parts = {value: {part.strip() for part in _MARK.split(value)} for value in values}
    several = [of for of in parts.values() if len(of) > 1]
    times = Counter(part for of in parts.values() for part in of)
    again = [times[part] > 1 for part in set().union(*several)]
    return len(several) > 1 and 2 * sum(again) > len(again)


def renamed(format_: str, right: Set[str], given: Set[str]) -> dict[str, Any]:
    """The option by which labels that are whole numbers are the gold's, however they are written.

    >>> renamed("labels", {"1", "0"}, {"1.0", "0"}), renamed("labels", {"1", "0"}, {"1.0", "0.5"})
    ({'rename': {'1.0': '1'}}, {})
    """
    known = {_whole(value): value for value in right if is_number(value)}
    others = sorted(cell for cell in given - right if is_number(cell))
    if format_ != "labels" or len(known) < sum(map(is_number, right)) or not all(
            float(cell).is_integer() for cell in others):  # both are labels of their own, or numbers are meant
        return {}
    same = {cell: known[_whole(cell)] for cell in others if _whole(cell) in known}
    return {"rename": same} if same else {}


def _whole(cell: str) -> str:
    return re.sub(r"\.0*$", "", cell)


def _are_decimals(values: Set[str]) -> bool:
    """Whether most values are numbers that are not whole: labels are no such, whatever else stands among them."""
    return 2 * sum(is_number(value) and not float(value).is_integer() for value in values) > len(values)


def _sure(values: frozenset[str], given: frozenset[str]) -> tuple[int | None, int | None]:
    """How sure it is that values which all are numbers are labels, and that they are meant as numbers."""
    whole, given_whole = (all(float(cell).is_integer() for cell in cells - {""}) for cells in (values, given))
    if not whole:
        return None, SURE
    if len(values) <= _TWO:  # right and wrong, or yes and no
        return (SURE, None) if given - {""} <= values else (OPEN, OPEN)
    if not given_whole:
        return None, SURE
    return LIKELY, LIKELY
