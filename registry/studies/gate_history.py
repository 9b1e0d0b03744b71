"""Earlier gates of a registry: the order of looks, and the number of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import InputError, MismatchError, listed
from registry.parallel.execution import Execution
from registry.store import catalog, models
from registry.studies.gate import Gate
from registry.studies.gate_looks import GateCase
from registry.studies.run import Archive, StudyResult, plan_studies
from registry.studies.study import Choice, Finding, is_named
from registry.values import parse


@dataclass(frozen=True)
class Entry:
    """A gate that was made.

    Attributes:
        study: The gate with its options.
        finding: The result.
    """

    study: Gate
    finding: Finding

    @property
    def verdict(self) -> str:
        """The verdict over all criteria."""
        return str(self.finding.tables["gate"][0]["verdict"])

    @property
    def alpha(self) -> float:
        """The significance level of all looks together."""
        return float(self.finding.tables["looks"][0]["alpha"])

    @property
    def scores(self) -> list[str]:
        """For this look and each look before it, a digest of the scores that it tested."""
        return [str(row["scores"]) for row in self.finding.tables["looks"]]

    @property
    def criteria(self) -> str:
        """A digest of metrics, test sets, gold, and the submissions that the candidate is compared with."""
        return str(self.finding.tables["looks"][0]["criteria"])

    @property
    def marks(self) -> set[str]:
        """Marks of the candidate: two gates with a common mark tested the same candidate."""
        return {*self.scores, *(str(row["candidate_submission"]) for row in self.finding.tables["criteria"])}


def resolve_names(connection: Connection, task: str, study: Gate) -> Gate:
    """Return a gate with the shortest unambiguous names of its systems, so that equal gates have equal names."""
    (row,) = catalog.tasks(connection, task)
    members = [member for test_set in catalog.test_sets(connection, row.task_id)
               for member in catalog.load_ranked(connection, test_set.test_set_id)]

    def shorten(name: str) -> str:
        systems = {(member.team, member.system) for member in members if is_named(member, name)}
        if len(systems) != 1:
            return name
        ((team, system),) = systems
        is_unique = len({member.team for member in members if member.system == system}) == 1
        return system if is_unique else f"{team}/{system}"

    return replace(study, base=shorten(study.base), candidate=shorten(study.candidate),
                   reference=shorten(study.reference))


def run_gate(archive: Archive, study: Gate, choice: Choice, settings: Mapping[str, Any] | None = None,
             execution: Execution | None = None) -> tuple[StudyResult, list[str]]:
    """Return the result of a gate, and remarks about earlier gates; a stored result is not computed again.

    Raises:
        InputError: The systems cannot be compared, or the look does not follow the looks that were made.
    """
    try:
        with archive.database.reading() as connection:
            (plan,) = plan_studies(connection, study, choice, settings, execution)
            entries = _load_entries(connection, plan.task.task_id)
            loaded = None if plan.stored is not None else plan.load(archive, connection)
    except MismatchError as error:  # its exit status would be that of the verdict `fail`
        raise InputError(str(error)) from None
    if loaded is not None and loaded.case is not None:
        _check_looks(study, loaded.case, entries)
    result = plan.get_result(archive, loaded)
    if result is None:
        raise InputError(f"{plan.subject.name}: no item is scored for both systems; run `registry score`")
    return result, _describe_attempts(Entry(study, result.finding), entries)


def _load_entries(connection: Connection, task_id: int) -> list[Entry]:
    table = models.study
    query = select(table.c.study, table.c.result).where(
        table.c.task_id == task_id, table.c.study.startswith("gate(")).order_by(table.c.study_id)
    return [Entry(parse("study", {"gate": Gate}, row.study), Finding.load(row.result))
            for row in connection.execute(query)]


def _check_looks(study: Gate, case: GateCase, entries: Sequence[Entry]) -> None:
    """Check that a look follows the earlier looks at the same scores.

    Raises:
        InputError: An earlier gate had another number of looks, or decided; or an earlier look was not made.
    """
    look, candidate = study.look or 1, study.candidate
    alpha = case.request.significance.alpha / study.attempts
    same = [entry for entry in entries if entry.alpha == alpha and entry.criteria == case.criteria
            and _drop_look(entry.study) == _drop_look(study)]
    if other := next((entry.study.looks for entry in same if entry.study.looks != study.looks), None):
        plan = "without looks" if other == 1 else f"with --looks {other}"
        raise InputError(f"--looks {study.looks}: {candidate} was already gated {plan}; continue as planned, or give a "
                         "changed candidate another name")
    looks = {entry.study.look or 1: entry for entry in same if entry.scores == list(case.digests[:len(entry.scores)])}
    for number in range(1, look):
        if number not in looks:
            if any(entry.study.look == number for entry in same):
                raise InputError(f"--look {look}: the scores of look {number} have changed; a changed candidate begins "
                                 "with --look 1")
            raise InputError(f"--look {look}: there is no look {number} of {study.looks} with the same settings; run "
                             f"the same command with --look {number} first")
        if looks[number].verdict != "undecided":
            raise InputError(f"--look {look}: the gate ended at look {number} with the verdict "
                             f"{looks[number].verdict}; more looks would increase the error rate")


def _drop_look(study: Gate) -> Gate:
    return replace(study, looks=1, look=None, expected=0.0)


def _describe_attempts(entry: Entry, entries: Sequence[Entry]) -> list[str]:
    """Return a remark if more candidates were tried than the option `--attempts` says."""
    candidates: list[tuple[set[str], str]] = []
    for tried in [*entries, entry]:
        if tried.criteria == entry.criteria:
            touching = [marks for marks, _ in candidates if marks & tried.marks]
            candidates = [other for other in candidates if not other[0] & tried.marks]
            candidates.append((tried.marks.union(*touching), tried.study.candidate))
    if len(candidates) <= max(1, entry.study.attempts):
        return []
    names = list(dict.fromkeys(name for _, name in candidates))
    return [f"{len(candidates)} candidates were gated against {entry.study.base} by these criteria "
            f"({listed(names, 4)}), so a bad one passes more often than alpha says; add --attempts {len(candidates)}"]
