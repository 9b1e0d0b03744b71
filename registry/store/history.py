"""Lists of the contents of a registry, and the histories of single results.

A history shows the inputs, the settings, the program, the user and the time of a result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from registry.errors import InputError, MismatchError, UnknownNameError, counted
from registry.provenance import parse_signature
from registry.store.embargoes import is_public
from registry.store.rows import select_rows
from registry.submission_fields import SUBMISSION_FIELDS

Row = dict[str, Any]

ALTERED = "in the given line, not as stored"  # title of the section that compares a given signature with the stored one
_PAIR = re.compile(r"((?:.*\|)?(?:id:)?[0-9a-f]{8})/(.+~.+)")
_RESULT_COLUMNS = ("score_a", "score_b", "difference", "ci_low", "ci_high", "p_value", "log10_p", "p_low", "p_high",
          "p_adjusted", "significant", "resolved", "method", "resamples", "n_units", "n_discordant", "statistic",
          "messages", "tested_statistics_a", "tested_statistics_b")
_RESULT = """
    SELECT p.submission_a, p.submission_b, a.score AS score_a, b.score AS score_b,
        if(is_swapped, -difference, difference) AS difference,
        i.ci_low, i.ci_high, p_value, log10_p, p_low, p_high, p_adjusted,
        is_significant AS significant, is_resolved AS resolved, method, r.resamples, n_units, n_discordant, statistic,
        messages, if(is_swapped, of_b.digest, of_a.digest) AS tested_statistics_a,
        if(is_swapped, of_a.digest, of_b.digest) AS tested_statistics_b, r.run_id AS tested_by_run,
        asked.metric, asked.test, CASE
            WHEN (SELECT alternative FROM comparison WHERE comparison_id = :id) = 'observed' THEN 'observed'
            WHEN asked.alternative = 'two-sided' THEN 'two-sided'
            WHEN (asked.alternative = 'greater') <> is_swapped THEN 'greater' ELSE 'less' END AS alternative,
        asked.resamples AS asked_resamples, asked.seed, asked.interval,
        asked.confidence, asked.runs
    FROM comparison_pair AS p JOIN pair_result AS r USING (pair_result_id)
    JOIN difference_interval AS i ON i.comparison_id = p.comparison_id AND i.position = p.position
    JOIN pair_request AS asked USING (pair_request_id)
    JOIN standing AS a ON a.comparison_id = p.comparison_id AND a.submission_id = p.submission_a
    JOIN standing AS b ON b.comparison_id = p.comparison_id AND b.submission_id = p.submission_b
    LEFT JOIN tested_statistics AS of_a ON of_a.tested_statistics_id = r.statistics_a
    LEFT JOIN tested_statistics AS of_b ON of_b.tested_statistics_id = r.statistics_b
    WHERE p.comparison_id = :id AND p.submission_a IN (:one, :other) AND p.submission_b IN (:one, :other)"""


class Section(NamedTuple):
    """A titled table of the history of a result, such as "files".

    All rows have the same keys.
    """

    title: str
    rows: list[Row]


def find_history(connection: Connection, name: str) -> list[Section]:
    """Return how a stored result came about: its inputs, settings, program and log.

    `name` identifies a result or an action:

    - comparison or study: its signature, or the id at the end of the signature;
    - pair of systems A and B: the signature or id of the comparison, followed by `/A~B`; write each system as
      `team/system@version`, `team/system` or `system`;
    - run of a command: `run:` and its number;
    - submission: `task/test_set/team/system@version`, or without `@version` for all versions.

    Args:
        connection: Connection to the registry.
        name: Name of the result or action.

    Raises:
        UnknownNameError: The registry does not contain this name.
    """
    kind, _, number = name.partition(":")
    if kind == "run":
        sections = _make_run_history(connection, int(number) if number.isdecimal() and len(number) < 10 else -1)
    elif (match := _PAIR.fullmatch(name)) and (comparison := _find_comparison(connection, match[1])):
        sections = _make_pair_history(connection, comparison, *match.groups())
    elif "/" in name and "|" not in name:
        sections = _make_submission_history(connection, name)
    else:
        sections = _make_result_history(connection, name)
    if not sections:
        signatures = select_rows(connection, "SELECT signature FROM comparison UNION ALL SELECT signature FROM study")
        submissions = select_rows(connection, "SELECT name FROM ranked_submission")
        raise UnknownNameError("signature, pair, run or submission", name, [
            *(row["signature"].rpartition("id:")[2] for row in signatures), *(row["name"] for row in submissions)])
    return sections


def read_log_head(connection: Connection) -> list[Section]:
    """Return the last entry of the log, whose hash covers all entries of the log.

    Raises:
        MismatchError: The file is public, so its log is redacted.
    """
    if is_public(connection):
        raise MismatchError("the log of a public file is redacted and has no head; name the registry itself with --db")
    return [Section("head of the log", select_rows(
        connection, 'SELECT event_id AS entry, "at", hash FROM event ORDER BY event_id DESC LIMIT 1'))]


def _find_comparison(connection: Connection, line: str) -> Row | None:
    rows = select_rows(connection, "SELECT * FROM comparison WHERE ends_with(signature, :end) ORDER BY comparison_id",
                       end=f"id:{line.rpartition('id:')[2]}")
    return rows[-1] if rows else None


def _compare_signature(line: str, stored: str) -> list[Section]:
    """List the fields in which a user's signature differs from the stored signature.

    Args:
        line: Signature that the user gave, or only its id.
        stored: Stored signature with the same id.
    """
    if "|" not in line or line == stored:
        return []
    try:
        given_fields, stored_fields = vars(parse_signature(line)), vars(parse_signature(stored))
    except InputError as error:
        return [Section(ALTERED, [{"field": "line", "given": str(error), "stored": stored}])]
    return [Section(ALTERED, [
        {"field": key, "given": str(value), "stored": str(stored_fields.get(key))}
        for key, value in given_fields.items() if value != stored_fields.get(key)])]


def _make_result_history(connection: Connection, line: str) -> list[Section]:
    """Return the history of the comparison or study that has a signature.

    A signature is the line that identifies a result.

    Args:
        connection: Connection to the registry.
        line: The signature, or only the id at its end.
    """
    row = _find_comparison(connection, line)
    if row is None:
        studies = select_rows(connection, "SELECT signature, study, subject, digest, created_at, run_id FROM study "
                                          "WHERE ends_with(signature, :end)", end=f"id:{line.rpartition('id:')[2]}")
        return [] if not studies else [
            *_compare_signature(line, studies[0]["signature"]),
            _make_section("study", studies[0], ("signature", "study", "subject", "digest", "created_at")),
            *_make_run_history(connection, studies[0]["run_id"])]
    number = row["comparison_id"]
    request = json.loads(row["request"] or "{}")
    settings = request.pop("significance", {}) | request
    if "family" in settings:
        settings["family"] = _describe_family(settings["family"])
    return [
        *_compare_signature(line, row["signature"]),
        _make_section("comparison", row, ("signature", "digest", "test", "n_items", "n_units", "n_systems",
                                          "family_size", "created_at")),
        Section("asked for", [{"setting": name, "value": str(value)} for name, value in settings.items()]),
        _list_gold_files(connection, row["gold_revision_id"]),
        Section("systems", select_rows(connection, """
            SELECT team.name || '/' || system.name || '@' || version AS submission, standing.score, rank, rank_low,
                rank_high, submission.digest, submission.created_at AS submitted_at,
                score.run_id AS scored_by_run, score.digest AS statistics
            FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id)
            JOIN team USING (team_id) JOIN comparison USING (comparison_id)
            LEFT JOIN score ON score.scoring_id = standing.scoring_id AND score.metric_id = comparison.metric_id
            WHERE comparison_id = :id ORDER BY standing.position""", id=number)),
        Section("pairs by run", select_rows(connection, """
            SELECT pair_result.run_id AS run, method, count(*) AS pairs, min(started_at) AS started_at,
                any_value(code_version) AS version, any_value(code_revision) AS revision
            FROM comparison_pair JOIN pair_result USING (pair_result_id) JOIN run USING (run_id)
            WHERE comparison_id = :id GROUP BY ALL ORDER BY ALL""", id=number)),
        *_make_run_history(connection, row["run_id"])]


def _describe_family(family: str | Sequence[str] | Mapping[str, Sequence[str]]) -> str:
    """Describe the leaderboards whose p-values are corrected together.

    Args:
        family: Leaderboards that were recorded; or the setting in the manifest, if each leaderboard is corrected alone.

    >>> _describe_family({"boards": ["test, acc", "test, f1"], "absent": ["dev, f1"], "digests": []})
    '2 boards (test, acc; test, f1), and without comparison yet: dev, f1'
    """
    if not isinstance(family, Mapping):
        return family if isinstance(family, str) else "; ".join(family)
    boards, absent = family["boards"], "; ".join(family.get("absent", ()))
    return f"{counted(len(boards), 'board')} ({'; '.join(boards)})" + (
        f", and without comparison yet: {absent}" if absent else "")


def _list_gold_files(connection: Connection, revision: int) -> Section:
    return Section("gold", select_rows(connection, """
        SELECT role, source.name AS file, source.digest, revision.reader, revision.revision, revision.created_at
        FROM gold_revision AS revision JOIN gold_source USING (gold_revision_id)
        JOIN source ON source.digest = source_digest WHERE gold_revision_id = :gold AND gold_source.reader =
        revision.reader ORDER BY ALL""", gold=revision))


def _make_pair_history(connection: Connection, comparison: Row, line: str, systems: str) -> list[Section]:
    """Return the history of the test of two systems within a comparison.

    Args:
        connection: Connection to the registry.
        comparison: Row of the table `comparison`.
        line: Signature or id of the comparison, as the user gave it.
        systems: The names of the two systems, as `A~B`.
    """
    number = comparison["comparison_id"]
    submissions: dict[str, int] = dict(map(tuple, connection.execute(text("""
        SELECT team.name || '/' || system.name || '@' || version, submission_id
        FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": number})))
    first, second = _find_pair(systems, submissions)
    (row,) = select_rows(connection, _RESULT, id=number, one=first, other=second)
    names = {submission: name for name, submission in submissions.items()}
    row |= {key: comparison[key] for key in ("signature", "alpha", "correction", "unit")}
    row |= {"system_a": names[row["submission_a"]], "system_b": names[row["submission_b"]],
            "n_pairs": comparison["family_size"], "compared_by_run": comparison["run_id"]}
    return [
        *_compare_signature(line, comparison["signature"]),
        _make_section("result", row, ("signature", "system_a", "system_b", *_RESULT_COLUMNS, "tested_by_run",
                                      "compared_by_run")),
        _make_section("asked for", row, ("metric", "test", "alternative", "unit", "asked_resamples", "seed", "interval",
                                         "confidence", "runs", "alpha", "correction", "n_pairs")),
        _list_gold_files(connection, comparison["gold_revision_id"]),
        Section("answers", select_rows(connection, """
            SELECT team.name || '/' || system.name || '@' || version AS submission, replicate + 1 AS run, of.name AS
                file, source_digest AS digest, submission.digest AS answers, score.digest AS statistics,
                score.run_id AS scored_by_run
            FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id)
            JOIN team USING (team_id) JOIN comparison USING (comparison_id)
            JOIN submission_source AS of USING (submission_id)
            LEFT JOIN score ON score.scoring_id = standing.scoring_id AND score.metric_id = comparison.metric_id
            WHERE comparison_id = :id AND submission_id IN (:one, :other) ORDER BY position, replicate""",
                                 id=number, one=first, other=second)),
        *_make_run_history(connection, row["tested_by_run"])]


