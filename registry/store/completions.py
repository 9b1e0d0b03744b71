"""Names of tasks, systems and other objects, for the completion of command lines.

A shell requests names each time the user presses the tab key. To be fast, this module imports only DuckDB: the import
of the other modules of the store takes three times as long.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from registry.files import is_database

_MAX_NAMES = 500  # longer lists are not useful for completion
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false", "autoinstall_known_extensions": "false", "enable_external_access": "false",
    "threads": "1"}

# For each kind of name: a SELECT of the name, the task (NULL if the name has no task), and a sort key.
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


def completions(path: Path, kind: str, prefix: str, task: str | None = None) -> list[str]:
    """Return the names that begin with `prefix`, for the completion of command lines.

    Names with control characters are left out.

    Args:
        path: Path of the registry.
        kind: Kind of name, such as "task" or "submission".
        prefix: First characters of the names.
        task: Id of a task; None means names from all tasks.

    Raises:
        OSError, duckdb.Error: The registry does not exist or cannot be read now.
    """
    if not is_database(path):  # DuckDB might read another file as a table
        return []
    query = f"""
        SELECT name FROM ({_NAMES[kind]}) AS named
        WHERE starts_with(name, $prefix) AND ($task IS NULL OR task IS NULL OR task = $task)
        GROUP BY name ORDER BY min(place), name LIMIT {_MAX_NAMES}"""  # noqa: S608
    parameters = {"prefix": prefix, "task": task}
    with duckdb.connect(str(path.resolve()), read_only=True, config=_CONFIG) as connection:
        return [name for (name,) in connection.execute(query, parameters).fetchall() if name.isprintable()]
