"""The logs of Inspect as files: `.eval`, a zip file of JSON for every evaluation, or the same as one JSON file.

The format is no frozen specification; what is one is `inspect_ai.log.read_eval_log`, so that Inspect itself reads the
logs where it is installed. Elsewhere they are read as Inspect now writes them. Either way a log is its header, its
samples, and what their epochs were reduced to, as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from registry.importers.archive import Archive
from registry.importers.files import Place, find_files, member, whole_json
from registry.readers import Document

_HEADER, _SUMMARIES, _REDUCTIONS = "header.json", "summaries.json", "reductions.json"
_NAME = re.compile(r".+\.eval|\d{4}-\d\d-\d\dT.*_.*\.json")  # of JSON files the date tells
Sample = tuple[dict[str, Any], Place]


def log_files(path: Path) -> list[Path]:
    """The logs at a path: `*.eval`, and `DATE_TASK_ID.json`."""
    return find_files(path, lambda name: _NAME.fullmatch(name) is not None, "log called *.eval or DATE_TASK_ID.json")


class LogFile(ABC):
    """One log. `header` says what was evaluated and what came of it, and `place` where that stands."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @classmethod
    def of(cls, file: Path, folder: Path) -> LogFile:
        """Open a log by what is installed and what it is.

        Raises:
            InputError: It is no log of Inspect.
        """
        document = Document.load(file, folder)
        plain: LogFile = _Json(document) if document.content.lstrip()[:1] == b"{" else _Zipped(document)
        if importlib.util.find_spec("inspect_ai") is None:
            return plain
        plain.check()  # Inspect itself may end the whole process on what is nested deeply, and knows no bounds
        return _ReadByInspect(document, file)

    @property
    def place(self) -> Place:
        """Where the header stands."""
        return Place(self.document.path)

    @property
    @abstractmethod
    def header(self) -> Any:
        """What was evaluated, how it ended, and the results."""

    @abstractmethod
    def entries(self, *, in_full: bool) -> Iterator[tuple[Any, Place]]:
        """Give the samples, or their summaries where it need not be `in_full`, and where they stand."""

    @abstractmethod
    def reductions(self) -> Any:
        """What every scorer's epochs were reduced to, by each reducer; None where nothing was."""

    @abstractmethod
    def check(self) -> None:
        """See that all of it is JSON that does not unfold to more than is read.

        Raises:
            InputError: It is not.
        """

    def samples(self, *, in_full: bool) -> list[Sample]:
        """Give the samples as objects, in the order of the data set where the header has it.

        Raises:
            InputError: One is none.
        """
        found: list[Sample] = []
        for sample, place in self.entries(in_full=in_full):
            if not isinstance(sample, dict):
                raise place.error("a sample is no object")
            found.append((sample, place))
        evaluated = self.header.get("eval")
        of = evaluated.get("dataset") if isinstance(evaluated, dict) else None
        names = of.get("sample_ids") if isinstance(of, dict) else None
        order = {str(name): n for n, name in enumerate(names if isinstance(names, list) else [])}
        found.sort(key=lambda entry: order.get(str(entry[0].get("id")), len(order)))
        return found


class _Zipped(LogFile):
    """A `.eval` file."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._archive = Archive(document)
        if _HEADER not in self._archive.names:
            raise document.error(f"no member {_HEADER!r}: no log of Inspect, or the evaluation has not ended")

    @property
    def place(self) -> Place:
        return Place(self._archive.member_path(_HEADER))

    @cached_property
    def header(self) -> Any:
        return self._archive.json(_HEADER)

    def entries(self, *, in_full: bool) -> Iterator[tuple[Any, Place]]:
        names = self._archive.names
        if _SUMMARIES in names and not in_full:
            place = Place(self._archive.member_path(_SUMMARIES))
            yield from ((entry, place) for entry in _listed(self._archive.json(_SUMMARIES), place, "samples"))
            return
        for name in names:
            if name.startswith("samples/") and name.endswith(".json"):
                yield self._archive.json(name), Place(self._archive.member_path(name))

    def reductions(self) -> Any:
        return self._archive.json(_REDUCTIONS) if _REDUCTIONS in self._archive.names else None

    def check(self) -> None:
        self._archive.check()


class _Json(LogFile):
    """A log that is one JSON file."""

    @cached_property
    def whole(self) -> Any:
        """All of it."""
        return whole_json(self.document)

    @property
    def header(self) -> Any:
        return self.whole

    def entries(self, *, in_full: bool) -> Iterator[tuple[Any, Place]]:  # noqa: ARG002
        samples = self.whole.get("samples") or []
        yield from ((entry, self.place) for entry in _listed(samples, self.place, "samples"))

    def reductions(self) -> Any:
        return self.whole.get("reductions")

    def check(self) -> None:
        member(self.header, "eval", of=dict, place=self.place)


class _ReadByInspect(_Json):
    """A log of either kind, as the Inspect that is installed reads it."""

    def __init__(self, document: Document, file: Path) -> None:
        super().__init__(document)
        self._file = str(file)

    @cached_property
    def header(self) -> Any:
        return self._read(header_only=True)

    @cached_property
    def whole(self) -> Any:
        return self._read(header_only=False)

    def _read(self, *, header_only: bool) -> Any:
        from inspect_ai.log import read_eval_log

        try:
            log = read_eval_log(self._file, header_only=header_only)
            return json.loads(log.model_dump_json(exclude={"samples": {"__all__": _TRANSCRIPT}}))
        except Exception as error:
            raise self.document.error("Inspect cannot read this log: "
                                      f"{str(error).partition(chr(10))[0][:200]}") from None


_TRANSCRIPT = {"messages", "events", "attachments", "store", "output", "events_data"}  # large, and not looked at


def _listed(value: Any, place: Place, of: str) -> list[Any]:
    if not isinstance(value, list):
        raise place.error(f"not a list of {of}")
    return value
