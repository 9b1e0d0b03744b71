"""Guesses tried on the files themselves: all are read, and all answers joined with the gold's items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from registry.columns import JoinedColumns
from registry.errors import InputError
from registry.evaluation.ingest.fit import Policies, fit_file
from registry.guessing.guess import Given, Guess, System, reworded
from registry.items import Answer, Item, by_key
from registry.missing import MissingPolicy
from registry.readers import Document, Reader

_AROUND = " \t\"'"  # what may stand around a label by mistake


class Trial:
    """Reads files as guesses say, each in each way once."""

    def __init__(self, missing: str) -> None:
        self._missing = MissingPolicy(missing)
        self._golds: dict[tuple[str, Reader], list[Item] | InputError] = {}
        self._joined: dict[tuple[Any, ...], JoinedColumns | InputError] = {}

    def problems(self, guess: Guess) -> list[InputError]:
        """What does not read or go together, one error for each file; nothing where the guess holds."""
        items = self.items(guess.gold, guess.reader)
        if isinstance(items, InputError):
            return [items]
        found = [(system, self.joined(guess, items, system)) for system in guess.systems]
        return [one if system.document.path != guess.gold.path
                else reworded(one, f"column {system.name!r}: {one.message}")
                for system, one in found if isinstance(one, InputError)]

    def items(self, gold: Document, reader: Reader) -> list[Item] | InputError:
        """The gold's items, or why it does not read."""
        key = (gold.path, reader)
        if key not in self._golds:
            try:
                items = reader.read_gold({"gold": gold})
                self._golds[key] = list(by_key(items, gold.path, reader.repeated, gold.report).values())
            except InputError as error:
                self._golds[key] = error
        return self._golds[key]

    def joined(self, guess: Guess, items: Sequence[Item], system: System) -> JoinedColumns | InputError:
        """A system's answers to the items, or why they do not go together."""
        key = (guess.gold.path, guess.reader, system.document.path, system.reader, system.tokens)
        if key not in self._joined:
            try:
                answers = system.reader.read_answers(system.document)
                metrics = (guess.metric,) if guess.metric and self._missing is MissingPolicy.REJECT else ()
                policies = Policies(self._missing, system.tokens, metrics)
                fitted = fit_file(items, answers, system.reader, policies, system.document)
                assert fitted is not None
                _check_marks(items, fitted.joined, system)
                self._joined[key] = fitted.joined
            except InputError as error:
                self._joined[key] = error
        return self._joined[key]

    def fitting(self, guess: Guess, items: Sequence[Item], given: Given, readers: Iterable[Reader]) -> System:
        """A system's file read by the first of some readers whose answers go with the items, else by the first."""
        tried = [System(given.name, given.document, reader) for reader in readers]
        return next((one for one in tried if not isinstance(self.joined(guess, items, one), InputError)), tried[0])

    def content(self, guess: Guess) -> str:
        """A digest of all that a board of the guess rests on: two guesses with the same one have the same board."""
        digest = sha256(f"{guess.reader.gives} {guess.metric!r} {guess.cluster}".encode())
        items = self.items(guess.gold, guess.reader)
        if isinstance(items, InputError):
            raise items
        _add(digest, [guess.reader.content(item.gold) for item in items])
        for system in guess.systems:
            joined = self.joined(guess, items, system)
            answers: Sequence[Answer | None] = () if isinstance(joined, InputError) else joined
            _add(digest, [None if answer is None else _content(system.reader, answer.value) for answer in answers])
        return digest.hexdigest()


def _check_marks(items: Sequence[Item], joined: JoinedColumns, system: System) -> None:
    """See that no label is one of the gold's but for blanks or quotes around it: it would count as another one.

    Raises:
        InputError: One is.
    """
    if system.reader.gives != "label":
        return
    right = {item.gold for item in items}
    plain = {label.strip(_AROUND): label for label in right}
    wrong = {label for label in joined.counts.keys() - right if label.strip(_AROUND) in plain}
    for one in joined.given if wrong else ():
        if one.value in wrong:
            raise InputError(f"label {one.value!r} differs from the gold's {plain[one.value.strip(_AROUND)]!r} in the "
                             "blanks or quotes around it alone, and would be another one; write all without these",
                             path=system.document.path, line=one.line, item=one.key)


def _content(reader: Reader, value: Any) -> Any:
    return value if reader.gives == "tree" else reader.content(value)


def _add(digest: Any, values: list[Any]) -> None:
    for value in values:
        digest.update(repr(value).encode(errors="surrogatepass") + b"\n")
