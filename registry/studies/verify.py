"""Verification of stored studies: recompute them from the original data, and compare the results."""

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

_MAX_DURATION = timedelta(minutes=1)  # of the original command, for studies that are recomputed by default


def verify_studies(database: Database, task: str | None, results: str, execution: Execution,
                   verified: VerificationResult, load: Load) -> None:
    """Recompute stored studies, and report results that differ from the stored ones.

    Args:
        database: A copy of the registry.
        task: The task's id; None for all tasks.
        results: `all` studies that took at most a minute, `none`, the size of a random sample, or the id at the end of
            a signature.
        execution: Workers and memory.
        verified: Collects faults, notes and counts.
        load: Function from the name of a study to its class.
    """
    with database.reading() as connection:
        selected, skipped = _select_rows(connection, task, results)
        elsewhere = find_other_environments(connection)
    if skipped:
        verified.notes.append(f"{counted(len(skipped), 'study', 'studies')} that took longer than a minute, such as "
                              f"{_format_name(skipped[0])}, were not recomputed; use `--results ID` for one of them")
    for row in selected:
        try:
            recomputed = _recompute(database, row, execution, load)
            verified.faults += _compare(row, *recomputed, elsewhere=elsewhere.get(row.run_id, ""))
            verified.counts["study"] += 1
        except RegistryError as error:
            verified.notes.append(f"{_format_name(row)} was not recomputed: {error}")
        except Exception as error:  # altered data can raise any exception
            verified.faults.append(Fault("damaged", "study", _format_name(row),
                                         f"cannot be recomputed: {type(error).__name__}: {error}"))


def _select_rows(connection: Connection, task: str | None, results: str) -> tuple[list[Row[Any]], list[Row[Any]]]:
    """Return the stored studies to recompute, and the ones that take too long.

    Args:
        connection: Connection to the registry.
        task: The task's id; None for all tasks.
        results: `all` studies that took at most a minute, `none`, the size of a random sample, or the id at the end of
            a signature.
    """
    rows: Sequence[Row[Any]] = connection.execute(text("""
        SELECT study.*, task.slug, parameters, ended_at - started_at AS took
        FROM study JOIN task USING (task_id) JOIN run USING (run_id)
        WHERE :task IS NULL OR slug = :task ORDER BY study_id"""), {"task": task}).all()
    if results == "none":
        return [], []
    if results == "all":
        quick = [row for row in rows if row.took is not None and row.took <= _MAX_DURATION]
        return quick, [row for row in rows if row not in quick]
    if results.isdecimal() and len(results) < 8:
        return random.SystemRandom().sample(rows, min(int(results), len(rows))), []
    return [row for row in rows if row.signature.rpartition("id:")[2] == results.rpartition("id:")[2]], []


def _recompute(database: Database, row: Row[Any], execution: Execution, load: Load) -> tuple[str, str]:
    past = PastDatabase(database.path, row.signature, lambda note: None)  # noqa: ARG005
    with past.reading() as connection:
        planned = _find_plan(connection, row, execution, load)
        case = planned.subject.load(connection, Parts())
    return planned.study.run(case).dump(), str(planned.subject.signature(case, planned.digest))


def _find_plan(connection: Connection, row: Row[Any], execution: Execution, load: Load) -> PlannedStudy:
    """Find the study and leaderboards that a stored result belongs to.

    The options that selected the leaderboards are not stored. So this function tries all options that the signature
    allows, until the digest of the data is the stored one.

    Raises:
        RegistryError: Another version of this program computed the study, or its data no longer exist.
    """
    signature = StudySignature.parse(row.signature)
    if signature.version != __version__:
        raise RegistryError(f"version {signature.version} of this program computed the study, but this is version "
                            f"{__version__}; use that version to recompute it")
    kind = row.study.partition("(")[0]
    study = parse("study", {kind: load(kind)}, row.study)
    settings = {name: value for name, value in json.loads(row.parameters).items() if name not in ("task", "study")}
    aliases = {metric.alias for metric in catalog.task_metrics(connection, row.task_id)}
    boards = {"metric": signature.metric if signature.metric in aliases else None,
              "test_set": signature.test_sets[0] if len(signature.test_sets) == 1 else None,
              "track": signature.track, "facet": signature.facet}
    options = [[None, value] if value is not None and name in study.choice else [None]
               for name, value in boards.items()]
    for values in product(*options):
        try:
            plans = plan_studies(connection, study, Choice(row.slug, *values), settings, execution)
        except RegistryError:  # these options select several boards, for example
            continue
        for plan in plans:
            if plan.digest == row.digest:
                return plan
    raise RegistryError("the registry does not have its original data")


def _compare(stored: Row[Any], result: str, signature: str, *, elsewhere: str) -> Iterator[Fault]:
    """Yield the differences between a stored study and the recomputed one."""
    name = _format_name(stored)
    if stored.result != result:
        difference = measure_deviation(json.loads(stored.result), json.loads(result))
        is_rounded = bool(elsewhere) and difference <= TOLERANCE
        yield Fault("rounded" if is_rounded else "altered", "study", name,
                    "the recomputed result differs" + (f" (computed with {elsewhere})" if is_rounded else ""))
    if stored.signature != signature:
        yield Fault("altered", "study", name, f"the recomputed signature is {signature}")


def _format_name(row: Row[Any]) -> str:
    return f"{row.study} {row.signature.rpartition('|')[2]}"
