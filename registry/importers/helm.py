"""The runs of HELM: a folder for every scenario and model, with `per_instance_stats.json` and `run_spec.json`.

A run may hold its instances several times: as they are and perturbed in several ways, which are test sets of their own,
as HELM reports them apart; and in several trials with other examples in the prompt, which are runs.
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
    Collected,
    Place,
    Run,
    ScoredImporter,
    check_known,
    find_files,
    get_member,
    make_duplicate_error,
    to_score,
)
from registry.manifest.folder import TaskFolder

_STATS, _SPEC = "per_instance_stats.json", "run_spec.json"
_NOT_OPTIONS = {"name", "robustness", "fairness", "computed_on", "seed"}  # of a perturbation
_MODEL = re.compile(r"[,:](model|model_deployment)=[^,]*")


class _Stat(NamedTuple):
    """One statistic of one instance; `version` says how it was perturbed and of which split it is, if not of `test`."""

    version: tuple[str, ...]
    trial: int
    item: str
    metric: str
    score: Any


class Helm(ScoredImporter):
    """HELM: `per_instance_stats.json` of the runs below a folder.

    Attributes:
        metrics: The statistics that are scores, such as `exact_match`; most of a run's are not.
    """

    name = "helm"

    metrics: tuple[str, ...] = field(kw_only=True)

    def read(self, path: Path) -> TaskFolder:
        collected, known = Collected(path, self.missing, self.better), set[str]()
        read: dict[tuple[str, str], Path] = {}
        for file in find_files(path, lambda name: name.removesuffix(".gz") == _STATS, _STATS):
            scenario, model = _split_name(*collected.load_json(_load_spec(file)))
            if (first := read.setdefault((scenario, model), file)) is not file:
                raise InputError(f"a run of {model!r} on {scenario!r}, as {first} is; keep one", path=file,
                                 category="duplicate")
            runs: dict[tuple[str, int], Run] = defaultdict(dict)
            entries, place = collected.load_json(file)
            for stat in _read_stats(entries, place):
                known.add(stat.metric)
                if stat.metric not in self.metrics:
                    continue
                run = runs[".".join([scenario, stat.metric, *stat.version]), stat.trial]
                score = to_score(stat.score)
                if score is None and stat.score is not None:
                    raise place.error(f"the mean of {stat.metric!r} is {stat.score!r}; expected a finite number",
                                      stat.item)
                if stat.item in run:
                    raise make_duplicate_error(f"{stat.item} ({stat.metric}, trial {stat.trial})", place, place)
                run[stat.item] = (score, place)
            for (test_set, trial), run in sorted(runs.items()):
                collected.add(test_set, model, str(trial), run)
        check_known(self.metrics, known, "instance has the statistic", path)
        return collected.make_task()


def _load_spec(stats: Path) -> Path:
    """Load the specification of a run, which may be compressed."""
    plain, compressed = stats.with_name(_SPEC), stats.with_name(f"{_SPEC}.gz")
    return compressed if compressed.exists() and not plain.exists() else plain


def _split_name(spec: Any, place: Place) -> tuple[str, str]:
    """Return the run's name without its model, and the model.

    HELM names a run after both; how the model is asked (the adapter's method, the examples) is part of the name.
    """
    name = get_member(spec, "name", of=str, place=place)
    model = get_member(spec, "adapter_spec", "model", of=str, place=place)
    rest = _MODEL.sub(lambda found: ":" if found[0].startswith(":") else "", name)
    return rest.replace(":,", ":").rstrip(":,"), model


def _read_stats(entries: Any, place: Place) -> Iterator[_Stat]:
    """Yield every statistic of every instance; an instance occurs once per metric of HELM."""
    if not isinstance(entries, list):
        raise place.error("not a list of instances")
    for entry in entries:
        item = get_member(entry, "instance_id", of=str, place=place)
        trial = get_member(entry, "train_trial_index", of=int, place=place)
        perturbation = entry.get("perturbation")
        version = () if perturbation is None else (_name_perturbation(perturbation, place),)
        for stat in get_member(entry, "stats", of=list, place=place):
            metric = get_member(stat, "name", "name", of=str, place=place)
            split = stat["name"].get("split", "test")
            if not isinstance(split, str):
                raise place.error("'name.split' is no text", item)
            score = stat.get("mean") if get_member(stat, "count", of=int, place=place) else None
            yield _Stat((*version, *(split,) * (split != "test")), trial, item, metric, score)


def _name_perturbation(perturbation: Any, place: Place) -> str:
    """Return the name of a perturbation, with options that distinguish several of that name."""
    name = get_member(perturbation, "name", of=str, place=place)
    return "_".join([name, *(f"{key}-{value}" for key, value in sorted(perturbation.items()) if key not in _NOT_OPTIONS
                             and isinstance(value, str | int | float))])
