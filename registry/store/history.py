"""Lists of what a registry holds, and the history of each thing: inputs, settings, program, who and when."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from registry.errors import InputError, MismatchError, UnknownNameError, counted
from registry.provenance import parse_signature
from registry.store.embargoes import is_public
from registry.store.rows import selected
from registry.submission_fields import SUBMISSION_FIELDS

Row = dict[str, Any]

ALTERED = "in the given line, not as stored"  # the title of the section that tells of an edited signature
_PAIR = re.compile(r"((?:.*\|)?(?:id:)?[0-9a-f]{8})/(.+~.+)")
_FOUND = ("score_a", "score_b", "difference", "ci_low", "ci_high", "p_value", "log10_p", "p_low", "p_high",
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
    """A part of a history: what it is about, and rows with the same keys."""

    title: str
    rows: list[Row]


def history(connection: Connection, name: str) -> list[Section]:
    """The history of a comparison or a study, one of its pairs, a run, or a submission.

    Args:
        connection: To the registry.
        name: A signature or the id at its end, for a pair with `/` and the two systems, `~` between them, each as
            `team/system@version`, `team/system` or `system`; `run:` and a number; `task/test_set/team/system`, with
            `@version` or all of its versions.

    Raises:
        UnknownNameError: Nothing is called so.
    """
    kind, _, number = name.partition(":")
    if kind == "run":
        found = _run(connection, int(number) if number.isdecimal() and len(number) < 10 else -1)
    elif (of_pair := _PAIR.fullmatch(name)) and (made := _comparison(connection, of_pair[1])):
        found = _pair(connection, made, *of_pair.groups())
    elif "/" in name and "|" not in name:
        found = _submission(connection, name)
    else:
        found = _signed(connection, name)
    if not found:
        raise UnknownNameError("signature, pair, run or submission", name, _known(connection))
    return found


def head(connection: Connection) -> list[Section]:
    """The last entry of the log, whose hash stands for all of it.

    Raises:
        MismatchError: The log is that of a public file, which is redacted.
    """
    if is_public(connection):
        raise MismatchError("the log of a public file is redacted and has no head; ask for that of the registry itself")
    return [Section("head of the log", selected(
        connection, 'SELECT event_id AS entry, "at", hash FROM event ORDER BY event_id DESC LIMIT 1'))]


def _comparison(connection: Connection, line: str) -> Row | None:
    """The comparison that a line, or the id at its end, identifies: of several with one signature the last."""
    found = selected(connection, "SELECT * FROM comparison WHERE ends_with(signature, :end) ORDER BY comparison_id",
                  end=f"id:{line.rpartition('id:')[2]}")
    return found[-1] if found else None


def _altered(line: str, stored: str) -> list[Section]:
    """What a line says otherwise than the stored signature with its id; an id alone says nothing."""
    if "|" not in line or line == stored:
        return []
    try:
        given, kept = parse_signature(line), parse_signature(stored)
    except InputError as error:
        return [Section(ALTERED, [{"field": "line", "given": str(error), "stored": stored}])]
    return [Section(ALTERED, [
        {"field": key, "given": str(value), "stored": str(vars(kept).get(key))} for key, value in vars(given).items()
        if value != vars(kept).get(key)])]


def _signed(connection: Connection, line: str) -> list[Section]:
    """The history of the comparison or study that a line, or the id at its end, identifies."""
    row = _comparison(connection, line)
    if row is None:
        studies = selected(connection, "SELECT signature, study, subject, digest, created_at, run_id FROM study "
                                    "WHERE ends_with(signature, :end)", end=f"id:{line.rpartition('id:')[2]}")
        return [] if not studies else [
            *_altered(line, studies[0]["signature"]),
            _facts("study", studies[0], ("signature", "study", "subject", "digest", "created_at")),
            *_run(connection, studies[0]["run_id"])]
    number = row["comparison_id"]
    asked = json.loads(row["request"] or "{}")
    settings = asked.pop("significance", {}) | asked
    settings |= {"family": _family(settings["family"])} if "family" in settings else {}
    return [
        *_altered(line, row["signature"]),
        _facts("comparison", row, ("signature", "digest", "test", "n_items", "n_units", "n_systems", "family_size",
                                   "created_at")),
        Section("asked for", [{"setting": name, "value": str(value)} for name, value in settings.items()]),
        _gold(connection, row["gold_revision_id"]),
        Section("systems", selected(connection, """
            SELECT team.name || '/' || system.name || '@' || version AS submission, standing.score, rank, rank_low,
                rank_high, submission.digest, submission.created_at AS submitted_at,
                score.run_id AS scored_by_run, score.digest AS statistics
            FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id)
            JOIN team USING (team_id) JOIN comparison USING (comparison_id)
            LEFT JOIN score ON score.scoring_id = standing.scoring_id AND score.metric_id = comparison.metric_id
            WHERE comparison_id = :id ORDER BY standing.position""", id=number)),
        Section("pairs by run", selected(connection, """
            SELECT pair_result.run_id AS run, method, count(*) AS pairs, min(started_at) AS started_at,
                any_value(code_version) AS version, any_value(code_revision) AS revision
            FROM comparison_pair JOIN pair_result USING (pair_result_id) JOIN run USING (run_id)
            WHERE comparison_id = :id GROUP BY ALL ORDER BY ALL""", id=number)),
        *_run(connection, row["run_id"])]


def _family(asked: str | Sequence[str] | Mapping[str, Sequence[str]]) -> str:
    """The boards of a family in words; of one board alone what was asked for.

    >>> _family({"boards": ["test, acc", "test, f1"], "absent": ["dev, f1"], "digests": []})
    '2 boards (test, acc; test, f1), and dev, f1, of which nothing is compared yet'
    """
    if not isinstance(asked, Mapping):
        return asked if isinstance(asked, str) else "; ".join(asked)
    boards, absent = asked["boards"], "; ".join(asked.get("absent", ()))
    return f"{counted(len(boards), 'board')} ({'; '.join(boards)})" + (
        f", and {absent}, of which nothing is compared yet" if absent else "")


def _gold(connection: Connection, revision: int) -> Section:
    """The files of a revision of the gold."""
    return Section("gold", selected(connection, """
        SELECT role, source.name AS file, source.digest, revision.reader, revision.revision, revision.created_at
        FROM gold_revision AS revision JOIN gold_source USING (gold_revision_id)
        JOIN source ON source.digest = source_digest WHERE gold_revision_id = :gold AND gold_source.reader =
        revision.reader ORDER BY ALL""", gold=revision))


def _pair(connection: Connection, made: Row, line: str, both: str) -> list[Section]:
    """The history of one pair's result, in a comparison that `line` identifies."""
    number = made["comparison_id"]
    known: dict[str, int] = dict(map(tuple, connection.execute(text("""
        SELECT team.name || '/' || system.name || '@' || version, submission_id
        FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
        WHERE comparison_id = :id ORDER BY position"""), {"id": number})))
    one, other = _two_of(both, known)
    (row,) = selected(connection, _RESULT, id=number, one=one, other=other)
    names = {submission: name for name, submission in known.items()}
    row |= {key: made[key] for key in ("signature", "alpha", "correction", "unit")}
    row |= {"system_a": names[row["submission_a"]], "system_b": names[row["submission_b"]],
            "n_pairs": made["family_size"], "compared_by_run": made["run_id"]}
    return [
        *_altered(line, made["signature"]),
        _facts("result", row, ("signature", "system_a", "system_b", *_FOUND, "tested_by_run", "compared_by_run")),
        _facts("asked for", row, ("metric", "test", "alternative", "unit", "asked_resamples", "seed", "interval",
                                  "confidence", "runs", "alpha", "correction", "n_pairs")),
        _gold(connection, made["gold_revision_id"]),
        Section("answers", selected(connection, """
            SELECT team.name || '/' || system.name || '@' || version AS submission, replicate + 1 AS run, of.name AS
                file, source_digest AS digest, submission.digest AS answers, score.digest AS statistics,
                score.run_id AS scored_by_run
            FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id)
            JOIN team USING (team_id) JOIN comparison USING (comparison_id)
            JOIN submission_source AS of USING (submission_id)
            LEFT JOIN score ON score.scoring_id = standing.scoring_id AND score.metric_id = comparison.metric_id
            WHERE comparison_id = :id AND submission_id IN (:one, :other) ORDER BY position, replicate""",
                                 id=number, one=one, other=other)),
        *_run(connection, row["tested_by_run"])]


