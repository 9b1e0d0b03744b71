"""The temporary tables that stand for those with hidden names or scores, each with what of it may be seen."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from registry.identity import SALTED
from registry.store import models
from registry.store.hiding.numbers import number_rows

# Actions whose entries in the log name no participant, neither in their subject nor in their details.
_NAMELESS = ("task", "gold", "score", "compare", "compare-again", "board-retired", "study", "pseudonyms", "hide",
             "reveal")

# Those whose entries tell nothing of scores; a comparison's name tells how a p-value was computed.
_SCORELESS = ("task", "gold", "ladder", "pseudonyms", "hide", "reveal")

_STATISTICS = [table.name for tables in models.of_family.values() for table in tables]

HELPER = "secret_"  # what tables are called that help the others and are for nobody else

_OF_COMPARISON = "comparison_id NOT IN (SELECT comparison_id FROM temp.secret_comparison)"
# Comparisons of blind tasks; and of anonymous ones those from before names were hidden, since their digests, which
# have no salt, confirm a guess at the names, or their settings name a candidate.
_SECRET_COMPARISON = f"""
    SELECT comparison_id FROM {{file}}.comparison JOIN {{file}}.test_set USING (test_set_id)
    WHERE task_id IN ({{blind}}) OR (task_id IN ({{anonymous}}) AND (NOT starts_with(digest, '{SALTED}')
        OR json_extract_string(request, '$.significance.candidate') IS NOT NULL))"""  # noqa: S608

# By the table's name; {file} is the registry's own schema, {anonymous} and {blind} are numbers of tasks.
_NAMES = {
    "secret_comparison": _SECRET_COMPARISON,
    "secret_team": """
        SELECT team_id FROM {file}.team WHERE task_id IN ({anonymous}) AND team_id NOT IN (
            SELECT team_id FROM {file}.system JOIN {file}.submission USING (system_id)
            GROUP BY team_id HAVING bool_and(kind = 'baseline'))""",
    # What stands for a team that was purged names nobody; quoted, the table is the registry's own at any moment.
    "secret_name": """
        SELECT team_id FROM temp.secret_team WHERE team_id NOT IN (SELECT team_id FROM {file}."tombstone")""",
    "secret_submission": """
        SELECT
            submission_id,
            task.slug || '/' || test_set.name || '/' AS test_set,
            team.name || '/' || system.name || '@' || submission.version AS name,
            submission.version,
            submission.system_id,
            min(submission_id) OVER (PARTITION BY submission.system_id, submission.version) AS first
        FROM {file}.submission JOIN {file}.system USING (system_id) JOIN {file}.team USING (team_id)
        JOIN {file}.test_set USING (test_set_id) JOIN {file}.task ON task.task_id = test_set.task_id
        WHERE team_id IN (SELECT team_id FROM temp.secret_team)""",
    "team": """
        SELECT * REPLACE (
            if(team_id IN (SELECT team_id FROM temp.secret_name), coalesce(pseudonym, 'Team of row ' || team_id), name)
                AS name,
            if(task_id NOT IN ({anonymous}) OR team_id IN (SELECT team_id FROM temp.secret_name), pseudonym, NULL)
                AS pseudonym)
        FROM {file}.team""",
    "system": """
        SELECT * REPLACE (
            if(team_id IN (SELECT team_id FROM temp.secret_name),
               coalesce(pseudonym, 'System of row ' || system_id), name) AS name,
            if(team_id NOT IN (SELECT team_id FROM {file}.team WHERE task_id IN ({anonymous}))
               OR team_id IN (SELECT team_id FROM temp.secret_name), pseudonym, NULL) AS pseudonym)
        FROM {file}.system""",
    "submission": """
        SELECT s.* REPLACE (
            coalesce(secret.number, s.version) AS version,
            if(secret.number IS NULL, s.attributes, '{{}}') AS attributes,
            if(secret.number IS NULL, s.declared, NULL) AS declared)
        FROM {file}.submission AS s LEFT JOIN (
            SELECT submission_id, CAST(dense_rank() OVER (PARTITION BY system_id ORDER BY first) AS VARCHAR) AS number
            FROM temp.secret_submission) AS secret USING (submission_id)""",
    "submission_source": """
        SELECT * REPLACE (if(submission_id IN (SELECT submission_id FROM temp.secret_submission),
                             'run ' || (replicate + 1), name) AS name)
        FROM {file}.submission_source""",
    "replicate_factor": """
        SELECT * REPLACE (if(submission_id IN (SELECT submission_id FROM temp.secret_submission),
            'level ' || dense_rank() OVER (PARTITION BY factor ORDER BY level), level) AS level)
        FROM {file}.replicate_factor""",
    # What the bytes of a manifest or of a submission say can be read by programs alone.
    "source": """
        SELECT * EXCLUDE (open)
            REPLACE (if(open, name, 'hidden') AS name, if(open OR NOT {asks}, content, ''::BLOB) AS content)
        FROM (
            SELECT *, digest NOT IN (
                SELECT source_digest FROM {file}.submission_source
                WHERE submission_id IN (SELECT submission_id FROM temp.secret_submission)
            ) AND (
                digest IN (SELECT source_digest FROM {file}.gold_source)
                OR digest IN (SELECT source_digest FROM {file}.submission_source)
            ) AS open
            FROM {file}.source)""",
    "secret_run": """
        SELECT run_id FROM {file}.run WHERE run_id NOT IN (
            SELECT run_id FROM {file}.event WHERE action <> 'end'
            GROUP BY run_id HAVING bool_and(split_part(subject, '/', 1) NOT IN (
                SELECT slug FROM {file}.task WHERE task_id IN ({anonymous}))))""",
    "run": """
        SELECT * REPLACE (
            if(run_id IN (SELECT run_id FROM temp.secret_run), '{{}}', parameters) AS parameters,
            if(run_id IN (SELECT run_id FROM temp.secret_run), '{{}}', inputs) AS inputs,
            if(run_id IN (SELECT run_id FROM temp.secret_run), NULL, salt) AS salt)
        FROM {file}.run""",
    # A study that was made while names were hidden says none; one that was made before is left out.
    "study": f"""
        SELECT * FROM {{file}}.study WHERE task_id NOT IN ({{anonymous}})
            OR (is_anonymous AND starts_with(digest, '{SALTED}'))""",  # noqa: S608
    "comparison": f"SELECT * FROM {{file}}.comparison WHERE {_OF_COMPARISON}",  # noqa: S608
    "event": """
        SELECT e.* EXCLUDE (named) REPLACE (
            if(named, coalesce(shown.name, split_part(e.subject, '/', 1)), e.subject) AS subject,
            if((named AND action <> 'ladder') OR (details ->> '$.signature' IS NOT NULL
                AND (details ->> '$.signature') NOT IN (
                    SELECT signature FROM temp.comparison UNION ALL SELECT signature FROM temp.study)),
               '{{}}', if(action = 'task' AND e.subject IN (
                    SELECT slug FROM {file}.task WHERE task_id IN ({anonymous})),
                    regexp_replace(details, '"manifest":"[^"]*",?', ''),  -- which may list submissions
                    details)) AS details,
            if(run_id IN (SELECT run_id FROM temp.secret_run), NULL, actor) AS actor,
            if(run_id IN (SELECT run_id FROM temp.secret_run), NULL, salt) AS salt)
        FROM (
            SELECT *, action NOT IN ({nameless}) AND run_id IN (SELECT run_id FROM temp.secret_run) AS named
            FROM {file}.event) AS e
        LEFT JOIN (
            SELECT secret.test_set || secret.name AS subject,
                any_value(secret.test_set || team.name || '/' || system.name || '@' || submission.version) AS name
            FROM temp.secret_submission AS secret JOIN temp.submission USING (submission_id)
            JOIN temp.system ON system.system_id = submission.system_id JOIN temp.team USING (team_id)
            GROUP BY ALL) AS shown ON shown.subject = e.subject""",
    # With its salt a digest tells who guesses whether the name is right.
    "tombstone": """
        SELECT * REPLACE (if(task_id IN ({anonymous}), '', salt) AS salt) FROM {file}.tombstone""",
    # Systems with the same score stand in the order of their names, which of pseudonyms is another one.
    "standing": """
        SELECT standing.* EXCLUDE (place) REPLACE (if(test_set.task_id IN ({anonymous}), CAST(row_number() OVER (
            PARTITION BY comparison_id ORDER BY place, team.name, system.name, submission.version) - 1 AS INTEGER),
            standing.position) AS position)
        FROM (
            SELECT *, min(position) OVER (PARTITION BY comparison_id, score) AS place FROM {file}.standing
        ) AS standing
        JOIN temp.comparison USING (comparison_id)
        JOIN {file}.test_set USING (test_set_id)
        JOIN temp.submission USING (submission_id)
        JOIN temp.system ON system.system_id = submission.system_id
        JOIN temp.team USING (team_id)""",
    "comparison_pair": """
        SELECT c.* REPLACE (
            if(a.position > b.position, c.submission_b, c.submission_a) AS submission_a,
            if(a.position > b.position, c.submission_a, c.submission_b) AS submission_b,
            c.is_swapped <> (a.position > b.position) AS is_swapped,
            CAST(row_number() OVER (PARTITION BY c.comparison_id ORDER BY least(a.position, b.position),
                greatest(a.position, b.position)) - 1 AS INTEGER) AS position)
        FROM {file}.comparison_pair AS c
        JOIN temp.standing AS a ON a.comparison_id = c.comparison_id AND a.submission_id = c.submission_a
        JOIN temp.standing AS b ON b.comparison_id = c.comparison_id AND b.submission_id = c.submission_b""",
}
_OF_SCORING = "scoring_id NOT IN (SELECT scoring_id FROM temp.secret_scoring)"
_SCORES = {
    "secret_scoring": """
        SELECT scoring_id FROM {file}.scoring JOIN {file}.submission USING (submission_id)
        JOIN {file}.test_set USING (test_set_id) WHERE task_id IN ({blind})""",
    "secret_comparison": _SECRET_COMPARISON,
    # Who has the submitted files has the scores; and who guesses nearly perfect answers could confirm it by a digest.
    "secret_upload": """
        SELECT submission_id FROM {file}.submission JOIN {file}.test_set USING (test_set_id)
        WHERE task_id IN ({blind})""",
    "secret_upload_run": """
        SELECT run_id FROM {file}.run WHERE run_id NOT IN (
            SELECT run_id FROM {file}.event WHERE action <> 'end'
            GROUP BY run_id HAVING bool_and(split_part(subject, '/', 1) NOT IN (
                SELECT slug FROM {file}.task WHERE task_id IN ({blind}))))""",
    # A file that was submitted to an open task too is that task's.
    "source": """
        SELECT s.* REPLACE (if(s.name = 'hidden', s.name, coalesce(open.name, s.name)) AS name,
            coalesce(open.created_at, s.created_at) AS created_at)
        FROM {file}.source AS s LEFT JOIN (
            SELECT source_digest, arg_min(name, submission_id) AS name, min(created_at) AS created_at
            FROM {file}.submission_source JOIN {file}.submission USING (submission_id)
            WHERE submission_id NOT IN (SELECT submission_id FROM temp.secret_upload)
            GROUP BY source_digest) AS open ON open.source_digest = s.digest
        WHERE open.source_digest IS NOT NULL OR digest IN (SELECT source_digest FROM {file}.gold_source)
            OR digest NOT IN (SELECT source_digest FROM {file}.submission_source)""",
    "submission": """
        SELECT * REPLACE (
            if(submission_id IN (SELECT submission_id FROM temp.secret_upload), '', digest) AS digest)
        FROM {file}.submission """,
    "submission_source": """
        SELECT * REPLACE (
            if(submission_id IN (SELECT submission_id FROM temp.secret_upload), '', source_digest) AS source_digest)
        FROM {file}.submission_source """,
    "run": """
        SELECT * REPLACE (
            if(run_id IN (SELECT run_id FROM temp.secret_upload_run), '{{}}', inputs) AS inputs,
            if(run_id IN (SELECT run_id FROM temp.secret_upload_run), NULL, salt) AS salt)
        FROM {file}.run """,
    "event": """
        SELECT * REPLACE (
            if(run_id IN (SELECT run_id FROM temp.secret_upload_run) AND action NOT IN ({scoreless}),
               '{{}}', details) AS details,
            if(run_id IN (SELECT run_id FROM temp.secret_upload_run), NULL, salt) AS salt)
        FROM {file}.event """,
    "study": f"""
        SELECT * FROM {{file}}.study WHERE task_id NOT IN ({{blind}}) AND (
            task_id NOT IN ({{anonymous}}) OR (is_anonymous AND starts_with(digest, '{SALTED}')))""",  # noqa: S608
    **{name: f"SELECT * FROM {{file}}.{name} WHERE {_OF_SCORING}" for name in (  # noqa: S608
        "scoring", "score", "replicate_score", "remark", "response", *_STATISTICS)},
    **{name: f"SELECT * FROM {{file}}.{name} WHERE {_OF_COMPARISON}"  # noqa: S608
       for name in ("comparison", "comparison_pair", "overall_result", "standing")},
    **{name: f"""
        SELECT * FROM {{file}}.{name} WHERE pair_result_id IN (
            SELECT pair_result_id FROM {{file}}.comparison_pair WHERE {_OF_COMPARISON})"""  # noqa: S608
       for name in ("pair_result", "pair_interval")},
    # Answers and labels that only systems gave are their errors.
    "answer": """
        SELECT * FROM {file}.answer WHERE in_gold OR gold_revision_id NOT IN (
            SELECT gold_revision.gold_revision_id FROM {file}.gold_revision JOIN {file}.test_set USING (test_set_id)
            WHERE task_id IN ({blind}))""",
    "label": """
        SELECT * FROM {file}.label WHERE EXISTS (
            FROM {file}.answer WHERE answer.gold_revision_id = label.gold_revision_id AND in_gold
                AND label.name IN (answer.key, answer.type))
            OR gold_revision_id NOT IN (
                SELECT gold_revision.gold_revision_id FROM {file}.gold_revision JOIN {file}.test_set USING (test_set_id)
                WHERE task_id IN ({blind}))""",
    "tested_statistics": f"""
        SELECT * FROM {{file}}.tested_statistics WHERE tested_statistics_id IN (
            SELECT unnest([statistics_a, statistics_b]) FROM {{file}}.pair_result JOIN {{file}}.comparison_pair
            USING (pair_result_id) WHERE {_OF_COMPARISON})""",  # noqa: S608
}
# The parts of one that is not finished are found by a digest that tells whether names were hidden.
_ASKED = {"study_part": "SELECT * FROM {file}.study_part WHERE FALSE",
          "task": "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS salt) FROM {file}.task"}
_LARGE = {"source", "answer", "response", "pair_result", "pair_interval", "comparison_pair", *_STATISTICS}
# DuckDB moves a user's condition below that of a view, onto hidden rows, unless DuckDB knows that it can fail. Casts to
# BIT and regular expressions can fail unexpectedly, and print their value. No condition moves below a LIMIT.
_APART = "SELECT * FROM ({select}) LIMIT 9223372036854775807"


def shadows(file: str, anonymous: Sequence[int], blind: Sequence[int], *, asks: bool,
            before: Collection[str] = ()) -> list[tuple[str, str]]:
    """The statements that make the tables, each with the table's name, in the order in which they can be run.

    Args:
        file: The schema of the registry's own tables, as SQL names it.
        anonymous: The numbers of the tasks without names.
        blind: Those of the tasks without scores.
        asks: Whether SQL of users is to be answered.
        before: The temporary tables that stand for some of the registry's own already, as of a moment of the past;
            these are replaced.
    """
    of_names = _NAMES if anonymous else {}
    of_scores = {name: _within(of_names.get(name), name, select) for name, select in _SCORES.items()} if blind else {}
    both = of_names | of_scores | (_ASKED if asks else {})
    numbers = number_rows(both) if blind and asks else {}
    ordered = sorted(both.items(), key=lambda of: not of[0].startswith(HELPER))
    chosen = {name: select for name, select in ordered if name not in numbers} | numbers
    values = {"file": file, "anonymous": _listed(anonymous), "blind": _listed(blind), "asks": str(asks).upper(),
              "nameless": _quoted(_NAMELESS), "scoreless": _quoted(_SCORELESS)}
    def of_then(select: str) -> str:
        """The same of the tables that stand for the registry's own."""
        return re.sub(rf"{re.escape(file)}\.(\w+)",
                      lambda found: f"temp.{found[1]}" if found[1] in before else found[0], select)

    def made(name: str, select: str) -> str:
        shown = of_then(select.format(**values))
        return _APART.format(select=shown) if asks and name in _LARGE else shown

    return [(name, f"CREATE {'OR REPLACE ' if name in before else ''}TEMP {'VIEW' if name in _LARGE else 'TABLE'} "
                   f"{name} AS {made(name, select)}") for name, select in chosen.items()]


def _within(reordered: str | None, name: str, select: str) -> str:
    """What of a table may be seen in blind phases; of one whose rows are put into another order, in that order."""
    return select if reordered is None else select.replace(f"{{file}}.{name} ", f"({reordered}) ")


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "-1"
