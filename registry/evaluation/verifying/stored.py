"""Compare stored data with stored files, with digests, and with the log."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import clip, counted
from registry.evaluation.ingest.context import Ingest, read_stored_gold
from registry.evaluation.ingest.fit import digest_submission
from registry.evaluation.ingest.gold import digest_gold
from registry.evaluation.scoring.score import LADDER_ACTION, Rung, choose_shown_score, load_rungs
from registry.evaluation.submissions.purge import load_tombstones
from registry.evaluation.verifying.faults import Fault
from registry.identity import canonical_json, digest, digest_json
from registry.metrics import METRICS
from registry.store import catalog, models
from registry.store.catalog import GoldRevisionRow, NamedSubmission, TaskRow
from registry.store.definitions import find_alterations, restore_views
from registry.store.embargoes import is_system_of
from registry.store.log import read_entries
from registry.store.rows import find_nonempty, get_driver
from registry.submission_fields import CHANGEABLE
from registry.values import parse

KINDS = frozenset({"table", "view", "macro", "index", "sequence", "type", "schema"})  # of definitions


def verify_definitions(connection: Connection) -> list[Fault]:
    """Compare definitions of tables, views and macros with those of a new registry.

    If the tables are unaltered, views and macros are restored, because later steps use them.

    Args:
        connection: Connection to a copy of the registry.
    """
    faults = [Fault(alteration.fault, alteration.kind, alteration.name, alteration.sentence)
              for alteration in find_alterations(get_driver(connection))]
    if faults and are_tables_intact(faults):
        restore_views(connection)
    return faults


def are_tables_intact(faults: Sequence[Fault]) -> bool:
    """Return whether all tables exist unaltered, so that their rows can be verified."""
    return not any(fault.of == "table" and fault.kind != "surplus" for fault in faults)


_NUMBER = re.compile(r" \(\d+\)$")  # distinguishes different files with one name


def verify_files(connection: Connection) -> Iterator[Fault]:
    """Compare stored files with their digests, and with the files that commands read."""
    inputs = _Inputs(connection)
    table = models.source.c
    for row in connection.execute(select(table.digest, table.name, table.n_bytes, table.content).order_by(
            table.digest)):
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(row.content)
        except zlib.error as error:
            yield Fault("damaged", "source", row.name, f"its stored bytes cannot be read: {error}")
            continue
        if digest(content) != row.digest or len(content) != row.n_bytes or not stream.eof:
            yield Fault("altered", "source", row.name, f"its stored bytes do not match the digest {row.digest}")
        if stream.unused_data:
            yield Fault("surplus", "source", row.name, f"{counted(len(stream.unused_data), 'byte')} follow its content")
        if not inputs.contain(row.digest, row.name):
            yield Fault("altered", "source", row.name, "no command has read a file of that name and digest")
    source, submission = models.submission_source.c, models.submission.c
    for source_digest, name, run_id in connection.execute(
            select(source.source_digest, source.name, submission.run_id).join(
                models.submission, submission.submission_id == source.submission_id).order_by(
                    source.submission_id, source.replicate)):
        if not inputs.contain(source_digest, name, run_id):
            yield Fault("altered", "submission", name, f"run {run_id} has read no file of that name and digest")


class _Inputs:
    """Names and digests of the files that each command has read.

    A purge may have deleted the list of some commands.
    """

    def __init__(self, connection: Connection) -> None:
        self._names: defaultdict[tuple[str, int | None], set[str]] = defaultdict(set)
        ended = {entry.run_id for entry in read_entries(connection, "end") if entry.details}
        runs = connection.execute(select(models.run.c.run_id, models.run.c.inputs)).all()
        self._blanked = {row.run_id for row in runs if row.run_id not in ended and row.inputs == "{}"}
        for run_id, inputs in runs:
            for name, file_digest in json.loads(inputs).items():
                for key in ((file_digest, run_id), (file_digest, None)):
                    self._names[key] |= {name, _NUMBER.sub("", name)}
        # A purge replaces a manifest by its normal form, which no command has read.
        self._manifests = {entry.details.get("normalized") for entry in read_entries(connection, "task")}

    def contain(self, digest: str, name: str, run_id: int | None = None) -> bool:
        """Return whether a command may have read a file with this digest and name.

        The result is also true if a purge has deleted the command's list of files.

        Args:
            digest: Digest of the file.
            name: Name of the file.
            run_id: Number of the command; None: any command.
        """
        blanked = bool(self._blanked) if run_id is None else run_id in self._blanked
        return blanked or name in self._names[digest, run_id] or (run_id is None and digest in self._manifests)


_ALSO = {"submission_a": "submission_id", "submission_b": "submission_id", "statistics_a": "tested_statistics_id",
         "statistics_b": "tested_statistics_id", "source_digest": "digest"}
_KEYS = {"item": ("item_id",), "answer": ("answer_id",), "pair_result": ("pair_result_id",),
         "pair_interval": ("pair_result_id",),
         "comparison_pair": ("comparison_id", "position"), "standing": ("comparison_id", "position"),
         "replicate_factor": ("submission_id", "replicate", "factor")}

_PAIRS = """  -- results that a purge has emptied keep the run of the original result
    SELECT r.pair_result_id, r.run_id, arg_min(c.run_id, c.comparison_id) AS made_by
    FROM pair_result AS r LEFT JOIN comparison_pair AS p USING (pair_result_id)
    LEFT JOIN comparison AS c USING (comparison_id)
    LEFT JOIN (FROM tested_statistics WHERE starts_with(digest, 'purged:')) AS t ON tested_statistics_id = statistics_a
    GROUP BY r.pair_result_id, r.run_id
    HAVING made_by IS NULL OR r.run_id <> made_by AND count(t.digest) = 0 ORDER BY r.pair_result_id LIMIT 10"""
_ANSWERS = """
    SELECT answer_id FROM answer ANTI JOIN response USING (answer_id) WHERE NOT in_gold ORDER BY answer_id LIMIT 10"""
_LABELS = """
    SELECT label_id, name FROM label
    ANTI JOIN (SELECT gold_label AS label_id FROM statistics_confusion) USING (label_id)
    ANTI JOIN (SELECT predicted_label AS label_id FROM statistics_confusion) USING (label_id)
    ANTI JOIN (SELECT gold_revision_id, key AS name FROM answer) USING (gold_revision_id, name)
    ORDER BY label_id LIMIT 10"""
_PARTS = "SELECT digest, key FROM study_part SEMI JOIN study USING (digest) ORDER BY ALL LIMIT 10"
_WITHOUT_SCORE = """
    SELECT scoring_id, metric_id, count(*) AS n FROM {table} ANTI JOIN score USING (scoring_id, metric_id)
    GROUP BY ALL ORDER BY ALL LIMIT 10"""
_SCORE_TABLES = ("replicate_score", *(table.name for tables in models.of_family.values() for table in tables))


def verify_references(connection: Connection) -> Iterator[Fault]:
    """Find references to missing rows, repeated keys, and results of a wrong command.

    A result of a pair must belong to the command (run) of the first comparison that uses it.
    """
    tables = models.metadata.tables
    owners = {f"{name}_id": table for name, table in tables.items() if f"{name}_id" == next(iter(table.columns)).name}
    owners["digest"] = tables["source"]
    for table in (tables[name] for name in sorted(find_nonempty(connection, tables))):
        for column in table.columns:
            key = _ALSO.get(column.name, column.name)
            owner = owners.get(key)  # the table whose rows the column refers to
            if owner is None or owner is table or (key == "digest" and column.name == "digest"):
                continue
            n, example = connection.exec_driver_sql(f"""
                SELECT count(*), min("{column.name}") FROM "{table.name}"
                WHERE "{column.name}" IS NOT NULL AND "{column.name}" NOT IN (SELECT "{key}" FROM "{owner.name}")
                """).one()  # noqa: S608
            if n:
                yield Fault("missing", owner.name, str(example),
                            f"this row does not exist, but {counted(n, 'row refers', 'rows refer')} to it in "
                            f"{table.name}")
    for name, keys in _KEYS.items():
        columns = ", ".join(keys)
        for row in connection.exec_driver_sql(f"""
                SELECT {columns}, count(*) AS n FROM "{name}" GROUP BY {columns} HAVING n > 1 ORDER BY ALL LIMIT 10
                """).mappings():  # noqa: S608
            row_key = ", ".join(f"{key} {row[key]}" for key in keys)
            yield Fault("surplus", name, row_key, f"occurs {row['n']} times")
    for pair in connection.exec_driver_sql(_PAIRS):
        first = "no comparison uses it" if pair.made_by is None else f"run {pair.made_by} made its first comparison"
        yield Fault("altered", "pair_result", str(pair.pair_result_id), f"run {pair.run_id} computed it, but {first}")


def verify_use(connection: Connection) -> Iterator[Fault]:
    """Find rows that no other row uses, which other steps of `verify` would miss."""
    for row in connection.exec_driver_sql(_ANSWERS):
        yield Fault("surplus", "answer", str(row.answer_id), "neither the gold nor a submission has this answer")
    for row in connection.exec_driver_sql(_LABELS):
        yield Fault("surplus", "label", str(row.label_id),
                    f"no answer of the gold or of a submission is {clip(repr(row.name))}")
    for row in connection.exec_driver_sql(_PARTS):
        yield Fault("surplus", "study_part", row.digest,
                    f"the study is finished, but does not use the part {clip(row.key)}")
    for table in sorted(find_nonempty(connection, ("publication", "statistic_total"))):
        yield Fault("surplus", table, "all rows", "only public files have rows in this table")
    for table in sorted(find_nonempty(connection, _SCORE_TABLES)):
        for row in connection.exec_driver_sql(_WITHOUT_SCORE.format(table=table)):
            yield Fault("surplus", table, f"scoring {row.scoring_id}, metric {row.metric_id}",
                        f"{counted(row.n, 'row')}, and no score by this metric")


def describe_parts(connection: Connection) -> Iterator[str]:
    """Yield a note if the database has intermediate results of unfinished studies.

    Such results cannot be verified.
    """
    if n := connection.exec_driver_sql("SELECT count(*) FROM study_part ANTI JOIN study USING (digest)").scalar_one():
        yield (f"{counted(n, 'part')} of unfinished studies cannot be verified; `verify` repeats finished "
               "studies")


_COLUMNS = {"anonymous_until": "its names are", "blind_until": "its scores are"}
_SCORES = """
    SELECT e.event_id, s.value FROM event AS e
    JOIN metric AS m ON m.name = (e.details ->> '$.metric')
    JOIN score AS s ON s.metric_id = m.metric_id AND s.scoring_id = CAST(e.details ->> '$.scoring_id' AS INTEGER)
    WHERE e.action = 'ladder' AND s.run_id <= e.run_id"""


def verify_hiding(connection: Connection, task: TaskRow) -> Iterator[Fault]:
    """Compare the embargoes, pseudonyms and salt of a task with the log.

    An embargo hides names or scores until a time.
    """
    embargoes, pseudonyms, salt = _load_logged_hiding(connection, task)
    if salt is not None and salt != digest((task.salt or "").encode()):
        yield Fault("altered", "task", task.slug, "its salt does not match the log")
    for column, description in _COLUMNS.items():
        until = getattr(task, column)
        if embargoes[column] != (stored := until and until.isoformat()):
            yield Fault("altered", "task", task.slug,
                        f"{description} hidden until {stored}, but the log says until {embargoes[column]}")
    team, system = models.team, models.system
    teams = select(team.c.team_id).where(team.c.task_id == task.task_id)
    purged = select(models.tombstone.c.team_id)
    for key, table in (("teams", team), ("systems", system)):
        number, *_ = table.columns
        for row_id, pseudonym, is_purged in connection.execute(
                select(number, table.c.pseudonym, table.c.team_id.in_(purged)).where(
                    table.c.team_id.in_(teams)).order_by(number)):
            logged = pseudonyms[key].get(str(row_id))
            if pseudonym != logged or (pseudonym is None and task.anonymous_until is not None and not is_purged):
                yield Fault("altered", "pseudonym", f"{task.slug}, {table.name} {row_id}",
                            f"is {pseudonym!r}, but the log has {logged!r}")


def _load_logged_hiding(connection: Connection,
                        task: TaskRow) -> tuple[dict[str, str | None], dict[str, dict[str, str]], str | None]:
    """Load from the log what a task hides: its embargoes, pseudonyms and salt.

    An embargo hides names or scores until a time.

    Returns:
        The end of each embargo, by column of table `task`; the pseudonyms of teams and systems by their ids, without
        purged teams; and the digest of the salt, or None.
    """
    embargoes: dict[str, str | None] = dict.fromkeys(_COLUMNS)
    salt: str | None = None
    pseudonyms: dict[str, dict[str, str]] = {"teams": {}, "systems": {}}
    purged = {f"{task.slug}/{row.name}": str(row.team_id) for row in load_tombstones(connection, task.task_id)}
    for entry in read_entries(connection, "task", "hide", "reveal", "pseudonyms", "purge"):
        if entry.action == "purge" and entry.subject in purged:
            # Other systems may have the numbers of the team's systems now.
            if (team := pseudonyms["teams"].pop(purged[entry.subject], None)) is not None:
                pseudonyms["systems"] = {row: name for row, name in pseudonyms["systems"].items()
                                         if not is_system_of(name, team)}
        elif entry.action == "pseudonyms" and entry.subject == task.slug:
            for key, names in entry.details.items():
                pseudonyms[key] |= names
        elif entry.subject == task.slug:
            embargoes |= {column: entry.details[column] for column in _COLUMNS if column in entry.details}
            salt = entry.details.get("salt", salt)
    return embargoes, pseudonyms, salt


def verify_ladders(connection: Connection) -> Iterator[Fault]:
    """Recompute the scores that Ladder leaderboards have shown, which the log lists.

    A Ladder shows only scores that clearly improve the best score. Log entries are skipped if their score was replaced
    later or was purged.
    """
    scores = dict(map(tuple, connection.exec_driver_sql(_SCORES)))
    blank = [entry.event_id for entry in read_entries(connection, LADDER_ACTION) if not entry.details]
    last: dict[tuple[int, str | None, str], Rung] = {}
    for rung in load_rungs(connection):
        earlier, last[rung.key] = last.get(rung.key), rung
        is_known = not any((0 if earlier is None else earlier.entry) < entry < rung.entry for entry in blank)
        shown = math.nan if earlier is None else earlier.shown
        if (is_known and not _are_equal(rung.before, shown)) or (
                rung.entry in scores and not _is_derivable(rung, scores[rung.entry])):
            yield Fault("altered", "ladder", rung.subject,
                        f"entry {rung.entry} of the log shows {rung.details['shown']}, which does not follow from its "
                        "score and from the score that was shown before")


def _are_equal(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _is_derivable(rung: Rung, score: float | None) -> bool:
    lower = parse("metric", METRICS, rung.key[2]).better == "lower"
    shown = choose_shown_score(
        math.nan if score is None else score, rung.before, rung.details["step"], lower_is_better=lower)
    return _are_equal(rung.shown, shown) and rung.details["raised"] == (not _are_equal(shown, rung.before))


LoggedSubmissions = Mapping[str, Mapping[str, Any]]  # the latest values of the log by submission and field


def verify_manifest(connection: Connection, task: TaskRow) -> Iterator[Fault]:
    """Compare a task's manifest, seed and studies with digests and with the log."""
    if digest(task.manifest.encode()) != task.manifest_digest:
        yield Fault("altered", "task", task.slug, "its manifest does not match its digest")
    logged = _load_details(connection, "task", task.slug)
    if not logged:
        yield Fault("missing", "log", task.slug, "the log does not say that this task was declared")
        return
    last = logged[-1]
    if last["normalized"] != task.manifest_digest or last["version"] != task.version:
        yield Fault("altered", "task", task.slug, "its manifest does not match the latest entry of the log")
    seeds = [entry["seed"] for entry in logged if entry.get("seed") is not None]
    if seeds and seeds[-1] != task.seed:
        yield Fault("altered", "task", task.slug, f"its seed is {task.seed}, but the log has {seeds[-1]}")
    studies = {signature: row for signature, *row in connection.exec_driver_sql(
        "SELECT signature, result, study, subject, digest FROM study WHERE task_id = ?",
        (task.task_id,))}
    for entry in _load_details(connection, "study", task.slug):
        if (stored := studies.pop(entry["signature"], None)) is None:
            yield Fault("missing", "study", entry["signature"], "the log says that it was stored")
            continue
        result, *row = stored
        if entry["row"] != digest_json(row):
            yield Fault("altered", "study", entry["signature"], "its kind, subject or digest does not match the log")
        if entry["result"] != digest_json(result):
            yield Fault("altered", "study", entry["signature"], "its result does not match the log")
    for signature in studies:
        yield Fault("missing", "log", signature, "the log does not say that this study was stored")


