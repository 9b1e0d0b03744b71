"""Scoring program of a competition: it scores one submission in a container without network and database.

The program first checks the submission against the task pack, which has items but no gold, so that no message can
reveal the gold. Then it joins the submission with the gold and scores it; errors of this step are reported without
details.

Participants upload a zip file, which the platform unpacks. The program refuses links, ignores unrelated files, and
opens only the submission's file.
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
    """Make the HTML page that shows a participant the scores; nan means undefined."""
    texts = {name: "undefined" if math.isnan(score) else repr(score) for name, score in scores.items()}
    rows = "".join(f'<tr><td>{_escape(name)}</td><td class="n">{score}</td></tr>\n' for name, score in texts.items())
    table = f"<table>\n<tr><th>measure</th><th>score</th></tr>\n{rows}</table>\n" if scores else ""
    return _PAGE.format(title="Accepted", body=(
        f"<p>{_escape(file)}: {n_items} items.</p>\n{table}{_format_list('Warnings', warnings)}"))


def make_refused_page(problems: Sequence[str], unlisted: int) -> str:
    """Make the HTML page that tells a participant why a submission is refused.

    Args:
        problems: The problems to list.
        unlisted: Number of further problems.
    """
    more = f"<p>{unlisted} more problems are not listed.</p>\n" if unlisted else ""
    return _PAGE.format(title="Refused", body=f"{_format_list('Problems', problems)}{more}")


def _format_list(heading: str, messages: Sequence[str]) -> str:
    items = "".join(f"<li>{_escape(message)}</li>\n" for message in messages)
    return f"<h2>{heading}</h2>\n<ul>\n{items}</ul>\n" if messages else ""


def _escape(message: str) -> str:
    return escape(one_line(message))


MAX_FILES, MAX_DEPTH = 1000, 10  # of a submission: files, and levels of folders

_SYSTEM_FILES = {"metadata", "metadata.yaml", "thumbs.db", "desktop.ini"}  # of the platform and of Windows


def read_submission(folder: Path, test_set: str, test_sets: Sequence[str]) -> Document:
    """Read a participant's file for one test set from an unpacked submission.

    If the submission answers one test set, the file may have any name. If it answers several, the name begins with the
    test set: `dev`, `dev.tsv`, `dev.conll.gz`. Messages name the file by its path in the folder.

    Args:
        folder: Folder of the submission.
        test_set: Name of the test set.
        test_sets: Names of all test sets that the submission answers.

    Raises:
        InputError: There is no such file or more than one, it is a link, or it cannot be read.
    """
    name = choose_file(_list_files(folder), test_set, test_sets, "submission")
    try:
        return replace(Document.load(folder / name), path=name, name=name)
    except InputError as error:
        raise InputError(error.message, path=name) from None


def choose_file(files: Sequence[str], test_set: str, test_sets: Sequence[str], path: str) -> str:
    """Choose a submission's file for one test set by its name.

    If the submission answers one test set, the file may have any name. Otherwise the name begins with the test set.

    Args:
        files: Names of the files.
        test_set: Name of the test set.
        test_sets: Names of all test sets that the submission answers.
        path: Name of the submission, for errors.

    Raises:
        InputError: There is no such file or more than one.
    """
    if len(test_sets) > 1:
        matches = [name for name in files if _find_test_set(Path(name).name, test_sets) == test_set]
        remedy = f"zip one file named {test_set} (any extension) for test set {test_set}"
    else:
        matches = list(files)
        remedy = f"zip one file for test set {test_set}"
    if len(matches) == 1:
        return matches[0]
    if matches:
        problem = f"{counted(len(matches), 'file')}: {', '.join(matches[:5])}{' ...' * (len(matches) > 5)}"
    else:
        problem = f"no such file among {counted(len(files), 'file')}" if files else "no file"
    raise InputError(f"the submission has {problem}; {remedy}", path=path)


def _list_files(folder: Path) -> list[str]:
    """List the files of a submission, without files that operating systems add."""
    files = []
    for parent, folders, names in os.walk(folder):
        if len(Path(parent).relative_to(folder).parts) > MAX_DEPTH:
            raise InputError(f"more than {MAX_DEPTH} levels of folders; zip only the system's output",
                             path="submission")
        folders[:] = sorted(name for name in folders if not is_system_file(name))
        for name in (*sorted(names), *folders):
            path = Path(parent) / name
            if path.is_symlink():
                raise InputError("is a link; submit the file itself", path=str(path.relative_to(folder)))
        files += [str((Path(parent) / name).relative_to(folder)) for name in sorted(names) if not is_system_file(name)]
        if len(files) > MAX_FILES:
            raise InputError(f"the submission has more than {MAX_FILES} files; zip only the system's output",
                             path="submission")
    return files


def is_system_file(name: str) -> bool:
    """Return True for files that operating systems or platforms add: `.DS_Store`."""
    return name.startswith((".", "__MACOSX")) or name.lower() in _SYSTEM_FILES


def _find_test_set(name: str, test_sets: Sequence[str]) -> str | None:
    """Return the test set with which a file name begins: `dev.tsv` -> `dev`.

    The longest match is returned, because `dev` and `dev.hard` may both exist. The result is None if no name matches.
    """
    return max((test_set for test_set in test_sets if name == test_set or name.startswith(f"{test_set}.")),
               key=len, default=None)


SETTINGS = "competition.json"  # in the reference data: the settings of the program
MANIFEST = "task.toml"
MAX_LISTED = 50  # problems of a submission


@dataclass(frozen=True)
class Settings:
    """Settings of the scoring program, stored next to the gold.

    Attributes:
        test_set: The test set to score.
        of_phase: All test sets of the competition's phase. A submission answers them together.
        hidden: True if scores are hidden from participants.
    """

    test_set: str
    of_phase: tuple[str, ...]
    hidden: bool

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read the settings from a JSON file."""
        content = json.loads(path.read_text("utf-8"))
        return cls(content["test_set"], tuple(content["of_phase"]), content["hidden"])

    def format(self) -> str:
        """Return the settings as JSON."""
        return json.dumps(asdict(self)) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Run the scoring program on the platform: score one submission.

    It compares `INPUT/res` (the submission) with `INPUT/ref` (the gold), and writes `scores.json` and
    `detailed_results.html` into `OUTPUT`.

    Args:
        arguments: The folders INPUT and OUTPUT.

    Returns:
        The exit status: 0 if the submission is scored, 3 if it is refused.
    """
    input_, output = map(Path, arguments)
    try:
        page, scores = score_submission(input_ / "ref", input_ / "res")
    except RegistryError as error:
        problems = [one_line(str(problem)) for problem in (error, *error.others)]
        page, scores = make_refused_page(problems[:MAX_LISTED], max(len(problems) - MAX_LISTED, 0)), None
        for problem in problems[:MAX_LISTED]:
            print(f"error: {problem}", file=sys.stderr)
    (output / "detailed_results.html").write_text(page, "utf-8")
    if scores is None:
        return 3
    defined = {name: score for name, score in scores.items() if math.isfinite(score)}
    (output / "scores.json").write_text(json.dumps(defined, indent=2) + "\n", "utf-8")
    return 0


def score_submission(reference: Path, submitted: Path) -> tuple[str, dict[str, float]]:
    """Check and score a submission; return its HTML page and its scores by metric.

    Args:
        reference: Folder with the task, the gold and the settings.
        submitted: Folder of the submission.

    Raises:
        InputError: The submission is refused; `others` has the further problems.
    """
    settings = Settings.read(reference / SETTINGS)
    task = _resolve(reference / MANIFEST)
    document = read_submission(submitted, settings.test_set, settings.of_phase)
    checked = _check_submission(task, document)
    items = read_expected_items(task, (test_set := task.manifest.test_set[0]), load_expected_documents(task, test_set))
    submission = _declare(task, document)
    try:
        bounded = submission.bound(document, items)
        joined = join(items, submission.read_answers(bounded), submission.reader, submission.policies, bounded)
        scores = score_single_run(items, joined, submission.policies.missing, task.metrics)
    except InputError as error:
        raise InputError(f"does not match the gold ({error.category}); ask the organisers", path=error.path,
                         line=error.line, item=error.item) from None
    warnings = [*checked.warnings, *(str(problem.error) for problem in checked.problems)]
    visible_scores = {} if settings.hidden else scores
    return make_accepted_page(document.name, len(items), visible_scores, warnings[:MAX_LISTED]), scores


def _resolve(manifest: Path) -> ResolvedTask:
    return resolve(load_manifest(manifest)[0], manifest)


def _declare(task: ResolvedTask, document: Document) -> DeclaredSubmission:
    return build_submission(task, make_submit(file="submission", system="submission"), [document], {}, "")


def _check_submission(task: ResolvedTask, document: Document) -> CheckResult:
    """Check a submission with the task that participants have, which lacks the gold.

    Raises:
        InputError: The submission is invalid.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_pack(make_task_pack(task), Path(folder))
        pack = _resolve(Path(folder) / MANIFEST)
        checked = check(pack, [_declare(pack, document)], limit=MAX_LISTED)
    errors = [problem.error for problem in checked.problems if problem.fatal]
    if errors:
        causes = [InputError(f"likely cause: {cause}", path=document.path) for cause in dict.fromkeys(
            problem.cause for problem in checked.problems if problem.cause)]
        first, *others = [*causes, *errors]
        first.others += tuple(others)
        raise first
    return checked
