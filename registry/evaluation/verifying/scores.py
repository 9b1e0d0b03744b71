"""Responses, remarks, statistics and scores, derived again from the kept files and held against the stored ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Connection, select

from registry.errors import RegistryError
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.fit import Policies, fit_file
from registry.evaluation.ingest.submissions import add_files
from registry.evaluation.scorers import Scorer, difference, recorded, scorer
from registry.evaluation.scoring.score import Pending, Wanted, digest_by, score_wanted
from registry.evaluation.verifying.faults import STALE_SCORES, Fault, differences, runs_elsewhere, summarized
from registry.metrics import METRICS, Metric
from registry.missing import MissingPolicy
from registry.parallel.execution import Execution
from registry.store import models
from registry.store.catalog import DeclaredMetric, ScoringRow
from registry.store.rows import filled
from registry.values import parse

_STATISTICS = [table.name for tables in models.of_family.values() for table in tables]
TABLES = ("response", "remark", "score", "replicate_score", *_STATISTICS)

_RESPONSES = """
    SELECT scoring_id, replicate, item.key AS item, answer.key AS answer, type, correct, score
    FROM {table} JOIN answer USING (answer_id) JOIN item USING (item_id)"""
_KEYS = {"score": ("scoring_id", "metric_id"), "replicate_score": ("scoring_id", "metric_id", "replicate"),
         "remark": ("scoring_id", "replicate", "category", "code", "parameters")}


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
    for table in ("remark", "score", "replicate_score"):
        left_out = "* EXCLUDE (run_id)" if table == "score" else "*"
        found[table] = differences(connection, _of(f"SELECT {left_out} FROM stored_{table}"),  # noqa: S608
                                   f"SELECT {left_out} FROM {table}", _KEYS[table])  # noqa: S608
    held = filled(connection, [side + table for side in ("stored_", "") for table in TABLES])
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