def verify_declared(ingest: Ingest, logged_submissions: LoggedSubmissions) -> Iterator[Fault]:
    """Compare a task's metrics, test sets and submissions with manifest and log.

    Args:
        ingest: State of the command: its connection, task and caches.
        logged_submissions: Latest properties of each submission in the log, by name of the submission.
    """
    connection, task = ingest.connection, ingest.task
    if catalog.get(connection, TaskRow, slug=ingest.slug).title != task.manifest.task.title:
        yield Fault("altered", "task", ingest.slug, "its title does not match its manifest")
    declared = [(alias, repr(metric), metric.family, metric.better, alias == task.manifest.primary.id)
                for alias, metric in task.metrics.items()]
    stored = [(row.alias, row.name, row.family, row.better, row.is_primary)
              for row in catalog.task_metrics(connection, ingest.task_id)]
    if declared != stored:
        yield Fault("altered", "metric", ingest.slug, "the stored metrics do not match the manifest")
    test_sets = catalog.test_sets(connection, ingest.task_id)
    if [(row.name, row.cluster_attribute) for row in test_sets] != [
            (test_set.name, test_set.cluster) for test_set in task.manifest.test_set]:
        yield Fault("altered", "test set", ingest.slug, "the stored test sets do not match the manifest")
    for row in test_sets:
        logged = _load_details(connection, "gold", f"{ingest.slug}/{row.name}")
        revision = catalog.find(connection, GoldRevisionRow, gold_revision_id=row.gold_revision_id)
        if logged and (revision is None or logged[-1]["digest"] != revision.digest):
            yield Fault("altered", "test set", f"{ingest.slug}/{row.name}",
                        "its gold does not match the latest entry of the log")
    names = {f"{ingest.slug}/{row.full_name}" for row in catalog.submissions(connection, ingest.task_id)}
    for name in logged_submissions:
        if name not in names:
            yield Fault("missing", "submission", name, "the log says that it was added")


