"""The first schema: the catalog, the statistics families, answers and responses, and the results."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "answer",
        sa.Column("answer_id", sa.Integer(), nullable=False),
        sa.Column("gold_revision_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("in_gold", sa.Boolean(), nullable=False)
    )
    op.create_table(
        "comparison",
        sa.Column("comparison_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("test_set_id", sa.Integer(), nullable=False),
        sa.Column("gold_revision_id", sa.Integer(), nullable=False),
        sa.Column("track_id", sa.Integer(), nullable=True),
        sa.Column("facet", sa.String(), nullable=True),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("alias", sa.String(), nullable=False),
        sa.Column("test", sa.String(), nullable=False),
        sa.Column("alternative", sa.String(), nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("correction", sa.String(), nullable=False),
        sa.Column("resamples", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("interval", sa.String(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("n_units", sa.Integer(), nullable=False),
        sa.Column("n_systems", sa.Integer(), nullable=False),
        sa.Column("family_size", sa.Integer(), nullable=False),
        sa.Column("signature", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("comparison_id"),
        sa.UniqueConstraint("digest")
    )
    op.create_table(
        "comparison_pair",
        sa.Column("comparison_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("submission_a", sa.Integer(), nullable=False),
        sa.Column("submission_b", sa.Integer(), nullable=False),
        sa.Column("pair_result_id", sa.Integer(), nullable=False),
        sa.Column("is_swapped", sa.Boolean(), nullable=False),
        sa.Column("p_adjusted", sa.Double(), nullable=True),
        sa.Column("is_significant", sa.Boolean(), nullable=False)
    )
    op.create_table(
        "event",
        sa.Column("event_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("details", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("event_id")
    )
    op.create_table(
        "gold_revision",
        sa.Column("gold_revision_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("test_set_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("task_version", sa.String(), nullable=False),
        sa.Column("reader", sa.String(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("gold_revision_id"),
        sa.UniqueConstraint("test_set_id", "digest")
    )
    op.create_table(
        "gold_source",
        sa.Column("gold_revision_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("source_digest", sa.String(), nullable=False),
        sa.Column("reader", sa.String(), nullable=False),
        sa.UniqueConstraint("gold_revision_id", "role", "source_digest", "reader")
    )
    op.create_table(
        "item",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("gold_revision_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False)
    )
    op.create_table(
        "item_attribute",
        sa.Column("gold_revision_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False)
    )
    op.create_table(
        "label",
        sa.Column("label_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("gold_revision_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("label_id"),
        sa.UniqueConstraint("gold_revision_id", "name")
    )
    op.create_table(
        "metric",
        sa.Column("metric_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("family", sa.String(), nullable=False),
        sa.Column("better", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("metric_id"),
        sa.UniqueConstraint("name")
    )
    op.create_table(
        "pair_result",
        sa.Column("pair_result_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("statistics_a", sa.String(), nullable=False),
        sa.Column("statistics_b", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("test", sa.String(), nullable=False),
        sa.Column("alternative", sa.String(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("difference", sa.Double(), nullable=True),
        sa.Column("p_value", sa.Double(), nullable=True),
        sa.Column("log10_p", sa.Double(), nullable=True),
        sa.Column("p_low", sa.Double(), nullable=True),
        sa.Column("p_high", sa.Double(), nullable=True),
        sa.Column("interval", sa.String(), nullable=True),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("ci_low", sa.Double(), nullable=True),
        sa.Column("ci_high", sa.Double(), nullable=True),
        sa.Column("n_units", sa.Integer(), nullable=False),
        sa.Column("n_discordant", sa.Integer(), nullable=False),
        sa.Column("resamples", sa.Integer(), nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("pair_result_id"),
        sa.UniqueConstraint("digest")
    )
    op.create_table(
        "response",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("answer_id", sa.Integer(), nullable=False),
        sa.Column("correct", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True)
    )
    op.create_table(
        "run",
        sa.Column("run_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("command", sa.String(), nullable=False),
        sa.Column("parameters", sa.String(), nullable=False),
        sa.Column("inputs", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("code_version", sa.String(), nullable=False),
        sa.Column("code_revision", sa.String(), nullable=True),
        sa.Column("code_dirty", sa.Boolean(), nullable=True),
        sa.Column("environment", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("run_id")
    )
    op.create_table(
        "score",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.UniqueConstraint("scoring_id", "metric_id")
    )
    op.create_table(
        "scoring",
        sa.Column("scoring_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("gold_revision_id", sa.Integer(), nullable=False),
        sa.Column("missing", sa.String(), nullable=False),
        sa.Column("n_missing", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scoring_id"),
        sa.UniqueConstraint("submission_id", "gold_revision_id", "missing")
    )
    op.create_table(
        "source",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest")
    )
    op.create_table(
        "standing",
        sa.Column("comparison_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("rank_low", sa.Integer(), nullable=True),
        sa.Column("rank_high", sa.Integer(), nullable=True),
        sa.Column("cluster", sa.Integer(), nullable=True),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("ci_low", sa.Double(), nullable=True),
        sa.Column("ci_high", sa.Double(), nullable=True)
    )
    op.create_table(
        "statistics_additive",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("value_1", sa.Double(), nullable=False),
        sa.Column("value_2", sa.Double(), nullable=False),
        sa.Column("value_3", sa.Double(), nullable=False),
        sa.Column("value_4", sa.Double(), nullable=False),
        sa.Column("value_5", sa.Double(), nullable=False),
        sa.Column("value_6", sa.Double(), nullable=False),
        sa.Column("value_7", sa.Double(), nullable=False),
        sa.Column("value_8", sa.Double(), nullable=False),
        sa.Column("value_9", sa.Double(), nullable=False),
        sa.Column("value_10", sa.Double(), nullable=False),
        sa.Column("value_11", sa.Double(), nullable=False),
        sa.Column("value_12", sa.Double(), nullable=False),
        sa.Column("value_13", sa.Double(), nullable=False),
        sa.Column("value_14", sa.Double(), nullable=False),
        sa.Column("value_15", sa.Double(), nullable=False),
        sa.Column("value_16", sa.Double(), nullable=False)
    )
    op.create_table(
        "statistics_alignment",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("sure_hits", sa.Integer(), nullable=False),
        sa.Column("possible_hits", sa.Integer(), nullable=False),
        sa.Column("predicted", sa.Integer(), nullable=False),
        sa.Column("sure", sa.Integer(), nullable=False)
    )
    op.create_table(
        "statistics_bleu",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("hyp_len", sa.Integer(), nullable=False),
        sa.Column("ref_len", sa.Integer(), nullable=False),
        sa.Column("correct_1", sa.Integer(), nullable=False),
        sa.Column("correct_2", sa.Integer(), nullable=False),
        sa.Column("correct_3", sa.Integer(), nullable=False),
        sa.Column("correct_4", sa.Integer(), nullable=False),
        sa.Column("total_1", sa.Integer(), nullable=False),
        sa.Column("total_2", sa.Integer(), nullable=False),
        sa.Column("total_3", sa.Integer(), nullable=False),
        sa.Column("total_4", sa.Integer(), nullable=False)
    )
    op.create_table(
        "statistics_chrf",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("char_hyp_1", sa.Integer(), nullable=False),
        sa.Column("char_ref_1", sa.Integer(), nullable=False),
        sa.Column("char_match_1", sa.Integer(), nullable=False),
        sa.Column("char_hyp_2", sa.Integer(), nullable=False),
        sa.Column("char_ref_2", sa.Integer(), nullable=False),
        sa.Column("char_match_2", sa.Integer(), nullable=False),
        sa.Column("char_hyp_3", sa.Integer(), nullable=False),
        sa.Column("char_ref_3", sa.Integer(), nullable=False),
        sa.Column("char_match_3", sa.Integer(), nullable=False),
        sa.Column("char_hyp_4", sa.Integer(), nullable=False),
        sa.Column("char_ref_4", sa.Integer(), nullable=False),
        sa.Column("char_match_4", sa.Integer(), nullable=False),
        sa.Column("char_hyp_5", sa.Integer(), nullable=False),
        sa.Column("char_ref_5", sa.Integer(), nullable=False),
        sa.Column("char_match_5", sa.Integer(), nullable=False),
        sa.Column("char_hyp_6", sa.Integer(), nullable=False),
        sa.Column("char_ref_6", sa.Integer(), nullable=False),
        sa.Column("char_match_6", sa.Integer(), nullable=False),
        sa.Column("word_hyp_1", sa.Integer(), nullable=False),
        sa.Column("word_ref_1", sa.Integer(), nullable=False),
        sa.Column("word_match_1", sa.Integer(), nullable=False),
        sa.Column("word_hyp_2", sa.Integer(), nullable=False),
        sa.Column("word_ref_2", sa.Integer(), nullable=False),
        sa.Column("word_match_2", sa.Integer(), nullable=False)
    )
    op.create_table(
        "statistics_confusion",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("gold_label", sa.Integer(), nullable=False),
        sa.Column("predicted_label", sa.Integer(), nullable=False)
    )
    op.create_table(
        "statistics_meteor",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("test_length", sa.Double(), nullable=False),
        sa.Column("reference_length", sa.Double(), nullable=False),
        sa.Column("test_function_words", sa.Double(), nullable=False),
        sa.Column("reference_function_words", sa.Double(), nullable=False),
        sa.Column("test_content_matches_1", sa.Double(), nullable=False),
        sa.Column("test_content_matches_2", sa.Double(), nullable=False),
        sa.Column("test_content_matches_3", sa.Double(), nullable=False),
        sa.Column("test_content_matches_4", sa.Double(), nullable=False),
        sa.Column("reference_content_matches_1", sa.Double(), nullable=False),
        sa.Column("reference_content_matches_2", sa.Double(), nullable=False),
        sa.Column("reference_content_matches_3", sa.Double(), nullable=False),
        sa.Column("reference_content_matches_4", sa.Double(), nullable=False),
        sa.Column("test_function_matches_1", sa.Double(), nullable=False),
        sa.Column("test_function_matches_2", sa.Double(), nullable=False),
        sa.Column("test_function_matches_3", sa.Double(), nullable=False),
        sa.Column("test_function_matches_4", sa.Double(), nullable=False),
        sa.Column("reference_function_matches_1", sa.Double(), nullable=False),
        sa.Column("reference_function_matches_2", sa.Double(), nullable=False),
        sa.Column("reference_function_matches_3", sa.Double(), nullable=False),
        sa.Column("reference_function_matches_4", sa.Double(), nullable=False),
        sa.Column("chunks", sa.Double(), nullable=False),
        sa.Column("test_word_matches", sa.Double(), nullable=False),
        sa.Column("reference_word_matches", sa.Double(), nullable=False)
    )
    op.create_table(
        "statistics_pair",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("x", sa.Double(), nullable=False),
        sa.Column("y", sa.Double(), nullable=False)
    )
    op.create_table(
        "statistics_prf",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("true_positives", sa.Integer(), nullable=False),
        sa.Column("predicted", sa.Integer(), nullable=False),
        sa.Column("gold", sa.Integer(), nullable=False)
    )
    op.create_table(
        "statistics_ratio",
        sa.Column("scoring_id", sa.Integer(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("numerator", sa.Double(), nullable=False),
        sa.Column("denominator", sa.Double(), nullable=False)
    )
    op.create_table(
        "submission",
        sa.Column("submission_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("test_set_id", sa.Integer(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("track_id", sa.Integer(), nullable=True),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("reader", sa.String(), nullable=False),
        sa.Column("missing", sa.String(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("attributes", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("submission_id"),
        sa.UniqueConstraint("test_set_id", "system_id", "version")
    )
    op.create_table(
        "submission_source",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.SmallInteger(), nullable=False),
        sa.Column("source_digest", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.UniqueConstraint("submission_id", "replicate")
    )
    op.create_table(
        "system",
        sa.Column("system_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("pseudonym", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("system_id"),
        sa.UniqueConstraint("team_id", "name")
    )
    op.create_table(
        "task",
        sa.Column("task_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("manifest", sa.String(), nullable=False),
        sa.Column("manifest_digest", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("task_id"),
        sa.UniqueConstraint("slug")
    )
    op.create_table(
        "task_metric",
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("alias", sa.String(), nullable=False),
        sa.Column("metric_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("is_primary", sa.Boolean(), nullable=False),
        sa.Column("is_declared", sa.Boolean(), nullable=False),
        sa.UniqueConstraint("task_id", "alias")
    )
    op.create_table(
        "team",
        sa.Column("team_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("pseudonym", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("team_id"),
        sa.UniqueConstraint("task_id", "name")
    )
    op.create_table(
        "test_set",
        sa.Column("test_set_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("cluster_attribute", sa.String(), nullable=True),
        sa.Column("gold_revision_id", sa.Integer(), nullable=True),
        sa.Column("is_declared", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("test_set_id"),
        sa.UniqueConstraint("task_id", "name")
    )
    op.create_table(
        "track",
        sa.Column("track_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("track_id"),
        sa.UniqueConstraint("task_id", "name")
    )
