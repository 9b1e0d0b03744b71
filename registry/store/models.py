"""The tables of the registry.

Catalog tables are small and have primary and unique keys. Bulk tables (items, answers, responses, statistics) have no
keys, because a key makes inserts twelve times slower. No table has a foreign key, because DuckDB refuses most changes
of a row to which another row refers. The program allocates all ids, which are integers. The file `comments.toml`
documents the tables and their columns.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine

from registry.families import FAMILIES
from registry.submission_fields import SUBMISSION_FIELDS

metadata = MetaData()


def _id(name: str) -> Column[int]:
    return Column(name, Integer, primary_key=True, autoincrement=False)


def _column(kind: type[TypeEngine[Any]]) -> Callable[..., Column[Any]]:
    return lambda name, *, null=False: Column(name, kind, nullable=null)


_small, _int, _big, _text = (_column(kind) for kind in (SmallInteger, Integer, BigInteger, String))
_flag, _time, _number = map(_column, (Boolean, DateTime, Double))  # undefined numbers are NULL, never nan


# Declarations of a task. `manifest` is the normalized manifest as JSON, without its [[submit]] tables.
task = Table(
    "task", metadata, _id("task_id"), _text("slug"), _text("title"), _text("version"), _text("manifest"),
    _text("manifest_digest"), _big("seed"), _time("created_at"),
    _time("anonymous_until", null=True), _time("blind_until", null=True), _text("salt", null=True),
    UniqueConstraint("slug"),
)
test_set = Table(
    "test_set", metadata, _id("test_set_id"), _int("task_id"), _text("name"), _int("position"),
    _text("cluster_attribute", null=True), _int("gold_revision_id", null=True), _flag("is_declared"),
    UniqueConstraint("task_id", "name"),
)
gold_revision = Table(
    "gold_revision", metadata, _id("gold_revision_id"), _int("test_set_id"), _int("revision"), _text("digest"),
    _text("task_version"), _text("reader"), _int("n_items"), _int("run_id"), _time("created_at"),
    UniqueConstraint("test_set_id", "digest"),
)
gold_source = Table(
    "gold_source", metadata, _int("gold_revision_id"), _text("role"), _text("source_digest"), _text("reader"),
    UniqueConstraint("gold_revision_id", "role", "source_digest", "reader"),
)
item = Table("item", metadata, _int("item_id"), _int("gold_revision_id"), _int("position"), _text("key"))
item_attribute = Table("item_attribute", metadata, _int("gold_revision_id"), _int("item_id"), _text("name"),
                       _text("value"))
track = Table("track", metadata, _id("track_id"), _int("task_id"), _text("name"), UniqueConstraint("task_id", "name"))

# Participants and their submissions.
team = Table(
    "team", metadata, _id("team_id"), _int("task_id"), _text("name"), _text("pseudonym", null=True),
    UniqueConstraint("task_id", "name"),
)
system = Table(
    "system", metadata, _id("system_id"), _int("team_id"), _text("name"), _text("pseudonym", null=True),
    UniqueConstraint("team_id", "name"),
)
_TYPES = {"id": _int, "flag": _flag, "time": _time}  # types of columns of submissions; other columns are texts
submission = Table(
    "submission", metadata, _id("submission_id"), _int("test_set_id"), _int("system_id"),
    *(_TYPES.get(field.type, _text)(field.column, null=field.is_optional) for field in SUBMISSION_FIELDS),
    _int("run_id"), UniqueConstraint("test_set_id", "system_id", "version"),
)
# The files of a submission, one per run of the system. Runs are replicates, numbered from 0.
submission_source = Table(
    "submission_source", metadata, _int("submission_id"), _small("replicate"),
    _text("source_digest"), _text("name"), UniqueConstraint("submission_id", "replicate"),
)
# Factors of the replicates of a submission, such as the prompt or the annotator.
replicate_factor = Table(
    "replicate_factor", metadata, _int("submission_id"), _small("replicate"),
    _text("factor"), _text("level"), UniqueConstraint("submission_id", "replicate", "factor"),
)
# A purged team: the name that replaces the name of the team, and salted digests of the deleted names.
tombstone = Table(
    "tombstone", metadata, _id("tombstone_id"), _int("task_id"), _int("team_id"), _text("name"), _text("salt"),
    _text("names"), _int("run_id"), _time("created_at"), UniqueConstraint("team_id"),
)
# Answers of a submission joined with a gold revision, under a policy for missing items; `n_missing` counts the missing
# answers of all runs.
scoring = Table(
    "scoring", metadata, _id("scoring_id"), _int("submission_id"), _int("gold_revision_id"), _text("missing"),
    _int("n_missing"), _int("run_id"), UniqueConstraint("submission_id", "gold_revision_id", "missing"),
)

# Messages about a scoring, such as reasons why its scores are meaningless or surprising.
scoring_message = Table(
    "scoring_message", metadata, _int("scoring_id"), _small("replicate"), _text("category"), _text("code"),
    _text("parameters"),
)

# Metrics: `metric.name` is the canonical name, `task_metric.alias` the id in the manifest.
metric = Table("metric", metadata, _id("metric_id"), _text("name"), _text("family"), _text("better"),
               UniqueConstraint("name"))
task_metric = Table(
    "task_metric", metadata, _int("task_id"), _text("alias"), _int("metric_id"), _int("position"), _flag("is_primary"),
    _flag("is_declared"), UniqueConstraint("task_id", "alias"),
)
# The table `score` has the corpus score of each scoring by each metric: the score of the average of all runs. It also
# has the digest and the unit (`step`) of the statistics. The table `replicate_score` has the score of each run.
score = Table(
    "score", metadata, _int("scoring_id"), _int("metric_id"), _number("value", null=True), _int("n_items"),
    _text("digest"), _int("run_id"), _number("step"), UniqueConstraint("scoring_id", "metric_id"),
)
replicate_score = Table(
    "replicate_score", metadata, _int("scoring_id"), _int("metric_id"),
    _small("replicate"), _number("value", null=True),
    UniqueConstraint("scoring_id", "metric_id", "replicate"),
)

# Sums of statistics over all items, which replace the statistics in public files without gold.
statistic_total = Table(
    "statistic_total", metadata, _int("scoring_id"), _int("metric_id"), _small("replicate"), _small("position"),
    _text("statistic"), _big("total"), _big("per_one"),
)

# A public file has one row, which describes the contents of the file. The registry itself has no row.
publication = Table("publication", metadata, _time("published_at"), _flag("has_sources"), _text("program"))

# Files that commands have read, commands, and changes by commands.
source = Table(
    "source", metadata, Column("digest", String, primary_key=True), _text("name"), _big("n_bytes"),
    Column("content", LargeBinary, nullable=False), _time("created_at"),
)
run = Table(
    "run", metadata, _id("run_id"), _text("command"), _text("parameters"), _text("inputs"), _time("started_at"),
    _time("ended_at", null=True), _text("code_version"), _text("code_revision", null=True),
    _flag("code_dirty", null=True), _text("environment"), _text("salt", null=True), _text("digest", null=True),
)
event = Table(
    "event", metadata, _id("event_id"), _int("run_id"), _time("at"), _text("actor", null=True), _text("action"),
    _text("subject"), _text("details"), _text("hash"), _text("salt", null=True), _text("digest"),
)

# Comparisons. A pair result is identified by its inputs (statistics of A and of B, and settings of the test) and never
# changes. A comparison is a snapshot of a family of pairs. The last comparison of a board has the highest
# `sequence`; 0 marks comparisons of boards that no longer exist.
pair_request = Table(
    "pair_request", metadata, _id("pair_request_id"), _text("metric"), _text("test"), _text("alternative"),
    _int("resamples"), _big("seed"), _text("interval"), _number("confidence"),
    _text("runs"),
    UniqueConstraint("metric", "test", "alternative", "resamples", "seed", "interval", "confidence", "runs"),
)
tested_statistics = Table("tested_statistics", metadata, _id("tested_statistics_id"), _text("digest"),
                          UniqueConstraint("digest"))
pair_result = Table(
    "pair_result", metadata, _int("pair_result_id"), _int("pair_request_id"), _int("statistics_a"),
    _int("statistics_b"), _text("method"), _number("difference", null=True), _number("p_value", null=True),
    _number("log10_p", null=True), _number("p_low", null=True), _number("p_high", null=True),
    _number("ci_low", null=True), _number("ci_high", null=True), _int("n_units"), _int("n_discordant"),
    _int("resamples", null=True), _number("statistic", null=True), _small("favours"), _text("messages"),
    _int("run_id"),
)
pair_interval = Table("pair_interval", metadata, _int("pair_result_id"), _number("low", null=True),
                      _number("high", null=True))
comparison = Table(
    "comparison", metadata, _id("comparison_id"), _text("digest"), _int("sequence"), _int("test_set_id"),
    _int("gold_revision_id"), _int("track_id", null=True), _text("facet", null=True), _int("metric_id"),
    _text("alias"), _text("test"), _text("alternative"), _text("unit"), _number("alpha"), _text("correction"),
    _int("resamples"), _big("seed"), _text("interval"), _number("confidence"),
    _int("n_items"), _int("n_units"), _int("n_systems"), _int("family_size"), _text("signature"), _int("run_id"),
    _time("created_at"), _text("runs"), _text("request"),
    UniqueConstraint("digest"),
)
comparison_pair = Table(
    "comparison_pair", metadata, _int("comparison_id"), _int("position"), _int("submission_a"), _int("submission_b"),
    _int("pair_result_id"), _flag("is_swapped"), _number("p_adjusted", null=True), _flag("is_significant"),
    _flag("is_resolved"),
)
# One test of all systems of a comparison together: is there any difference between the systems?
overall_result = Table(
    "overall_result", metadata, _int("comparison_id"), _text("test"), _number("statistic"), _int("degrees"),
    _number("p_value"), _number("log10_p"), UniqueConstraint("comparison_id"),
)
standing = Table(
    "standing", metadata, _int("comparison_id"), _int("position"), _int("submission_id"), _int("rank", null=True),
    _int("rank_low", null=True), _int("rank_high", null=True), _int("cluster", null=True), _int("wins"),
    _int("losses"), _number("score", null=True), _number("ci_low", null=True), _number("ci_high", null=True),
    _int("runs"), _number("run_sd", null=True),
    _int("scoring_id", null=True), _text("kind"), _flag("late"),
)

# Studies: results as JSON, and the parts of unfinished studies.
study = Table(
    "study", metadata, _id("study_id"), _text("digest"), _text("study"), _int("task_id"), _text("subject"),
    _text("result"), _text("signature"), _int("run_id"), _time("created_at"),
    UniqueConstraint("digest"),
)
study_part = Table("study_part", metadata, _text("digest"), _text("key"), _text("result"),
                   UniqueConstraint("digest", "key"))

# Sets of answers: every distinct answer to an item, and the submissions that give it.
answer = Table(
    "answer", metadata, _int("answer_id"), _int("gold_revision_id"), _int("item_id"), _text("key"), _text("type"),
    _flag("in_gold"),
)
response = Table(
    "response", metadata, _int("scoring_id"), _small("replicate"), _int("answer_id"),
    _flag("correct"), _number("score", null=True),
)
label = Table("label", metadata, _id("label_id"), _int("gold_revision_id"), _text("name"),
              UniqueConstraint("gold_revision_id", "name"))


def _statistics(family: str, suffix: str = "", *, whole: bool) -> Table:
    type_: TypeEngine[int] | TypeEngine[float] = Integer() if whole else Double()
    return Table(
        f"statistics_{family}{suffix}", metadata, _int("scoring_id"), _int("metric_id"),
        _small("replicate"), _int("item_id"),
        *(Column(name, type_, nullable=False) for name in FAMILIES[family].columns),
    )


# The family `ratio` has integer and decimal statistics. Its integers, such as outcomes 0 and 1, are in a separate
# table, because they then need a tenth of the space. The view `statistics_ratio` combines both tables.
whole_statistics = {"ratio": _statistics("ratio", "_whole", whole=True)}
statistics = {name: _statistics(name, "_decimal" if name in whole_statistics else "", whole=family.integer)
              for name, family in FAMILIES.items()}
of_family = {name: [tables[name] for tables in (statistics, whole_statistics) if name in tables] for name in FAMILIES}


def _attach_comments() -> None:
    """Add the comments in `comments.toml` to all tables and columns.

    Raises:
        KeyError: A comment is missing.
    """
    comments = tomllib.loads((Path(__file__).parent / "comments.toml").read_text("utf-8"))
    for table in metadata.tables.values():
        table_comments = comments[table.name]
        table.comment = table_comments["_"]
        for column in table.columns:
            stem = column.name.rstrip("0123456789").removesuffix("_")  # correct_1 to correct_4 share one comment
            column.comment = (table_comments.get(column.name) or table_comments.get(stem)
                              or comments["shared"][column.name])


_attach_comments()
