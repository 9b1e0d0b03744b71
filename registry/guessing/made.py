"""What `registry quick` and `registry new` begin with: files in, the task of the one guess that holds out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from registry.errors import InputError, UnknownNameError, counted
from registry.guessing.answer_logs import find_log
from registry.guessing.decide import decide
from registry.guessing.files import Files, files
from registry.guessing.formats.texts import names_before_text
from registry.guessing.guess import Asked, Guess, QuestionError, System, gold_option, reworded
from registry.guessing.guesses import guesses
from registry.guessing.runs import told as told_of_runs
from registry.guessing.tables.repeats import find_repeats
from registry.guessing.task import SEED, task_folder
from registry.guessing.trial import Trial
from registry.guessing.unknown import probabilities, twice, unknown
from registry.guessing.unread import unread
from registry.importers import IMPORTERS, Importer
from registry.manifest.folder import TaskFolder
from registry.metric_names import common_metric, declared_metric, usual_metric
from registry.metrics import BLEU, METRICS, Metric
from registry.metrics.texts import ReferenceMetric
from registry.readers import READERS, Document, Reader, Texts
from registry.values import build, name_of, parse

_DOCUMENTS = "documents.txt"  # of the importer of plain text, whose lines are names
_NO_LABEL = re.compile(r"[-_?*.]+|n/?a|nan|none|null", re.IGNORECASE)  # what seems to stand for none: a bar, NA


class Made(NamedTuple):
    """A task that was made of files, and what is told of the guess."""

    folder: TaskFolder
    told: tuple[str, ...]


def made(paths: Sequence[Path], asked: Asked, test: str | None = None) -> Made:
    """Make a task of a gold and systems, of one table, or of another program's results.

    Args:
        paths: The gold, then the systems; or one folder or file that holds all.
        asked: What the user has said.
        test: The significance test; None: the usual one of such values.

    Raises:
        QuestionError: The files leave something open by which boards differ.
        InputError: Nothing that is known reads all files.
    """
    if asked.kind is not None and asked.kind not in READERS and asked.kind not in IMPORTERS:
        raise UnknownNameError("reader or importer", asked.kind, [*READERS, *IMPORTERS])
    if asked.metric is not None and not any(asked.metric_of(metric.takes) for metric in METRICS.values()):
        if name_of(asked.metric) in METRICS:
            parse("metric", METRICS, asked.metric)  # says what is wrong with its options
        raise UnknownNameError("metric", asked.metric, METRICS)
    if asked.kind is not None and asked.kind in IMPORTERS and asked.kind not in READERS:
        if asked.gold is not None:
            raise InputError(f"--gold goes with files that are guessed; {asked.kind} reads the gold itself")
        return _imported(asked.kind, paths, asked, test)
    if len(paths) == 1 and asked.gold is None and (found := _of_program(paths[0], asked, test)) is not None:
        return found
    if len(paths) > 1 and asked.gold is None and (found := _of_logs(paths, asked, test)) is not None:
        return found
    given = files(paths, None if asked.gold is None else Path(asked.gold))
    if asked.kind is None and given.systems and (known := unread(given.gold) or (
            None if asked.options else probabilities(given.gold, given.systems))) is not None:
        raise known
    trial = Trial(asked.missing)
    log = find_log(given.gold, given.systems, asked)
    all_guesses = list(guesses(given, asked, trial, log))
    if log is not None and not all_guesses:
        raise log.error()
    if not all_guesses and asked.kind is not None and given.systems and given.no_gold is None:
        # the reader itself says what is wrong
        all_guesses = [_as_asked(given, READERS[asked.kind].build(asked.options))]
    if not all_guesses:
        raise given.no_gold or unknown(given, asked)
    if "item" not in asked.options:
        all_guesses, repeats = find_repeats(all_guesses)
        if repeats is not None:
            raise repeats.question()
    guess = decide(all_guesses, asked, trial)
    if log is not None and not given.is_gold_named:
        log.check_gold(guess)
    _check_gold(guess, given)
    if given.systems:
        _check_answers(guess, trial)
        _check_labels(guess, asked, trial)
    metric = _with_references(_metric(guess, asked), guess.reader, asked)
    named = repr(metric) if metric.title.lower() in repr(metric).lower() else f"{metric!r}, {metric.title}"
    usual = "" if asked.metric else f", the usual one of such {guess.reader.gives}s"
    told = (*given.told, *guess.why,
            *told_of_runs(guess.systems, together=asked.runs is not None), f"metric: {named}{usual}")
    return Made(task_folder(guess, metric, asked, test), told)


def _check_gold(guess: Guess, given: Files) -> None:
    """Check that the user has named the gold's file.

    Raises:
        QuestionError: The guess takes the first file for the gold, only because it is the first.
    """
    if not given.is_gold_named and guess.has_gold_file:
        raise QuestionError(
            "the first file would be the gold, and neither its name nor an option says that it is; if another one is, "
            "name that one, else say it:",
            {gold_option(guess.gold): guess.means or "; ".join(guess.why[1:])}, guess.gold.path)


def _check_answers(guess: Guess, trial: Trial) -> None:
    """See that the gold's file, where it is named as a system's too, has answers beside the gold.

    Raises:
        InputError: It has none: what is read as the system's is the gold.
    """
    same = [system for system in guess.systems if system.document.path == guess.gold.path
            and getattr(guess.reader, "gold", "") is not None]  # without right numbers there is no gold
    if any(trial.content(replace(guess, systems=(system,))) == trial.content(replace(guess, systems=(
            replace(system, reader=guess.reader),))) for system in same):
        raise twice(guess.gold.path)


def _check_labels(guess: Guess, asked: Asked, trial: Trial) -> None:
    """See that each of the gold's labels is one, so far as the systems tell: those of no label no system gives.

    Raises:
        QuestionError: Some seem to stand for none, and the user has not said that these are labels.
    """
    items = trial.items(guess.gold, guess.reader)
    if guess.reader.gives != "label" or asked.kind is not None or isinstance(items, InputError):
        return
    none = {label for label in {item.gold for item in items} if _NO_LABEL.fullmatch(label)}
    for system in guess.systems if none else ():
        if not isinstance(joined := trial.joined(guess, items, system), InputError):
            none -= joined.counts.keys()
    if none:
        n = sum(item.gold in none for item in items)
        raise QuestionError(
            f"{n} of {len(items)} items have the gold label {' or '.join(map(repr, sorted(none)))}, which no system "
            "gives: if it stands for no label, take these items out of all files; if it is one, say it:",
            {"--as labels": "it is a label, and all systems err there"}, guess.gold.path)


def _as_asked(given: Files, reader: Reader) -> Guess:
    """All files read as the user says."""
    systems = tuple(System(one.name, one.document, reader) for one in given.systems)
    return Guess(given.gold, reader, systems, (f"{given.gold.path}: {reader!r}, as asked",))


def _metric(guess: Guess, asked: Asked) -> Metric:
    if asked.metric is not None:
        named = common_metric(asked.metric, guess.reader.gives)
        if isinstance(named, BLEU) and isinstance(guess.metric, BLEU) and "tokenize" not in asked.metric:
            return replace(named, tokenize=guess.metric.tokenize)
        return named
    metric = guess.metric or usual_metric(guess.reader.gives)
    if guess.reader.name == "candidates" or metric is None:
        raise QuestionError("candidates are ranked, and precision is that of the best of them: of how many? say it:", {
            "--metric 'SetP(best=100)'": "the precision of the 100 best", "--metric 'SetR(best=100)'": "their recall",
            "--metric 'SetF(threshold=0)'": "F1 of those with a score of 0 or more"}, guess.gold.path)
    return metric


def _with_references(metric: Metric, reader: Reader, asked: Asked) -> Metric:
    """Return a metric of text with all references that the reader takes, unless the user names some for it.

    Raises:
        InputError: The metric takes one reference, and there are several.
    """
    if not isinstance(metric, ReferenceMetric) or not isinstance(reader, Texts) or "references" in (asked.metric or ""):
        return metric
    return replace(metric, references=reader.offers())


def _imported(kind: str, paths: Sequence[Path], asked: Asked, test: str | None) -> Made:
    importer = _importer(kind, asked)
    folder = importer.read(paths[0]) if len(paths) == 1 else importer.read_files(paths)
    if folder is None:
        raise InputError(f"{kind} takes one file or folder, and {len(paths)} are given", path=paths[1])
    return Made(_as_said(kind, folder, asked, test), (f"{paths[0]}: {kind}, as asked",))


def _importer(kind: str, asked: Asked) -> Importer:
    """The importer with the user's options, of which the policy for missing items is one."""
    options = dict(asked.options)
    if asked.missing != "reject":
        if not hasattr(IMPORTERS[kind], "missing"):
            raise InputError(f"--missing {asked.missing} goes with files that are guessed; {kind} has no such option")
        options.setdefault("missing", asked.missing)
    return build("importer", IMPORTERS, kind, options)


