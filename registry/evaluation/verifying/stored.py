"""Compare stored data with kept files, digests, references and the log."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import clipped, counted
from registry.evaluation.ingest.context import Ingest, kept_gold
from registry.evaluation.ingest.fit import content_digest
from registry.evaluation.ingest.gold import gold_digest
from registry.evaluation.scoring.score import ACTION, Rung, rungs, shown_after
from registry.evaluation.submissions.purge import tombstones
from registry.evaluation.verifying.faults import Fault
from registry.identity import canonical_json, digest, digest_json
from registry.metrics import METRICS
from registry.store import catalog, models
from registry.store.catalog import GoldRevisionRow, NamedSubmission, TaskRow
from registry.store.definitions import find_alterations, restore_views
from registry.store.embargoes import is_system_of
from registry.store.log import read_entries
from registry.store.rows import driver_of, find_nonempty
from registry.submission_fields import CHANGEABLE
from registry.values import parse

KINDS = frozenset({"table", "view", "macro", "index", "sequence", "type", "schema"})  # of things that faults are of


def verify_definitions(connection: Connection) -> list[Fault]:
    """Compare the definitions and comments of a copy of a registry with a new registry, then restore views and macros.

    Views and macros stay as they are if `can_go_on` is false: they may not go with the tables.
    """
    faults = [Fault(of.fault, of.kind, of.name, of.sentence) for of in find_alterations(driver_of(connection))]
    if faults and can_go_on(faults):
        restore_views(connection)
    return faults


def can_go_on(faults: Sequence[Fault]) -> bool:
    """True if all tables are as they should be, so that what they hold can be verified."""
    return not any(fault.of == "table" and fault.kind != "surplus" for fault in faults)


_NUMBER = re.compile(r" \(\d+\)$")  # of files that have one name and are not the same


def verify_files(connection: Connection) -> Iterator[Fault]:
    """Compare the bytes and names of kept files with their digests and with the inputs of runs."""
    inputs = _Inputs(connection)
    table = models.source.c
    for row in connection.execute(select(table.digest, table.name, table.n_bytes, table.content).order_by(
            table.digest)):
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(row.content)
        except zlib.error as error:
            yield Fault("damaged", "source", row.name, f"its kept bytes cannot be read: {error}")
            continue
        if digest(content) != row.digest or len(content) != row.n_bytes or not stream.eof:
            yield Fault("altered", "source", row.name, f"its kept bytes are not those of {row.digest}")
        if stream.unused_data:
            yield Fault("surplus", "source", row.name, f"{counted(len(stream.unused_data), 'byte')} follow its content")
        if not inputs.have(row.digest, row.name):
            yield Fault("altered", "source", row.name, "no command has read a file of that name and digest")
    of, submission = models.submission_source.c, models.submission.c
    for digest_, name, run_id in connection.execute(select(of.source_digest, of.name, submission.run_id).join(
            models.submission, submission.submission_id == of.submission_id).order_by(
                of.submission_id, of.replicate)):
        if not inputs.have(digest_, name, run_id):
            yield Fault("altered", "submission", name, f"run {run_id} has read no file of that name and digest")


class _Inputs:
    """The names of files that commands have read, by their digests; a purge may have taken some away."""

    def __init__(self, connection: Connection) -> None:
        self._names: defaultdict[tuple[str, int | None], set[str]] = defaultdict(set)
        ended = {of.run_id for of in read_entries(connection, "end") if of.details}
        runs = connection.execute(select(models.run.c.run_id, models.run.c.inputs)).all()
        self._blanked = {row.run_id for row in runs if row.run_id not in ended and row.inputs == "{}"}
        for run_id, inputs in runs:
            for name, of in json.loads(inputs).items():
                for key in ((of, run_id), (of, None)):
                    self._names[key] |= {name, _NUMBER.sub("", name)}
        self._manifests = {of.details.get("normalized") for of in read_entries(connection, "task")}  # what a purge left

    def have(self, digest: str, name: str, run_id: int | None = None) -> bool:
        """True if a run (None: any) has read such a file, or if that is not known any more."""
        blanked = bool(self._blanked) if run_id is None else run_id in self._blanked
        return blanked or name in self._names[digest, run_id] or (run_id is None and digest in self._manifests)


_ALSO = {"submission_a": "submission_id", "submission_b": "submission_id", "statistics_a": "tested_statistics_id",
         "statistics_b": "tested_statistics_id", "source_digest": "digest"}
_KEYS = {"item": ("item_id",), "answer": ("answer_id",), "pair_result": ("pair_result_id",),
         "pair_interval": ("pair_result_id",),
         "comparison_pair": ("comparison_id", "position"), "standing": ("comparison_id", "position"),
         "replicate_factor": ("submission_id", "replicate", "factor")}

_PAIRS = """  -- those that a purge has emptied have the run of the pair before
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
_OF_SCORES = ("replicate_score", *(table.name for tables in models.of_family.values() for table in tables))


