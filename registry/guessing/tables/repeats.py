"""Rows that repeat an item: runs or variants of it, which a column such as `epoch`, `seed` or `filter` numbers.

Counted as items of their own they multiply the number of items, and p-values become far too small.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from registry.guessing.guess import OPEN, Guess, QuestionError
from registry.guessing.looks import EVEN, Table, tables
from registry.guessing.tables.keys import is_id, together
from registry.readers import Document, Labels, Reader

_REPEATS = frozenset((  # in the names of columns that number or name repeated runs and variants of an item
    "attempt", "checkpoint", "completion", "epoch", "fewshot", "filter", "fold", "generation", "iter", "iteration",
    "prompt", "rep", "repeat", "repetition", "replica", "replicate", "retry", "rollout", "run", "sample", "seed",
    "shot", "temp", "temperature", "trial", "variant"))
_BESIDE = frozenset((  # the other words of such names: `n_shots`, `random_seed`, `prompt_template`
    "few", "i", "id", "idx", "index", "n", "name", "no", "nr", "num", "number", "random", "setting", "template"))
_OR_ITEMS = ("prompt", "sample")  # words of columns that may also name items, the likeliest first
_ITEMS = frozenset((  # names of columns that name items, besides those of identifiers
    "case", "doc", "docid", "document", "example", "instance", "item", "items", "name", "problem", "question",
    "sentence"))
_ROW_IS_ITEM = ("candidates", "labels", "multilabel", "scores", "texts")  # readers
_CROSSED = 0.5  # the share of all combinations of items and runs that a file has at least: some rows may be missing


class Rows(NamedTuple):
    """The names of the columns that name the items, and of the one that distinguishes the rows of an item."""

    items: tuple[str, ...]
    run: str


@dataclass(frozen=True)
class Repeats:
    """The rows of a guess that repeat items."""

    document: Document
    table: Table
    rows: Rows
    guess: Guess

    def question(self) -> QuestionError:
        """Say how often each item appears, and what to do; the option says that the rows are different items."""
        items, run = self.rows
        times = Counter(together(self.table, [self.table.names.index(name) for name in items]).cells)
        named = " and ".join(map(repr, items))
        how_often = f"each of {len(times)} {named} appears {min(times.values())} times" if len(
            {*times.values()}) == 1 else f"{len(times)} {named} appear in {times.total()} rows"
        is_one_table = len(self.guess.systems) > 1 and all(
            system.document.path == self.guess.gold.path for system in self.guess.systems)
        path = Path((self.guess.systems[0].document if self.guess.systems else self.document).path)
        remedy = f"write one row for each item, with the average of its rows or with one {run!r} alone" if (
            is_one_table) else (
            f"write a file for each system and {run!r} ({path.stem}.run1{path.suffix}, {path.stem}.run2{path.suffix}, "
            f"...), and --runs fixed averages the runs of a system, or compare the systems on one {run!r} alone" + (
                "; the gold has one row for each item then" if self.document is self.guess.gold
                and self.guess.has_gold_file else ""))
        return QuestionError(
            f"{how_often}, distinguished by column {run!r}, and runs or variants of an item are no items of their own: "
            f"{remedy}. If the rows are different items, say it:",
            {_item_options(self.guess.reader, self.rows): ""}, self.document.path)


def find_repeats(guesses: Sequence[Guess]) -> tuple[list[Guess], Repeats | None]:
    """Return the guesses whose rows are items, and the surest of those whose rows repeat items.

    A guess that is less sure than that one is no way out, nor is one that is as sure and knows no names of columns.
    """
    found = [(guess, _repeats_of(guess)) for guess in guesses]
    repeats = max((one for _, one in found if one is not None), key=lambda one: one.guess.sure, default=None)
    if repeats is None:
        return list(guesses), None
    clean = [guess for guess, one in found if one is None]
    return clean, None if any(guess.sure > repeats.guess.sure or (
        guess.sure == repeats.guess.sure and _key(guess.reader)) for guess in clean) else repeats


def _repeats_of(guess: Guess) -> Repeats | None:
    """Return the repeated items of the gold's table or a system's."""
    for document, reader in ((guess.gold, guess.reader), *((one.document, one.reader) for one in guess.systems)):
        key = _key(reader)
        if key is None:
            continue
        for table in (one for one in tables(document) if one.header and one.sure > OPEN and {*key} <= {*one.names}):
            if (rows := next(_rows(table, key), None)) is not None:
                return Repeats(document, table, rows, guess)
    return None


def _key(reader: Reader) -> tuple[str, ...] | None:
    """Return the names of the columns that name an item; None if rows are no items, or columns have no names."""
    columns = getattr(reader, "columns", ())
    if reader.name not in _ROW_IS_ITEM or columns not in ((), Labels.columns):
        return None
    item = getattr(reader, "item", ())
    return (*getattr(reader, "within", ()), *((item,) if isinstance(item, str) else item))


def _rows(table: Table, key: tuple[str, ...]) -> Iterator[Rows]:
    """Give the columns by which rows repeat items: those of the key, or others besides it."""
    places = {name: n for n, name in enumerate(table.names)}
    runs = sorted((name for name, n in places.items() if _names_runs(name) and len(table.column(n).values) > 1),
                  key=lambda name: [word in _words(name) for word in _OR_ITEMS])  # of samples and epochs, these first
    for run in (name for name in runs if len(key) > 1 and name in key):
        items = tuple(name for name in key if name != run)
        if not together(table, [places[name] for name in items]).is_key and _is_run(table, items, run):
            yield Rows(items, run)
    for run in (name for name in runs if name not in key):
        for name, n in places.items():
            if name != run and (is_id(name) or name.casefold() in _ITEMS) and not table.column(n).is_key and (
                    together(table, (n, places[run])).is_key) and _is_crossed(table, (name,), run):
                yield Rows((name,), run)


def _names_runs(name: str) -> bool:
    """Return whether a column is called as one of runs or variants.

    >>> [name for name in ("epoch", "randomSeed", "meta.n_shots", "run_time", "sentence") if _names_runs(name)]
    ['epoch', 'randomSeed', 'meta.n_shots']
    """
    words = _words(name)
    return bool(words & _REPEATS) and words <= _REPEATS | _BESIDE


def _words(name: str) -> set[str]:
    parts = re.findall("[a-z]+", re.sub("(?<=[a-z])(?=[A-Z])", "_", name.rpartition(".")[2]).casefold())
    return {word if word in _BESIDE else word.removesuffix("s") for word in parts}


def _is_run(table: Table, items: tuple[str, ...], run: str) -> bool:
    """Return whether a column of the key has runs: `sample_id` may also name the items of a document."""
    words = _words(run)
    return "id" not in words or words.isdisjoint(_OR_ITEMS) or _is_crossed(table, items, run, EVEN)


def _is_crossed(table: Table, items: tuple[str, ...], run: str, share: float = _CROSSED) -> bool:
    """Return whether the table has this share of all combinations of items and runs."""
    n_items = len(together(table, [table.names.index(name) for name in items]).values)
    n_runs = len(table.column(table.names.index(run)).values)
    return len(table.rows) >= share * n_items * n_runs


def _item_options(reader: Reader, rows: Rows) -> str:
    """Return the options by which all rows are items, by both columns."""
    *within, item = (*rows.items, rows.run)
    if isinstance(reader, Labels):
        return f"--option {quote(f'item={item}')} --option {quote(f'within={json.dumps(within, ensure_ascii=False)}')}"
    return f"--option {quote(f'item={json.dumps([*within, item], ensure_ascii=False)}')}"
