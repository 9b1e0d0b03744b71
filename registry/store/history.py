"""How what a registry holds came about: the inputs, the settings, the program, who and when."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from registry.errors import UnknownNameError

Row = dict[str, Any]


class Section(NamedTuple):
    """A part of a history: what it is about, and rows with the same keys."""

    title: str
    rows: list[Row]


def history(connection: Connection, name: str) -> list[Section]:
    """The history of a comparison or a study, a run, or a submission.

    Args:
        connection: To the registry.
        name: A signature or the id at its end; `run:` and a number; `task/test_set/team/system`, with `@version` or all
            of its versions.

    Raises:
        UnknownNameError: Nothing is called so.
    """
    kind, _, number = name.partition(":")
    if kind == "run":
        found = _run(connection, int(number) if number.isdecimal() and len(number) < 10 else -1)
    elif "/" in name and "|" not in name:
        found = _submission(connection, name)
    else:
        found = _signed(connection, name.rpartition("id:")[2])
    if not found:
        raise UnknownNameError("signature, run or submission", name, _known(connection))
    return found


def head(connection: Connection) -> list[Section]:
    """The last entry of the log, whose hash stands for all of it."""
    return [Section("head of the log", _rows(
        connection, 'SELECT event_id AS entry, "at", hash FROM event ORDER BY event_id DESC LIMIT 1'))]


def _signed(connection: Connection, identity: str) -> list[Section]:
    """The history of the comparison or study with this id."""
    end = f"id:{identity}"
    made = _rows(connection, "SELECT * FROM comparison WHERE ends_with(signature, :end) ORDER BY comparison_id",
                 end=end)
    if not made:
        studies = _rows(connection, "SELECT signature, study, subject, digest, created_at, run_id FROM study "
                                    "WHERE ends_with(signature, :end)", end=end)
        return [] if not studies else [
            _facts("study", studies[0], ("signature", "study", "subject", "digest", "created_at")),
            *_run(connection, studies[0]["run_id"])]
    row, number = made[-1], made[-1]["comparison_id"]
    asked = json.loads(row["request"] or "{}")
    settings = asked.pop("significance", {}) | asked
    return [
        _facts("comparison", row, ("signature", "digest", "test", "n_items", "n_units", "n_systems", "family_size",
                                   "created_at")),
        Section("asked for", [{"setting": name, "value": str(value)} for name, value in settings.items()]),
        Section("gold", _rows(connection, """
            SELECT role, source.name AS file, source.digest, revision.reader, revision.revision, revision.created_at
            FROM gold_revision AS revision JOIN gold_source USING (gold_revision_id)
            JOIN source ON source.digest = source_digest WHERE gold_revision_id = :gold AND gold_source.reader =
            revision.reader ORDER BY ALL""", gold=row["gold_revision_id"])),
        Section("systems", _rows(connection, """
            SELECT team.name || '/' || system.name || '@' || version AS submission, standing.score, rank, rank_low,
                rank_high, submission.digest, submission.created_at AS submitted_at,
                score.run_id AS scored_by_run, score.digest AS statistics
            FROM standing JOIN submission USING (submission_id) JOIN system USING (system_id)
            JOIN team USING (team_id) JOIN comparison USING (comparison_id)
            LEFT JOIN score ON score.scoring_id = standing.scoring_id AND score.metric_id = comparison.metric_id
            WHERE comparison_id = :id ORDER BY standing.position""", id=number)),
        Section("pairs by run", _rows(connection, """
            SELECT pair_result.run_id AS run, method, count(*) AS pairs, min(started_at) AS started_at,
                any_value(code_version) AS version, any_value(code_revision) AS revision
            FROM comparison_pair JOIN pair_result USING (pair_result_id) JOIN run USING (run_id)
            WHERE comparison_id = :id GROUP BY ALL ORDER BY ALL""", id=number)),
        *_run(connection, row["run_id"])]


def _run(connection: Connection, number: int) -> list[Section]:
    """What a command was, and what it logged."""
    found = _rows(connection, "SELECT * FROM run WHERE run_id = :number", number=number)
    if not found:
        return []
    environment = json.loads(found[0]["environment"])
    inputs = json.loads(found[0]["inputs"])
    return [
        _facts(f"run {number}", found[0], ("command", "parameters", "started_at", "ended_at", "code_version",
                                           "code_revision", "code_dirty")),
        Section("environment", [{"what": what, "version": version} for what, version in environment.items()]),
        Section("read", [{"file": file, "digest": digest} for file, digest in inputs.items()]),
        Section("log", _rows(connection, "SELECT event_id AS entry, \"at\", actor, action, subject, details FROM event "
                                         "WHERE run_id = :number ORDER BY event_id", number=number))]


def _submission(connection: Connection, name: str) -> list[Section]:
    """The history of a submission, or of all versions of a system."""
    found = _rows(connection, """
        SELECT task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || submission.version
                AS name, track.name AS track, submission.kind, withdrawn, late, missing, attributes, submission.reader,
            submission.digest, submission.created_at, submission_id
        FROM submission JOIN test_set USING (test_set_id) JOIN task USING (task_id) JOIN system USING (system_id)
        JOIN team ON team.team_id = system.team_id LEFT JOIN track ON track.track_id = submission.track_id
        ORDER BY submission_id""")
    chosen = [row for row in found if name in (row["name"], row["name"].rpartition("@")[0])]
    sections = []
    for row in chosen:
        number = row.pop("submission_id")
        sections += [
            _facts("submission", row, tuple(row)),
            Section("files", _rows(connection, """
                SELECT replicate + 1 AS run, submission_source.name AS file, source_digest AS digest, n_bytes
                FROM submission_source JOIN source ON source.digest = source_digest
                WHERE submission_id = :id ORDER BY replicate""", id=number)),
            Section("scores", _rows(connection, """
                SELECT metric.name AS metric, value AS score, revision.revision AS gold, scoring.missing, n_missing,
                    score.run_id AS run, run.started_at AS computed_at, code_version AS version
                FROM scoring JOIN score USING (scoring_id) JOIN metric USING (metric_id)
                JOIN gold_revision AS revision USING (gold_revision_id) JOIN run ON run.run_id = score.run_id
                WHERE submission_id = :id ORDER BY ALL""", id=number)),
            Section("boards", _rows(connection, """
                SELECT signature, standing.score, rank, rank_low, rank_high, comparison.created_at
                FROM standing JOIN comparison USING (comparison_id)
                WHERE submission_id = :id ORDER BY comparison_id""", id=number)),
            Section("log", _rows(connection, """
                SELECT event_id AS entry, "at", actor, action, run_id AS run, details FROM event
                WHERE subject = :name ORDER BY event_id""", name=row["name"]))]
    return sections


def _facts(title: str, row: Row, names: Sequence[str]) -> Section:
    """A section of one thing: its names and values."""
    return Section(title, [{"what": name, "value": str(row[name])} for name in names if row[name] is not None])


def _known(connection: Connection) -> Iterator[str]:
    """What there is a history of."""
    for row in _rows(connection, "SELECT signature FROM comparison UNION ALL SELECT signature FROM study"):
        yield row["signature"].rpartition("id:")[2]
    for row in _rows(connection, "SELECT name FROM ranked_submission"):
        yield row["name"]


def _rows(connection: Connection, query: str, **values: Any) -> list[Row]:
    return [dict(row._mapping) for row in connection.execute(text(query), values)]