def verify_references(connection: Connection) -> Iterator[Fault]:
    """Look for rows that refer to nothing, two rows with one key, and pairs that their run did not make."""
    tables = models.metadata.tables
    owners = {f"{name}_id": table for name, table in tables.items() if f"{name}_id" == next(iter(table.columns)).name}
    owners["digest"] = tables["source"]
    for table in (tables[name] for name in sorted(find_nonempty(connection, tables))):
        for column in table.columns:
            key = _ALSO.get(column.name, column.name)
            owner = owners.get(key)  # the table whose rows the column refers to
            if owner is None or owner is table or (key == "digest" and column.name == "digest"):
                continue
            n, such = connection.exec_driver_sql(f"""
                SELECT count(*), min("{column.name}") FROM "{table.name}"
                WHERE "{column.name}" IS NOT NULL AND "{column.name}" NOT IN (SELECT "{key}" FROM "{owner.name}")
                """).one()  # noqa: S608
            if n:
                yield Fault("missing", owner.name, str(such),
                              f"{counted(n, 'row')} of {table.name} refer to it, and it is not there")
    for name, keys in _KEYS.items():
        columns = ", ".join(keys)
        for row in connection.exec_driver_sql(f"""
                SELECT {columns}, count(*) AS n FROM "{name}" GROUP BY {columns} HAVING n > 1 ORDER BY ALL LIMIT 10
                """).mappings():  # noqa: S608
            which = ", ".join(f"{key} {row[key]}" for key in keys)
            yield Fault("surplus", name, which, f"stands {row['n']} times")
    for pair in connection.exec_driver_sql(_PAIRS):
        first = "no comparison has it" if pair.made_by is None else f"its first comparison is of run {pair.made_by}"
        yield Fault("altered", "pair_result", str(pair.pair_result_id), f"it is of run {pair.run_id}, and {first}")


def verify_use(connection: Connection) -> Iterator[Fault]:
    """Look for rows that belong to nothing else in the registry, so that no other step of `verify` compares them."""
    for row in connection.exec_driver_sql(_ANSWERS):
        yield Fault("surplus", "answer", str(row.answer_id), "neither the gold nor a submission gives it")
    for row in connection.exec_driver_sql(_LABELS):
        yield Fault("surplus", "label", str(row.label_id),
                    f"no answer of the gold or of a submission is {clipped(repr(row.name))}")
    for row in connection.exec_driver_sql(_PARTS):
        yield Fault("surplus", "study_part", row.digest, f"the study is finished, and has no part {clipped(row.key)}")
    for table in sorted(find_nonempty(connection, ("publication", "statistic_total"))):
        yield Fault("surplus", table, "all rows", "only public files have rows in this table")
    for table in sorted(find_nonempty(connection, _OF_SCORES)):
        for row in connection.exec_driver_sql(_WITHOUT_SCORE.format(table=table)):
            yield Fault("surplus", table, f"scoring {row.scoring_id}, metric {row.metric_id}",
                        f"{counted(row.n, 'row')}, and no score by this metric")


def note_parts(connection: Connection) -> Iterator[str]:
    """Report the parts of unfinished studies, of which nothing else in the registry says what they should hold."""
    if n := connection.exec_driver_sql("SELECT count(*) FROM study_part ANTI JOIN study USING (digest)").scalar_one():
        yield (f"{counted(n, 'part')} of unfinished studies cannot be verified; `verify` makes a study again once it "
               "is finished")


