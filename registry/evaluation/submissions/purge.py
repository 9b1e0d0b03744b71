"""Purge a team: delete its data, and delete or replace its names everywhere.

A tombstone remains: a new name, salted digests of the team's names, and its ranks on past leaderboards. Only a person
who knows a name of the team can find out that it was purged. In the log, texts with a name are deleted and only their
digests remain. If such an entry is about another team, a new entry repeats it with the new name. Comparisons with the
team cannot be repeated afterwards, so the log gets a digest of each. The caller commits the transaction and rewrites
the file, so that deleted bytes are physically gone.
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
from registry.manifest import encode_manifest, read_manifest
from registry.messages import Messages
from registry.store import catalog, models, sources
from registry.store.catalog import TaskRow
from registry.store.log import Journal, append, new_salt, now
from registry.store.rows import insert, next_id
from registry.submission_fields import FREE, SUBMISSION_FIELDS, SubmissionField


@dataclass(frozen=True)
class TeamNames:
    """The names of a team, its systems and its files, and their replacement.

    A name matches only as a whole word, without letters or digits next to it. Letter case does not matter.

    Attributes:
        words: The names.
        replacement: The name that replaces them.
    """

    words: frozenset[str]
    replacement: str

    @classmethod
    def load(cls, connection: Connection, team_id: int, replacement: str) -> TeamNames:
        """Load the names of a team, except names that other teams of the task also have.

        Args:
            connection: Connection to the registry.
            team_id: The team.
            replacement: The name that replaces the names.
        """
        names, other_names = (set(_load_names(connection, team_id, operator)) for operator in ("=", "<>"))
        return cls(frozenset(names - other_names), replacement)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A regular expression that matches any of the names, in plain text or in JSON."""
        spellings = self.words | {json.dumps(word, ensure_ascii=ascii_)[1:-1]
                                for word in self.words for ascii_ in (True, False)}
        alternatives = "|".join(re.escape(word) for word in sorted(spellings, key=len, reverse=True)) or "(?!)"
        return re.compile(rf"(?<![^\W_])(?:{alternatives})(?![^\W_])", re.IGNORECASE)

    def are_in(self, text: str | None) -> bool:
        """Return whether a text contains one of the team's names."""
        return text is not None and self.pattern.search(text) is not None

    def are_in_object(self, stored: str, ignored: Iterable[str] = ()) -> bool:
        """Return whether a key or value of a JSON object contains a name of the team.

        Args:
            stored: The JSON object as a text.
            ignored: Keys whose values are not searched.
        """
        return any(self.are_in(key) or (key not in ignored and self.are_in(canonical_json(value)))
                   for key, value in json.loads(stored or "{}").items())

    def replace(self, text: str) -> str:
        """Replace all names of the team in a text."""
        return self.pattern.sub(self.replacement, text)

    def replace_in(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Replace all names of the team in the keys and text values of a dictionary."""
        return {self.replace(name): self.replace(value) if isinstance(value, str) else value
                for name, value in values.items()}


def _load_names(connection: Connection, team_id: int, operator: str) -> Iterable[str]:
    """Yield texts that identify a team: names, files, links and descriptions.

    Names are those of the team and of its systems.

    Args:
        connection: Connection to the registry.
        team_id: The team.
        operator: `=` to load the texts of this team, `<>` to load the texts of all other teams of its task.
    """
    condition = f"team.team_id {operator} $1 AND task_id = (SELECT task_id FROM team WHERE team_id = $1)"  # noqa: S608
    for team, system, file, attributes in connection.exec_driver_sql(f"""
            SELECT team.name, system.name, submission_source.name, submission.attributes
            FROM team LEFT JOIN system USING (team_id) LEFT JOIN submission USING (system_id)
            LEFT JOIN submission_source USING (submission_id) WHERE {condition}""", (team_id,)):  # noqa: S608
        yield from filter(None, (team, system, file, file and PurePath(file).name))
        for name, value in json.loads(attributes or "{}").items():
            # A short description such as "a baseline" does not identify a team.
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


def _digest_names(names: Iterable[str]) -> tuple[str, str]:
    salt = new_salt()
    return salt, canonical_json(sorted(digest_json([salt, name]) for name in names))


def load_tombstones(connection: Connection, task_id: int) -> Sequence[Row[Any]]:
    """Load the renamed teams of a task whose data a purge has deleted, latest first."""
    table = models.tombstone
    return connection.execute(
        select(table).where(table.c.task_id == task_id).order_by(table.c.tombstone_id.desc())).all()


def find_tombstone(tombstones: Sequence[Row[Any]], name: str) -> str | None:
    """Return the new name of a purged team.

    A purge renames a team, and stores only digests of the old names.

    Args:
        tombstones: Database rows of the purged teams of a task.
        name: The old name of the team or of one of its systems.

    Returns:
        The new name; None if no purged team or system had the old name.
    """
    return next((str(row.name) for row in tombstones if digest_json([row.salt, name]) in row.names), None)


def digest_tombstone(row: Any) -> str:
    """Return the digest of the database row of a purged team."""
    return digest_json([row.task_id, row.team_id, row.name, row.salt, row.names])


def digest_remains(connection: Connection, team_id: int) -> str:
    """Return the digest of the rows that a purge has kept: systems and submissions."""
    return digest_json([[[str(value) for value in row] for row in connection.exec_driver_sql(query, (team_id,))]
                        for query in (_SYSTEMS, _PURGED_SUBMISSIONS)])


def digest_comparison(connection: Connection, comparison_id: int) -> str:
    """Return the digest of a stored comparison: settings, ranks and test results."""
    return digest_json([[[str(value) for value in row] for row in connection.exec_driver_sql(query, (comparison_id,))]
                        for query in (_COMPARISON, _PLACES, _PAIRS, _OVERALL)])


_STATISTICS = [table.name for table in (*models.statistics.values(), *models.whole_statistics.values())]
_SCORING_TABLES = ("response", "scoring_message", "score", "replicate_score", *_STATISTICS, "scoring")
PURGED = Messages.make("purged-team").dump()  # stored for a pair with a purged system
_LABELS = " UNION ALL ".join(f"SELECT {column} FROM statistics_confusion" for column in FAMILIES["confusion"].columns)  # noqa: S608

# The SQL expressions that replace columns of purged submissions.
_REPLACED_FACTS = {
    "withdrawn": "TRUE",
    "version": """if(version IN (
        SELECT version FROM submission ANTI JOIN gone_submission USING (submission_id) UNION ALL SELECT '1'),
        version, 'v' || submission_id)""",
}

# Temporary tables of the ids of rows that a purge deletes or changes, with their queries.
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


def _erase(connection: Connection, team_id: int, task_id: int, names: TeamNames) -> tuple[dict[str, int], set[str]]:
    """Delete a team's rows in all tables, and its names in other rows.

    Args:
        connection: Connection with temporary tables of the ids of these rows.
        team_id: The team.
        task_id: The task of the team.
        names: The names of the team.

    Returns:
        The number of deleted or changed rows by table, and the signatures of deleted studies.
    """
    removed: dict[str, int] = {}

    def execute(table: str, query: str) -> None:
        n_rows = connection.exec_driver_sql(query).scalar_one()
        removed[table] = removed.get(table, 0) + int(n_rows)

    labels = f"label_id IN (SELECT * FROM ({_LABELS}))"  # noqa: S608 - names of columns
    connection.exec_driver_sql(f"CREATE OR REPLACE TEMP TABLE used_label AS SELECT label_id FROM label WHERE {labels}")  # noqa: S608
    for table in _SCORING_TABLES:
        execute(table, f"DELETE FROM {table} WHERE scoring_id IN (FROM gone_scoring)")  # noqa: S608
    execute("label", f"DELETE FROM label WHERE label_id IN (FROM used_label) AND NOT {labels}")  # noqa: S608
    execute("answer", "DELETE FROM answer WHERE NOT in_gold AND answer_id NOT IN (SELECT answer_id FROM response)")
    _erase_results(connection, execute)
    execute("replicate_factor", "DELETE FROM replicate_factor WHERE submission_id IN (FROM gone_submission)")
    execute("submission_source", "DELETE FROM submission_source WHERE submission_id IN (FROM gone_submission)")
    execute("source", "DELETE FROM source WHERE digest IN (FROM gone_source)")
    removed["source"] += _erase_manifests(connection, names)
    _erase_names(connection, execute, team_id, names)
    studies = _erase_studies(connection, task_id, names)
    removed["study"] = len(studies)
    execute("study_part", "DELETE FROM study_part")  # of unfinished studies, which start again
    return {table: n for table, n in removed.items() if n}, studies


def _erase_results(connection: Connection, execute: Callable[[str, str], None]) -> None:
    """Replace test results of pairs with a purged system by empty results.

    Other pairs with the same statistics keep the result. Table `comparison_pair` still records which system is
    significantly better, because ranks of other systems depend on that.

    Args:
        connection: Connection with temporary tables of the ids of the pairs.
        execute: Function of a table and a statement that changes it. It runs the statement and counts the changed rows.
    """
    result, tested = models.pair_result, models.tested_statistics
    no_statistics = insert(connection, tested, digest=f"purged:{next_id(connection, tested)}")
    connection.exec_driver_sql(f"""
        CREATE OR REPLACE TEMP TABLE emptied AS
        SELECT pair_result_id AS old_id,
            {next_id(connection, result) - 1} + row_number() OVER (ORDER BY old_id) AS new_id
        FROM (SELECT DISTINCT pair_result_id FROM gone_pair)""")  # noqa: S608
    connection.exec_driver_sql(f"""
        INSERT INTO pair_result BY NAME
        SELECT new_id AS pair_result_id, pair_request_id, {no_statistics} AS statistics_a,
            {no_statistics} AS statistics_b, method, n_units, 0 AS n_discordant, resamples, 0 AS favours,
            '{PURGED}' AS messages, run_id
        FROM pair_result JOIN emptied ON pair_result_id = old_id""")  # noqa: S608
    execute("comparison_pair", """
        UPDATE comparison_pair SET pair_result_id = new_id, p_adjusted = NULL FROM gone_pair, emptied
        WHERE comparison_pair.comparison_id = gone_pair.comparison_id AND emptied.old_id = gone_pair.pair_result_id
            AND comparison_pair.position = gone_pair.position""")
    execute("pair_result", """
        DELETE FROM pair_result WHERE pair_result_id NOT IN (SELECT pair_result_id FROM comparison_pair)""")
    execute("pair_interval", """
        DELETE FROM pair_interval WHERE pair_result_id NOT IN (SELECT pair_result_id FROM pair_result)""")
    execute("tested_statistics", """
        DELETE FROM tested_statistics WHERE tested_statistics_id NOT IN (
            SELECT statistics_a FROM pair_result UNION ALL SELECT statistics_b FROM pair_result)""")
    execute("standing", "UPDATE standing SET scoring_id = NULL WHERE submission_id IN (FROM gone_submission)")


def _erase_manifests(connection: Connection, names: TeamNames) -> int:
    """Delete stored manifests that contain a name of the team; return their number.

    Past leaderboards depend on the declaration of the task. So a normalized copy of the manifest, without comments and
    submissions, is stored under the digest that the log contains.
    """
    table, deleted = models.source, []
    for digest, name in connection.exec_driver_sql("""
            SELECT digest, name FROM source WHERE digest NOT IN (
                SELECT source_digest FROM submission_source UNION ALL SELECT source_digest FROM gold_source)""").all():
        content = sources.fetch(connection, digest)
        if names.are_in(content.decode("utf-8", "replace")):
            deleted.append(digest)
            try:
                task = encode_manifest(read_manifest(content, ""))
            except ManifestError:  # content that an earlier purge has left
                continue
            if not names.are_in(task):
                sources.store(connection, digest_of(task.encode()), name, task.encode())
    connection.execute(table.delete().where(table.c.digest.in_(deleted)))
    return len(deleted)


def _erase_names(connection: Connection, execute: Callable[[str, str], None], team_id: int, names: TeamNames) -> None:
    """Rename a team and its systems, and delete submissions that are not needed.

    A submission is needed if it is on a leaderboard or was scored. If a leaderboard tests each new submission against
    the earlier ones, every scored submission has used a part of alpha.

    Args:
        connection: Connection with temporary tables of the ids of the submissions.
        execute: Function of a table and a statement that changes it. It runs the statement and counts the changed rows.
        team_id: The team.
        names: The old names, and the new name.
    """
    execute("submission", """
        DELETE FROM submission WHERE submission_id IN (FROM gone_submission)
            AND submission_id NOT IN (SELECT submission_id FROM standing UNION ALL FROM gone_scored)""")
    facts = ", ".join(f"{field.column} = {_make_purged_fact(field)}" for field in SUBMISSION_FIELDS
                      if field.purged != "kept")
    execute("submission", f"UPDATE submission SET {facts} WHERE submission_id IN (FROM gone_submission)")  # noqa: S608
    execute("system", f"""
        DELETE FROM system WHERE team_id = {team_id} AND system_id NOT IN (SELECT system_id FROM submission)""")  # noqa: S608
    systems = connection.exec_driver_sql("""
        SELECT system_id, system.name AS system, team.name AS team FROM system JOIN team USING (team_id)
        WHERE team_id = ? ORDER BY system_id""", (team_id,)).all()
    renamed: dict[str, str] = {}
    for n, row in enumerate(systems, 1):
        # Tables show a column of teams only if a system and its team have different names.
        name = names.replacement if row.system == row.team else f"{names.replacement}-{n}"
        catalog.set_values(connection, models.system, row.system_id, pseudonym=None, name=name)
        renamed |= dict.fromkeys((row.system, f"{row.team}/{row.system}"), f"{names.replacement}/{name}")
    _rename_candidates(connection, renamed)
    catalog.set_values(connection, models.team, team_id, name=names.replacement, pseudonym=None)
    for row in connection.exec_driver_sql("SELECT digest, name FROM source").all():
        if names.are_in(row.name):  # another submission has the same bytes
            other = connection.exec_driver_sql(
                "SELECT min(name) FROM submission_source WHERE source_digest = ?", (row.digest,)).scalar()
            connection.execute(models.source.update().where(models.source.c.digest == row.digest).values(
                name=other or names.replace(row.name)))


def _make_purged_fact(field: SubmissionField) -> str:
    if field.purged == "replaced":
        return _REPLACED_FACTS[field.name]
    return "NULL" if field.is_optional else "'{}'" if field.type == "object" else "''"


def _rename_candidates(connection: Connection, renamed: Mapping[str, str]) -> None:
    """Rename purged systems that past comparisons name as the candidate.

    The candidate is the system that one-sided tests expect to be better.

    Args:
        connection: Connection with a temporary table of the comparisons with purged systems.
        renamed: New names of systems by their old names.
    """
    for row in connection.exec_driver_sql("""
            SELECT comparison_id, request FROM comparison SEMI JOIN changed_comparison USING (comparison_id)
            WHERE json_extract_string(request, '$.significance.candidate') IS NOT NULL""").all():
        request = json.loads(row.request)
        settings = request["significance"]
        settings["candidate"] = renamed.get(settings["candidate"], settings["candidate"])
        catalog.set_values(connection, models.comparison, row.comparison_id, request=canonical_json(request))


def _erase_studies(connection: Connection, task_id: int, names: TeamNames) -> set[str]:
    """Delete studies of a task that contain a name of the team.

    Returns:
        The signatures of the deleted studies.
    """
    table = models.study
    rows = connection.execute(table.select().where(table.c.task_id == task_id))
    deleted = {row.study_id: row.signature for row in rows
            if any(map(names.are_in, (row.signature, row.subject, row.result)))}
    connection.execute(table.delete().where(table.c.study_id.in_(deleted)))
    return set(deleted.values())


_FREE = ("reason", *FREE)  # details of the log's entries that people write
_OBJECTS = {field.column for field in SUBMISSION_FIELDS if field.type == "object"}
_WITHOUT_NAMES = ("task", "kind", "command", "metric")  # parameters of a run that cannot be names of participants


def _redact(connection: Connection, journal: Journal, names: TeamNames, prefixes: tuple[str, ...],
            studies: set[str]) -> tuple[list[int], list[int]]:
    """Delete the team's names from the log, from runs, and from other submissions.

    If a log entry contains a name but is about another team, a new entry repeats it with the name replaced.

    Args:
        connection: Connection in the purge's transaction.
        journal: Writes the new entries to the log.
        names: The names of the team.
        prefixes: Log entries belong to the team if their subject starts with one of these texts.
        studies: Signatures of deleted studies.

    Returns:
        The numbers of the entries and of the runs whose texts were deleted.
    """
    runs, without_inputs = _blank_runs(connection, names)
    unchecked = without_inputs.union(runs)  # without the run's salt no digest of its inputs can be checked
    event, blanked, repeated = models.event, list[int](), list[dict[str, Any]]()
    subjects: set[tuple[str, str]] = set()  # their later entries are repeated too, so that the last entry stays last
    for entry in connection.execute(select(event).order_by(event.c.event_id)).all():
        row = dict(entry._mapping)
        if row["salt"] is None or row["action"].startswith("purge"):
            continue
        details = json.loads(row["details"])
        is_own = row["subject"].startswith(prefixes) or details.get("signature") in studies or (
            row["action"] == "end" and row["run_id"] in unchecked)
        has_name = names.are_in(row["actor"]) or any(
            names.are_in(canonical_json(details[key])) for key in _FREE if key in details)
        if is_own or has_name:
            blanked.append(row["event_id"])
        if not is_own and row["action"] != "end" and (has_name or (row["action"], row["subject"]) in subjects):
            subjects.add((row["action"], row["subject"]))
            redacted = {key: _replace_in_value(key, value, names) if key in _FREE else value
                        for key, value in details.items()}
            redacted.setdefault("said_in", row["event_id"])
            repeated.append(journal.entry(connection, row["action"], row["subject"], **redacted))
    connection.execute(event.update().where(event.c.event_id.in_(blanked)).values(
        salt=None, actor=None, subject="", details="{}"))
    append(connection, repeated)
    _redact_declarations(connection, names)
    return blanked, runs


def _blank_runs(connection: Connection, names: TeamNames) -> tuple[list[int], set[int]]:
    """Delete parameters of commands, and lists of input files, that contain a name.

    The database calls a command a run.

    Returns:
        The runs whose parameters were deleted, and the runs whose lists of input files were deleted.
    """
    run, runs, without_inputs = models.run, list[int](), set[int]()
    for row in connection.execute(select(run)).all():
        if row.salt is not None and names.are_in_object(row.parameters, _WITHOUT_NAMES):
            runs.append(row.run_id)
        if names.are_in_object(row.inputs):
            without_inputs.add(row.run_id)
    connection.execute(run.update().where(run.c.run_id.in_(runs)).values(salt=None, parameters="{}"))
    connection.execute(run.update().where(run.c.run_id.in_(without_inputs)).values(inputs="{}"))
    return runs, without_inputs


def _replace_in_value(key: str, value: Any, names: TeamNames) -> Any:
    """Replace the team's names in a text or JSON object that people wrote.

    Args:
        key: Name of the column or of the log entry's detail that has the value.
        value: The value; may be None.
        names: The names of the team.
    """
    if value is None:
        return None
    if key not in _OBJECTS:
        return names.replace(value)
    content = json.loads(value)
    if key != "declared":
        return canonical_json(names.replace_in(content))
    return canonical_json(content | {
        name: names.replace_in(content[name]) if name in _OBJECTS else _replace_in_value(name, content[name], names)
        for name in content.keys() & set(FREE)})


def _redact_declarations(connection: Connection, names: TeamNames) -> None:
    table = models.submission
    for row in connection.execute(select(table.c.submission_id, *(table.c[name] for name in FREE))).all():
        values = {name: row._mapping[name] for name in FREE}
        if any(names.are_in(value) for value in values.values()):
            catalog.set_values(connection, table, row.submission_id, **{
                key: _replace_in_value(key, value, names) for key, value in values.items()})


@dataclass
class PurgeSummary:
    """Counts of data that a purge has deleted, and places that still contain names.

    Attributes:
        name: The new name of the team.
        removed: Number of deleted or emptied rows, by table.
        boards: Leaderboards that show the new name until systems are compared again.
        n_blanked: Number of log entries and commands whose texts were deleted.
        remaining: Tables and files that still contain a name, because they do not belong to the team.
    """

    name: str
    removed: dict[str, int] = field(default_factory=dict)
    boards: list[str] = field(default_factory=list)
    n_blanked: int = 0
    remaining: list[str] = field(default_factory=list)


def find_team(connection: Connection, task: str, team: str) -> tuple[TaskRow, int]:
    """Return the task and the id of a team that is to be purged.

    Raises:
        UnknownNameError: The task or team is unknown.
        InputError: The team was purged before.
    """
    (row,) = catalog.tasks(connection, task)
    query = select(models.team.c.name, models.team.c.team_id).where(models.team.c.task_id == row.task_id)
    team_ids = {team_row.name: team_row.team_id for team_row in connection.execute(query)}
    purged = set(connection.execute(select(models.tombstone.c.team_id)).scalars())
    if team_ids.get(team) in purged:
        raise InputError(f"{team} is the tombstone of a team that was already purged; name another team")
    if team not in team_ids:
        if (tombstone := find_tombstone(load_tombstones(connection, row.task_id), team)) is not None:
            raise InputError(f"a team or system of this name was already purged; its tombstone is {tombstone}")
        raise UnknownNameError("team", team, {name for name, team_id in team_ids.items() if team_id not in purged})
    return row, team_ids[team]


def choose_tombstone_name(connection: Connection, task_id: int) -> str:
    """Return the first unused name for a purged team: `purged-1`, `purged-2`, ..."""
    used = set(connection.execute(select(models.team.c.name).where(models.team.c.task_id == task_id)).scalars())
    return next(name for n in count(1) if (name := f"purged-{n}") not in used)


def purge(connection: Connection, journal: Journal, task: TaskRow, team_id: int, name: str,
          reason: str) -> PurgeSummary:
    """Delete a team's data, and delete or replace its names everywhere.

    Args:
        connection: Connection in a transaction.
        journal: Writes the command to the log; it must not contain a name of the team.
        task: The team's task.
        team_id: The team.
        name: The new name of the team.
        reason: The reason of the purge, for the log.

    Raises:
        InputError: The reason contains a name of the team.
    """
    names = TeamNames.load(connection, team_id, name)
    if names.are_in(reason):
        raise InputError("--reason contains a name of the team or of its systems, and stays in the log; write it "
                         "without names")
    if names.are_in(journal.actor):
        journal.actor = None
    team_names = connection.exec_driver_sql(
        "SELECT name FROM team WHERE team_id = $1 UNION SELECT name FROM system WHERE team_id = $1", (team_id,))
    salt, digests = _digest_names(team_names.scalars())
    for table, query in _GONE.items():
        connection.exec_driver_sql(f"CREATE OR REPLACE TEMP TABLE {table} AS {query.replace('$1', str(team_id))}")
    summary = PurgeSummary(name, boards=list(connection.exec_driver_sql("""
        SELECT DISTINCT concat_ws(', ', task || '/' || test_set, 'track ' || latest.track, latest.facet)
            || ': ' || metric
        FROM latest_comparison AS latest SEMI JOIN changed_comparison USING (comparison_id)
        ORDER BY ALL""").scalars()))
    prefixes = tuple(f"{task.slug}/{test_set}/{team}/" for test_set, team in connection.exec_driver_sql("""
        SELECT test_set.name, team.name FROM test_set JOIN team USING (task_id) WHERE team_id = ?""", (team_id,)))
    summary.removed, studies = _erase(connection, team_id, task.task_id, names)
    entries, runs = _redact(connection, journal, names, prefixes, studies)
    summary.n_blanked = len(entries) + len(runs)
    tombstone = insert(connection, models.tombstone, task_id=task.task_id, team_id=team_id, name=name, salt=salt,
                       names=digests, run_id=journal.run_id(connection), created_at=now())
    row = connection.execute(select(models.tombstone).where(models.tombstone.c.tombstone_id == tombstone)).one()
    changed = connection.exec_driver_sql("SELECT comparison_id FROM changed_comparison ORDER BY ALL").scalars().all()
    journal.event(connection, "purge", f"{task.slug}/{name}", entries=entries, runs=runs,
                  tombstone=digest_tombstone(row), rows=digest_remains(connection, team_id),
                  comparisons={str(number): digest_comparison(connection, number) for number in changed})
    journal.event(connection, "purge-reason", f"{task.slug}/{name}", reason=reason)
    summary.remaining = _find_remaining(connection, names)
    return summary


def _find_remaining(connection: Connection, names: TeamNames) -> list[str]:
    """List the columns and files that still contain a name of a purged team.

    Examples are the gold, files and names of other teams, and the declaration of the task.
    """
    places = []
    for table in models.metadata.tables.values():
        for column in (column.name for column in table.columns if str(column.type) == "VARCHAR"):
            texts = connection.exec_driver_sql(f"""
                SELECT "{column}" FROM "{table.name}" WHERE {' OR '.join(
                    [f'contains(lower("{column}"), ?)'] * len(names.words)) or 'FALSE'}""",  # noqa: S608
                tuple(word.lower() for word in names.words)).scalars()
            if n := sum(map(names.are_in, texts)):
                places.append(f"{table.name}.{column} ({n})")
    for digest, name in connection.exec_driver_sql("SELECT digest, name FROM source ORDER BY name").all():
        if names.are_in(sources.fetch(connection, digest).decode("utf-8", "replace")):
            places.append(f"the stored file {name}")
    return places
