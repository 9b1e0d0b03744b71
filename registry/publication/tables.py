"""Lists of the rows and columns of each table that a public file contains.

In an anonymous task, pseudonyms replace the names of teams and systems, and numbers replace versions and factor levels.
In a blind task, the scores are left out, with all data from which the scores could be computed. If a task withholds its
gold, all tables with a row per item are left out. All rows get new ids, in an order that depends only on published
columns. The stored ids would reveal hidden data: gaps between ids show the number of hidden rows, and the order of ids
is the alphabetical order of hidden names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from registry.identity import SALTED
from registry.store import models
from registry.submission_fields import SUBMISSION_FIELDS, SubmissionField

# Attributes of items that a task uses, as cluster, facet or stratum. Others, such as the text of an item, are public
# only with the file from which they were read.
USED_ATTRIBUTES = """
    SELECT task_id, cluster_attribute AS name FROM test_set
    UNION SELECT task_id, unnest(json_extract_string(manifest, '$.test_set[*].facets[*]')) FROM task
    UNION SELECT task_id, json_extract_string(manifest, '$.significance.strata') FROM task
    UNION SELECT task_id, split_part(facet, '=', 1) FROM comparison JOIN test_set USING (test_set_id)
    UNION SELECT task_id, json_extract_string(request, '$.significance.strata')
    FROM comparison JOIN test_set USING (test_set_id)"""

# Temporary tables for the SELECTs below, in the order of their creation. `publish` first creates `public_task`: the
# published tasks, with `is_anonymous`, `is_blind` and `has_gold`.
SCOPE = {
    "public_test_set": """
        SELECT test_set_id, slug || '/' || name || '/' AS prefix, task.*
        FROM test_set JOIN public_task AS task USING (task_id)""",
    # Baselines keep their names: a team is hidden only if it has other submissions.
    "hidden_team": """
        SELECT team_id FROM team JOIN public_task USING (task_id)
        WHERE is_anonymous AND team_id NOT IN (
            SELECT team_id FROM system JOIN submission USING (system_id)
            GROUP BY team_id HAVING bool_and(kind = 'baseline'))""",
    # The names of tombstones, such as purged-1, reveal nobody.
    "hidden_name": "SELECT team_id FROM hidden_team WHERE team_id NOT IN (SELECT team_id FROM tombstone)",
    "public_team": """
        SELECT team.team_id, task_id, is_anonymous,
            if(hidden.team_id IS NULL, name, coalesce(pseudonym, 'Team of row ' || team.team_id)) AS name,
            if(is_anonymous AND hidden.team_id IS NULL, NULL, pseudonym) AS pseudonym
        FROM team JOIN public_task USING (task_id) LEFT JOIN hidden_name AS hidden USING (team_id)""",
    "public_system": """
        SELECT system_id, team.team_id, task_id, is_anonymous, team.name AS team,
            if(hidden.team_id IS NULL, system.name, coalesce(system.pseudonym, 'System of row ' || system_id)) AS name,
            if(is_anonymous AND hidden.team_id IS NULL, NULL, system.pseudonym) AS pseudonym
        FROM system JOIN public_team AS team USING (team_id) LEFT JOIN hidden_name AS hidden USING (team_id)""",
    "public_submission": """
        SELECT submission_id, is_blind, has_gold, hidden.team_id IS NOT NULL AS is_nameless,
            team.name || '/' || real.name || '@' || s.version AS real_name, test_set.prefix, test_set.task_id,
            system.team, system.name AS system,
            if(hidden.team_id IS NULL, s.version, dense_rank() OVER (
                PARTITION BY s.system_id ORDER BY first)::VARCHAR) AS version
        FROM (
            SELECT *, min(submission_id) OVER (PARTITION BY system_id, version) AS first FROM submission) AS s
        JOIN public_test_set AS test_set USING (test_set_id)
        JOIN public_system AS system USING (system_id)
        JOIN system AS real ON real.system_id = s.system_id
        JOIN team ON team.team_id = system.team_id
        LEFT JOIN hidden_team AS hidden ON hidden.team_id = system.team_id""",
    # With a digest, somebody could check a guess of answers, or of the names of columns and levels. The digest is
    # replaced by the name of the first submission with this digest.
    "public_digest": """
        SELECT submission_id, CASE
            WHEN is_blind THEN 'withheld: ' || name
            WHEN has_gold AND NOT bool_or(is_nameless) OVER same THEN digest
            ELSE 'withheld: ' || min(name) OVER same END AS digest
        FROM (SELECT *, team || '/' || system || '@' || version AS name FROM public_submission)
        JOIN (SELECT submission_id, test_set_id, digest FROM submission) USING (submission_id)
        WINDOW same AS (PARTITION BY test_set_id, digest)""",
    "public_level": """
        SELECT task_id, factor, level,
            'level ' || dense_rank() OVER (PARTITION BY task_id, factor ORDER BY place) AS name
        FROM (
            SELECT task_id, factor, level, min([team, system, version, lpad(replicate::VARCHAR, 5, '0')]) AS place
            FROM replicate_factor JOIN public_submission USING (submission_id)
            WHERE is_nameless GROUP BY task_id, factor, level)""",
    "public_scoring": """
        SELECT scoring_id, has_gold FROM scoring JOIN public_submission USING (submission_id) WHERE NOT is_blind""",
    # With a digest without salt, somebody could check a guess of names or gold. Settings may contain the name of a
    # candidate.
    "public_comparison": f"""
        SELECT comparison_id, is_anonymous, has_gold AND NOT (is_anonymous AND test_set_id IN (
            SELECT test_set_id FROM replicate_factor JOIN submission USING (submission_id))) AS has_digests
        FROM comparison JOIN public_test_set USING (test_set_id)
        WHERE NOT is_blind AND (starts_with(digest, '{SALTED}') OR (has_gold AND NOT is_anonymous))
            AND (NOT is_anonymous OR json_extract_string(request, '$.significance.candidate') IS NULL)""",  # noqa: S608
    # With a digest without salt, somebody could check a guess of the gold. Digests in signatures have a salt.
    "public_gold": f"""
        SELECT gold_revision_id, task_id, has_gold, is_blind, rtrim(prefix, '/') AS test_set,
            gold.digest AS real_digest,
            if(task.salt IS NULL, gold.digest, '{SALTED}sha256:' || sha256(task.salt || ':' || gold.digest)) AS digest
        FROM gold_revision AS gold JOIN public_test_set USING (test_set_id) JOIN task USING (task_id)""",  # noqa: S608
    "public_attribute": f"SELECT DISTINCT * FROM ({USED_ATTRIBUTES}) JOIN public_task USING (task_id)",  # noqa: S608
    # Systems with equal scores are stored in the order of their hidden names.
    "public_standing": """
        SELECT comparison_id, submission_id, CAST(row_number() OVER (PARTITION BY comparison_id ORDER BY
                if(is_anonymous, place, position), s.team, s.system, s.version) - 1 AS INTEGER) AS position
        FROM (
            SELECT *, min(position) OVER (PARTITION BY comparison_id, score) AS place
            FROM standing JOIN public_comparison USING (comparison_id))
        JOIN public_submission AS s USING (submission_id)""",
    # If the statistics of the two systems are equal, the direction of the pair does not matter.
    "public_pair": """
        SELECT pair.comparison_id, pair.pair_result_id, 2 * pair.pair_result_id + has_digests::INTEGER AS result_key,
            has_digests, pair.submission_a, pair.submission_b, a.position > b.position AS turned,
            statistics_a <> statistics_b AND pair.is_swapped <> turned AS is_swapped,
            CAST(row_number() OVER (PARTITION BY pair.comparison_id ORDER BY
                least(a.position, b.position), greatest(a.position, b.position)) - 1 AS INTEGER) AS position
        FROM comparison_pair AS pair JOIN public_comparison USING (comparison_id)
        JOIN pair_result USING (pair_result_id)
        JOIN public_standing AS a ON a.comparison_id = pair.comparison_id AND a.submission_id = pair.submission_a
        JOIN public_standing AS b ON b.comparison_id = pair.comparison_id AND b.submission_id = pair.submission_b""",
    # A result may also belong to a hidden comparison, which may be older than the public comparison. If a result
    # belongs to a comparison with digests and to a comparison without digests, it is published twice. Otherwise
    # everybody could see that the two comparisons have the same statistics. The stored direction of a result is the
    # order of its digests without salt, so a result without digests is published with another direction.
    "public_result": """
        SELECT pair_result_id, result_key, has_digests, min([comparison_id, public_pair.position]) AS place,
            min(comparison.run_id) AS run_id, NOT has_digests AND any_value(asked.alternative) = 'two-sided'
                AND arg_min(is_swapped, [comparison_id, public_pair.position]) AS flips
        FROM public_pair JOIN comparison USING (comparison_id) JOIN pair_result USING (pair_result_id)
        JOIN pair_request AS asked USING (pair_request_id)
        GROUP BY pair_result_id, result_key, has_digests""",
    "public_tested": """
        SELECT tested_statistics_id, 2 * tested_statistics_id + has_digests::INTEGER AS tested_key, has_digests,
            min(list_append(place, side)) AS place
        FROM (
            SELECT unnest([statistics_a, statistics_b]) AS tested_statistics_id,
                unnest(if(flips, [1, 0], [0, 1])) AS side, public_result.*
            FROM pair_result JOIN public_result USING (pair_result_id))
        GROUP BY tested_statistics_id, has_digests""",
    "public_metric": """
        SELECT metric_id FROM task_metric JOIN public_task USING (task_id)
        UNION SELECT metric_id FROM comparison JOIN public_comparison USING (comparison_id)
        UNION SELECT metric_id FROM score JOIN public_scoring USING (scoring_id)""",
    "public_run": """
        SELECT run_id FROM event JOIN public_task AS task ON task.slug = split_part(subject, '/', 1)
        UNION SELECT run_id FROM gold_revision JOIN public_gold USING (gold_revision_id)
        UNION SELECT run_id FROM submission JOIN public_submission USING (submission_id)
        UNION SELECT run_id FROM scoring JOIN public_scoring USING (scoring_id)
        UNION SELECT run_id FROM score JOIN public_scoring USING (scoring_id)
        UNION SELECT run_id FROM comparison JOIN public_comparison USING (comparison_id)
        UNION SELECT run_id FROM study JOIN public_task USING (task_id)
        UNION SELECT run_id FROM tombstone JOIN public_task USING (task_id)""",
    # A file may be read several times: a table may have a column for each system, including hidden systems.
    "public_reading": """
        SELECT source_digest AS digest, reader, has_gold AND NOT is_blind AS is_shown
        FROM gold_source LEFT JOIN public_gold USING (gold_revision_id)
        UNION ALL
        SELECT source_digest, reader, has_gold AND NOT is_blind AND NOT is_nameless
        FROM submission_source JOIN submission USING (submission_id)
        LEFT JOIN public_submission USING (submission_id)""",
    "public_source": """
        SELECT DISTINCT digest FROM public_reading
        WHERE $sources AND is_shown AND digest NOT IN (
            SELECT digest FROM (
                SELECT digest, reader FROM public_reading WHERE is_shown IS NOT TRUE
                EXCEPT SELECT digest, reader FROM public_reading WHERE is_shown))""",
    "public_gold_file": """
        SELECT gold_revision_id FROM gold_source LEFT JOIN public_source ON digest = source_digest
        GROUP BY gold_revision_id HAVING count(digest) = count(*)""",
}

# Columns that contain ids of a table, but are not named `<table>_id`.
REFERENCES = {
    "submission_a": "submission", "submission_b": "submission", "statistics_a": "tested_statistics",
    "statistics_b": "tested_statistics", "gold_label": "label", "predicted_label": "label",
}


@dataclass(frozen=True)
class PublicTable:
    """The rows and columns of one table that a public file contains.

    Attributes:
        rows: SQL after FROM that selects the published rows; the name of the table is `t`.
        columns: Names of the columns that are published without change, separated by spaces. Columns with ids are not
            listed, because all ids change.
        changed: SQL expressions of columns whose published value differs from the stored value, by name. The expression
            of a column with ids returns stored ids, which are then replaced by the new ids.
        order: SQL sort key of the rows, which determines the new ids; empty if the table has no ids.
        condition: SQL condition that published rows fulfil.
    """

    rows: str
    columns: str = ""
    changed: Mapping[str, str] = field(default_factory=dict)
    order: str = ""
    condition: str = "TRUE"


_JOIN_TASK = "JOIN public_task USING (task_id)"
_JOIN_COMPARISON = "JOIN public_comparison USING (comparison_id)"
_JOIN_SCORING = "JOIN public_scoring AS scoring USING (scoring_id)"
_JOIN_GOLD = "JOIN public_gold AS gold USING (gold_revision_id)"
_IS_GOLD_LABEL = """EXISTS (
    FROM answer WHERE answer.gold_revision_id = t.gold_revision_id AND in_gold
        AND t.name IN (answer.key, answer.type))"""


# Properties of submissions whose published value differs from the stored value.
_REPLACED_FACTS = {
    "version": "shown.version", "reader": "if(is_nameless, gold.reader, t.reader)", "digest": "of_answers.digest",
    # A command adds files in the order of their names. The exact time would reveal this order.
    "created_at": "if(is_anonymous, run.started_at, t.created_at)",
}


def _make_fact_sql(field: SubmissionField) -> str:
    """Return the SQL expression that publishes or hides a field of a submission."""
    if field.public == "replaced":
        return _REPLACED_FACTS[field.name]
    if field.public == "never":
        return "NULL"
    default = "'{}'" if field.type == "object" else "NULL"
    return f"t.{field.column}" if field.public == "always" else f"if(is_nameless, {default}, t.{field.column})"


def _item_statistics(name: str) -> PublicTable:
    columns = [column for column in models.metadata.tables[name].columns.keys()  # noqa: SIM118
               if not column.endswith("_id") and column not in REFERENCES]
    return PublicTable(f'"{name}" AS t {_JOIN_SCORING}', " ".join(columns), condition="has_gold")


# In the order of writing: a table with ids comes before all tables that contain its ids.
TABLES = {
    "task": PublicTable(
        f"task AS t {_JOIN_TASK}", "slug title version manifest manifest_digest seed created_at anonymous_until "
        "blind_until", {"salt": "NULL"}, order="t.task_id"),
    # Parameters of a command and names of files contain the names of participants.
    "run": PublicTable(
        "run AS t JOIN public_run USING (run_id)",
        "command started_at ended_at code_version code_revision code_dirty environment digest",
        {"parameters": "'{}'", "inputs": "'{}'", "salt": "NULL"}, order="t.run_id"),
    "test_set": PublicTable(
        f"test_set AS t {_JOIN_TASK}", "name position cluster_attribute is_declared", order="t.test_set_id"),
    "track": PublicTable(f"track AS t {_JOIN_TASK}", "name", order="t.track_id"),
    "metric": PublicTable("metric AS t JOIN public_metric USING (metric_id)", "name family better",
                          order="t.name"),
    "task_metric": PublicTable(f"task_metric AS t {_JOIN_TASK}", "alias position is_primary is_declared"),
    "gold_revision": PublicTable(
        f"gold_revision AS t {_JOIN_GOLD}",
        "revision task_version reader n_items created_at",
        {"digest": "gold.digest"}, order="t.gold_revision_id"),
    "gold_source": PublicTable(
        f"gold_source AS t {_JOIN_GOLD}", "role source_digest reader", condition="has_gold"),
    "item": PublicTable(f"item AS t {_JOIN_GOLD}", "position key", order="t.item_id", condition="has_gold"),
    "item_attribute": PublicTable(
        f"item_attribute AS t {_JOIN_GOLD}", "name value",
        condition="has_gold AND (t.gold_revision_id IN (FROM public_gold_file) OR (gold.task_id, t.name) IN "
                  "(SELECT (task_id, name) FROM public_attribute))"),
    "team": PublicTable(
        "team AS t JOIN public_team AS shown USING (team_id)", "",
        {"name": "shown.name", "pseudonym": "shown.pseudonym"},
        order="t.task_id, if(is_anonymous, shown.name, ''), t.team_id"),
    "system": PublicTable(
        "system AS t JOIN public_system AS shown USING (system_id)", "",
        {"name": "shown.name", "pseudonym": "shown.pseudonym"},
        order="shown.task_id, if(is_anonymous, (shown.team, shown.name), ('', '')), t.system_id"),
    "submission": PublicTable(
        "submission AS t JOIN public_submission AS shown USING (submission_id) "
        "JOIN public_digest AS of_answers USING (submission_id) "
        "JOIN public_system AS system ON system.system_id = t.system_id JOIN test_set USING (test_set_id) "
        "LEFT JOIN gold_revision AS gold ON gold.gold_revision_id = test_set.gold_revision_id "
        "JOIN run ON run.run_id = t.run_id",
        changed={field.column: _make_fact_sql(field) for field in SUBMISSION_FIELDS},
        order="shown.task_id, if(is_anonymous, (shown.team, shown.system), ('', '')), t.submission_id"),
    "submission_source": PublicTable(
        "submission_source AS t JOIN public_submission AS shown USING (submission_id)", "replicate",
        {"name": "if(is_nameless, 'run ' || (t.replicate + 1), t.name)",
         "source_digest": "if(is_nameless OR is_blind OR NOT has_gold, '', t.source_digest)"}),
    "replicate_factor": PublicTable(
        "replicate_factor AS t JOIN public_submission AS shown USING (submission_id) "
        "LEFT JOIN public_level AS of_level ON (of_level.task_id, of_level.factor, of_level.level) = "
        "(shown.task_id, t.factor, t.level)", "replicate factor",
        {"level": "if(is_nameless, of_level.name, t.level)"}),
    "tombstone": PublicTable(
        f"tombstone AS t {_JOIN_TASK}", "name created_at", {"salt": "''", "names": "'[]'"}, order="t.tombstone_id"),
    "scoring": PublicTable(
        f"scoring AS t {_JOIN_SCORING} JOIN number_submission AS number ON number.old = t.submission_id",
        "missing n_missing", order="number.new, t.scoring_id"),
    "scoring_message": PublicTable(
        f"scoring_message AS t {_JOIN_SCORING}", "replicate category code parameters",
        condition="(has_gold OR t.code = 'missing-answers')"),  # other messages may name labels of the gold
    "score": PublicTable(f"score AS t {_JOIN_SCORING}", "value n_items step",
                         {"digest": "if(has_gold, t.digest, '')"}),
    "replicate_score": PublicTable(f"replicate_score AS t {_JOIN_SCORING}", "replicate value"),
    "source": PublicTable(
        "source AS t JOIN public_source USING (digest)", "digest n_bytes content",
        # The stored name is the first name of the file. A hidden submission with the same bytes may have this name.
        {"name": "coalesce((SELECT min(role) FROM gold_source JOIN public_gold USING (gold_revision_id) "
                 "WHERE source_digest = t.digest AND has_gold), "
                 "(SELECT min(name) FROM submission_source JOIN public_submission USING (submission_id) "
                 "WHERE source_digest = t.digest AND NOT is_nameless AND NOT is_blind))",
         "created_at": "$at"}),
    "comparison": PublicTable(
        f"comparison AS t {_JOIN_COMPARISON}",
        "digest facet alias test alternative unit alpha correction resamples seed interval confidence n_items n_units "
        "n_systems family_size signature created_at runs request",
        {"sequence": "if(t.sequence = 0, 0, dense_rank() OVER (ORDER BY t.sequence = 0, t.sequence))"},
        order="t.comparison_id"),
    "pair_result": PublicTable(
        "pair_result AS t JOIN public_result AS shown USING (pair_result_id)",
        "method p_value log10_p p_low p_high n_units n_discordant resamples messages",
        {"pair_result_id": "shown.result_key", "run_id": "shown.run_id",
         "statistics_a": "2 * if(flips, t.statistics_b, t.statistics_a) + has_digests::INTEGER",
         "statistics_b": "2 * if(flips, t.statistics_a, t.statistics_b) + has_digests::INTEGER",
         "difference": "if(flips, 0 - t.difference, t.difference)", "favours": "if(flips, 0 - t.favours, t.favours)",
         "ci_low": "if(flips, 0 - t.ci_high, t.ci_low)", "ci_high": "if(flips, 0 - t.ci_low, t.ci_high)",
         "statistic": "if(has_digests, t.statistic, abs(t.statistic))"}, order="shown.place"),
    "tested_statistics": PublicTable(
        "tested_statistics AS t JOIN public_tested AS shown USING (tested_statistics_id)",
        "", {"tested_statistics_id": "shown.tested_key",
             "digest": "if(has_digests, t.digest, 'withheld ' || row_number() OVER (ORDER BY place))"},
        order="shown.place"),
    "pair_request": PublicTable(
        "pair_request AS t JOIN (SELECT pair_request_id, min(shown.place) AS place FROM pair_result "
        "JOIN public_result AS shown USING (pair_result_id) GROUP BY ALL) AS shown USING (pair_request_id)",
        "metric test alternative resamples seed interval confidence runs", order="shown.place"),
    "pair_interval": PublicTable(
        "pair_interval AS t JOIN public_result AS shown USING (pair_result_id)", "",
        {"pair_result_id": "shown.result_key", "low": "if(flips, 0 - t.high, t.low)",
         "high": "if(flips, 0 - t.low, t.high)"}),
    "comparison_pair": PublicTable(
        "comparison_pair AS t JOIN public_pair AS shown USING (comparison_id, submission_a, submission_b) "
        "JOIN public_result AS result ON result.result_key = shown.result_key",
        "p_adjusted is_significant is_resolved",
        {"position": "shown.position", "pair_result_id": "shown.result_key",
         "is_swapped": "shown.is_swapped <> flips",
         "submission_a": "if(turned, t.submission_b, t.submission_a)",
         "submission_b": "if(turned, t.submission_a, t.submission_b)"}),
    "overall_result": PublicTable(
        f"overall_result AS t {_JOIN_COMPARISON}", "test statistic degrees p_value log10_p"),
    "standing": PublicTable(
        "standing AS t JOIN public_standing AS shown USING (comparison_id, submission_id)",
        "rank rank_low rank_high cluster wins losses score ci_low ci_high runs run_sd kind late",
        {"position": "shown.position"}),
    "study": PublicTable(
        f"study AS t {_JOIN_TASK}", "digest study subject result signature created_at", order="t.study_id",
        condition="has_gold AND NOT is_blind AND NOT is_anonymous"),
    # Answers and labels outside the gold are errors of systems, from which blind scores could be computed.
    "answer": PublicTable(
        f"answer AS t {_JOIN_GOLD}", "key type in_gold",
        order="t.gold_revision_id, t.item_id, NOT t.in_gold, t.key, t.type, t.answer_id",
        condition="has_gold AND (NOT is_blind OR t.in_gold)"),
    "response": PublicTable(f"response AS t {_JOIN_SCORING}", "replicate correct score", condition="has_gold"),
    "label": PublicTable(f"label AS t {_JOIN_GOLD}", "name", order="t.gold_revision_id, t.name",
                         condition=f"has_gold AND (NOT is_blind OR {_IS_GOLD_LABEL})"),
    **{table.name: _item_statistics(table.name) for tables in models.of_family.values() for table in tables},
}
# Tables that `publish` writes itself: the log, totals, and the row that marks a public file. Parts of unfinished
# studies are never published.
OTHERS = ("event", "statistic_total", "publication", "study_part")
