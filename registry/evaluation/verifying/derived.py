"""Recompute responses, scores and comparisons, and compare them with stored rows.

The recomputed numbers must be equal to the stored numbers, bit for bit.
"""

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
from registry.evaluation.comparing.compare import ComparisonSummary, compare_boards
from registry.evaluation.comparing.settings import Request
from registry.evaluation.comparing.vetting import load_tested_board
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.fit import Policies, fit_file
from registry.evaluation.ingest.submissions import store_files
from registry.evaluation.scorers import Scorer, describe_difference, describe_scorer, load_scorers
from registry.evaluation.scoring.score import InsertQueue, ScoringJob, digest_with_scorer, run_jobs
from registry.evaluation.verifying.faults import (
    STALE_SCORES,
    Fault,
    find_differences,
    find_other_environments,
    summarize,
)
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
    """Recompute the answers and scores of submissions, and store them.

    Before the call, `set_aside` must move the stored answers and scores to temporary tables.

    Args:
        ingest: State of the command: its connection, task and caches.
        scorings: Database rows that join submissions of the task with a version of the gold.
        execution: Number of workers, and a function that receives the progress.

    Yields:
        Faults of submissions that can no longer be matched with the gold.
    """
    queue, names = InsertQueue(ingest.connection), _load_names(ingest.connection)
    by_revision = attrgetter("gold_revision_id")
    stored = dict(map(tuple, ingest.connection.exec_driver_sql("SELECT scoring_id, n_missing FROM scoring")))
    for revision, group in groupby(sorted(scorings, key=by_revision), key=by_revision):
        jobs = []
        for scoring in group:
            name, n_missing = names[scoring.scoring_id], stored[scoring.scoring_id]
            try:
                reader, documents, answers = ingest.parsed.read_answers(scoring.submission_id)
                policies = Policies(MissingPolicy(scoring.missing), tokens="warn")
                files = [fitted for run, document in zip(answers, documents, strict=True) if (fitted := fit_file(
                    ingest.items(revision), run, reader, policies, document)) is not None]
                store_files(ingest, scoring.scoring_id, revision, reader, files)
                n_missing_again = sum(file.joined.n_missing for file in files)
            except Exception as error:
                yield Fault("damaged", "submission", name, f"cannot be joined with the gold again: {error}")
                continue
            if n_missing_again != n_missing:
                yield Fault("altered", "submission", name,
                              f"{n_missing} missing answers are stored, but the files have {n_missing_again}")
            if metrics := _load_metrics(ingest.connection, scoring.scoring_id):
                jobs.append(ScoringJob(name, scoring, metrics))
        ingest.write()
        if jobs:
            run_jobs(ingest, jobs, execution, queue)
    queue.flush()


def _load_metrics(connection: Connection, scoring_id: int) -> dict[DeclaredMetric, Metric]:
    rows = connection.exec_driver_sql("""
        SELECT metric.name AS alias, FALSE, metric.* FROM stored_score JOIN metric USING (metric_id)
        WHERE scoring_id = ? ORDER BY metric_id""", (scoring_id,))
    return {row: parse("metric", METRICS, row.name) for row in map(DeclaredMetric._make, rows)}


def _load_names(connection: Connection) -> dict[int, str]:
    return dict(map(tuple, connection.exec_driver_sql("""
        SELECT scoring_id, task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@'
            || submission.version || if(revision.revision > 1, ' with gold ' || revision.revision, '')
        FROM scoring JOIN submission USING (submission_id) JOIN system USING (system_id) JOIN team USING (team_id)
        JOIN test_set USING (test_set_id) JOIN task ON task.task_id = test_set.task_id
        JOIN gold_revision AS revision ON revision.gold_revision_id = scoring.gold_revision_id""")))


