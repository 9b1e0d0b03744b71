"""A manifest, or one submission, checked as `apply` would, without a database."""

from __future__ import annotations

from dataclasses import dataclass, field

from registry.errors import InputError, counted
from registry.evaluation.alignment import align
from registry.evaluation.gold import check_types, read_gold
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.submissions import Declared, check_runs, declared
from registry.items import Item
from registry.readers import Document


@dataclass
class Checked:
    """What a check read, and what is wrong: one error per file that has any."""

    items: dict[str, int] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)


def check(task: ResolvedTask, one: Declared | None = None) -> Checked:
    """Check the whole manifest, or only the submission `one` against it.

    Raises:
        InputError: The gold, or what the manifest declares, is wrong; errors in submissions are collected instead.
    """
    checked = Checked()
    gold: dict[str, list[Item]] = {}
    for test_set in task.manifest.test_set:
        if one is None or one.test_set == test_set:
            documents = task.gold_documents(test_set)
            gold[test_set.name] = read_gold(task, test_set, documents)
            checked.items[test_set.name] = len(gold[test_set.name])
    submissions = list(declared(task)) if one is None else [one]
    if one is None:
        check_runs(task, submissions)
        checked.warnings += check_types(task, {
            name: {answer.type for item in items for answer in task.readers[name].answer_set(item.gold)}
            for name, items in gold.items()})
    for submission in submissions:
        for document in submission.documents:
            _check(document, submission, gold[submission.test_set.name], checked)
    return checked


def _check(document: Document, submission: Declared, items: list[Item], checked: Checked) -> None:
    """Check one file, a run of the submission."""
    path = document.path
    checked.files.append(path)
    try:
        aligned = align(items, submission.reader.read_answers(document), submission.reader,
                        missing=submission.missing, tokens=submission.tokens, path=path)
    except InputError as error:
        checked.errors.append(error)
        return
    if aligned.n_missing:
        of = f"of {len(aligned.answers)} items"
        checked.warnings.append(f"{path}: {counted(aligned.n_missing, f'{of} has', f'{of} have')} no answer")
    if aligned.differing:
        checked.warnings.append(f"{path}: {counted(aligned.differing, 'item has', 'items have')} tokens that differ "
                                "from the gold's")
