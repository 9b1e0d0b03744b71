"""References, keys, and rows that nothing stored calls for: the database checks none of them by itself."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from registry.errors import clipped, counted
from registry.evaluation.verifying.faults import Fault
from registry.store import models
from registry.store.rows import filled

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
    for table in (tables[name] for name in sorted(filled(connection, tables))):
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
    for table in sorted(filled(connection, ("publication", "statistic_total"))):
        yield Fault("surplus", table, "all rows", "only public files have rows in this table")
    for table in sorted(filled(connection, _OF_SCORES)):
        for row in connection.exec_driver_sql(_WITHOUT_SCORE.format(table=table)):
            yield Fault("surplus", table, f"scoring {row.scoring_id}, metric {row.metric_id}",
                        f"{counted(row.n, 'row')}, and no score by this metric")


def note_parts(connection: Connection) -> Iterator[str]:
    """Report the parts of unfinished studies, of which nothing else in the registry says what they should hold."""
    if n := connection.exec_driver_sql("SELECT count(*) FROM study_part ANTI JOIN study USING (digest)").scalar_one():
        yield (f"{counted(n, 'part')} of unfinished studies cannot be verified; `verify` makes a study again once it "
               "is finished")