def compare_scores(connection: Connection) -> Iterator[Fault]:
    """Compare stored answers, statistics and scores with recomputed ones.

    A stored score is stale if another version of the code computed it and the recomputed score differs. The ids of
    stale scores are written to the temporary table `stale_score`.
    """
    metrics = {row.metric_id: row.name for row in connection.execute(select(models.metric))}
    stale, names = _find_stale(connection, metrics), _load_names(connection)
    connection.exec_driver_sql(STALE_SCORES)
    keys = ("scoring_id", "replicate", "item", "answer", "type")
    stored, derived = (_RESPONSES.format(table=table) for table in ("stored_response", "response"))
    by_table = {"response": find_differences(connection, _select_derived(stored), derived, keys)}
    for table in ("scoring_message", "score", "replicate_score"):
        columns = "* EXCLUDE (run_id)" if table == "score" else "*"
        by_table[table] = find_differences(
            connection, _select_derived(f"SELECT {columns} FROM stored_{table}"),  # noqa: S608
            f"SELECT {columns} FROM {table}", _KEYS[table])  # noqa: S608
    non_empty = find_nonempty(connection, [side + table for side in ("stored_", "") for table in SCORE_TABLES])
    for table in _STATISTICS:
        if not non_empty.isdisjoint({f"stored_{table}", table}):
            by_table[table] = find_differences(
                connection, f"FROM stored_{table} SEMI JOIN score USING (scoring_id, metric_id)",
                f"FROM {table}", ("scoring_id", "metric_id", "replicate", "item_id"))
    environments = find_other_environments(connection)
    elsewhere = {scoring_id: environments[run_id] for scoring_id, run_id in connection.exec_driver_sql(
        "SELECT scoring_id, run_id FROM stored_score") if run_id in environments}
    for table, by_scoring in by_table.items():
        object_kind = "statistics" if table in _STATISTICS else table.replace("_", " ")
        for scoring_id, differences in by_scoring.items():
            current = [row for row in differences if (scoring_id, row.key.get("metric_id")) not in stale]
            by_metrics = {str(metrics.get(row.key.pop("metric_id"))) for row in current if "metric_id" in row.key}
            suffix = f" by {', '.join(sorted(by_metrics))}" if by_metrics else ""
            name = names.get(scoring_id, f"scoring {scoring_id}")
            yield from summarize(object_kind, name + suffix, current, elsewhere=elsewhere.get(scoring_id, ""))
            if table == "score" and len(current) < len(differences):
                stale_keys = [(scoring_id, row.key["metric_id"]) for row in differences if row not in current]
                rows = ", ".join(map(str, stale_keys))
                connection.exec_driver_sql(f"INSERT INTO stale_score VALUES {rows}")  # noqa: S608
                reasons = sorted({stale[key] for key in stale_keys})
                yield Fault("stale", object_kind, name,
                            f"{'; '.join(reasons)}: run `registry score --stale` to compute it again")


def _find_stale(connection: Connection, metrics: Mapping[int, str]) -> dict[tuple[int, int], str]:
    """Find the stored scores that another version of the code computed.

    The stored digest of a score can depend on the code that computed the score. If the statistics are the same, the
    recomputed score gets the stored digest.

    Returns:
        A description of how the versions differ, by `scoring_id` and `metric_id`.
    """
    runs, stale = load_scorers(connection), {}
    installed: dict[int, Scorer] = {}
    for metric_id, name in metrics.items():
        with suppress(RegistryError):  # another step reports an altered name
            installed[metric_id] = describe_scorer(parse("metric", METRICS, name))
    for row in connection.exec_driver_sql("""
            SELECT scoring_id, metric_id, stored_score.digest, score.digest AS plain, stored_score.run_id
            FROM stored_score JOIN score USING (scoring_id, metric_id)""").all():
        name = metrics[row.metric_id]
        scorer = runs.get(row.run_id, {}).get(name)
        if scorer is not None and row.metric_id in installed and (
                difference := describe_difference(scorer, installed[row.metric_id])):
            stale[row.scoring_id, row.metric_id] = f"{name}: {difference}"
        if row.digest != row.plain and row.digest in (
                digest_with_scorer(row.plain, scorers[name]) for scorers in runs.values() if name in scorers):
            connection.exec_driver_sql("UPDATE score SET digest = ? WHERE scoring_id = ? AND metric_id = ?",
                                       (row.digest, row.scoring_id, row.metric_id))
    return stale


