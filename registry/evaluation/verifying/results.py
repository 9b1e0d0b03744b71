"""Comparisons made again from what was recorded of them, and held against the stored ones, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from registry.evaluation.comparing.board_keys import BoardFamily, BoardKey
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.compare import Compared, compare_boards
from registry.evaluation.comparing.settings import Request
from registry.evaluation.comparing.vetting import tested_board
from registry.evaluation.verifying.faults import STALE_SCORES, Fault, differences, runs_elsewhere, summarized
from registry.identity import SALTED, canonical_json
from registry.significance import Execution
from registry.store import catalog
from registry.store.catalog import DeclaredMetric, GoldRevisionRow, Member, TaskRow, TestSetRow
from registry.store.comparisons import results_digest
from registry.store.log import Journal, rescorings

TABLES = ("comparison", "comparison_pair", "overall_result", "standing", "pair_request", "pair_result",
          "pair_interval")

_PAIRS = """
    SELECT c.digest, p.position, p.* EXCLUDE (comparison_id, position, pair_result_id),
        r.* EXCLUDE (pair_result_id, pair_request_id, statistics_a, statistics_b, run_id),
        a.digest AS statistics_a, b.digest AS statistics_b,
        json_array(q.metric, q.test, q.alternative, q.resamples, q.seed, q.interval, q.confidence, q.runs)::VARCHAR
            AS pair_request
    FROM {stored}comparison_pair AS p
    JOIN {stored}comparison AS c USING (comparison_id)
    LEFT JOIN {stored}pair_result AS r USING (pair_result_id)
    LEFT JOIN {stored}pair_request AS q USING (pair_request_id)
    LEFT JOIN tested_statistics AS a ON a.tested_statistics_id = r.statistics_a
    LEFT JOIN tested_statistics AS b ON b.tested_statistics_id = r.statistics_b"""
_OF_COMPARISON = """
    SELECT c.digest, t.* EXCLUDE (comparison_id) FROM {stored}{table} AS t
    JOIN {stored}comparison AS c USING (comparison_id)"""
_INTERVALS = """
    SELECT c.digest, p.position, i.low, i.high FROM {stored}comparison_pair AS p
    JOIN {stored}comparison AS c USING (comparison_id) LEFT JOIN {stored}pair_interval AS i USING (pair_result_id)"""
# What a release says of itself has digests without the salt that they were made with.
_COMPARISONS = """
    SELECT * EXCLUDE (comparison_id, run_id, created_at, sequence, signature, request),
        regexp_replace(signature, if(starts_with(digest, '{salted}') AND (SELECT count(salt) FROM task) = 0,
            '\\|(v|plugins|gold|id):[^|]*', '\\|(v|plugins):[^|]*'), '', 'g') AS signature
    FROM {stored}comparison""".replace("{salted}", SALTED)


def derive_results(connection: Connection, journal: Journal, task: TaskRow, chosen: Sequence[int],
                   execution: Execution) -> Iterator[Fault]:
    """Make comparisons of a task again, in the order in which they were made; their tables are set aside.

    Args:
        connection: To a copy of the registry.
        journal: Of the command.
        task: Of which all of them are.
        chosen: Their ids.
        execution: Who computes.
    """
    connection.exec_driver_sql(STALE_SCORES)
    superseded = {digest: kept for change in reversed(rescorings(connection))
                  for digest, kept in change.results.items()}
    for rows in _families(connection, chosen):
        try:
            found = [_looked_up(connection, task, row, execution, superseded) for row in rows]
            yield from (of for of in found if isinstance(of, Fault))
            boards = [of for of in found if isinstance(of, Board)]
            if len(boards) < len(rows):  # the p-values of a family rest on all of its boards
                continue
            made = compare_boards(connection, journal, boards, [
                Request.recorded(row["request"], execution) for row in rows])
            for row, comparing in zip(rows, made, strict=True):
                comparing.keep(row["digest"], row["sequence"], Compared())
        except Exception as error:
            yield Fault("damaged", "comparison", rows[0]["id"],
                        f"cannot be made again: {type(error).__name__}: {error}")


def of_families(connection: Connection, comparisons: Collection[int]) -> set[int]:
    """These comparisons, and all whose p-values were corrected together with theirs, by their ids."""
    found = {row.comparison_id: _family(row.request) for row in connection.exec_driver_sql(
        "SELECT comparison_id, request FROM comparison")}
    families = {found[number] for number in comparisons} - {""}
    return set(comparisons) | {number for number, family in found.items() if family in families}


def _families(connection: Connection, chosen: Sequence[int]) -> Iterator[list[Any]]:
    """The stored comparisons that were chosen, each with those of its family, in the order of the family."""
    by_family: dict[str, list[Any]] = {}
    for row in connection.exec_driver_sql("""
            SELECT c.*, split_part(signature, '|', -1) AS id,
                concat_ws(', ', test_set.name, track.name, facet, alias) AS board
            FROM stored_comparison AS c JOIN test_set USING (test_set_id)
            LEFT JOIN track ON track.track_id = c.track_id ORDER BY comparison_id""").mappings():
        by_family.setdefault(_family(row["request"]) or str(row["comparison_id"]), []).append(row)
    for rows in by_family.values():
        if any(row["comparison_id"] in chosen for row in rows):
            places = {} if len(rows) == 1 else {
                board: n for n, board in enumerate(json.loads(rows[0]["request"])["family"]["boards"])}
            yield sorted(rows, key=lambda row: places.get(row["board"], 0))


def _family(request: str) -> str:
    """What stands for the boards that a comparison was corrected together with; empty where it was alone."""
    try:
        family = json.loads(request).get("family")
    except (ValueError, AttributeError):  # what is damaged is told where the comparison is made again
        return ""
    return "" if family is None else canonical_json(family)


def _looked_up(connection: Connection, task: TaskRow, row: Any, execution: Execution,
               superseded: Mapping[str, str]) -> Board | Fault | None:
    """The board of a comparison, or what is wrong with it; None where it rests on what is no more, as it should."""
    request, key = Request.recorded(row["request"], execution), _key(connection, task, row)
    if _is_stale(connection, row["comparison_id"]):
        return Fault("stale", "comparison", row["id"], "it rests on scores that this program's code does not give")
    is_known = key.task.salt is not None or not row["digest"].startswith(SALTED)  # releases have no salt
    if is_known and key.digest(request) != row["digest"]:
        if (kept := superseded.get(row["digest"])) is None:
            return Fault("altered", "comparison", row["id"], "its settings, its members or what their scores rest on "
                                                            "are not those of its digest")
        if kept != results_digest(connection, row["comparison_id"], "stored_"):
            return Fault("altered", "comparison", row["id"], "it rests on scores that other code has computed anew "
                                                            "since, and is not as it was then")
        return None
    alone = replace(key, family=None)
    if is_known and key.family is not None and alone.digest(request, drawn=False) not in key.family.digests:
        return Fault("altered", "comparison", row["id"], "it is not of the family that it names")
    return tested_board(connection, key, request) or Fault("altered", "comparison", row["id"], "no item is left of it")


def _is_stale(connection: Connection, comparison_id: int) -> bool:
    """Whether a comparison rests on scores that other code than this program's gave another value."""
    return connection.exec_driver_sql("""
        SELECT 1 FROM stored_comparison JOIN stored_standing USING (comparison_id)
        SEMI JOIN stale_score USING (scoring_id, metric_id) WHERE comparison_id = ? LIMIT 1""",
                                      (comparison_id,)).first() is not None


