"""Forget a team: delete its data, and its names wherever they occur.

A tombstone stays: another name, salted digests of the team's names, and its places on past boards. Whoever knows the
name can tell that it was purged; the digests alone reveal nothing. The log keeps digests; words with a name are
blanked, and entries about others are repeated without it. Comparisons with the team cannot be made again, and the log
has a digest of each. This works within a transaction; the caller rewrites the file so that deleted bytes are gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import PurePath
from typing import Any

from sqlalchemy import Connection, Row, select

from registry.errors import InputError, ManifestError, UnknownNameError
from registry.families import FAMILIES
from registry.identity import canonical_json, digest_json
from registry.identity import digest as digest_of
from registry.manifest import read_manifest, stored_form
from registry.messages import Messages
from registry.store import catalog, models, sources
from registry.store.catalog import TaskRow
from registry.store.log import Journal, append, new_salt, now
from registry.store.rows import insert, next_id
from registry.submission_fields import FREE, SUBMISSION_FIELDS, SubmissionField


@dataclass(frozen=True)
class TeamNames:
    """The names of a team, its systems and its files, and the one that is to stand in their place.

    A name counts where it stands as a whole: letters and digits beside it make it another word. Case does not matter.
    """

    words: frozenset[str]
    instead: str

    @classmethod
    def of(cls, connection: Connection, team_id: int, instead: str) -> TeamNames:
        """The names of a team; those that others of its task have too tell nothing of it."""
        own, others = (set(_names(connection, team_id, which)) for which in ("=", "<>"))
        return cls(frozenset(own - others), instead)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds any of the names, written plainly or as JSON does."""
        written = self.words | {json.dumps(word, ensure_ascii=ascii_)[1:-1]
                                for word in self.words for ascii_ in (True, False)}
        either = "|".join(re.escape(word) for word in sorted(written, key=len, reverse=True)) or "(?!)"
        return re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])", re.IGNORECASE)

    def are_in(self, text: str | None) -> bool:
        """Whether a text has one of them."""
        return text is not None and self.pattern.search(text) is not None

    def are_in_values(self, written: str, formal: Iterable[str] = ()) -> bool:
        """Whether values or keys of an object, given as JSON, have one, save for the values of `formal` keys."""
        return any(self.are_in(key) or (key not in formal and self.are_in(canonical_json(value)))
                   for key, value in json.loads(written or "{}").items())

    def replaced(self, text: str) -> str:
        """The text with the other name in the place of each."""
        return self.pattern.sub(self.instead, text)

    def replaced_in(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values, some of them texts, with the other name in the place of each."""
        return {self.replaced(name): self.replaced(value) if isinstance(value, str) else value
                for name, value in values.items()}


def _names(connection: Connection, team_id: int, which: str) -> Iterable[str]:
    """The names of a team, or of all others of its task: of teams, systems and files, these also without folders.

    With them goes what is said of the systems.
    """
    of = f"team.team_id {which} $1 AND task_id = (SELECT task_id FROM team WHERE team_id = $1)"  # noqa: S608
    for team, system, file, attributes in connection.exec_driver_sql(f"""
            SELECT team.name, system.name, submission_source.name, submission.attributes
            FROM team LEFT JOIN system USING (team_id) LEFT JOIN submission USING (system_id)
            LEFT JOIN submission_source USING (submission_id) WHERE {of}""", (team_id,)):  # noqa: S608
        yield from filter(None, (team, system, file, file and PurePath(file).name))
        yield from _telling(json.loads(attributes or "{}"))


def _telling(attributes: Mapping[str, Any]) -> Iterable[str]:
    """What of a system's attributes tells whose it is; a word or two, such as "a baseline", others may say as well."""
    for name, value in attributes.items():
        if isinstance(value, str) and (
                name in ("paper", "code") or (name == "description" and len(value.split()) > 2)):
            yield value


_COMPARISON = """
    SELECT * EXCLUDE (sequence) FROM comparison WHERE comparison_id = ?"""
_PLACES = "SELECT * FROM standing WHERE comparison_id = ? ORDER BY position"
_PAIRS = """
    SELECT comparison_pair.*, pair_result.* FROM comparison_pair JOIN pair_result USING (pair_result_id)
    WHERE comparison_id = ? ORDER BY position"""
_SYSTEMS = "SELECT system_id, name, pseudonym FROM system WHERE team_id = ? ORDER BY system_id"
_PURGED = ", ".join(field.column for field in SUBMISSION_FIELDS if field.purged != "kept" and field.name != "withdrawn")
_PURGED_SUBMISSIONS = f"""
    SELECT submission_id, {_PURGED}
    FROM submission JOIN system USING (system_id) WHERE team_id = ? ORDER BY submission_id"""  # noqa: S608
_OVERALL = "SELECT * FROM overall_result WHERE comparison_id = ?"


def salted(names: Iterable[str]) -> tuple[str, str]:
    """A new salt, and the digests of names with it as JSON."""
    salt = new_salt()
    return salt, canonical_json(sorted(digest_json([salt, name]) for name in names))


def tombstones(connection: Connection, task_id: int) -> Sequence[Row[Any]]:
    """What stays of the teams that were purged from a task, the latest first."""
    table = models.tombstone
    return connection.execute(
        select(table).where(table.c.task_id == task_id).order_by(table.c.tombstone_id.desc())).all()


def purged_as(of_task: Sequence[Row[Any]], name: str) -> str | None:
    """The name of the tombstone, of those of a task, of a team or system of that name; None: none was purged."""
    return next((str(row.name) for row in of_task if digest_json([row.salt, name]) in row.names), None)


def digest_of_tombstone(row: Any) -> str:
    """The digest of a tombstone's row."""
    return digest_json([row.task_id, row.team_id, row.name, row.salt, row.names])


def digest_of_rows(connection: Connection, team_id: int) -> str:
    """The digest of what stays of a purged team: its systems and submissions under other names."""
    return digest_json([[[str(value) for value in row] for row in connection.exec_driver_sql(query, (team_id,))]
                        for query in (_SYSTEMS, _PURGED_SUBMISSIONS)])


def digest_of_comparison(connection: Connection, comparison_id: int) -> str:
    """The digest of a comparison as it is stored: its settings, places and pairs, but not whether it is the latest."""
    return digest_json([[[str(value) for value in row] for row in connection.exec_driver_sql(query, (comparison_id,))]
                        for query in (_COMPARISON, _PLACES, _PAIRS, _OVERALL)])


_STATISTICS = [table.name for table in (*models.statistics.values(), *models.whole_statistics.values())]
_OF_SCORINGS = ("response", "scoring_message", "score", "replicate_score", *_STATISTICS, "scoring")
PURGED = Messages.of("purged-team").dump()  # of a pair of which one system was purged
_LABELS = " UNION ALL ".join(f"SELECT {column} FROM statistics_confusion" for column in FAMILIES["confusion"].columns)  # noqa: S608

# Facts about submissions that a purge replaces by an expression.
_REPLACED_FACTS = {
    "withdrawn": "TRUE",
    "version": """if(version IN (
        SELECT version FROM submission ANTI JOIN gone_submission USING (submission_id) UNION ALL SELECT '1'),
        version, 'v' || submission_id)""",
}

Removed = dict[str, int]  # rows by table


# What is a team's alone, by the temporary table that it is noted in.
_GONE = {
    "gone_submission": "SELECT submission_id FROM submission JOIN system USING (system_id) WHERE team_id = $1",
    "gone_scoring": "SELECT scoring_id FROM scoring SEMI JOIN gone_submission USING (submission_id)",
    "gone_scored": """
        SELECT DISTINCT submission_id FROM scoring SEMI JOIN gone_submission USING (submission_id)
        SEMI JOIN score USING (scoring_id)""",
    "gone_pair": """
        SELECT comparison_id, position, pair_result_id FROM comparison_pair
        WHERE submission_a IN (FROM gone_submission) OR submission_b IN (FROM gone_submission)""",
    "gone_source": """
        SELECT DISTINCT source_digest FROM submission_source SEMI JOIN gone_submission USING (submission_id)
        WHERE source_digest NOT IN (
            SELECT source_digest FROM submission_source ANTI JOIN gone_submission USING (submission_id)
            UNION ALL SELECT source_digest FROM gold_source)""",
    "changed_comparison": """
        SELECT DISTINCT comparison_id FROM standing SEMI JOIN gone_submission USING (submission_id)""",
}


def mark(connection: Connection, team_id: int) -> None:
    """Note in temporary tables, which end with the connection, what is the team's alone."""
    for name, query in _GONE.items():
        connection.exec_driver_sql(f"CREATE OR REPLACE TEMP TABLE {name} AS {query.replace('$1', str(team_id))}")


def erase(connection: Connection, team_id: int, task_id: int, names: TeamNames) -> tuple[Removed, set[str]]:
    """Take out the rows of a team that was marked.

    Gives how many went or were emptied, by table, and the signatures of studies that went.
    """
    removed: Removed = {}

    def do(table: str, query: str) -> None:
        changed = connection.exec_driver_sql(query).scalar_one()
        removed[table] = removed.get(table, 0) + int(changed)

    labels = f"label_id IN (SELECT * FROM ({_LABELS}))"  # noqa: S608 - names of columns
    connection.exec_driver_sql(f"CREATE OR REPLACE TEMP TABLE used_label AS SELECT label_id FROM label WHERE {labels}")  # noqa: S608
    for table in _OF_SCORINGS:
        do(table, f"DELETE FROM {table} WHERE scoring_id IN (FROM gone_scoring)")  # noqa: S608
    do("label", f"DELETE FROM label WHERE label_id IN (FROM used_label) AND NOT {labels}")  # noqa: S608
    do("answer", "DELETE FROM answer WHERE NOT in_gold AND answer_id NOT IN (SELECT answer_id FROM response)")
    _erase_results(connection, do)
    do("replicate_factor", "DELETE FROM replicate_factor WHERE submission_id IN (FROM gone_submission)")
    do("submission_source", "DELETE FROM submission_source WHERE submission_id IN (FROM gone_submission)")
    do("source", "DELETE FROM source WHERE digest IN (FROM gone_source)")
    removed["source"] += _erase_manifests(connection, names)
    _erase_names(connection, do, team_id, names)
    studies = _erase_studies(connection, task_id, names)
    removed["study"] = len(studies)
    do("study_part", "DELETE FROM study_part")  # of studies that are not finished: they are made again
    return {table: n for table, n in removed.items() if n}, studies


def _erase_results(connection: Connection, do: Callable[[str, str], None]) -> None:
    """Take out what was computed of pairs of which one was purged; who won stays, as ranks rest on it.

    Other pairs with the same statistics have the same results, which stay; so those of a purged team get empty ones.
    """
    result, tested = models.pair_result, models.tested_statistics
    nothing = insert(connection, tested, digest=f"purged:{next_id(connection, tested)}")
    connection.exec_driver_sql(f"""
        CREATE OR REPLACE TEMP TABLE emptied AS
        SELECT pair_result_id AS was, {next_id(connection, result) - 1} + row_number() OVER (ORDER BY was) AS is_now
        FROM (SELECT DISTINCT pair_result_id FROM gone_pair)""")  # noqa: S608
    connection.exec_driver_sql(f"""
        INSERT INTO pair_result BY NAME
        SELECT is_now AS pair_result_id, pair_request_id, {nothing} AS statistics_a, {nothing} AS statistics_b, method,
            n_units, 0 AS n_discordant, resamples, 0 AS favours, '{PURGED}' AS messages, run_id
        FROM pair_result JOIN emptied ON pair_result_id = was""")  # noqa: S608
    do("comparison_pair", """
        UPDATE comparison_pair SET pair_result_id = is_now, p_adjusted = NULL FROM gone_pair, emptied
        WHERE comparison_pair.comparison_id = gone_pair.comparison_id AND emptied.was = gone_pair.pair_result_id
            AND comparison_pair.position = gone_pair.position""")
    do("pair_result", """
        DELETE FROM pair_result WHERE pair_result_id NOT IN (SELECT pair_result_id FROM comparison_pair)""")
    do("pair_interval", """
        DELETE FROM pair_interval WHERE pair_result_id NOT IN (SELECT pair_result_id FROM pair_result)""")
    do("tested_statistics", """
        DELETE FROM tested_statistics WHERE tested_statistics_id NOT IN (
            SELECT statistics_a FROM pair_result UNION ALL SELECT statistics_b FROM pair_result)""")
    do("standing", "UPDATE standing SET scoring_id = NULL WHERE submission_id IN (FROM gone_submission)")


def _erase_manifests(connection: Connection, names: TeamNames) -> int:
    """Take out kept manifests that have one of the names; other kept files are gold, or other teams' own.

    What such a manifest says of the task stays, since boards of the past rest on it, under the digest that the log has.
    """
    table, gone = models.source, []
    for digest, name in connection.exec_driver_sql("""
            SELECT digest, name FROM source WHERE digest NOT IN (
                SELECT source_digest FROM submission_source UNION ALL SELECT source_digest FROM gold_source)""").all():
        content = sources.fetch(connection, digest)
        if names.are_in(content.decode("utf-8", "replace")):
            gone.append(digest)
            if (left := _of_task(content)) and not names.are_in(left):
                sources.store(connection, digest_of(left.encode()), name, left.encode())
    connection.execute(table.delete().where(table.c.digest.in_(gone)))
    return len(gone)


def _of_task(manifest: bytes) -> str:
    """What a manifest says of its task, without comments and submissions; nothing where it cannot be read any more."""
    try:
        return stored_form(read_manifest(manifest, ""))
    except ManifestError:  # as of what an earlier purge left
        return ""


def _erase_names(connection: Connection, do: Callable[[str, str], None], team_id: int, names: TeamNames) -> None:
    """Leave of the team, its systems and submissions what past boards rest on, under another name.

    So does the history of a board that stays open on every submission that was scored: a part of alpha was spent on it.
    """
    do("submission", """
        DELETE FROM submission WHERE submission_id IN (FROM gone_submission)
            AND submission_id NOT IN (SELECT submission_id FROM standing UNION ALL FROM gone_scored)""")
    facts = ", ".join(f"{field.column} = {_purged_fact(field)}" for field in SUBMISSION_FIELDS
                      if field.purged != "kept")
    do("submission", f"UPDATE submission SET {facts} WHERE submission_id IN (FROM gone_submission)")  # noqa: S608
    do("system", f"""
        DELETE FROM system WHERE team_id = {team_id} AND system_id NOT IN (SELECT system_id FROM submission)""")  # noqa: S608
    systems = connection.exec_driver_sql("""
        SELECT system_id, system.name AS system, team.name AS team FROM system JOIN team USING (team_id)
        WHERE team_id = ? ORDER BY system_id""", (team_id,)).all()
    renamed: dict[str, str] = {}
    for n, row in enumerate(systems, 1):  # called as the team is if it was: boards have a column of teams, or not
        name = names.instead if row.system == row.team else f"{names.instead}-{n}"
        catalog.set_values(connection, models.system, row.system_id, pseudonym=None, name=name)
        renamed |= dict.fromkeys((row.system, f"{row.team}/{row.system}"), f"{names.instead}/{name}")
    _rename_candidates(connection, renamed)
    catalog.set_values(connection, models.team, team_id, name=names.instead, pseudonym=None)
    for row in connection.exec_driver_sql("SELECT digest, name FROM source").all():
        if names.are_in(row.name):  # of bytes that another submission has too
            other = connection.exec_driver_sql(
                "SELECT min(name) FROM submission_source WHERE source_digest = ?", (row.digest,)).scalar()
            connection.execute(models.source.update().where(models.source.c.digest == row.digest).values(
                name=other or names.replaced(row.name)))


def _purged_fact(field: SubmissionField) -> str:
    """Return the SQL of what a purge leaves of a fact about a submission."""
    if field.purged == "replaced":
        return _REPLACED_FACTS[field.name]
    return "NULL" if field.is_optional else "'{}'" if field.type == "object" else "''"


def _rename_candidates(connection: Connection, renamed: Mapping[str, str]) -> None:
    """Rename the candidate of past comparisons if it is a system of the team."""
    for row in connection.exec_driver_sql("""
            SELECT comparison_id, request FROM comparison SEMI JOIN changed_comparison USING (comparison_id)
            WHERE json_extract_string(request, '$.significance.candidate') IS NOT NULL""").all():
        asked = json.loads(row.request)
        settings = asked["significance"]
        settings["candidate"] = renamed.get(settings["candidate"], settings["candidate"])
        catalog.set_values(connection, models.comparison, row.comparison_id, request=canonical_json(asked))


def _erase_studies(connection: Connection, task_id: int, names: TeamNames) -> set[str]:
    """Take out the studies of the task that have one of the names; gives their signatures."""
    table = models.study
    gone = {row.study_id: row.signature for row in connection.execute(table.select().where(table.c.task_id == task_id))
            if any(map(names.are_in, (row.signature, row.subject, row.result)))}
    connection.execute(table.delete().where(table.c.study_id.in_(gone)))
    return set(gone.values())


_FREE = ("reason", *FREE)  # details of entries that people have written
_OBJECTS = {field.column for field in SUBMISSION_FIELDS if field.type == "object"}
_FORMAL = ("task", "kind", "command", "metric")  # of a run's parameters: what is no name


def redact(connection: Connection, journal: Journal, names: TeamNames, prefixes: tuple[str, ...],
           studies: set[str]) -> tuple[list[int], list[int]]:
    """Take the names out of log and runs, and out of what other submissions declare.

    Entries that are about others are said again at the end, with the other name in the place of each. Gives the entries
    and the runs whose words were taken away.

    Args:
        connection: In the purge's transaction.
        journal: Of the purge.
        names: What is to go.
        prefixes: Which subjects are the team's own, by how they begin.
        studies: The signatures of studies that are gone.
    """
    runs, without_inputs = _blank_runs(connection, names)
    unchecked = without_inputs.union(runs)  # without the run's salt no digest of its inputs can be checked
    event, blanked, again = models.event, list[int](), list[dict[str, Any]]()
    about: set[tuple[str, str]] = set()  # what else has to be said again, so that the last word stays the last
    for entry in connection.execute(select(event).order_by(event.c.event_id)).all():
        row = dict(entry._mapping)
        if row["salt"] is None or row["action"].startswith("purge"):
            continue
        details = json.loads(row["details"])
        own = row["subject"].startswith(prefixes) or details.get("signature") in studies or (
            row["action"] == "end" and row["run_id"] in unchecked)
        named = names.are_in(row["actor"]) or any(
            names.are_in(canonical_json(details[key])) for key in _FREE if key in details)
        if own or named:
            blanked.append(row["event_id"])
        if not own and row["action"] != "end" and (named or (row["action"], row["subject"]) in about):
            about.add((row["action"], row["subject"]))
            said = {key: _without(key, value, names) if key in _FREE else value for key, value in details.items()}
            said.setdefault("said_in", row["event_id"])
            again.append(journal.entry(connection, row["action"], row["subject"], **said))
    connection.execute(event.update().where(event.c.event_id.in_(blanked)).values(
        salt=None, actor=None, subject="", details="{}"))
    append(connection, again)
    _redact_declared(connection, names)
    return blanked, runs


def _blank_runs(connection: Connection, names: TeamNames) -> tuple[list[int], set[int]]:
    """Blank the parameters that have a name, and the inputs; gives the runs of each."""
    run, runs, without_inputs = models.run, list[int](), set[int]()
    for row in connection.execute(select(run)).all():
        if row.salt is not None and names.are_in_values(row.parameters, _FORMAL):
            runs.append(row.run_id)
        if names.are_in_values(row.inputs):
            without_inputs.add(row.run_id)
    connection.execute(run.update().where(run.c.run_id.in_(runs)).values(salt=None, parameters="{}"))
    connection.execute(run.update().where(run.c.run_id.in_(without_inputs)).values(inputs="{}"))
    return runs, without_inputs


def _without(key: str, value: Any, names: TeamNames) -> Any:
    """Return a value that people have written, without the names."""
    if value is None:
        return None
    if key not in _OBJECTS:
        return names.replaced(value)
    found = json.loads(value)
    if key != "declared":
        return canonical_json(names.replaced_in(found))
    return canonical_json(found | {name: _without(name, found[name], names) if name not in _OBJECTS else
                                   names.replaced_in(found[name]) for name in found.keys() & set(FREE)})


def _redact_declared(connection: Connection, names: TeamNames) -> None:
    """Take the names out of what is declared of other submissions."""
    table = models.submission
    for row in connection.execute(select(table.c.submission_id, *(table.c[name] for name in FREE))).all():
        values = {name: row._mapping[name] for name in FREE}
        if any(names.are_in(value) for value in values.values()):
            catalog.set_values(connection, table, row.submission_id, **{
                key: _without(key, value, names) for key, value in values.items()})


@dataclass
class Purged:
    """What a purge did.

    Attributes:
        name: What stands in the team's place now.
        removed: How many rows went, or were emptied, by table.
        boards: The boards that show the team's place until they are compared again.
        entries: How many entries of the log, and parameters of commands, were blanked.
        left: Where one of the names still stands, in what is not the team's.
    """

    name: str
    removed: dict[str, int] = field(default_factory=dict)
    boards: list[str] = field(default_factory=list)
    entries: int = 0
    left: list[str] = field(default_factory=list)


def team_to_purge(connection: Connection, task: str, team: str) -> tuple[TaskRow, int]:
    """Return the task and the id of the team that is meant.

    Raises:
        UnknownNameError: There is no such task or team.
        InputError: The team is a tombstone, or was purged.
    """
    (row,) = catalog.tasks(connection, task)
    query = select(models.team.c.name, models.team.c.team_id).where(models.team.c.task_id == row.task_id)
    known = {found.name: found.team_id for found in connection.execute(query)}
    purged = set(connection.execute(select(models.tombstone.c.team_id)).scalars())
    if known.get(team) in purged:
        raise InputError(f"{team} is what stands in the place of a team that was purged")
    if team not in known:
        if (before := purged_as(tombstones(connection, row.task_id), team)) is not None:
            raise InputError(f"a team or system of that name was purged already, and is {before} since")
        raise UnknownNameError("team", team, {name for name, team_id in known.items() if team_id not in purged})
    return row, known[team]


def new_name(connection: Connection, task_id: int) -> str:
    """The name of the next tombstone: `purged-1`, `purged-2`, ..."""
    taken = set(connection.execute(select(models.team.c.name).where(models.team.c.task_id == task_id)).scalars())
    return next(name for n in count(1) if (name := f"purged-{n}") not in taken)


def purge(connection: Connection, journal: Journal, task: TaskRow, team_id: int, name: str, reason: str) -> Purged:
    """Take a team out of a registry.

    Args:
        connection: In a transaction.
        journal: Of the command, which does not name the team.
        task: The team's task.
        team_id: The team.
        name: What is to stand in its place.
        reason: Why, for the log.

    Raises:
        InputError: The reason names the team.
    """
    names = TeamNames.of(connection, team_id, name)
    if names.are_in(reason):
        raise InputError("--reason names the team or a system of it, and stays in the log; say it without names")
    if names.are_in(journal.actor):
        journal.actor = None
    own = connection.exec_driver_sql(
        "SELECT name FROM team WHERE team_id = $1 UNION SELECT name FROM system WHERE team_id = $1", (team_id,))
    salt, digests = salted(own.scalars())
    mark(connection, team_id)
    purged = Purged(name, boards=_boards(connection))
    prefixes = tuple(f"{task.slug}/{test_set}/{team}/" for test_set, team in connection.exec_driver_sql("""
        SELECT test_set.name, team.name FROM test_set JOIN team USING (task_id) WHERE team_id = ?""", (team_id,)))
    purged.removed, studies = erase(connection, team_id, task.task_id, names)
    entries, runs = redact(connection, journal, names, prefixes, studies)
    purged.entries = len(entries) + len(runs)
    tombstone = insert(connection, models.tombstone, task_id=task.task_id, team_id=team_id, name=name, salt=salt,
                       names=digests, run_id=journal.run_id(connection), created_at=now())
    row = connection.execute(select(models.tombstone).where(models.tombstone.c.tombstone_id == tombstone)).one()
    changed = connection.exec_driver_sql("SELECT comparison_id FROM changed_comparison ORDER BY ALL").scalars().all()
    journal.event(connection, "purge", f"{task.slug}/{name}", entries=entries, runs=runs,
                  tombstone=digest_of_tombstone(row), rows=digest_of_rows(connection, team_id),
                  comparisons={str(number): digest_of_comparison(connection, number) for number in changed})
    journal.event(connection, "purge-reason", f"{task.slug}/{name}", reason=reason)
    purged.left = list(_left(connection, names))
    return purged


def _boards(connection: Connection) -> list[str]:
    """The boards that the team takes part in, for people."""
    return list(connection.exec_driver_sql("""
        SELECT DISTINCT concat_ws(', ', task || '/' || test_set, 'track ' || latest.track, latest.facet)
            || ': ' || metric
        FROM latest_comparison AS latest SEMI JOIN changed_comparison USING (comparison_id) ORDER BY ALL""").scalars())


def _left(connection: Connection, names: TeamNames) -> list[str]:
    """Where one of the names still stands: in gold, in files or names of others, in what the task itself declares."""
    found = []
    for table in models.metadata.tables.values():
        for column in (column.name for column in table.columns if str(column.type) == "VARCHAR"):
            texts = connection.exec_driver_sql(f"""
                SELECT "{column}" FROM "{table.name}" WHERE {' OR '.join(
                    [f'contains(lower("{column}"), ?)'] * len(names.words)) or 'FALSE'}""",  # noqa: S608
                tuple(word.lower() for word in names.words)).scalars()
            if n := sum(map(names.are_in, texts)):
                found.append(f"{table.name}.{column} ({n})")
    for digest, name in connection.exec_driver_sql("SELECT digest, name FROM source ORDER BY name").all():
        if names.are_in(sources.fetch(connection, digest).decode("utf-8", "replace")):
            found.append(f"the kept file {name}")
    return found