def _find_pair(systems: str, submissions: Mapping[str, int]) -> tuple[int, int]:
    """Return the ids of the two submissions in a text `A~B`.

    System names may contain `~`, so every `~` is tried as the separator.

    Args:
        systems: The text.
        submissions: Ids of submissions, by `team/system@version`.
    """
    ids: dict[str, set[int]] = {}
    for name, number in submissions.items():
        for alias in (name, name.rpartition("@")[0], name.partition("/")[2].rpartition("@")[0]):
            ids.setdefault(alias, set()).add(number)
    parts = systems.split("~")
    divisions = [("~".join(parts[:n]), "~".join(parts[n:])) for n in range(1, len(parts))]
    pairs = [(a, b) for first, second in divisions for a in ids.get(first, ()) for b in ids.get(second, ()) if a != b]
    if len(pairs) != 1:
        raise UnknownNameError("pair of systems A~B, each of them", systems, submissions)
    return pairs[0]


def _make_run_history(connection: Connection, number: int) -> list[Section]:
    """Return the history of a command: parameters, environment, input files, log."""
    rows = select_rows(connection, "SELECT * FROM run WHERE run_id = :number", number=number)
    if not rows:
        return []
    environment = json.loads(rows[0]["environment"])
    inputs = json.loads(rows[0]["inputs"])
    return [
        _make_section(f"run {number}", rows[0], ("command", "parameters", "started_at", "ended_at", "code_version",
                                                 "code_revision", "code_dirty")),
        Section("environment", [{"what": name, "version": version} for name, version in environment.items()]),
        Section("read", [{"file": file, "digest": digest} for file, digest in inputs.items()]),
        Section("log", select_rows(connection, """
            SELECT event_id AS entry, "at", actor, action, subject, details FROM event
            WHERE run_id = :number ORDER BY event_id""", number=number))]


