"""Importer of mt-metrics-eval's folders: scores of translations by people and by metrics.

Source of the format: https://github.com/google-research/mt-metrics-eval (README, "File organization and naming
convention"). The participants of the imported task are metrics, and the gold is people's scores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from registry.errors import InputError, counted, listed
from registry.importers.base import Importer, Sources, check_known, find_files, make_title
from registry.manifest.folder import TaskFolder
from registry.manifest.naming import name_files, split_model

_SCORES = ".seg.score"
_MOST_NAMED = 5


class MtMetricsEval(Importer):
    """mt-metrics-eval: folders human-scores, metric-scores and documents of one test set.

    This importer makes a test set for each language pair. People's scores are the gold, and every metric is a system.

    Attributes:
        pairs: Language pairs to import, such as en-de; empty for all.
        human: Name of people's scores, such as mqm; needed if a language pair has several.
        exclude: Systems whose translations are ignored, in addition to references that people judged like systems.
    """

    name = "mt-metrics-eval"

    pairs: tuple[str, ...] = ()
    human: str = ""
    exclude: tuple[str, ...] = ()

    def read(self, path: Path) -> TaskFolder:
        if not (path / "human-scores").is_dir():
            raise InputError("no folder human-scores in this folder; name the folder of one test set, such as wmt23",
                             path=path)
        available: dict[str, dict[str, Path]] = {}
        for file in find_files(path / "human-scores", lambda name: name.endswith(_SCORES), f"file called *{_SCORES}"):
            pair, _, human = file.name.removesuffix(_SCORES).partition(".")
            available.setdefault(pair, {})[human] = file
        check_known(self.pairs, available, "language pair", path)
        sources, files = Sources(path), dict[str, bytes]()
        tables: dict[str, list[dict[str, Any]]] = {"test_set": [], "submit": []}
        copies: dict[str, str] = {}

        def add_file(file: Path, name: str) -> str:
            document = sources.load(file)
            files[name], copies[name] = document.content, document.path
            return name

        for pair in self.pairs or available:
            test_set: dict[str, Any] = {
                "name": pair, "format": "mtme",
                "gold": add_file(self._choose_human(pair, available[pair], path), f"human-scores/{pair}{_SCORES}"),
                "options": {"exclude": [*_list_references(path, pair), *self.exclude]}}
            if (documents := path / "documents" / f"{pair}.docs").is_file():
                test_set |= {"attributes": add_file(documents, f"documents/{pair}.docs"), "cluster": "document"}
            tables["test_set"].append(test_set)
            metrics = {file.name.removesuffix(_SCORES): file for file in find_files(
                path / "metric-scores" / pair, lambda name: name.endswith(_SCORES), f"file called *{_SCORES}")}
            stems = name_files(metrics)
            tables["submit"] += [{"file": add_file(file, f"metric-scores/{pair}/{stems[name]}{_SCORES}"),
                                  "test_set": pair, **split_model(name)} for name, file in metrics.items()]
        return TaskFolder(
            {"task": {"title": make_title(path)}, "test_set": tables["test_set"],
             "metric": [{"name": "Pearson"}], "significance": {"resamples": 10_000}, "submit": tables["submit"]},
            files, sources.digests, advice=(
                "`registry study metrics {task}` compares the metrics by soft pairwise accuracy and other measures",),
            copies=copies)

    def _choose_human(self, pair: str, files: dict[str, Path], path: Path) -> Path:
        if self.human:
            check_known([self.human], files, f"human score of {pair}", path)
            return files[self.human]
        if len(files) > 1:
            raise InputError(f"{pair} has {counted(len(files), 'human score')}: {listed(sorted(files), _MOST_NAMED)}; "
                             f"choose one with --option human={min(files)}", path=path)
        return next(iter(files.values()))


def _list_references(path: Path, pair: str) -> list[str]:
    """Return the names of the references of a language pair, from files such as en-de.refA.txt."""
    return sorted(file.name.split(".")[-2] for file in (path / "references").glob(f"{pair}.*.txt"))