def _key(connection: Connection, task: TaskRow, row: Any) -> BoardKey:
    """The board of a comparison, as it was when it was made."""
    asked = json.loads(row["request"])
    there = catalog.get(connection, TestSetRow, test_set_id=row["test_set_id"])
    test_set = TestSetRow(there.test_set_id, there.name, asked["cluster"], row["gold_revision_id"])
    metric = DeclaredMetric._make(connection.exec_driver_sql(
        "SELECT ?, FALSE, metric.* FROM metric WHERE metric_id = ?", (row["alias"], row["metric_id"])).one())
    members = [Member(name=f"{task.slug}/{there.name}/{of['team']}/{of['system']}@{of['version']}", **of)
               for of in connection.exec_driver_sql("""
        SELECT track.name AS track, team.name AS team, system.name AS system, version, stood.kind, stood.late,
            scoring.missing, stood.scoring_id, submission_id, c.track_id
        FROM stored_standing AS stood JOIN stored_comparison AS c USING (comparison_id)
        JOIN scoring USING (scoring_id, submission_id) JOIN submission USING (submission_id)
        JOIN system USING (system_id) JOIN team USING (team_id) LEFT JOIN track ON track.track_id = c.track_id
        WHERE comparison_id = ? ORDER BY submission_id""", (row["comparison_id"],)).mappings()]
    attribute, _, value = (row["facet"] or "").partition("=")
    family = asked.get("family")
    salt = task.salt if row["digest"].startswith(SALTED) else None  # what was compared before the task got one has none
    return BoardKey(replace(task, version=asked["task_version"], salt=salt), test_set,
                    catalog.get(connection, GoldRevisionRow, gold_revision_id=row["gold_revision_id"]), metric,
                    members[0].track, (attribute, value) if attribute else None, members,
                    catalog.scores(connection, metric.metric_id, [member.scoring_id for member in members]),
                    None if family is None else BoardFamily(tuple(family["boards"]), tuple(family["digests"]),
                                                            family["pairs"], tuple(family["absent"])))