def _make_submission_history(connection: Connection, name: str) -> list[Section]:
    """Return the history of a submission, or of all versions of a system.

    Args:
        connection: Connection to the registry.
        name: `task/test_set/team/system@version`, or without `@version` for all versions.
    """
    facts = ", ".join(f"submission.{field.column}" for field in SUBMISSION_FIELDS
                      if field.name not in ("track", "version", "declared"))
    rows = select_rows(connection, f"""
        SELECT task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || submission.version
                AS name, track.name AS track, {facts}, submission_id
        FROM submission JOIN test_set USING (test_set_id) JOIN task USING (task_id) JOIN system USING (system_id)
        JOIN team ON team.team_id = system.team_id LEFT JOIN track ON track.track_id = submission.track_id
        ORDER BY submission_id""")  # noqa: S608
    sections = []
    for row in rows:
        if name not in (row["name"], row["name"].rpartition("@")[0]):
            continue
        number = row.pop("submission_id")
        sections += [
            _make_section("submission", row, tuple(row)),
            Section("files", select_rows(connection, """
                SELECT replicate + 1 AS run, submission_source.name AS file, source_digest AS digest, n_bytes
                FROM submission_source JOIN source ON source.digest = source_digest
                WHERE submission_id = :id ORDER BY replicate""", id=number)),
            Section("scores", select_rows(connection, """
                SELECT metric.name AS metric, value AS score, revision.revision AS gold, scoring.missing, n_missing,
                    score.run_id AS run, run.started_at AS computed_at, code_version AS version
                FROM scoring JOIN score USING (scoring_id) JOIN metric USING (metric_id)
                JOIN gold_revision AS revision USING (gold_revision_id) JOIN run ON run.run_id = score.run_id
                WHERE submission_id = :id ORDER BY ALL""", id=number)),
            Section("boards", select_rows(connection, """
                SELECT signature, standing.score, rank, rank_low, rank_high, comparison.created_at
                FROM standing JOIN comparison USING (comparison_id)
                WHERE submission_id = :id ORDER BY comparison_id""", id=number)),
            Section("log", [{**entry, "reason": json.loads(entry["details"]).get("reason")} for entry in select_rows(
                connection, """
                SELECT event_id AS entry, "at", actor, action, run_id AS run, details FROM event
                WHERE subject = :name ORDER BY event_id""", name=row["name"])])]
    return sections


