"""The rows of a team taken out of a registry: all that it gave and that was computed of it.

Its places on past boards stay, under another name, without what led to them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from sqlalchemy import Connection

from registry.errors import ManifestError
from registry.evaluation.submissions.names import TeamNames
from registry.families import FAMILIES
from registry.identity import canonical_json
from registry.identity import digest as digest_of
from registry.manifest import read_manifest, stored_form
from registry.messages import Messages
from registry.store import catalog, models, sources
from registry.store.rows import insert, next_id
from registry.submission_fields import SUBMISSION_FIELDS, SubmissionField

_STATISTICS = [table.name for table in (*models.statistics.values(), *models.whole_statistics.values())]
_OF_SCORINGS = ("response", "remark", "score", "replicate_score", *_STATISTICS, "scoring")
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
                sources.keep(connection, digest_of(left.encode()), name, left.encode())
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