def _is_table(folder: Path, asked: Asked) -> bool:
    """Whether files beside a reference are no text: labels, numbers or tags, which BLEU would take for words."""
    try:
        given = files([folder])
    except InputError:
        return False
    try:
        return any(guess.reader.name != "lines" and getattr(guess.reader, "separator", "") != "whitespace"
                   for guess in guesses(given, asked, Trial(asked.missing)))
    except InputError:  # names before text, say
        return True


def _as_said(kind: str, folder: TaskFolder, asked: Asked, test: str | None) -> TaskFolder:
    """The task with the metric, test and runs of the user, and a seed, so that the same files give the same board.

    Raises:
        InputError: The metric is another one than that of the program's results, which know no other.
    """
    tables = dict(folder.tables)
    if asked.metric is not None:
        takes = next((METRICS[one["name"]].takes for one in tables["metric"] if one["name"] in METRICS), "")
        if takes != "segment":
            raise InputError(f"--metric goes with files that are guessed; of {kind} the results name it, or its "
                             "options")
        declared = declared_metric(common_metric(asked.metric, takes), asked.metric)
        same = {name: value for name, value in tables["metric"][0].get("options", {}).items() if name == "references"}
        tables["metric"] = [declared | {"options": same | declared.get("options", {})}]
    said = {name: value for name, value in (("test", test), ("runs", asked.runs)) if value is not None}
    tables["significance"] = {"seed": SEED, **tables.get("significance", {}), **said}
    return replace(folder, tables=tables)