def _two_of(both: str, known: Mapping[str, int]) -> tuple[int, int]:
    """The two submissions that `both` names, parted by `~`, which may stand in a name too."""
    called: dict[str, set[int]] = {}
    for name, number in known.items():
        for short_name in (name, name.rpartition("@")[0], name.partition("/")[2].rpartition("@")[0]):
            called.setdefault(short_name, set()).add(number)
    parts = both.split("~")
    cuts = [("~".join(parts[:n]), "~".join(parts[n:])) for n in range(1, len(parts))]
    found = [(a, b) for one, other in cuts for a in called.get(one, ()) for b in called.get(other, ()) if a != b]
    if len(found) != 1:
        raise UnknownNameError("pair of systems A~B, each of them", both, known)
    return found[0]


def _run(connection: Connection, number: int) -> list[Section]:
    """What a command was, and what it logged."""
    found = selected(connection, "SELECT * FROM run WHERE run_id = :number", number=number)
    if not found:
        return []
    environment = json.loads(found[0]["environment"])
    inputs = json.loads(found[0]["inputs"])
    return [
        _facts(f"run {number}", found[0], ("command", "parameters", "started_at", "ended_at", "code_version",
                                           "code_revision", "code_dirty")),
        Section("environment", [{"what": what, "version": version} for what, version in environment.items()]),
        Section("read", [{"file": file, "digest": digest} for file, digest in inputs.items()]),
        Section("log", selected(connection, """
            SELECT event_id AS entry, "at", actor, action, subject, details FROM event
            WHERE run_id = :number ORDER BY event_id""", number=number))]