_COLUMNS = {"anonymous_until": "its names are", "blind_until": "its scores are"}
_SCORES = """
    SELECT e.event_id, s.value FROM event AS e
    JOIN metric AS m ON m.name = (e.details ->> '$.metric')
    JOIN score AS s ON s.metric_id = m.metric_id AND s.scoring_id = CAST(e.details ->> '$.scoring_id' AS INTEGER)
    WHERE e.action = 'ladder' AND s.run_id <= e.run_id"""


def verify_hiding(connection: Connection, task: TaskRow) -> Iterator[Fault]:
    """Hold what is hidden until when against what the log says last, and pseudonyms against those that were drawn."""
    said, drawn, salt = _logged_hiding(connection, task)
    if salt is not None and salt != digest((task.salt or "").encode()):
        yield Fault("altered", "task", task.slug, "its salt is not the one that the log names")
    for column, what in _COLUMNS.items():
        until = getattr(task, column)
        if said[column] != (stored := until and until.isoformat()):
            yield Fault("altered", "task", task.slug,
                        f"{what} hidden until {stored}, and until {said[column]} in the log")
    team, system = models.team, models.system
    of_task = select(team.c.team_id).where(team.c.task_id == task.task_id)
    purged = select(models.tombstone.c.team_id)
    for what, table in (("teams", team), ("systems", system)):
        number, *_ = table.columns
        for row_id, pseudonym, is_purged in connection.execute(
                select(number, table.c.pseudonym, table.c.team_id.in_(purged)).where(
                    table.c.team_id.in_(of_task)).order_by(number)):
            logged = drawn[what].get(str(row_id))
            if pseudonym != logged or (pseudonym is None and task.anonymous_until is not None and not is_purged):
                yield Fault("altered", "pseudonym", f"{task.slug}, {table.name} {row_id}",
                            f"is {pseudonym!r}, and {logged!r} in the log")


def _logged_hiding(connection: Connection,
            task: TaskRow) -> tuple[dict[str, str | None], dict[str, dict[str, str]], str | None]:
    """Return what the log says last of a task.

    Returns:
        What is hidden until when; the pseudonyms by row, without those of purged teams; the digest of the salt.
    """
    said: dict[str, str | None] = dict.fromkeys(_COLUMNS)
    salt: str | None = None
    drawn: dict[str, dict[str, str]] = {"teams": {}, "systems": {}}
    purged = {f"{task.slug}/{row.name}": str(row.team_id) for row in tombstones(connection, task.task_id)}
    for of in read_entries(connection, "task", "hide", "reveal", "pseudonyms", "purge"):
        if of.action == "purge" and of.subject in purged:
            # Rows of the team and its systems may be there again, with other systems in them.
            if (of_team := drawn["teams"].pop(purged[of.subject], None)) is not None:
                drawn["systems"] = {row: name for row, name in drawn["systems"].items()
                                    if not is_system_of(name, of_team)}
        elif of.action == "pseudonyms" and of.subject == task.slug:
            for what, names in of.details.items():
                drawn[what] |= names
        elif of.subject == task.slug:
            said |= {column: of.details[column] for column in _COLUMNS if column in of.details}
            salt = of.details.get("salt", salt)
    return said, drawn, salt


def verify_ladders(connection: Connection) -> Iterator[Fault]:
    """Climb every Ladder again; scores that were computed anew since, or were purged, are taken as shown."""
    scores = dict(map(tuple, connection.exec_driver_sql(_SCORES)))
    blank = [of.event_id for of in read_entries(connection, ACTION) if not of.details]
    last: dict[tuple[int, str | None, str], Rung] = {}
    for rung in rungs(connection):
        earlier, last[rung.key] = last.get(rung.key), rung
        is_known = not any((0 if earlier is None else earlier.entry) < entry < rung.entry for entry in blank)
        shown = math.nan if earlier is None else earlier.shown
        if (is_known and not _same(rung.before, shown)) or (
                rung.entry in scores and not _follows(rung, scores[rung.entry])):
            yield Fault("altered", "ladder", rung.subject,
                        f"entry {rung.entry} of the log shows {rung.details['shown']}, which does not follow from its "
                        "score and from what was shown before")


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _follows(rung: Rung, score: float | None) -> bool:
    lower = parse("metric", METRICS, rung.key[2]).better == "lower"
    shown = shown_after(math.nan if score is None else score, rung.before, rung.details["step"], lower_is_better=lower)
    return _same(rung.shown, shown) and rung.details["raised"] == (not _same(shown, rung.before))


