"""A guess as a task: the manifest that declares it, with comments on what it rests on, and copies of the files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from registry.guessing.guess import Asked, Guess, System, options_of
from registry.guessing.runs import Runs, runs_of
from registry.identity import canonical_json
from registry.importers.base import distinct_slugs, system_and_team
from registry.manifest.folder import TaskFolder
from registry.metric_names import declared_metric
from registry.metrics import Metric

SEED = 1  # of draws: the same files give the same board
_TESTS = {"judged": "prediction-powered"}  # of values whose usual test is another


def task_folder(guess: Guess, metric: Metric, asked: Asked, test: str | None = None) -> TaskFolder:
    """Declare what was guessed."""
    documents = {guess.gold.path: guess.gold, **{system.document.path: system.document for system in guess.systems}}
    runs = runs_of(guess.systems) if asked.runs else []
    places = _places(guess, runs)
    readers = [options_of(system.reader, guess.reader) for system in guess.systems]
    common = _common(readers) if len(documents) > 1 else {}
    test_set: dict[str, Any] = {"name": "test", "gold": _gold_name(guess), "format": guess.reader.name}
    if options := options_of(guess.reader):
        test_set["options"] = options
    if guess.cluster:
        test_set["cluster"] = guess.cluster
    usual = "crossed" if asked.runs == "random" else _TESTS.get(guess.reader.gives, "permutation")
    significance: dict[str, Any] = {"test": test or usual, **({"runs": asked.runs} if asked.runs else {})}
    submission = {"missing": asked.missing, **({"options": common} if common else {})}
    submits = [_submit(system, options, common, places[system.name])
               for system, options in zip(guess.systems, readers, strict=True)]
    copies = {_gold_name(guess): guess.gold.path, **{
        places[system.name].copy: system.document.path for system in guess.systems}}
    return TaskFolder(
        {"task": {"title": f"Guessed from {Path(guess.gold.path).name}"}, "test_set": [test_set],
         "submission": submission, "metric": [declared_metric(metric)],
         "significance": {**significance, "seed": SEED},
         "submit": [one for n, one in enumerate(submits) if one not in submits[:n]]},  # of runs there is one
        {name: documents[path].content for name, path in copies.items()},
        {document.path: document.digest for document in documents.values()},
        copies=copies, comments=_comments(guess, metric, asked))


class _Place(NamedTuple):
    """Where a system's file is in the task's folder, how the manifest names it, and the name of the system."""

    copy: str
    file: str
    system: str


def _gold_name(guess: Guess) -> str:
    """What the gold's file is called in the task's folder."""
    gold = Path(guess.gold.path)
    return next(iter(distinct_slugs([gold.name], gold).values()))


def _places(guess: Guess, runs: Sequence[Runs]) -> dict[str, _Place]:
    """Where each system's file is in the task's folder: in the gold's, apart, or beside its other runs."""
    of_run = {system.name: (one.name, number) for one in runs for number, system in one.systems.items()}
    within = {system.name for system in guess.systems if system.document.path == guess.gold.path} - of_run.keys()
    others = [system for system in guess.systems if system.name not in within]
    slugs = distinct_slugs(dict.fromkeys(of_run.get(of.name, (of.name,))[0] for of in others), Path(guess.gold.path))
    found = {name: _Place(_gold_name(guess), _gold_name(guess), name) for name in within}
    ends = {one.name: {_end(Path(system.document.path)) for system in one.systems.values()} for one in runs}
    for system in others:
        if system.name in of_run:
            name, number = of_run[system.name]
            end = next(iter(ends[name])) if len(ends[name]) == 1 else ""  # the pattern has one for all runs
            found[system.name] = _Place(f"systems/{slugs[name]}/{number}{end}", f"systems/{slugs[name]}/{{run}}{end}",
                                        name)
        else:
            file = f"systems/{slugs[system.name]}{_end(Path(system.document.path))}"
            found[system.name] = _Place(file, file, system.name)
    return found


def _end(path: Path) -> str:
    """How a file's name ends, if that can stand in one that is made."""
    return path.suffix if re.fullmatch(r"\.[A-Za-z0-9]{1,9}", path.suffix) else ""


def _common(readers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The options of most systems that the gold does not have, as far as all others say something else of them."""
    (most, times), = Counter(map(canonical_json, readers)).most_common(1)
    chosen = next(options for options in readers if canonical_json(options) == most)
    return chosen if 2 * times > len(readers) and all(chosen.keys() <= options.keys() for options in readers) else {}


def _submit(system: System, options: dict[str, Any], common: dict[str, Any], place: _Place) -> dict[str, Any]:
    own = {name: value for name, value in options.items() if common.get(name) != value}
    return {"file": place.file, **system_and_team(place.system), **({"options": own} if own else {}),
            **({"tokens": system.tokens} if system.tokens != "reject" else {})}


def _comments(guess: Guess, metric: Metric, asked: Asked) -> dict[str, tuple[str, ...]]:
    return {
        "task": ("Made by `registry new`: look it over, above all what comments call a guess.",),
        "test_set": tuple(f"Guessed: {why}" for why in guess.why),
        "submission": ("What is done about items without an answer: reject the file, count them as worst, or drop them "
                       "for all systems.",),
        "metric": (f"{'Asked for' if asked.metric else 'The usual one of such values'}; `registry list metrics` lists "
                   f"others of {metric.takes}s.",),
        "significance": ("`registry list tests`; correction = \"holm\" and alpha = 0.05 hold where nothing else is "
                         "said.",),
    }