def _select_derived(query: str) -> str:
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
_ROWS = """
    SELECT c.digest, t.* EXCLUDE (comparison_id) FROM {stored}{table} AS t
    JOIN {stored}comparison AS c USING (comparison_id)"""
_INTERVALS = """
    SELECT c.digest, p.position, i.low, i.high FROM {stored}comparison_pair AS p
    JOIN {stored}comparison AS c USING (comparison_id) LEFT JOIN {stored}pair_interval AS i USING (pair_result_id)"""
# A release has salted digests but no salt, so its signatures are compared without digests.
_COMPARISONS = """
    SELECT * EXCLUDE (comparison_id, run_id, created_at, sequence, signature, request),
        regexp_replace(signature, if(starts_with(digest, '{salted}') AND (SELECT count(salt) FROM task) = 0,
            '\\|(v|plugins|gold|id):[^|]*', '\\|(v|plugins):[^|]*'), '', 'g') AS signature
    FROM {stored}comparison""".replace("{salted}", SALTED)


def derive_results(connection: Connection, journal: Journal, task: TaskRow, chosen: Sequence[int],
                   execution: Execution) -> Iterator[Fault]:
    """Repeat comparisons of a task in their original order, and store the results.

    Before the call, `set_aside` must move the stored comparisons to temporary tables.

    Args:
        connection: Connection to a copy of the registry.
        journal: Writes the command to the log.
        task: Database row of the task.
        chosen: Ids of the comparisons.
        execution: Number of workers, and a function that receives the progress.

    Yields:
        Faults of comparisons that cannot be repeated.
    """
    connection.exec_driver_sql(STALE_SCORES)
    superseded = {digest: results for change in reversed(rescorings(connection))
                  for digest, results in change.results.items()}
    for rows in _load_families(connection, chosen):
        try:
            loaded = [_load_stored_board(connection, task, row, execution, superseded) for row in rows]
            yield from (fault for fault in loaded if isinstance(fault, Fault))
            boards = [board for board in loaded if isinstance(board, Board)]
            if len(boards) < len(rows):  # the corrected p-values of a family depend on all of its leaderboards
                continue
            comparisons = compare_boards(connection, journal, boards, [
                Request.from_json(row["request"], execution) for row in rows])
            for row, comparison in zip(rows, comparisons, strict=True):
                comparison.store(row["digest"], row["sequence"], ComparisonSummary())
        except Exception as error:
            yield Fault("damaged", "comparison", rows[0]["id"],
                        f"cannot be recomputed: {type(error).__name__}: {error}")


def add_families(connection: Connection, comparisons: Collection[int]) -> set[int]:
    """Return the given ids, and the ids of all comparisons corrected with them.

    If p-values of several comparisons are corrected together, these comparisons are a family.

    Args:
        connection: Connection to a copy of the registry.
        comparisons: Ids of the comparisons.
    """
    families = {row.comparison_id: _identify_family(row.request) for row in connection.exec_driver_sql(
        "SELECT comparison_id, request FROM comparison")}
    chosen = {families[number] for number in comparisons} - {""}
    return set(comparisons) | {number for number, family in families.items() if family in chosen}