Logged = Mapping[str, Mapping[str, Any]]  # by the submission's name: as it was added last, with all changes


def verify_manifest(connection: Connection, task: TaskRow) -> Iterator[Fault]:
    """Hold a task against its digest and what the log says of it last."""
    if digest(task.manifest.encode()) != task.manifest_digest:
        yield Fault("altered", "task", task.slug, "its manifest is not the one of its digest")
    logged = _logged(connection, "task", task.slug)
    if not logged:
        yield Fault("missing", "log", task.slug, "the log does not say that this task was declared")
        return
    last = logged[-1]
    if last["normalized"] != task.manifest_digest or last["version"] != task.version:
        yield Fault("altered", "task", task.slug, "its manifest is not the one that the log names last")
    seeds = [entry["seed"] for entry in logged if entry.get("seed") is not None]
    if seeds and seeds[-1] != task.seed:
        yield Fault("altered", "task", task.slug, f"its seed is {task.seed}, and {seeds[-1]} in the log")
    signed = {signature: found for signature, *found in connection.exec_driver_sql(
        "SELECT signature, result, study, subject, digest FROM study WHERE task_id = ?",
        (task.task_id,))}
    for entry in _logged(connection, "study", task.slug):
        if (kept := signed.pop(entry["signature"], None)) is None:
            yield Fault("missing", "study", entry["signature"], "the log says that it was kept")
            continue
        result, *row = kept
        if entry["row"] != digest_json(row):
            yield Fault("altered", "study", entry["signature"], "its kind, subject or digest is not the one of the log")
        if entry["result"] != digest_json(result):
            yield Fault("altered", "study", entry["signature"], "its result is not the one of the log")
    for signature in signed:
        yield Fault("missing", "log", signature, "the log does not say that this study was kept")


def verify_declared(ingest: Ingest, of_submissions: Logged) -> Iterator[Fault]:
    """Hold the metrics and test sets of a task, and which submissions it has, against its manifest and the log."""
    connection, task = ingest.connection, ingest.task
    if catalog.get(connection, TaskRow, slug=ingest.slug).title != task.manifest.task.title:
        yield Fault("altered", "task", ingest.slug, "its title is not the one of its manifest")
    declared = [(alias, repr(metric), metric.family, metric.better, alias == task.manifest.primary.id)
                for alias, metric in task.metrics.items()]
    stored = [(row.alias, row.name, row.family, row.better, row.is_primary)
              for row in catalog.task_metrics(connection, ingest.task_id)]
    if declared != stored:
        yield Fault("altered", "metric", ingest.slug, "the stored metrics are not those of the manifest")
    test_sets = catalog.test_sets(connection, ingest.task_id)
    if [(row.name, row.cluster_attribute) for row in test_sets] != [
            (test_set.name, test_set.cluster) for test_set in task.manifest.test_set]:
        yield Fault("altered", "test set", ingest.slug, "the stored test sets are not those of the manifest")
    for row in test_sets:
        logged = _logged(connection, "gold", f"{ingest.slug}/{row.name}")
        revision = catalog.find(connection, GoldRevisionRow, gold_revision_id=row.gold_revision_id)
        if logged and (revision is None or logged[-1]["digest"] != revision.digest):
            yield Fault("altered", "test set", f"{ingest.slug}/{row.name}",
                        "its gold is not the one that the log names last")
    names = {f"{ingest.slug}/{one.full_name}" for one in catalog.submissions(connection, ingest.task_id)}
    for name in of_submissions:
        if name not in names:
            yield Fault("missing", "submission", name, "the log says that it was added")


def logged_submissions(connection: Connection, slug: str) -> Logged:
    """What the log says of each submission to a task that it says was added."""
    logged = {of.subject: dict(of.details) for of in read_entries(connection, "submission-added")
              if of.subject.startswith(f"{slug}/")}
    for of in read_entries(connection, "submission-changed"):
        if of.subject in logged:
            logged[of.subject] |= of.details
    return logged