def _elsewhere(connection: Connection) -> dict[str, str]:
    """Return the digests of comparisons that other environments computed in part, each with how these differ."""
    others, found = runs_elsewhere(connection), dict[str, str]()
    for digest, run_id in connection.exec_driver_sql("""
            SELECT digest, run_id FROM stored_comparison UNION SELECT digest, r.run_id FROM stored_comparison
            JOIN stored_comparison_pair USING (comparison_id) JOIN stored_pair_result AS r USING (pair_result_id)
            ORDER BY ALL"""):
        if run_id in others and others[run_id] not in found.get(digest, ""):
            found[digest] = "; ".join(filter(None, (found.get(digest), others[run_id])))
    return found


def compare_results(connection: Connection, chosen: Sequence[int], *, is_reordered: bool = False) -> Iterator[Fault]:
    """Hold the stored comparisons against those that were made again.

    Args:
        connection: To a copy of the registry.
        chosen: The ids of the comparisons.
        is_reordered: Whether systems with equal scores may stand in another order than when intervals were computed,
            which changes last digits.
    """
    ids = ", ".join(map(str, chosen)) or "NULL"
    names: dict[str, str] = dict(map(tuple, connection.exec_driver_sql(
        "SELECT digest, split_part(signature, '|', -1) FROM stored_comparison")))
    elsewhere = _elsewhere(connection)
    usual = "systems in another order" if is_reordered else ""
    of_both = f"""digest IN (SELECT digest FROM comparison)
        AND digest IN (SELECT digest FROM stored_comparison WHERE comparison_id IN ({ids}))"""  # noqa: S608
    for what, query, keys in (
            ("comparison", _COMPARISONS, ("digest",)), ("pair", _PAIRS, ("digest", "position")),
            ("interval", _INTERVALS, ("digest", "position")),
            ("standing", _OF_COMPARISON.replace("{table}", "standing"), ("digest", "position")),
            ("overall result", _OF_COMPARISON.replace("{table}", "overall_result"), ("digest", "test"))):
        before, after = (f"SELECT * FROM ({query.format(stored=stored)}) WHERE {of_both}" for stored in ("stored_", ""))  # noqa: S608
        for digest, found in differences(connection, before, after, keys).items():
            yield from summarized(what, names[digest], found, elsewhere=elsewhere.get(digest, usual))
