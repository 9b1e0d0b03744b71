"""Resampled training files: many slightly different systems of a few kinds (Berg-Kirkpatrick et al. 2012, 3.2.1).

A system trained on sentences that are drawn with replacement from its training file differs from the original one about
as much as a small improvement does. So a handful of implementations gives all the pairs that thresholds and curves
need, of the same model and of different ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import PurePath
from typing import Any

import numpy as np

from registry.errors import InputError
from registry.items import Item
from registry.manifest import toml
from registry.manifest.fields import check_name
from registry.readers import Document, Reader
from registry.significance.resampling.draws import TRAINING, stream
from registry.version import __version__

MANIFEST = "submissions.toml"
_CHECKS = 4
_MOST, _MOST_COPIES = 10**8, 10**5  # items of a sample, and samples of a size


@dataclass(frozen=True, eq=False)
class Training:
    """A training file as items that can be put together anew.

    Attributes:
        name: Of the file.
        digest: Of its bytes.
        before: The lines before the first item, such as a header.
        items: The lines of every item.
    """

    name: str
    digest: str
    before: str
    items: list[str]

    @classmethod
    def of(cls, document: Document, reader: Reader) -> Training:
        """Cut a file into items. Where blank lines part them, comments above an item belong to it.

        Raises:
            InputError: The file is not of the format, or items of it are no runs of lines.
        """
        gold = reader.read_gold({"gold": document})
        if not gold:
            raise InputError("there is no item to draw", path=document.path)
        lines = [f"{line}\n" for _, line in document.lines()]
        firsts = [item.line for item in gold]
        if any(first < 1 for first in firsts) or sorted(set(firsts)) != firsts:
            raise InputError(f"items of the format {reader.name!r} are no runs of lines, so the file cannot be put "
                             "together anew", path=document.path)
        parted = any(not lines[n].strip() for n in range(firsts[0], firsts[-1]))
        if parted and lines[-1].strip():
            lines.append("\n")  # the last item may come to stand before others
        starts = list(_starts(firsts, lines)) if parted else [first - 1 for first in firsts]
        cut = ["".join(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]
        name = PurePath(document.path).name
        found = cls(name.removesuffix(".gz"), document.digest, "".join(lines[:starts[0]]), cut)
        found._check(gold, reader)
        return found

    def drawn(self, places: Sequence[int]) -> bytes:
        """The file with these items, in this order."""
        return (self.before + "".join(self.items[n] for n in places)).encode()

    def _check(self, gold: Sequence[Item], reader: Reader) -> None:
        """Read random halves of the items in random order, and see that they are the same."""
        rng = np.random.Generator(stream(0, TRAINING))
        for _ in range(_CHECKS):
            places = rng.permutation(len(gold))[:(len(gold) + 1) // 2].tolist()
            try:
                again = reader.read_gold({"gold": Document(self.name, self.drawn(places))})
            except InputError:
                again = []
            if [reader.content(item.gold) for item in again] != [reader.content(gold[n].gold) for n in places]:
                raise InputError(f"items of the format {reader.name!r} are no runs of lines, so the file cannot be put "
                                 "together anew", path=self.name)


def _starts(firsts: Sequence[int], lines: Sequence[str]) -> Iterator[int]:
    """Where items that blank lines part begin, counted from 0: with what stands above their first line."""
    for before, first in zip([0, *firsts], firsts, strict=False):
        at = first - 1
        while at > before and lines[at - 1].strip():
            at -= 1
        yield at


def resampled(files: Sequence[Training], sizes: Sequence[int], copies: int, models: Sequence[str],
              seed: int) -> Iterator[tuple[str, bytes]]:
    """Give the resampled files by their paths, those of parallel files with the same items, and the manifest's stubs.

    A sample depends on the seed, its size and its number (from 1) alone.

    Args:
        files: The training file, or several that are parallel.
        sizes: The numbers of items to draw; none: as many as there are.
        copies: How many samples of each size.
        models: What is to be trained on each of them.
        seed: Of the draws.

    Raises:
        InputError: Parallel files have different numbers of items, a model's name is none, or nothing is asked for,
            or too much, or something twice.
    """
    n = len(files[0].items)
    for file in files:
        if len(file.items) != n:
            raise InputError(f"there are {len(file.items)} items, and {n} in {files[0].name}; parallel files have as "
                             "many", path=file.name)
    if len({file.name for file in files}) < len(files):
        raise InputError(f"two files are called {files[0].name}; rename one")
    for model in models:
        try:
            check_name(model)
        except ValueError as error:
            raise InputError(f"the model's name {error}") from None
    for asked, what in ((models, "the model"), (sizes, "the size")):
        if again := [one for one in asked if asked.count(one) > 1]:
            raise InputError(f"{what} {again[0]} is named twice; name it once")
    wanted = sizes or (n,)
    if copies < 1 or min(wanted) < 1:
        raise InputError("expected 1 copy or more, of 1 item or more")
    if copies > _MOST_COPIES or max(wanted) > _MOST:
        raise InputError(f"{copies} copies of {max(wanted)} items are too many; expected {_MOST_COPIES} or fewer, of "
                         f"{_MOST} or fewer")
    for size, copy in product(wanted, range(1, copies + 1)):
        places = np.random.Generator(stream(seed, TRAINING, size, copy)).integers(0, n, size).tolist()
        for file in files:
            yield f"train/{size}-{copy}/{file.name}", file.drawn(places)
    yield MANIFEST, _stubs(files, wanted, copies, models, seed)


def _stubs(files: Sequence[Training], sizes: Sequence[int], copies: int, models: Sequence[str], seed: int) -> bytes:
    head = [f"# Systems trained on samples that evalregistry {__version__} drew with replacement, seed {seed}, from",
            *(f"# {file.name} ({file.digest}, {len(file.items)} items)" for file in files),
            "# Put the output of each under `file`, and these tables into the manifest; studies group by `model`."]
    tables: list[Mapping[str, Any]] = [
        {"file": f"submissions/{model}.{size}-{copy}.out", "system": f"{model}-{size}-{copy}",
         "attributes": {"model": model, "training_size": size, "training_sample": copy, "training_seed": seed}}
        for model in models for size in sizes for copy in range(1, copies + 1)]
    return ("\n".join(head) + toml({"submit": tables})).encode()