def verify_gold(ingest: Ingest, test_set: str, revision: GoldRevisionRow) -> Iterator[Fault]:
    """Read a revision of the gold again from its kept files, and hold all that is stored of it against that."""
    connection, number = ingest.connection, revision.gold_revision_id
    name = f"{ingest.slug}/{test_set}, revision {number}"
    reader, kept = kept_gold(connection, revision)
    items = list(kept.values())
    found = gold_digest(reader, items)
    if found != revision.digest:
        yield Fault("altered", "gold", name, f"its kept files give the digest {found}, not {revision.digest}")
    logged = [entry["digest"] for entry in _logged(connection, "gold", f"{ingest.slug}/{test_set}")]
    if revision.digest not in logged:
        yield Fault("missing", "log", name, "the log does not say that this gold was brought in")
    first, _ = catalog.item_ids(connection, number)
    item = models.item.c
    stored_items = connection.execute(select(item.item_id, item.position, item.key).where(
        item.gold_revision_id == number).order_by(item.item_id)).all()
    if [tuple(row) for row in stored_items] != [(first + n, n, item.key) for n, item in enumerate(items)]:
        yield Fault("altered", "gold", name, "its stored items are not those of its files")
        return
    ingest.parsed.keep_items(number, items)
    expected = Counter((first + n, of, value) for n, item in enumerate(items) for of, value in item.attributes.items()
                       if value is not None)
    table = models.item_attribute
    stored = Counter(tuple(row) for row in connection.execute(
        select(table.c.item_id, table.c.name, table.c.value).where(table.c.gold_revision_id == number)))
    if wrong := sorted((expected - stored) + (stored - expected)):
        yield Fault("altered", "gold", name, f"attribute {wrong[0][1]} of item {items[wrong[0][0] - first].key!r} is "
                                               "not that of its files")
    answers = Counter((first + n, answer.key, answer.type) for n, item in enumerate(items)
                      for answer in reader.answer_set(item.gold))
    table = models.answer
    there = Counter(tuple(row) for row in connection.execute(
        select(table.c.item_id, table.c.key, table.c.type).where(table.c.gold_revision_id == number,
                                                                 table.c.in_gold)))
    if wrong := sorted((answers - there) + (there - answers)):
        yield Fault("altered", "gold", name, f"gold answer {wrong[0][1]!r} of item {items[wrong[0][0] - first].key!r}"
                                               " is not that of its files")


def verify_submission(ingest: Ingest, one: NamedSubmission, gold_revision_id: int, logged: Logged) -> Iterator[Fault]:
    """Read a submission again from its kept files, and hold its digest and properties against that and the log.

    Args:
        ingest: The command and the task.
        one: The submission.
        gold_revision_id: A revision of the gold that it was joined with.
        logged: What the log says of the task's submissions.
    """
    name = f"{ingest.slug}/{one.full_name}"
    reader, documents, answers = ingest.parsed.read(one.submission_id)
    found = content_digest(reader, ingest.items(gold_revision_id), answers)
    if found != one.digest:
        yield Fault("altered", "submission", name, f"its kept files give the digest {found}, not {one.digest}")
    if name not in logged:
        yield Fault("missing", "log", name, "the log does not say that it was added")
        return
    last = logged[name]
    if last["source"] != ", ".join(document.digest for document in documents):
        yield Fault("altered", "submission", name, "its files are not those that the log names")
    if canonical_json(_factors(ingest.connection, one)) != last.get("factors", "[]"):
        yield Fault("altered", "submission", name, "what tells its runs apart is not what the log names")
    for key in (*CHANGEABLE, "declared"):
        if last.get(key, getattr(one, key)) != getattr(one, key):
            yield Fault("altered", "submission", name, f"{key} is {getattr(one, key)!r}, and {last[key]!r} in the log")


def _factors(connection: Connection, one: NamedSubmission) -> list[dict[str, str]]:
    """The factors of a submission's runs and their levels, as the log has them; empty if it has none."""
    of = models.replicate_factor
    rows = connection.execute(select(of.c.replicate, of.c.factor, of.c.level).where(
        of.c.submission_id == one.submission_id).order_by(of.c.replicate)).all()
    return [{row.factor: row.level for row in rows if row.replicate == replicate}
            for replicate in range(rows[-1].replicate + 1 if rows else 0)]


def _logged(connection: Connection, action: str, subject: str) -> list[Mapping[str, Any]]:
    """The details of what the log says of something, oldest first."""
    return [of.details for of in read_entries(connection, action, subject=subject)]
