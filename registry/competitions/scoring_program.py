"""Scores one submission of a competition in a container of the platform: without network and database.

The submission is first checked against the task's pack, which has items and no gold, so that no message can reveal the
gold. Then it is joined with the gold and scored; errors found only there are reported without their message.

Participants upload a zip file that the platform unpacks. Links are refused, files of other purposes ignored, and only
the submission's file is opened.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path

from registry.errors import InputError, RegistryError, counted, one_line
from registry.evaluation.checking.check import CheckResult, check
from registry.evaluation.checking.task_pack import (
    load_expected_documents,
    make_task_pack,
    read_expected_items,
    write_pack,
)
from registry.evaluation.ingest.declared import DeclaredSubmission, build_submission
from registry.evaluation.ingest.fit import join
from registry.evaluation.resolve import ResolvedTask, resolve
from registry.evaluation.scoring.measure import score_single_run
from registry.manifest import load_manifest, make_submit
from registry.readers import Document

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 15px/1.5 sans-serif; margin: 1.5em; max-width: 60em }} td, th {{ padding: .1em 1em .1em 0;
text-align: left }} td.n {{ text-align: right; font-variant-numeric: tabular-nums }} li {{ overflow-wrap: anywhere }}
</style></head>
<body>
<h1>{title}</h1>
{body}</body>
</html>
"""


def make_accepted_page(file: str, n_items: int, scores: Mapping[str, float], warnings: Sequence[str]) -> str:
    """Return the page of a scored submission; nan is an undefined score."""
    shown = {name: "undefined" if math.isnan(score) else repr(score) for name, score in scores.items()}
    rows = "".join(f'<tr><td>{_escape(name)}</td><td class="n">{score}</td></tr>\n' for name, score in shown.items())
    table = f"<table>\n<tr><th>measure</th><th>score</th></tr>\n{rows}</table>\n" if scores else ""
    return _PAGE.format(title="Accepted", body=(
        f"<p>{_escape(file)}: {n_items} items.</p>\n{table}{_format_list('Warnings', warnings)}"))


def make_refused_page(problems: Sequence[str], unlisted: int) -> str:
    """Return the page of a refused submission."""
    more = f"<p>{unlisted} more are not listed.</p>\n" if unlisted else ""
    return _PAGE.format(title="Refused", body=f"{_format_list('What is wrong', problems)}{more}")


def _format_list(heading: str, messages: Sequence[str]) -> str:
    items = "".join(f"<li>{_escape(message)}</li>\n" for message in messages)
    return f"<h2>{heading}</h2>\n<ul>\n{items}</ul>\n" if messages else ""


def _escape(message: str) -> str:
    return escape(one_line(message))


MOST, DEEPEST = 1000, 10  # files of a submission, and folders within each other, that are looked at

_OF_SYSTEMS = {"metadata", "metadata.yaml", "thumbs.db", "desktop.ini"}  # of the platform, Windows


def read_submission(folder: Path, test_set: str, test_sets: Sequence[str]) -> Document:
    """Read the file that answers `test_set`, one of the `test_sets` to answer.

    Where that is one, it is the only file, whatever it is called. Where they are several, it is called after the test
    set: `dev`, `dev.tsv`, `dev.conll.gz`. Records and errors call it by its path in the folder.

    Raises:
        InputError: There is no such file, or more than one; or it is a link, or cannot be read.
    """
    name = choose_file(_list_files(folder), test_set, test_sets, "submission")
    try:
        return replace(Document.load(folder / name), path=name, name=name)
    except InputError as error:
        raise InputError(error.message, path=name) from None


def choose_file(files: Sequence[str], test_set: str, test_sets: Sequence[str], path: str) -> str:
    """Return which file of a submission, by paths, answers a test set; see `read_submission`.

    Raises:
        InputError: None does, or more than one; `path` is what the submission is called.
    """
    if len(test_sets) > 1:
        named = [name for name in files if _find_test_set(Path(name).name, test_sets) == test_set]
        wanted = f"one called {test_set}, with any ending"
    else:
        named, wanted = list(files), "one"
    if len(named) != 1:
        found = f"{counted(len(named), 'file')}: {', '.join(named[:5])}{' ...' * (len(named) > 5)}" if named else (
            f"no such file among {counted(len(files), 'file')}" if files else "no file")
        raise InputError(f"the submission has {found}; zip {wanted} for test set {test_set}", path=path)
    return named[0]