def _of_logs(paths: Sequence[Path], asked: Asked, test: str | None) -> Made | None:
    """Return the results of another program in several files; None if no importer takes them with these options."""
    for kind in IMPORTERS if asked.kind is None else ():
        try:
            importer = _importer(kind, asked)
        except InputError:  # options of readers
            continue
        if (folder := importer.read_files(paths)) is not None:
            n = counted(len(folder.tables["submit"]), "submission")
            return Made(_as_said(kind, folder, asked, test), (
                f"{counted(len(paths), 'file')}, from {paths[0]} on: results of {kind}: {n}",))
    return None


def _of_program(path: Path, asked: Asked, test: str | None = None) -> Made | None:
    """The results of another program, if just one importer knows them; None where none does.

    Tables and plain text are no program's: those are guessed from what is in them.
    """
    if asked.kind is not None:
        return None
    found: dict[str, TaskFolder] = {}
    problems = []
    for kind in IMPORTERS:
        if kind in ("wide", "long" if path.is_dir() else "plain"):  # one takes a file alone, the other a folder
            continue
        try:
            found[kind] = _importer(kind, asked).read(path)
        except InputError as error:
            if error.path and path.is_dir() and not error.message.startswith(("no ", "not a zip file")):  # its files
                problems.append(reworded(error, f"{error.message} (read as {kind})"))
    if "plain" in found and _is_table(path, asked):
        del found["plain"]
    if "plain" in found and (wrong := names_before_text([
            Document(found["plain"].copies[name], content) for name, content in found["plain"].files.items()
            if name != _DOCUMENTS], "plain")) is not None:
        raise wrong
    if len(found) > 1:
        raise QuestionError("several importers read these files; say which is meant:",
                            {f"--as {kind}": "" for kind in found}, str(path))
    if "long" in found and "better" not in asked.options:
        raise QuestionError("a table of systems' scores, in long form; which are better? say it:", {
            f"--as long --option better={better}": f"{better} ones" for better in ("higher", "lower")}, str(path))
    if not found and len(problems) == 1:
        raise problems[0]
    if not found and path.is_dir() and asked.missing != "reject" and (
            _of_program(path, replace(asked, missing="reject")) is not None):
        raise InputError(f"another program's results, whose importer knows no --missing {asked.missing}; leave it "
                         "out, or say --missing drop", path=path)
    for kind, folder in found.items():
        n = counted(len(folder.tables["submit"]), "submission")
        made_of = _as_said(kind, folder, asked, test)
        return Made(made_of, (f"{path}: results of {kind}, which no other importer reads: {n}",))
    return None
