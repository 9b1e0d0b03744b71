"""Numbers of rows that count only what is shown.

Answers, labels and results of pairs are numbered over the whole file. Hidden rows would leave gaps, and a result that
an open task shares with a hidden one would have its number and its run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from registry.store import models

# By the table's name, in the order in which they can be made. {shown} stands for what is shown of a table.
_NUMBERS = {
    "source": """
        SELECT * FROM {shown}.source AS s ORDER BY created_at, name, digest""",
    "secret_answer": """
        SELECT answer_id, row_number() OVER (ORDER BY answer_id)::INTEGER AS number FROM {shown}.answer """,
    "answer": """
        SELECT a.* REPLACE (number AS answer_id) FROM {shown}.answer AS a JOIN temp.secret_answer USING (answer_id)""",
    "response": """
        SELECT r.* REPLACE (number AS answer_id)
        FROM {shown}.response AS r JOIN temp.secret_answer USING (answer_id)""",
    "secret_label": """
        SELECT label_id, row_number() OVER (ORDER BY label_id)::INTEGER AS number FROM {shown}.label """,
    "label": """
        SELECT label.* REPLACE (number AS label_id)
        FROM {shown}.label AS label JOIN temp.secret_label USING (label_id)""",
    **{table.name: f"""
        SELECT s.* REPLACE (coalesce(gold.number, gold_label) AS gold_label,
            coalesce(predicted.number, predicted_label) AS predicted_label)
        FROM {{shown}}.{table.name} AS s LEFT JOIN temp.secret_label AS gold ON gold.label_id = gold_label
        LEFT JOIN temp.secret_label AS predicted ON predicted.label_id = predicted_label"""  # noqa: S608
       for table in models.of_family["confusion"]},
    "secret_pair": """
        SELECT pair_result_id, row_number() OVER (ORDER BY min((comparison_id, position)))::INTEGER AS number,
            min(run_id) AS run_id
        FROM {shown}.comparison_pair AS pair JOIN temp.comparison USING (comparison_id)
        GROUP BY pair_result_id""",
    "comparison_pair": """
        SELECT c.* REPLACE (number AS pair_result_id)
        FROM {shown}.comparison_pair AS c JOIN temp.secret_pair USING (pair_result_id)""",
    "pair_interval": """
        SELECT i.* REPLACE (number AS pair_result_id)
        FROM {shown}.pair_interval AS i JOIN temp.secret_pair USING (pair_result_id)""",
    "secret_tested": """
        SELECT id, row_number() OVER (ORDER BY min(place))::INTEGER AS number
        FROM (
            SELECT unnest([statistics_a, statistics_b]) AS id, (number, unnest([0, 1])) AS place
            FROM {shown}.pair_result AS r JOIN temp.secret_pair USING (pair_result_id))
        GROUP BY id""",
    "tested_statistics": """
        SELECT t.* REPLACE (number AS tested_statistics_id)
        FROM {shown}.tested_statistics AS t JOIN temp.secret_tested ON id = tested_statistics_id""",
    "secret_request": """
        SELECT pair_request_id, row_number() OVER (ORDER BY min(number))::INTEGER AS number
        FROM {shown}.pair_result AS r JOIN temp.secret_pair USING (pair_result_id)
        GROUP BY pair_request_id""",
    "pair_request": """
        SELECT r.* REPLACE (number AS pair_request_id)
        FROM {file}.pair_request AS r JOIN temp.secret_request USING (pair_request_id)""",
    "pair_result": """
        SELECT r.* REPLACE (pair.number AS pair_result_id, pair.run_id AS run_id, asked.number AS pair_request_id,
            a.number AS statistics_a, b.number AS statistics_b)
        FROM {shown}.pair_result AS r JOIN temp.secret_pair AS pair USING (pair_result_id)
        JOIN temp.secret_request AS asked USING (pair_request_id)
        JOIN temp.secret_tested AS a ON a.id = statistics_a JOIN temp.secret_tested AS b ON b.id = statistics_b""",
}
_SHOWN = re.compile(r"\{shown\}\.(\w+)")


def number_rows(selects: Mapping[str, str]) -> dict[str, str]:
    """Return the SELECT statements of tables whose rows have new numbers, and of tables that help them.

    Args:
        selects: What is shown of tables, by name; other tables are shown whole.
    """
    def show(name: str) -> str:
        return f"({selects[name]})" if name in selects else f"{{file}}.{name}"

    return {name: _SHOWN.sub(lambda found: show(found[1]), select) for name, select in _NUMBERS.items()}
