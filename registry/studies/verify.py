"""Studies made again of the registry as it stood when they were made, and held against what is kept of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import product
from typing import Any

from sqlalchemy import Connection, Row, text

from registry.errors import RegistryError, counted
from registry.evaluation.past import PastDatabase
from registry.evaluation.verifying.faults import TOLERANCE, Fault, find_other_environments, measure_deviation
from registry.evaluation.verifying.verify import VerificationResult
from registry.parallel.execution import Execution
from registry.provenance import StudySignature
from registry.store import catalog
from registry.store.database import Database
from registry.studies.run import PlannedStudy, plan_studies
from registry.studies.study import Choice, Parts, Study
from registry.values import parse
from registry.version import __version__

Load = Callable[[str], type[Study]]

_MOST = timedelta(minutes=1)  # that the command took which made a study, for it to be made again among all


def verify_studies(database: Database, task: str | None, results: str, execution: Execution,
                   verified: VerificationResult, load: Load) -> None:
    """Make studies again, and add what is found to what was verified.

    Args:
        database: A copy of the registry.
        task: The task's id; None: all of them.
        results: Which: `all` that took a minute at most, `none`, a number of them drawn at random, or the id at the end
            of a signature.
        execution: Who computes.
        verified: Is added to.
        load: Gives a kind of study by its name.
    """
    with database.reading() as connection:
        chosen, left = _chosen(connection, task, results)
        elsewhere = find_other_environments(connection)
    if left:
        verified.notes.append(f"{counted(len(left), 'study', 'studies')} that took longer than a minute, such as "
                              f"{_short(left[0])}, were not made again; `--results ID` makes one")
    for row in chosen:
        try:
            remade = _remade(database, row, execution, load)
            verified.faults += _differences(row, *remade, elsewhere=elsewhere.get(row.run_id, ""))
            verified.count("study", 1)
        except RegistryError as error:
            verified.notes.append(f"{_short(row)} is not made again: {error}")
        except Exception as error:  # something that it rests on was altered
            verified.faults.append(Fault("damaged", "study", _short(row),
                                         f"cannot be made again: {type(error).__name__}: {error}"))


def _chosen(connection: Connection, task: str | None, results: str) -> tuple[list[Row[Any]], list[Row[Any]]]:
    """The studies that are made again, and those that are left out because they took too long."""
    rows: Sequence[Row[Any]] = connection.execute(text("""
        SELECT study.*, task.slug, parameters, ended_at - started_at AS took
        FROM study JOIN task USING (task_id) JOIN run USING (run_id)
        WHERE :task IS NULL OR slug = :task ORDER BY study_id"""), {"task": task}).all()
    if results == "none":
        return [], []
    if results == "all":
        quick = [row for row in rows if row.took is not None and row.took <= _MOST]
        return quick, [row for row in rows if row not in quick]
    if results.isdecimal() and len(results) < 8:
        return random.SystemRandom().sample(rows, min(int(results), len(rows))), []
    return [row for row in rows if row.signature.rpartition("id:")[2] == results.rpartition("id:")[2]], []


def _remade(database: Database, row: Row[Any], execution: Execution, load: Load) -> tuple[str, str]:
    """Make a study again: its result, and its signature."""
    past = PastDatabase(database.path, row.signature, lambda note: None)  # noqa: ARG005
    with past.reading() as connection:
        question = _question(connection, row, execution, load)
        case = question.subject.load(connection, Parts())
    finding = question.study.run(case)
    return (finding.dump(),
            str(question.subject.signature(case, question.digest)))


def _question(connection: Connection, row: Row[Any], execution: Execution, load: Load) -> PlannedStudy:
    """The question that a kept study answers.

    What was chosen is not recorded but in the signature, which names boards and not what was asked for; so every choice
    that may lead to them is tried.
    """
    signature = StudySignature.parse(row.signature)
    if signature.version != __version__:
        raise RegistryError(f"version {signature.version} of the program made it, and this is {__version__}")
    kind = row.study.partition("(")[0]
    study = parse("study", {kind: load(kind)}, row.study)
    asked = json.loads(row.parameters)
    settings = {name: value for name, value in asked.items() if name not in ("task", "study")}
    aliases = {metric.alias for metric in catalog.task_metrics(connection, row.task_id)}
    chosen = {"metric": signature.metric if signature.metric in aliases else None,
              "test_set": signature.test_sets[0] if len(signature.test_sets) == 1 else None,
              "track": signature.track, "facet": signature.facet}
    options = [[None, value] if value is not None and name in study.choice else [None]
               for name, value in chosen.items()]
    for values in product(*options):
        try:
            asked_of = plan_studies(connection, study, Choice(row.slug, *values), settings, execution)
        except RegistryError:  # such a choice leaves several boards open, say
            continue
        if found := [question for question in asked_of if question.digest == row.digest]:
            return found[0]
    raise RegistryError("what it was made of is not what is there of then")


def _differences(kept: Row[Any], result: str, signature: str, *, elsewhere: str) -> Iterator[Fault]:
    """What is kept of a study otherwise than it was made again."""
    name = _short(kept)
    if kept.result != result:
        apart = measure_deviation(json.loads(kept.result), json.loads(result))
        is_rounded = bool(elsewhere) and apart <= TOLERANCE
        yield Fault("rounded" if is_rounded else "altered", "study", name,
                    "its result is not the one that it has when made again"
                    + (f" (computed with {elsewhere})" if is_rounded else ""))
    if kept.signature != signature:
        yield Fault("altered", "study", name, f"its signature is {signature} when made again")


def _short(row: Row[Any]) -> str:
    return f"{row.study} {row.signature.rpartition('|')[2]}"
