"""Names that complete what somebody has begun to type.

A shell asks at every press of a key, so DuckDB is asked without the rest of the store, which takes three times as long
to import.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from registry.files import is_database

_MOST = 500  # names, more of which nobody looks through
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false", "autoinstall_known_extensions": "false", "enable_external_access": "false",
    "threads": "1"}

# By what they are names of: SELECTs of names, the task of each where it has one, and what comes before the alphabet.
_NAMES = {
    "task": "SELECT slug AS name, NULL AS task, task_id AS place FROM task",
    "test set": "SELECT test_set.name, slug AS task, test_set_id AS place FROM test_set JOIN task USING (task_id)",
    "track": "SELECT track.name, slug AS task, track_id AS place FROM track JOIN task USING (task_id)",
    "team": "SELECT team.name, slug AS task, 0 AS place FROM team JOIN task USING (task_id)",
    "system": """
        SELECT system.name, slug AS task, 0 AS place
        FROM system JOIN team USING (team_id) JOIN task USING (task_id)""",
    "team/system": """
        SELECT team.name || '/' || system.name AS name, slug AS task, 0 AS place
        FROM system JOIN team USING (team_id) JOIN task USING (task_id)""",
    "submission": """
        SELECT slug || '/' || test_set.name || '/' || team.name || '/' || system.name AS name, slug AS task, 0 AS place
        FROM submission JOIN system USING (system_id) JOIN team USING (team_id) JOIN test_set USING (test_set_id)
        JOIN task ON task.task_id = test_set.task_id""",
    "metric": """
        SELECT alias AS name, slug AS task, position AS place
        FROM task_metric JOIN task USING (task_id) WHERE is_declared""",
    "item": """
        SELECT key AS name, slug AS task, item.position AS place
        FROM item JOIN test_set USING (gold_revision_id) JOIN task ON task.task_id = test_set.task_id""",
    "facet": """
        SELECT item_attribute.name || '=' || "value" AS name, slug AS task, 0 AS place
        FROM item_attribute JOIN test_set USING (gold_revision_id) JOIN task ON task.task_id = test_set.task_id""",
    "table": """
        SELECT table_name AS name, NULL AS task, 0 AS place
        FROM information_schema.tables WHERE table_schema = 'main' AND table_catalog = current_database()""",
    "signature": """
        SELECT regexp_extract(signature, 'id:(.*)$', 1) AS name, slug AS task, -comparison_id AS place
        FROM comparison JOIN test_set USING (test_set_id) JOIN task USING (task_id)""",
}


def completions(path: Path, kind: str, begun: str, task: str | None = None) -> list[str]:
    """The names of a kind that begin so, of a task if one is given, in the order of the registry or of the alphabet.

    Names with control characters are left out.

    Raises:
        OSError, duckdb.Error: There is no registry that can be read now.
    """
    if not is_database(path):  # which DuckDB might take for a table
        return []
    query = f"""
        SELECT name FROM ({_NAMES[kind]}) AS named
        WHERE starts_with(name, $begun) AND ($task IS NULL OR task IS NULL OR task = $task)
        GROUP BY name ORDER BY min(place), name LIMIT {_MOST}"""  # noqa: S608
    values = {"begun": begun, "task": task}
    with duckdb.connect(str(path.resolve()), read_only=True, config=_CONFIG) as connection:
        return [name for (name,) in connection.execute(query, values).fetchall() if name.isprintable()]
