"""A task as a competition on Codabench: phases, tasks, leaderboard and pages (competition.yaml, version 2).

A test set is a task of the competition, a metric a column of its leaderboard. Test sets with the same deadline are one
phase, and a submission answers all test sets of a phase. The platform ranks by scores alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from registry.errors import InputError
from registry.evaluation.resolve import ResolvedTask
from registry.manifest import Manifest

LONGEST_KEY = 36  # characters of a column's key and title, by the platform's database
TIME_LIMIT = 1200  # seconds that scoring a submission may take


@dataclass(frozen=True)
class Phase:
    """A time in which submissions to some test sets are taken; without an end it stays open."""

    start: datetime
    end: datetime | None
    test_sets: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called: after its test sets."""
        return ", ".join(self.test_sets)


def phases(manifest: Manifest, start: datetime) -> list[Phase]:
    """The phases of a competition that begins at `start`, one after the other, as the platform wants them.

    Raises:
        InputError: The first deadline is not after the start.
    """
    deadlines = {test_set.name: manifest.deadline(test_set.name) for test_set in manifest.test_set}
    found: list[Phase] = []
    for end in [*sorted({of for of in deadlines.values() if of is not None}), None]:
        test_sets = tuple(name for name, of in deadlines.items() if of == end)
        if not test_sets:
            continue
        begin = (found[-1].end or start) + timedelta(seconds=1) if found else start
        if end is not None and end <= begin:
            raise InputError(f"the deadline of test set {test_sets[0]} is {_moment(end)} UTC, and its phase would "
                             f"begin at {_moment(begin)}; set an earlier one by --start")
        found.append(Phase(begin, end, test_sets))
    return found


def competition(task: ResolvedTask, of_phases: Sequence[Phase], python: str, *, hidden: bool) -> dict[str, Any]:
    """What competition.yaml says.

    Args:
        task: The task.
        of_phases: Its phases.
        python: The version of Python that scores.
        hidden: Whether participants see no scores.

    Raises:
        InputError: A metric's id is too long for a column.
    """
    manifest = task.manifest
    names = [test_set.name for test_set in manifest.test_set]
    return {
        "version": 2,
        "title": (manifest.task.title or manifest.task.id)[:256],
        "description": manifest.task.description,
        "image": "logo.png",
        "terms": "terms.md",
        "docker_image": f"python:{python}-slim",
        "registration_auto_approve": False,
        "make_programs_available": False,
        "make_input_data_available": False,
        "enable_detailed_results": True,
        "show_detailed_results_in_submission_panel": True,
        "show_detailed_results_in_leaderboard": False,
        "pages": [{"title": title, "file": f"pages/{title.lower()}.md"}
                  for title in ("Overview", "Evaluation", "Data")],
        "tasks": [{
            "index": n, "name": name, "description": f"Test set {name} of {manifest.task.id}",
            "reference_data": f"reference_data/{name}/", "scoring_program": "scoring_program/",
        } for n, name in enumerate(names)],
        "phases": [_phase(n, phase, names, manifest, hidden=hidden) for n, phase in enumerate(of_phases)],
        "leaderboards": [{
            "title": "Results", "key": "results", "submission_rule": "Force_Last", "hidden": hidden,
            "columns": list(_columns(task))}],
    }


def _phase(n: int, phase: Phase, names: Sequence[str], manifest: Manifest, *, hidden: bool) -> dict[str, Any]:
    limits = manifest.submission
    return {
        "index": n, "name": phase.name, "description": f"Submissions to {phase.name}", "start": _moment(phase.start),
        **({} if phase.end is None else {"end": _moment(phase.end)}),
        "max_submissions": limits.limit or 0, "max_submissions_per_day": limits.limit_per_day or 0,  # 0: any number
        "execution_time_limit": TIME_LIMIT, "auto_migrate_to_this_phase": False,
        "hide_output": False, "hide_score_output": hidden, "accepts_only_result_submissions": True,
        "starting_kit": f"starting_kit/{n}/", "tasks": [names.index(name) for name in phase.test_sets]}