def _submission(connection: Connection, name: str) -> list[Section]:
    """The history of a submission, or of all versions of a system."""
    facts = ", ".join(f"submission.{field.column}" for field in SUBMISSION_FIELDS
                      if field.name not in ("track", "version", "declared"))
    found = selected(connection, f"""
        SELECT task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || submission.version
                AS name, track.name AS track, {facts}, submission_id
        FROM submission JOIN test_set USING (test_set_id) JOIN task USING (task_id) JOIN system USING (system_id)
        JOIN team ON team.team_id = system.team_id LEFT JOIN track ON track.track_id = submission.track_id
        ORDER BY submission_id""")  # noqa: S608
    chosen = [row for row in found if name in (row["name"], row["name"].rpartition("@")[0])]
    sections = []
    for row in chosen:
        number = row.pop("submission_id")
        sections += [
            _facts("submission", row, tuple(row)),
            Section("files", selected(connection, """
                SELECT replicate + 1 AS run, submission_source.name AS file, source_digest AS digest, n_bytes
                FROM submission_source JOIN source ON source.digest = source_digest
                WHERE submission_id = :id ORDER BY replicate""", id=number)),
            Section("scores", selected(connection, """
                SELECT metric.name AS metric, value AS score, revision.revision AS gold, scoring.missing, n_missing,
                    score.run_id AS run, run.started_at AS computed_at, code_version AS version
                FROM scoring JOIN score USING (scoring_id) JOIN metric USING (metric_id)
                JOIN gold_revision AS revision USING (gold_revision_id) JOIN run ON run.run_id = score.run_id
                WHERE submission_id = :id ORDER BY ALL""", id=number)),
            Section("boards", selected(connection, """
                SELECT signature, standing.score, rank, rank_low, rank_high, comparison.created_at
                FROM standing JOIN comparison USING (comparison_id)
                WHERE submission_id = :id ORDER BY comparison_id""", id=number)),
            Section("log", [{**entry, "reason": json.loads(entry["details"]).get("reason")} for entry in selected(
                connection, """
                SELECT event_id AS entry, "at", actor, action, run_id AS run, details FROM event
                WHERE subject = :name ORDER BY event_id""", name=row["name"])])]
    return sections


def _facts(title: str, row: Row, names: Sequence[str]) -> Section:
    """A section of one thing: its names and values."""
    return Section(title, [{"what": name, "value": str(row[name])} for name in names if row[name] is not None])


def _known(connection: Connection) -> Iterator[str]:
    """What there is a history of."""
    for row in selected(connection, "SELECT signature FROM comparison UNION ALL SELECT signature FROM study"):
        yield row["signature"].rpartition("id:")[2]
    for row in selected(connection, "SELECT name FROM ranked_submission"):
        yield row["name"]


Listing = tuple[list[str], list[dict[str, Any]]]


def list_tasks(connection: Connection) -> Listing:
    """Every task."""
    keys, rows = _select(connection, """
        SELECT slug AS id, title, version, seed,
            (SELECT count(*) FROM test_set WHERE test_set.task_id = task.task_id) AS test_sets,
            (SELECT count(*) FROM ranked_submission WHERE ranked_submission.task = task.slug) AS submissions, manifest
        FROM task ORDER BY task_id""")
    told = ("date", "deadline", "licence", "url")
    for row in rows:
        declared = json.loads(row.pop("manifest"))["task"]
        row |= {key: declared.get(key) for key in told}
    return [*keys[:-1], *told], rows


def list_submissions(connection: Connection) -> Listing:
    """Every submission, with its full name as `id`; `ranked` tells whether it takes part now."""
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
    """Every team and system that may be told apart, with its pseudonym where its task is or was anonymous."""
    return _select(connection, """
        SELECT task.slug || '/' || team.name || coalesce('/' || system.name, '') AS id, task.slug AS task,
            concat_ws('/', team.pseudonym, system.pseudonym) AS pseudonym, team.name AS team, system.name AS system
        FROM team JOIN task USING (task_id) LEFT JOIN system USING (team_id)
        ORDER BY task.task_id, team.name, system.name""")


def list_runs(connection: Connection) -> Listing:
    """Every command that changed something; `ended_at` is empty where it was cut short."""
    return _select(connection, """
        SELECT run_id AS id, command, parameters, started_at, ended_at, code_version, code_revision, code_dirty,
            (SELECT count(*) FROM event WHERE event.run_id = run.run_id) AS events
        FROM run ORDER BY run_id""")


def _select(connection: Connection, sql: str) -> Listing:
    found = connection.execute(text(sql))
    return list(found.keys()), [dict(row._mapping) for row in found]