def _load_families(connection: Connection, chosen: Sequence[int]) -> Iterator[list[Any]]:
    """Yield groups of stored comparisons whose p-values were corrected together.

    Args:
        connection: Connection to a copy of the registry.
        chosen: Ids of comparisons; each group contains at least one of them.
    """
    by_family: dict[str, list[Any]] = {}
    for row in connection.exec_driver_sql("""
            SELECT c.*, split_part(signature, '|', -1) AS id,
                concat_ws(', ', test_set.name, track.name, facet, alias) AS board
            FROM stored_comparison AS c JOIN test_set USING (test_set_id)
            LEFT JOIN track ON track.track_id = c.track_id ORDER BY comparison_id""").mappings():
        by_family.setdefault(_identify_family(row["request"]) or str(row["comparison_id"]), []).append(row)
    for rows in by_family.values():
        if any(row["comparison_id"] in chosen for row in rows):
            positions = {} if len(rows) == 1 else {
                board: n for n, board in enumerate(json.loads(rows[0]["request"])["family"]["boards"])}
            yield sorted(rows, key=lambda row: positions.get(row["board"], 0))


def _identify_family(request: str) -> str:
    """Return a text that is the same for all comparisons that are corrected together.

    The text is empty if the comparison is corrected alone.

    Args:
        request: The stored request of the comparison, as JSON.
    """
    try:
        family = json.loads(request).get("family")
    except (ValueError, AttributeError):  # `derive_results` reports a damaged request
        return ""
    return "" if family is None else canonical_json(family)


def _load_stored_board(connection: Connection, task: TaskRow, row: Any, execution: Execution,
                       superseded: Mapping[str, str]) -> Board | Fault | None:
    """Load the leaderboard of a stored comparison, to repeat the comparison.

    Args:
        connection: Connection to a copy of the registry.
        task: The task.
        row: The database row of the comparison.
        execution: Number of workers, and a function that receives the progress.
        superseded: For each comparison whose scores were replaced later: the digest of its results, by the digest that
            identifies the comparison.

    Returns:
        The leaderboard with its statistics, or a fault. None if the comparison is unaltered but cannot be repeated,
        because its scores were replaced later.
    """
    request, key = Request.from_json(row["request"], execution), _make_key(connection, task, row)
    if _is_stale(connection, row["comparison_id"]):
        return Fault("stale", "comparison", row["id"],
                     "the installed code computes scores that differ from the scores of this comparison")
    is_known = key.task.salt is not None or not row["digest"].startswith(SALTED)  # releases have no salt
    if is_known and key.digest(request) != row["digest"]:
        if (results := superseded.get(row["digest"])) is None:
            return Fault("altered", "comparison", row["id"],
                         "its digest does not match its settings, its members or their statistics")
        if results != results_digest(connection, row["comparison_id"], "stored_"):
            return Fault("altered", "comparison", row["id"],
                         "other code has recomputed its scores, and the digest of its results does not match the log")
        return None
    single = replace(key, family=None)
    if is_known and key.family is not None and single.digest(request, is_random=False) not in key.family.digests:
        return Fault("altered", "comparison", row["id"], "it does not belong to the family that it names")
    return load_tested_board(connection, key, request) or Fault(
        "altered", "comparison", row["id"], "it has no items")


def _is_stale(connection: Connection, comparison_id: int) -> bool:
    return connection.exec_driver_sql("""
        SELECT 1 FROM stored_comparison JOIN stored_standing USING (comparison_id)
        SEMI JOIN stale_score USING (scoring_id, metric_id) WHERE comparison_id = ? LIMIT 1""",
                                      (comparison_id,)).first() is not None


