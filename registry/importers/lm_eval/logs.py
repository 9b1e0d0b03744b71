"""Where the LM Evaluation Harness puts its logs: the samples of every task, and the results of the run beside them.

Results are found by their date: `results_DATE.json`, or `NAME_DATE.json` where `--output_path` was a file, so that the
runs of several models may share a folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from registry.errors import InputError
from registry.importers.files import Sources, find_files, objects, whole_json
from registry.importers.scored import Better, number
from registry.readers import Document

_FILE = re.compile(r"samples_(?P<task>.+)_(?P<date>[^_]+)\.jsonl(\.gz)?")
_RESULTS = re.compile(r".+_(?P<date>[^_]+)\.json(\.gz)?")


@dataclass(frozen=True)
class Log:
    """The samples of one task, and the results of the whole run that stand beside them."""

    path: Path
    task: str
    date: str
    results: Any

    @property
    def model(self) -> str:
        """The model's name, else that of the folder."""
        return self.result("model_name", of=str) or self.path.absolute().parent.name

    def result(self, *keys: str, of: type | tuple[type, ...]) -> Any:
        """What the results say under nested keys; None where they say nothing of the kind."""
        value = self.results
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, of) else None

    def score(self, metric: str, filter_: str, group: str | None = None) -> float | None:
        """The score that the results give the task, or a group of tasks."""
        of = ("results", self.task) if group is None else ("groups", group)
        return number(self.result(*of, f"{metric},{filter_}", of=(int, float)))

    @cached_property
    def filters(self) -> list[str]:
        """The filters that the results have scores of, in the order of theirs."""
        scores = self.result("results", self.task, of=dict) or {}
        return list(dict.fromkeys(key.partition(",")[2] for key in scores if "," in key))

    def better(self, metric: str) -> Better | None:
        """Which scores the results call the better ones."""
        higher = self.result("higher_is_better", self.task, metric, of=bool)
        return None if higher is None else "higher" if higher else "lower"


def is_log(file: Path) -> bool:
    """Return whether a file is called and written as the harness writes samples with their digests."""
    if _FILE.fullmatch(file.name) is None:
        return False
    try:
        sample, _ = next(objects(Document.load(file), nan=True), ({}, None))
    except InputError:
        return False
    return "doc_id" in sample and "doc_hash" in sample


def find_logs(sources: Sources, files: Sequence[Path] | None = None) -> list[Log]:
    """Return the logs of an import, or those of some files alone, with their results, which are read."""
    logs: list[Log] = []
    beside: dict[Path, dict[str, Path]] = {}
    read: dict[Path, Any] = {}
    for file in files or find_files(sources.path, lambda name: _FILE.fullmatch(name) is not None,
                                    "samples_TASK_DATE.jsonl, which lm_eval --log_samples writes,"):
        match = _FILE.fullmatch(file.name)
        if match is None:
            raise InputError("not called samples_TASK_DATE.jsonl, so that its task is unknown; name such a file, or "
                             "the folder of all", path=file)
        if file.parent not in beside:
            beside[file.parent] = _results_in(file.parent)
        results = beside[file.parent].get(match["date"])
        if results is not None and results not in read:
            read[results] = whole_json(sources.load(results))
        logs.append(Log(file, match["task"], match["date"], None if results is None else read[results]))
    return logs


def _results_in(folder: Path) -> dict[str, Path]:
    """The results in a folder, by their dates."""
    found = {match["date"]: file for file in sorted(folder.iterdir()) if (match := _RESULTS.fullmatch(file.name))}
    return {date: file for date, file in found.items() if file.is_file() and not file.is_symlink()}