def _columns(task: ResolvedTask) -> Iterator[dict[str, Any]]:
    """The columns of the leaderboard; the primary metric is the first, by which the platform sorts."""
    primary, declared = task.manifest.primary.id, {of.id: of for of in task.manifest.metric}
    for n, name in enumerate(sorted(task.metrics, key=lambda of: of != primary)):
        if len(name) > LONGEST_KEY:
            raise InputError(f"metric {name!r}: the platform's columns have names of at most {LONGEST_KEY} characters; "
                             "give it a shorter id")
        sorting = "asc" if task.metrics[name].better == "lower" else "desc"
        of = declared[name]
        yield {"title": (of.title or name)[:LONGEST_KEY], "key": name, "index": n, "sorting": sorting,
               "precision": task.metrics[name].decimals if of.decimals is None else of.decimals, "hidden": False}


def pages(task: ResolvedTask, of_phases: Sequence[Phase], *, hidden: bool) -> Mapping[str, str]:
    """The competition's pages and terms in Markdown, by their paths; where the manifest says nothing, so do they."""
    about, manifest = task.manifest.task, task.manifest
    facts = [("Organisers", ", ".join(about.organisers)), ("Contact", about.contact), ("Page", about.url),
             ("Cite", about.citation)]
    overview = [f"# {_text(about.title or about.id)}", _text(about.description),
                "\n".join(f"- {name}: {_text(told)}" for name, told in facts if told)]
    metrics = "\n".join(f"- `{name}`: `{metric!r}`, {metric.better} is better"
                        for name, metric in task.metrics.items())
    seen = "Scores are hidden from participants." if hidden else (
        f"The leaderboard shows the last submission of each participant, by `{manifest.primary.id}`.")
    evaluation = ["# Evaluation", metrics, manifest.submission.missing.describe_for_participants(), seen,
                  "The order on this platform is that of scores alone. Which differences are significant, and the "
                  "ranks that the data supports, are in the organisers' results."]
    timed = "\n".join(f"- {_text(phase.name)}: from {_moment(phase.start)} UTC"
                      + (f" until {_moment(phase.end)} UTC" if phase.end else "") for phase in of_phases)
    data = ["# Data and submissions", timed, _how_to_submit(of_phases),
            "The starting kit lists the items to answer. With it a file can be checked before it is submitted:",
            "    pip install evalregistry\n    registry check FILE --task starting_kit/task.toml"]
    return {f"pages/{name}.md": "\n\n".join(filter(None, parts)) + "\n" for name, parts in (
        ("overview", overview), ("evaluation", evaluation), ("data", data))}


def terms(task: ResolvedTask) -> str:
    """The terms of participation that follow from the manifest."""
    about, limits = task.manifest.task, task.manifest.submission
    told = ["# Terms", "Submissions are checked and scored, and kept by the organisers, who may publish their scores.",
            f"The data is licensed under {about.licence}." if about.licence else "",
            f"A participant may submit {limits.limit} times in a phase." if limits.limit else "",
            f"A participant may submit {limits.limit_per_day} times a day." if limits.limit_per_day else ""]
    return "\n\n".join(filter(None, told)) + "\n"


def _how_to_submit(of_phases: Sequence[Phase]) -> str:
    several = next((phase.test_sets for phase in of_phases if len(phase.test_sets) > 1), None)
    if several is None:
        return "Submit a zip file with one file in it: the system's output."
    return ("Submit a zip file with one file for each test set of the phase, called after it, with any ending: "
            + ", ".join(f"`{name}.txt`" for name in several) + ".")


def _text(text: str | None) -> str:
    """A text in which Markdown and HTML see nothing of theirs."""
    return re.sub(r"([\\`*_{}\[\]<>#|&])", r"\\\1", " ".join((text or "").split()))


def _moment(of: datetime) -> str:
    """A moment as the platform reads it; written as text, since of a date and time of YAML it keeps the date alone."""
    return f"{of.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