def load_logged_submissions(connection: Connection, slug: str) -> LoggedSubmissions:
    """Load the latest properties of each submission to a task from the log."""
    logged = {entry.subject: dict(entry.details) for entry in read_entries(connection, "submission-added")
              if entry.subject.startswith(f"{slug}/")}
    for entry in read_entries(connection, "submission-changed"):
        if entry.subject in logged:
            logged[entry.subject] |= entry.details
    return logged


def verify_gold(ingest: Ingest, test_set: str, revision: GoldRevisionRow) -> Iterator[Fault]:
    """Parse stored gold files again, and compare the items with the database.

    Args:
        ingest: State of the command: its connection, task and caches.
        test_set: Name of the test set.
        revision: The version of the gold.
    """
    connection, number = ingest.connection, revision.gold_revision_id
    name = f"{ingest.slug}/{test_set}, revision {number}"
    reader, items_by_key = read_stored_gold(connection, revision)
    items = list(items_by_key.values())
    derived = digest_gold(reader, items)
    if derived != revision.digest:
        yield Fault("altered", "gold", name, f"its stored files have the digest {derived}, not {revision.digest}")
    logged = [entry["digest"] for entry in _load_details(connection, "gold", f"{ingest.slug}/{test_set}")]
    if revision.digest not in logged:
        yield Fault("missing", "log", name, "the log does not say that this gold was stored")
    first, _ = catalog.item_ids(connection, number)
    item = models.item.c
    stored_items = connection.execute(select(item.item_id, item.position, item.key).where(
        item.gold_revision_id == number).order_by(item.item_id)).all()
    if [tuple(row) for row in stored_items] != [(first + n, n, item.key) for n, item in enumerate(items)]:
        yield Fault("altered", "gold", name, "its stored items do not match its files")
        return
    ingest.parsed.add_items(number, items)
    expected = Counter((first + n, attribute, value) for n, item in enumerate(items)
                       for attribute, value in item.attributes.items() if value is not None)
    table = models.item_attribute
    stored = Counter(tuple(row) for row in connection.execute(
        select(table.c.item_id, table.c.name, table.c.value).where(table.c.gold_revision_id == number)))
    if wrong := sorted((expected - stored) + (stored - expected)):
        yield Fault("altered", "gold", name,
                    f"attribute {wrong[0][1]} of item {items[wrong[0][0] - first].key!r} does not match its files")
    answers = Counter((first + n, answer.key, answer.type) for n, item in enumerate(items)
                      for answer in reader.answer_set(item.gold))
    table = models.answer
    stored_answers = Counter(tuple(row) for row in connection.execute(
        select(table.c.item_id, table.c.key, table.c.type).where(table.c.gold_revision_id == number,
                                                                 table.c.in_gold)))
    if wrong := sorted((answers - stored_answers) + (stored_answers - answers)):
        yield Fault("altered", "gold", name,
                    f"gold answer {wrong[0][1]!r} of item {items[wrong[0][0] - first].key!r} does not match its files")


