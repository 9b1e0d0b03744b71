"""Importer of HELM runs: a folder for every scenario and model.

The folder contains `per_instance_stats.json` and `run_spec.json`. A run may contain the same instances several times:
unchanged, and changed by perturbations. Each perturbation becomes a separate test set, because HELM reports it
separately. Trials, which have different examples in the prompt, become runs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from registry.errors import InputError
from registry.importers.base import (
    Place,
    Run,
    ScoreCollection,
    ScoredImporter,
    add_score,
    check_known,
    find_files,
    get_member,
    to_score,
)
from registry.manifest.folder import TaskFolder

_STATS, _SPEC = "per_instance_stats.json", "run_spec.json"
_NOT_OPTIONS = {"name", "robustness", "fairness", "computed_on", "seed"}  # of a perturbation
_MODEL = re.compile(r"[,:](model|model_deployment)=[^,]*")


class _Stat(NamedTuple):
    """Value of one HELM statistic (a metric) for one instance (an item).

    Attributes:
        version: What distinguishes several versions of the same items: the perturbation (change of the input), if any,
            and the split, if it is not `test`.
        trial: Number of the trial.
        item: Name of the instance.
        metric: Name of the statistic.
        score: Value of the statistic; None if HELM has not computed it.
    """

    version: tuple[str, ...]
    trial: int
    item: str
    metric: str
    score: Any


class Helm(ScoredImporter):
    """HELM: `per_instance_stats.json` of the runs below a folder.

    This importer makes a test set for each scenario, metric and perturbation (change of the input); instances are the
    items.

    Attributes:
        metrics: Names of the statistics to import, such as `exact_match`. Required, because most statistics of a run
            are not scores.
    """

    name = "helm"

    metrics: tuple[str, ...] = field(kw_only=True)

    def read(self, path: Path) -> TaskFolder:
        collection, known_metrics = ScoreCollection(path, self.missing, self.better), set[str]()
        files: dict[tuple[str, str], Path] = {}
        for file in find_files(path, lambda name: name.removesuffix(".gz") == _STATS, _STATS):
            scenario, model = _split_name(*collection.load_json(_find_spec(file)))
            if (first := files.setdefault((scenario, model), file)) is not file:
                raise InputError(f"this is a second run of {model!r} on {scenario!r}, after {first}; remove one of "
                                 "the two runs", path=file, category="duplicate")
            runs: dict[tuple[str, int], Run] = defaultdict(dict)
            entries, place = collection.load_json(file)
            for stat in _read_stats(entries, place):
                known_metrics.add(stat.metric)
                if stat.metric not in self.metrics:
                    continue
                score = to_score(stat.score)
                if score is None and stat.score is not None:
                    raise place.error(f"the mean of {stat.metric!r} is {stat.score!r}; expected a finite number",
                                      stat.item)
                add_score(runs[".".join([scenario, stat.metric, *stat.version]), stat.trial], stat.item, score, place,
                          f"{stat.item} ({stat.metric}, trial {stat.trial})")
            for (test_set, trial), run in sorted(runs.items()):
                collection.add_run(test_set, model, str(trial), run)
        check_known(self.metrics, known_metrics, "instance has the statistic", path)
        return collection.make_task()


def _find_spec(stats: Path) -> Path:
    plain, compressed = stats.with_name(_SPEC), stats.with_name(f"{_SPEC}.gz")
    return compressed if compressed.exists() and not plain.exists() else plain


def _split_name(spec: Any, place: Place) -> tuple[str, str]:
    """Split the name of a HELM run into its scenario and its model.

    Args:
        spec: Parsed `run_spec.json`.
        place: Path of this file, for errors.

    Returns:
        The scenario, such as "mmlu:subject=law", and the model.
    """
    name = get_member(spec, "name", kind=str, place=place)
    model = get_member(spec, "adapter_spec", "model", kind=str, place=place)
    scenario = _MODEL.sub(lambda match: ":" if match[0].startswith(":") else "", name)
    return scenario.replace(":,", ":").rstrip(":,"), model


def _read_stats(entries: Any, place: Place) -> Iterator[_Stat]:
    """Yield the value of every statistic (metric) for every instance (item).

    An instance may have several entries in the file, because each metric of HELM adds its own entry.

    Args:
        entries: Parsed `per_instance_stats.json`.
        place: Path of this file, for errors.
    """
    if not isinstance(entries, list):
        raise place.error("this is not a list of instances")
    for entry in entries:
        item = get_member(entry, "instance_id", kind=str, place=place)
        trial = get_member(entry, "train_trial_index", kind=int, place=place)
        perturbation = entry.get("perturbation")
        version = () if perturbation is None else (_name_perturbation(perturbation, place),)
        for stat in get_member(entry, "stats", kind=list, place=place):
            metric = get_member(stat, "name", "name", kind=str, place=place)
            split = stat["name"].get("split", "test")
            if not isinstance(split, str):
                raise place.error("'name.split' is not text", item)
            score = stat.get("mean") if get_member(stat, "count", kind=int, place=place) else None
            yield _Stat((*version, *(split,) * (split != "test")), trial, item, metric, score)


def _name_perturbation(perturbation: Any, place: Place) -> str:
    """Make a name for a perturbation, which is a change of the input, such as typos.

    The name includes the options: `{"name": "typos", "prob": 0.1}` gives "typos_prob-0.1".
    """
    name = get_member(perturbation, "name", kind=str, place=place)
    return "_".join([name, *(f"{key}-{value}" for key, value in sorted(perturbation.items()) if key not in _NOT_OPTIONS
                             and isinstance(value, str | int | float))])
