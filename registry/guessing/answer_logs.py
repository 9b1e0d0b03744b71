"""Logs of systems: files that all repeat the gold in a column and have each system's own answer in another one.

What else such a file has are settings of the program, times or flags, which vary little and may look like labels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.errors import InputError, listed
from registry.guessing.guess import Asked, Given, Guess
from registry.guessing.looks import MOST_COLUMNS, members_within, tables
from registry.guessing.records import records
from registry.guessing.tables.long import is_measure
from registry.guessing.tables.prose import is_reference
from registry.guessing.tables.roles import is_gold
from registry.readers import Document, Reader

_OUTPUTS = frozenset((  # in the names of columns of answers
    "completion", "completions", "generated", "generation", "generations", "hyp", "hypotheses", "hypothesis", "output",
    "outputs", "pred", "predict", "predicted", "prediction", "predictions", "preds", "response", "responses"))
_SHARED = 0.9  # the share of the gold's cells that all files have at least: some may lack items
_DEPTH = 2  # objects within an object whose members are columns
_N_SHOWN = 3  # other columns in a message


@dataclass(frozen=True)
class AnswerLog:
    """The columns of files that all repeat the gold.

    Attributes:
        first: The first file.
        golds: The columns called as a gold, which all files have with the same values.
        outputs: The columns called as answers, in all systems' files.
        others: All other columns.
        is_first_a_log: Whether the first file has answers too, and so may be a system's.
    """

    first: Document
    golds: tuple[str, ...]
    outputs: tuple[str, ...]
    others: tuple[str, ...]
    is_first_a_log: bool

    def allows(self, guess: Guess) -> bool:
        """Return whether a guess reads the gold's column and answers, or scores in a column called as a measure."""
        item = getattr(guess.reader, "item", None) or ()
        if not {*self.golds, *self.outputs}.isdisjoint([item] if isinstance(item, str) else item):
            return False
        right = _option(guess.reader, ("label", "text", "gold"))
        own = {_option(system.reader, ("label", "text", "score")) for system in guess.systems}
        if right is None and guess.reader.gives == "score":
            return all(map(is_measure, filter(None, own)))
        if len(guess.systems) > 1 and not own.isdisjoint(self.golds):  # the gold's copies
            return False
        return guess.reader.gives not in ("label", "answer", "score", "segment") or (
            right is not None and (right in self.golds or is_gold(right) or is_reference(right)))

    def error(self) -> InputError:
        """Say which columns have the gold and the answers, and how to choose them."""
        gold, output = self.golds[0], self.outputs[0]
        shown = f" ({listed(list(self.others), _N_SHOWN)})" if self.others else ""
        return self.first.error(
            f"all files repeat the gold in column {gold!r} and have the systems' answers in column {output!r}; no "
            f"other column{shown} has labels. Write a file of the items' names and {gold!r}, and one of names and "
            f"{output!r} for each system, and name the first: --gold FILE. If a column has the score of each answer, "
            "say --option score=COLUMN --option better=higher")

    def check_gold(self, guess: Guess) -> None:
        """Check that a guess does not take one system's log for the gold alone.

        Raises:
            InputError: It does, so that the first system would not be on the board.
        """
        if self.is_first_a_log and guess.has_gold_file:
            raise self.first.error(
                f"all files repeat the gold in column {self.golds[0]!r} and have the systems' answers in column "
                f"{self.outputs[0]!r}, so each is a system's: name the first one twice, as the gold and as a system: "
                f"registry quick {self.first.path} {self.first.path} OTHERS...")


def find_log(gold: Document, systems: Sequence[Given], asked: Asked) -> AnswerLog | None:
    """Return the columns of logs; None if the files are no such logs, or the user says which columns are meant."""
    if not systems or asked.kind is not None or asked.options:
        return None
    first, *others = (_columns(document) for document in (gold, *(one.document for one in systems)))
    golds = tuple(name for name, cells in first.items() if is_gold(name) and not is_measure(name) and len(
        {*cells}) > 1 and all(_repeats(name, first, of) for of in others))
    outputs = tuple(name for name in others[0] if _is_output(name) and all(name in of for of in others)
                    and any(len({*of[name]}) > 1 for of in others))
    if not golds or not outputs:
        return None
    rest = tuple(name for name in others[0] if name not in (*golds, *outputs) and len({*others[0][name]}) < len(
        others[0][name]))
    return AnswerLog(gold, golds, outputs, rest, outputs[0] in first)


def _option(reader: Reader, names: Sequence[str]) -> str | None:
    """Return the first of some options of a reader that names a column."""
    return next((value for name in names if isinstance(value := getattr(reader, name, None), str) and value), None)


def _is_output(name: str) -> bool:
    return not _OUTPUTS.isdisjoint(re.findall("[a-z]+", name.casefold()))


def _repeats(name: str, first: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]) -> bool:
    """Return whether two files have the same values in a column, of the items that both have."""
    if name not in other:
        return False
    keys = next((key for key, cells in first.items() if key != name and len({*cells}) == len(cells) and len(
        {*cells} & {*other.get(key, ())}) > _SHARED * min(len(cells), len(other.get(key, ())))), None)
    if keys is None:
        pairs = list(zip(first[name], other[name], strict=False))
    else:
        right = dict(zip(first[keys], first[name], strict=True))
        pairs = [(right[key], cell) for key, cell in zip(other[keys], other[name], strict=True) if key in right]
    return sum(cell == own for cell, own in pairs) >= _SHARED * len(pairs) > 0


def _columns(document: Document) -> dict[str, list[str]]:
    """Return a file's columns by their names; of JSON with lists too, written in JSON."""
    if (found := records(document)) is not None:
        rows = [dict(members_within(row, _DEPTH)) for row in found.rows]
        names = list(dict.fromkeys(name for row in rows for name in row))[:MOST_COLUMNS]
        return {name: [json.dumps(row.get(name), default=str) for row in rows] for name in names}
    table = next((one for one in tables(document) if one.header), None)
    return {} if table is None else {name: table.column(n).cells for n, name in enumerate(table.names)}