def verify_submission(ingest: Ingest, submission: NamedSubmission, gold_revision_id: int,
                      logged: LoggedSubmissions) -> Iterator[Fault]:
    """Parse the stored files of a submission again, and compare the digests.

    The submission's properties are compared with the log.

    Args:
        ingest: State of the command: its connection, task and caches.
        submission: The submission.
        gold_revision_id: A version of the gold with which the submission was matched.
        logged: Latest properties of each submission in the log, by name of the submission.
    """
    name = f"{ingest.slug}/{submission.full_name}"
    reader, documents, answers = ingest.parsed.read_answers(submission.submission_id)
    derived = digest_submission(reader, ingest.items(gold_revision_id), answers)
    if derived != submission.digest:
        yield Fault("altered", "submission", name,
                    f"its stored files have the digest {derived}, not {submission.digest}")
    if name not in logged:
        yield Fault("missing", "log", name, "the log does not say that it was added")
        return
    last = logged[name]
    if last["source"] != ", ".join(document.digest for document in documents):
        yield Fault("altered", "submission", name, "its files do not match the log")
    if canonical_json(_load_factors(ingest.connection, submission)) != last.get("factors", "[]"):
        yield Fault("altered", "submission", name, "the factors of its runs do not match the log")
    for key in (*CHANGEABLE, "declared"):
        value = getattr(submission, key)
        if last.get(key, value) != value:
            yield Fault("altered", "submission", name, f"{key} is {value!r}, but the log has {last[key]!r}")


def _load_factors(connection: Connection, submission: NamedSubmission) -> list[dict[str, str]]:
    """Load the factors of a submission's runs, such as the prompt of each run.

    Returns:
        For each run the levels, such as `{"prompt": "short"}`; empty if the submission has no factors.
    """
    table = models.replicate_factor
    rows = connection.execute(select(table.c.replicate, table.c.factor, table.c.level).where(
        table.c.submission_id == submission.submission_id).order_by(table.c.replicate)).all()
    return [{row.factor: row.level for row in rows if row.replicate == replicate}
            for replicate in range(rows[-1].replicate + 1 if rows else 0)]


def _load_details(connection: Connection, action: str, subject: str) -> list[Mapping[str, Any]]:
    return [entry.details for entry in read_entries(connection, action, subject=subject)]