def _make_key(connection: Connection, task: TaskRow, row: Any) -> BoardKey:
    """Restore the key of a leaderboard for a stored comparison, to repeat it.

    The key has all properties that identify the leaderboard, as they were when systems were compared.

    Args:
        connection: Connection to a copy of the registry.
        task: Database row of the task.
        row: Database row of the comparison.
    """
    request = json.loads(row["request"])
    current = catalog.get(connection, TestSetRow, test_set_id=row["test_set_id"])
    test_set = TestSetRow(current.test_set_id, current.name, request["cluster"], row["gold_revision_id"])
    metric = DeclaredMetric._make(connection.exec_driver_sql(
        "SELECT ?, FALSE, metric.* FROM metric WHERE metric_id = ?", (row["alias"], row["metric_id"])).one())
    members = [Member(name=f"{task.slug}/{current.name}/{member['team']}/{member['system']}@{member['version']}",
                      **member) for member in connection.exec_driver_sql("""
        SELECT track.name AS track, team.name AS team, system.name AS system, version, standing.kind, standing.late,
            scoring.missing, standing.scoring_id, submission_id, c.track_id
        FROM stored_standing AS standing JOIN stored_comparison AS c USING (comparison_id)
        JOIN scoring USING (scoring_id, submission_id) JOIN submission USING (submission_id)
        JOIN system USING (system_id) JOIN team USING (team_id) LEFT JOIN track ON track.track_id = c.track_id
        WHERE comparison_id = ? ORDER BY submission_id""", (row["comparison_id"],)).mappings()]
    attribute, _, value = (row["facet"] or "").partition("=")
    family = request.get("family")
    salt = task.salt if row["digest"].startswith(SALTED) else None  # comparisons before the first embargo have no salt
    return BoardKey(replace(task, version=request["task_version"], salt=salt), test_set,
                    catalog.get(connection, GoldRevisionRow, gold_revision_id=row["gold_revision_id"]), metric,
                    members[0].track, (attribute, value) if attribute else None, members,
                    catalog.scores(connection, metric.metric_id, [member.scoring_id for member in members]),
                    None if family is None else BoardFamily(tuple(family["boards"]), tuple(family["digests"]),
                                                            family["pairs"], tuple(family["absent"])))


def _find_environments(connection: Connection) -> dict[str, str]:
    """Describe how this environment differs from those of stored comparisons.

    An environment is, for example, the platform and the version of numpy.

    Returns:
        The descriptions by the digest of the comparison; comparisons without differences are absent.
    """
    environments, differences = find_other_environments(connection), dict[str, str]()
    for digest, run_id in connection.exec_driver_sql("""
            SELECT digest, run_id FROM stored_comparison UNION SELECT digest, r.run_id FROM stored_comparison
            JOIN stored_comparison_pair USING (comparison_id) JOIN stored_pair_result AS r USING (pair_result_id)
            ORDER BY ALL"""):
        if run_id in environments and environments[run_id] not in differences.get(digest, ""):
            differences[digest] = "; ".join(filter(None, (differences.get(digest), environments[run_id])))
    return differences


def compare_results(connection: Connection, chosen: Sequence[int], *, is_reordered: bool = False) -> Iterator[Fault]:
    """Yield the differences between stored and repeated comparisons.

    Args:
        connection: Connection to a copy of the registry.
        chosen: Ids of the comparisons.
        is_reordered: True if systems with equal scores may be in another order than in the stored comparison. The order
            affects the last digits of intervals.
    """
    ids = ", ".join(map(str, chosen)) or "NULL"
    names: dict[str, str] = dict(map(tuple, connection.exec_driver_sql(
        "SELECT digest, split_part(signature, '|', -1) FROM stored_comparison")))
    elsewhere = _find_environments(connection)
    default = "systems in another order" if is_reordered else ""
    condition = f"""digest IN (SELECT digest FROM comparison)
        AND digest IN (SELECT digest FROM stored_comparison WHERE comparison_id IN ({ids}))"""  # noqa: S608
    for object_kind, query, keys in (
            ("comparison", _COMPARISONS, ("digest",)), ("pair", _PAIRS, ("digest", "position")),
            ("interval", _INTERVALS, ("digest", "position")),
            ("standing", _ROWS.replace("{table}", "standing"), ("digest", "position")),
            ("overall result", _ROWS.replace("{table}", "overall_result"), ("digest", "test"))):
        stored, derived = (f"SELECT * FROM ({query.format(stored=prefix)}) WHERE {condition}"  # noqa: S608
                         for prefix in ("stored_", ""))
        for digest, differences in find_differences(connection, stored, derived, keys).items():
            yield from summarize(object_kind, names[digest], differences, elsewhere=elsewhere.get(digest, default))