def _list_files(folder: Path) -> list[str]:
    """List a submission's files by path, without those that systems add."""
    found = []
    for at, folders, names in os.walk(folder):
        if len(Path(at).relative_to(folder).parts) > DEEPEST:
            raise InputError(f"more than {DEEPEST} folders within each other; zip the system's output alone",
                             path="submission")
        folders[:] = sorted(name for name in folders if not is_system_file(name))
        for name in (*sorted(names), *folders):
            path = Path(at) / name
            if path.is_symlink():
                raise InputError("a link; submit the file itself", path=str(path.relative_to(folder)))
        found += [str((Path(at) / name).relative_to(folder)) for name in sorted(names) if not is_system_file(name)]
        if len(found) > MOST:
            raise InputError(f"the submission has more than {MOST} files; zip the system's output alone",
                             path="submission")
    return found


def is_system_file(name: str) -> bool:
    """True if operating systems or platforms add a file or folder of this name."""
    return name.startswith((".", "__MACOSX")) or name.lower() in _OF_SYSTEMS


def _find_test_set(name: str, test_sets: Sequence[str]) -> str | None:
    """Return the test set in a file's name: the longest, since `dev` and `dev.hard` may both exist."""
    return max((of for of in test_sets if name == of or name.startswith(f"{of}.")), key=len, default=None)


SETTINGS = "competition.json"  # in the reference data: what of the competition the program has to know
MANIFEST = "task.toml"
LISTED = 50  # problems of a submission that are told


@dataclass(frozen=True)
class Settings:
    """What the reference data says beside the task.

    Attributes:
        test_set: That is scored.
        of_phase: The test sets that a submission answers.
        hidden: Whether scores are hidden from participants.
    """

    test_set: str
    of_phase: tuple[str, ...]
    hidden: bool

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read the settings from a file of JSON."""
        told = json.loads(path.read_text("utf-8"))
        return cls(told["test_set"], tuple(told["of_phase"]), told["hidden"])

    def format(self) -> str:
        """Return the settings as JSON."""
        return json.dumps(asdict(self)) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Score `INPUT/res` against `INPUT/ref`, and write `scores.json` and `detailed_results.html` into `OUTPUT`.

    Args:
        arguments: INPUT and OUTPUT, folders.

    Returns:
        The exit status: 0 where the submission was scored, 3 where it is refused.
    """
    given, output = map(Path, arguments)
    try:
        page, scores = score_submission(given / "ref", given / "res")
    except RegistryError as error:
        problems = [one_line(str(one)) for one in (error, *error.others)]
        page, scores = make_refused_page(problems[:LISTED], max(len(problems) - LISTED, 0)), None
        for problem in problems[:LISTED]:
            print(f"error: {problem}", file=sys.stderr)
    (output / "detailed_results.html").write_text(page, "utf-8")
    if scores is None:
        return 3
    defined = {name: score for name, score in scores.items() if math.isfinite(score)}
    (output / "scores.json").write_text(json.dumps(defined, indent=2) + "\n", "utf-8")
    return 0


def score_submission(reference: Path, submitted: Path) -> tuple[str, dict[str, float]]:
    """Check and score a submission; returns its page, and its scores by metric.

    Raises:
        InputError: It is refused; carries all that is wrong.
    """
    settings = Settings.read(reference / SETTINGS)
    task = _resolve(reference / MANIFEST)
    document = read_submission(submitted, settings.test_set, settings.of_phase)
    checked = _check(task, document)
    items = read_expected_items(task, (test_set := task.manifest.test_set[0]), load_expected_documents(task, test_set))
    one = _declare(task, document)
    try:
        bounded = one.bound(document, items)
        joined = join(items, one.read_answers(bounded), one.reader, one.policies, bounded)
        scores = score_single_run(items, joined, one.policies.missing, task.metrics)
    except InputError as error:
        raise InputError(f"does not go with the gold ({error.category}); the organisers can see why", path=error.path,
                         line=error.line, item=error.item) from None
    warnings = [*checked.warnings, *(str(problem.error) for problem in checked.problems)]
    return make_accepted_page(document.name, len(items), {} if settings.hidden else scores, warnings[:LISTED]), scores


def _resolve(manifest: Path) -> ResolvedTask:
    return resolve(load_manifest(manifest)[0], manifest)


def _declare(task: ResolvedTask, document: Document) -> DeclaredSubmission:
    return build_submission(task, make_submit(file="submission", system="submission"), [document], {}, "")


def _check(task: ResolvedTask, document: Document) -> CheckResult:
    """Check a submission as participants do, against the items without their gold."""
    with tempfile.TemporaryDirectory() as folder:
        write_pack(make_task_pack(task), Path(folder))
        pack = _resolve(Path(folder) / MANIFEST)
        checked = check(pack, [_declare(pack, document)], limit=LISTED)
    wrong = [problem.error for problem in checked.problems if problem.fatal]
    if wrong:
        causes = [InputError(f"likely cause: {cause}", path=document.path) for cause in dict.fromkeys(
            problem.cause for problem in checked.problems if problem.cause)]
        first, *others = [*causes, *wrong]
        first.others += tuple(others)
        raise first
    return checked