def _make_section(title: str, row: Row, names: Sequence[str]) -> Section:
    return Section(title, [{"what": name, "value": str(row[name])} for name in names if row[name] is not None])


Listing = tuple[list[str], list[dict[str, Any]]]


def list_tasks(connection: Connection) -> Listing:
    """Return a table of all tasks for users: column names, and rows."""
    keys, rows = _select(connection, """
        SELECT slug AS id, title, version, seed,
            (SELECT count(*) FROM test_set WHERE test_set.task_id = task.task_id) AS test_sets,
            (SELECT count(*) FROM ranked_submission WHERE ranked_submission.task = task.slug) AS submissions, manifest
        FROM task ORDER BY task_id""")
    declared_keys = ("date", "deadline", "licence", "url")
    for row in rows:
        declared = json.loads(row.pop("manifest"))["task"]
        row |= {key: declared.get(key) for key in declared_keys}
    return [*keys[:-1], *declared_keys], rows


def list_submissions(connection: Connection) -> Listing:
    """Return a table of all submissions for users: column names, and rows.

    The column `id` has the full names. The column `ranked` is true for the latest version of a system, unless it is
    withdrawn.
    """
    facts = ", ".join(f"submission.{field.column}" for field in SUBMISSION_FIELDS
                      if field.is_declared and field.type not in ("id", "object"))
    return _select(connection, f"""
        SELECT
            task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || submission.version
                AS id,
            task.slug AS task, test_set.name AS test_set, team.name AS team, system.name AS system,
            submission.version, track.name AS track, {facts},
            submission_id IN (SELECT submission_id FROM ranked_submission) AS ranked,
            submission.created_at
        FROM submission
        JOIN system USING (system_id) JOIN team USING (team_id)
        JOIN test_set USING (test_set_id) JOIN task ON task.task_id = test_set.task_id
        LEFT JOIN track ON track.track_id = submission.track_id
        ORDER BY submission_id""")  # noqa: S608


def list_teams(connection: Connection) -> Listing:
    """Return a table of all teams and systems for users: column names, and rows.

    The column `pseudonym` is empty in tasks that were never anonymous.
    """
    return _select(connection, """
        SELECT task.slug || '/' || team.name || coalesce('/' || system.name, '') AS id, task.slug AS task,
            concat_ws('/', team.pseudonym, system.pseudonym) AS pseudonym, team.name AS team, system.name AS system
        FROM team JOIN task USING (task_id) LEFT JOIN system USING (team_id)
        ORDER BY task.task_id, team.name, system.name""")


def list_runs(connection: Connection) -> Listing:
    """Return a table of the commands that changed the registry, for users.

    The column `ended_at` is empty if the command was interrupted.
    """
    return _select(connection, """
        SELECT run_id AS id, command, parameters, started_at, ended_at, code_version, code_revision, code_dirty,
            (SELECT count(*) FROM event WHERE event.run_id = run.run_id) AS events
        FROM run ORDER BY run_id""")


def _select(connection: Connection, sql: str) -> Listing:
    result = connection.execute(text(sql))
    return list(result.keys()), [dict(row) for row in result.mappings()]
