"""What scores one submission of a competition, in a container of the platform: no network, no database.

The submission is checked against the task's pack first, which knows items and no gold, so that no message about it can
tell of the gold. Then it is joined with the gold and scored. What is wrong only there, is told without its message.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from registry.competitions.detailed_results import accepted, refused
from registry.competitions.submitted_files import submitted_file
from registry.errors import InputError, RegistryError, one_line
from registry.evaluation.checking.check import Checked, check
from registry.evaluation.checking.task_pack import expected_documents, expected_items, task_pack, write_pack
from registry.evaluation.ingest.declared import Declared, declare
from registry.evaluation.ingest.fit import join
from registry.evaluation.resolve import ResolvedTask, resolve
from registry.evaluation.scoring.measure import scores_of_submission
from registry.manifest import load_manifest, submit_entry
from registry.readers import Document

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
        """Read what `text` wrote."""
        told = json.loads(path.read_text("utf-8"))
        return cls(told["test_set"], tuple(told["of_phase"]), told["hidden"])

    def text(self) -> str:
        """As the reference data has it."""
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
        page, scores = scored(given / "ref", given / "res")
    except RegistryError as error:
        problems = [one_line(str(one)) for one in (error, *error.others)]
        page, scores = refused(problems[:LISTED], max(len(problems) - LISTED, 0)), None
        for problem in problems[:LISTED]:
            print(f"error: {problem}", file=sys.stderr)
    (output / "detailed_results.html").write_text(page, "utf-8")
    if scores is None:
        return 3
    defined = {name: score for name, score in scores.items() if math.isfinite(score)}
    (output / "scores.json").write_text(json.dumps(defined, indent=2) + "\n", "utf-8")
    return 0


def scored(reference: Path, submitted: Path) -> tuple[str, dict[str, float]]:
    """Check and score a submission; gives the page about it, and its scores by metric.

    Raises:
        InputError: It is refused; carries all that is wrong.
    """
    settings = Settings.read(reference / SETTINGS)
    task = _resolved(reference / MANIFEST)
    document = submitted_file(submitted, settings.test_set, settings.of_phase)
    checked = _checked(task, document)
    items = expected_items(task, (test_set := task.manifest.test_set[0]), expected_documents(task, test_set))
    one = _declared(task, document)
    try:
        bounded = one.bounded(document, items)
        joined = join(items, one.read(bounded), one.reader, one.policies, bounded)
        scores = scores_of_submission(items, joined, one.policies.missing, task.metrics)
    except InputError as error:
        raise InputError(f"does not go with the gold ({error.category}); the organisers can see why", path=error.path,
                         line=error.line, item=error.item) from None
    warnings = [*checked.warnings, *(str(problem.error) for problem in checked.problems)]
    return accepted(document.name, len(items), {} if settings.hidden else scores, warnings[:LISTED]), scores


def _resolved(manifest: Path) -> ResolvedTask:
    return resolve(load_manifest(manifest)[0], manifest)


def _declared(task: ResolvedTask, document: Document) -> Declared:
    return declare(task, submit_entry(file="submission", system="submission"), [document], {}, "")


def _checked(task: ResolvedTask, document: Document) -> Checked:
    """Check a submission as participants do, against the items without their gold."""
    with tempfile.TemporaryDirectory() as folder:
        write_pack(task_pack(task), Path(folder))
        pack = _resolved(Path(folder) / MANIFEST)
        checked = check(pack, [_declared(pack, document)], limit=LISTED)
    wrong = [problem.error for problem in checked.problems if problem.fatal]
    if wrong:
        causes = [InputError(f"likely cause: {cause}", path=document.path) for cause in dict.fromkeys(
            problem.cause for problem in checked.problems if problem.cause)]
        first, *others = [*causes, *wrong]
        first.others += tuple(others)
        raise first
    return checked
