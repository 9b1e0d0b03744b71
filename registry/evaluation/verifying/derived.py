"""Derive responses, scores and comparisons again, and compare them with the stored ones, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import RegistryError
from registry.evaluation.comparing.board_keys import BoardFamily, BoardKey
from registry.evaluation.comparing.board_statistics import Board
from registry.evaluation.comparing.compare import Compared, compare_boards
from registry.evaluation.comparing.settings import Request
from registry.evaluation.comparing.vetting import tested_board
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.fit import Policies, fit_file
from registry.evaluation.ingest.submissions import add_files
from registry.evaluation.scorers import Scorer, difference, recorded, scorer
from registry.evaluation.scoring.score import Pending, Wanted, digest_by, score_wanted
from registry.evaluation.verifying.faults import STALE_SCORES, Fault, differences, runs_elsewhere, summarized
from registry.identity import SALTED, canonical_json
from registry.metrics import METRICS, Metric
from registry.missing import MissingPolicy
from registry.parallel.execution import Execution
from registry.store import catalog, models
from registry.store.catalog import DeclaredMetric, GoldRevisionRow, Member, ScoringRow, TaskRow, TestSetRow
from registry.store.comparisons import results_digest
from registry.store.log import Journal, rescorings
from registry.store.rows import find_nonempty
from registry.values import parse

_STATISTICS = [table.name for tables in models.of_family.values() for table in tables]
SCORE_TABLES = ("response", "scoring_message", "score", "replicate_score", *_STATISTICS)

_RESPONSES = """
    SELECT scoring_id, replicate, item.key AS item, answer.key AS answer, type, correct, score
    FROM {table} JOIN answer USING (answer_id) JOIN item USING (item_id)"""
_KEYS = {"score": ("scoring_id", "metric_id"), "replicate_score": ("scoring_id", "metric_id", "replicate"),
         "scoring_message": ("scoring_id", "replicate", "category", "code", "parameters")}


def derive_scores(ingest: Ingest, scorings: Sequence[ScoringRow], execution: Execution) -> Iterator[Fault]:
    """Derive the responses and scores of some scorings again; their tables are set aside.

    Args:
        ingest: The command and the task.
        scorings: Of the task.
        execution: Who computes.
    """
    pending, names = Pending(ingest.connection), _names(ingest.connection)
    of_revision = attrgetter("gold_revision_id")
    stored = dict(map(tuple, ingest.connection.exec_driver_sql("SELECT scoring_id, n_missing FROM scoring")))
    for revision, group in groupby(sorted(scorings, key=of_revision), key=of_revision):
        wanted = []
        for scoring in group:
            name, n_missing = names[scoring.scoring_id], stored[scoring.scoring_id]
            try:
                reader, documents, answers = ingest.parsed.read(scoring.submission_id)
                policies = Policies(MissingPolicy(scoring.missing), tokens="warn")
                files = [fitted for of_run, document in zip(answers, documents, strict=True) if (fitted := fit_file(
                    ingest.items(revision), of_run, reader, policies, document)) is not None]
                add_files(ingest, scoring.scoring_id, revision, reader, files)
                n_missing_again = sum(file.joined.n_missing for file in files)
            except Exception as error:
                yield Fault("damaged", "submission", name, f"cannot be joined with the gold again: {error}")
                continue
            if n_missing_again != n_missing:
                yield Fault("altered", "submission", name,
                              f"{n_missing} missing answers are stored, and {n_missing_again} found again")
            if metrics := _scored_by(ingest.connection, scoring.scoring_id):
                wanted.append(Wanted(name, scoring, metrics))
        ingest.write()
        if wanted:
            score_wanted(ingest, wanted, execution, pending)
    pending.flush()


def _scored_by(connection: Connection, scoring_id: int) -> dict[DeclaredMetric, Metric]:
    """The metrics that a scoring has scores by."""
    found = connection.exec_driver_sql("""
        SELECT metric.name AS alias, FALSE, metric.* FROM stored_score JOIN metric USING (metric_id)
        WHERE scoring_id = ? ORDER BY metric_id""", (scoring_id,))
    return {row: parse("metric", METRICS, row.name) for row in map(DeclaredMetric._make, found)}


def _names(connection: Connection) -> dict[int, str]:
    """What to call every scoring: the submission, with the revision of the gold where there are several."""
    return dict(map(tuple, connection.exec_driver_sql("""
        SELECT scoring_id, task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@'
            || submission.version || if(revision.revision > 1, ' with gold ' || revision.revision, '')
        FROM scoring JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
        JOIN test_set USING (test_set_id) JOIN task ON task.task_id = test_set.task_id
        JOIN gold_revision AS revision ON revision.gold_revision_id = scoring.gold_revision_id""")))


def compare_scores(connection: Connection) -> Iterator[Fault]:
    """Hold what was stored against what was derived again; keeps which scores other code gave another value."""
    metrics = {row.metric_id: row.name for row in connection.execute(select(models.metric))}
    stale, names = _of_other_code(connection, metrics), _names(connection)
    connection.exec_driver_sql(STALE_SCORES)
    keys = ("scoring_id", "replicate", "item", "answer", "type")
    before, after = (_RESPONSES.format(table=table) for table in ("stored_response", "response"))
    found = {"response": differences(connection, _of(before), after, keys)}
    for table in ("scoring_message", "score", "replicate_score"):
        left_out = "* EXCLUDE (run_id)" if table == "score" else "*"
        found[table] = differences(connection, _of(f"SELECT {left_out} FROM stored_{table}"),  # noqa: S608
                                   f"SELECT {left_out} FROM {table}", _KEYS[table])  # noqa: S608
    held = find_nonempty(connection, [side + table for side in ("stored_", "") for table in SCORE_TABLES])
    for table in _STATISTICS:
        if not held.isdisjoint({f"stored_{table}", table}):
            found[table] = differences(
                connection, f"FROM stored_{table} SEMI JOIN score USING (scoring_id, metric_id)",
                f"FROM {table}", ("scoring_id", "metric_id", "replicate", "item_id"))
    others = runs_elsewhere(connection)
    elsewhere = {scoring_id: others[run_id] for scoring_id, run_id in connection.exec_driver_sql(
        "SELECT scoring_id, run_id FROM stored_score") if run_id in others}
    for table, all_of_them in found.items():
        of = "statistics" if table in _STATISTICS else table.replace("_", " ")
        for scoring_id, of_scoring in all_of_them.items():
            some = [one for one in of_scoring if (scoring_id, one.key.get("metric_id")) not in stale]
            by = {str(metrics.get(one.key.pop("metric_id"))) for one in some if "metric_id" in one.key}
            by_metric = f" by {', '.join(sorted(by))}" if by else ""
            name = names.get(scoring_id, f"scoring {scoring_id}")
            yield from summarized(of, name + by_metric, some, elsewhere=elsewhere.get(scoring_id, ""))
            if table == "score" and len(some) < len(of_scoring):
                rescored = [(scoring_id, one.key["metric_id"]) for one in of_scoring if one not in some]
                connection.exec_driver_sql(f"INSERT INTO stale_score VALUES {', '.join(map(str, rescored))}")  # noqa: S608
                why = {stale[key] for key in rescored}
                yield Fault("stale", of, name, f"{'; '.join(sorted(why))}: `registry score --stale` computes it anew")


def _of_other_code(connection: Connection, metrics: Mapping[int, str]) -> dict[tuple[int, int], str]:
    """The scores that other code than this program's computed, and what differs, by scoring and metric.

    Where other code had made another score of the same statistics before, what was derived gets the digest of both.
    """
    runs, found = recorded(connection), {}
    now: dict[int, Scorer] = {}
    for metric_id, name in metrics.items():
        with suppress(RegistryError):  # a name that was altered is told elsewhere
            now[metric_id] = scorer(parse("metric", METRICS, name))
    for row in connection.exec_driver_sql("""
            SELECT scoring_id, metric_id, stored_score.digest, score.digest AS plain, stored_score.run_id
            FROM stored_score JOIN score USING (scoring_id, metric_id)""").all():
        by = runs.get(row.run_id, {}).get(metrics[row.metric_id])
        if by is not None and row.metric_id in now and (why := difference(by, now[row.metric_id])):
            found[row.scoring_id, row.metric_id] = f"{metrics[row.metric_id]}: {why}"
        name = metrics[row.metric_id]
        if row.digest != row.plain and row.digest in (
                digest_by(row.plain, of[name]) for of in runs.values() if name in of):
            connection.exec_driver_sql("UPDATE score SET digest = ? WHERE scoring_id = ? AND metric_id = ?",
                                       (row.digest, row.scoring_id, row.metric_id))
    return found


def _of(query: str) -> str:
    """The rows of the scorings that were derived again."""
    return f"SELECT * FROM ({query}) SEMI JOIN derived_scoring USING (scoring_id)"  # noqa: S608


RESULT_TABLES = ("comparison", "comparison_pair", "overall_result", "standing", "pair_request", "pair_result",
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
