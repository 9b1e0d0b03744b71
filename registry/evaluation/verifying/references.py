"""Whether every row that another one refers to is there, and keys are keys: the database holds neither by itself."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from registry.errors import counted
from registry.evaluation.verifying.faults import Fault
from registry.store import models
from registry.store.rows import filled

_ALSO = {"submission_a": "submission_id", "submission_b": "submission_id", "statistics_a": "tested_statistics_id",
         "statistics_b": "tested_statistics_id", "source_digest": "digest"}
_KEYS = {"item": ("item_id",), "answer": ("answer_id",), "pair_result": ("pair_result_id",),
         "pair_interval": ("pair_result_id",),
         "comparison_pair": ("comparison_id", "position"), "standing": ("comparison_id", "position"),
         "replicate_factor": ("submission_id", "replicate", "factor")}

_PAIRS = """  -- but those that a purge has emptied, which have the run of the pair before
    SELECT r.pair_result_id, r.run_id, arg_min(c.run_id, c.comparison_id) AS made_by
    FROM pair_result AS r LEFT JOIN comparison_pair AS p USING (pair_result_id)
    LEFT JOIN comparison AS c USING (comparison_id)
    WHERE statistics_a NOT IN (SELECT tested_statistics_id FROM tested_statistics WHERE starts_with(digest, 'purged:'))
    GROUP BY r.pair_result_id, r.run_id HAVING r.run_id IS DISTINCT FROM made_by ORDER BY r.pair_result_id LIMIT 10"""


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
