"""Every view on a task of ten items, against rows that are derived by hand."""

import math

import pytest
from sqlalchemy import text

from registry.store import schema
from registry.store.database import Database
from tests.store.ten_items import GOLD, ITEMS, SCORES, A, B, macro


def test_views_and_macros_are_all_there_and_no_others(query):
    assert {name for (name,) in query("SELECT view_name FROM duckdb_views() WHERE NOT internal")} == {
        view.name for view in schema.load_views()}
    found = query("SELECT function_name, function_type = 'table_macro' FROM duckdb_functions() WHERE NOT internal "
                  "AND function_type IN ('macro', 'table_macro')")
    assert set(found) == {(macro.name, macro.is_table) for macro in schema.load_macros()}


def test_every_column_of_a_view_says_what_it_is(query):
    found = query("SELECT view_name, column_name, c.comment FROM duckdb_columns() AS c JOIN duckdb_views() AS v "
                  "ON v.view_name = c.table_name WHERE NOT v.internal ORDER BY column_index")
    for view in schema.load_views():
        assert {column: about for name, column, about in found if name == view.name} == view.columns


def test_every_macro_says_what_it_claims_takes_and_gives(query):
    said = dict(query("SELECT DISTINCT function_name, comment FROM duckdb_functions() WHERE NOT internal"))
    calls = {"regions": macro("regions", "a", "b"), "contingency": macro("contingency", "a", "b"),
             "difference_region": macro("difference_region", "a", "b"), "responses": macro("responses", "a"),
             "shared_answers": macro("shared_answers", "a", "b"), "n_best": macro("n_best", "a", 2),
             "discordant_items": macro("discordant_items", "a", "b"), "above": macro("above", "a", 2),
             "ranked_answers": macro("ranked_answers", "a"), "n_best_curve": macro("n_best_curve", "a", [1, 2]),
             "scoring_pair": macro("scoring_pair", "a", "b"), "region_counts": macro("region_counts", "a", "b")}
    assert {m.name for m in schema.load_macros()} == {*calls, "scoring_named", "scoring_beside", "require_answers"}
    for one in schema.load_macros():
        assert said[one.name] == one.full_comment
        assert len(one.comment) > 60
        assert all(one.parameters.values())
        if one.is_table:
            assert [name for name, *_ in query(f"DESCRIBE FROM {calls[one.name]}")] == list(one.columns)


def test_ranked_submission(query):
    assert query("SELECT name, system, kind, n_missing FROM ranked_submission ORDER BY name") == [
        (f"small/test/{s}/{s}@1", s, "primary", 0) for s in "abc"]


def test_item_response(query):
    assert query("SELECT item, answer, correct, score FROM item_response WHERE system = 'a' ORDER BY item") == [
        (i, A[i], A[i] == GOLD[i], SCORES[i]) for i in ITEMS]
    assert query("SELECT system, count(*) FROM item_response GROUP BY system ORDER BY system") == [
        ("a", 10), ("b", 10), ("c", 10)]


def test_item_score(query):
    assert query("SELECT item, score FROM item_score WHERE system = 'b' AND metric = 'acc' ORDER BY item") == [
        (i, float(i in ("i0", "i1", "i2", "i7"))) for i in ITEMS]


def test_discordant_answer(query):
    found = ("SELECT item, answer, correct FROM discordant_answer WHERE system_a = '{}' AND system_b = '{}' "
             "ORDER BY item")
    assert query(found.format("a", "b")) == [
        ("i3", "x", True), ("i4", "x", True), ("i5", "y", True), ("i6", "y", True), ("i7", "x", False)]
    assert query(found.format("a", "c")) == [("i4", "x", True), ("i7", "x", False)]
    assert query(found.format("c", "a")) == [("i4", "z", False), ("i7", "z", False)]


def test_pair_region(query):
    """The pair a, b shares 0 1 2 rightly and 8 9 wrongly; of 3 to 7 each says something else."""
    columns = "d1_tp, d1_fp, d2_tp, d2_fp, shared_tp, shared_fp, gold"
    found = f"SELECT {columns} FROM pair_region WHERE system_a = '{{}}' AND system_b = '{{}}'"
    assert query(found.format("a", "b")) == [(4, 1, 1, 4, 3, 2, 10)]
    assert query(found.format("b", "a")) == [(1, 4, 4, 1, 3, 2, 10)]
    assert query(found.format("a", "c")) == [(1, 1, 0, 2, 6, 2, 10)]
    assert query("SELECT count(*) FROM pair_region") == [(6,)]


def test_pair_contingency(query):
    found = ("SELECT both_correct, only_a_correct, only_b_correct, both_incorrect FROM pair_contingency "
             "WHERE system_a = '{}' AND system_b = '{}'")
    assert query(found.format("a", "b")) == [(3, 4, 1, 2)]
    assert query(found.format("c", "b")) == [(3, 3, 1, 3)]


def test_pair_agreement(query):
    """The pair a, b: right 7 and 4 times, together 3, wrong together 2; 5 of their 10 answers each are shared."""
    ((agreement, kappa, r12, ratio, overlap),) = query(
        "SELECT agreement, kappa, r12, sd_ratio, overlap FROM pair_agreement "
        "WHERE system_a = 'a' AND system_b = 'b'")
    assert agreement == pytest.approx(0.5)
    assert kappa == pytest.approx((0.5 - 0.46) / (1 - 0.46))
    assert r12 == pytest.approx((3 * 2 - 4 * 1) / math.sqrt(7 * 3 * 4 * 6))
    assert ratio == pytest.approx(math.sqrt(1 - 2 * 0.02 / (0.7 * 0.3 + 0.4 * 0.6)))
    assert overlap == pytest.approx(0.5)


def test_confusion(query):
    """What a, b and c say to five x and five y, from the letters of the ten items."""
    found = query("SELECT system, gold, predicted, items, version, replicate FROM confusion ORDER BY ALL")
    assert [row[:4] for row in found] == [
        ("a", "x", "x", 5), ("a", "y", "x", 3), ("a", "y", "y", 2),
        ("b", "x", "x", 3), ("b", "x", "y", 2), ("b", "y", "x", 4), ("b", "y", "y", 1),
        ("c", "x", "x", 4), ("c", "x", "z", 1), ("c", "y", "x", 2), ("c", "y", "y", 2), ("c", "y", "z", 1)]
    assert {row[4:] for row in found} == {("1", 0)}


def test_item_output(query):
    """Gold and outputs by their labels, in the order of the gold."""
    found = "SELECT {} FROM item_output WHERE system = 'b' ORDER BY position"
    assert query(found.format("item, gold, output, correct")) == [(i, GOLD[i], B[i], GOLD[i] == B[i]) for i in ITEMS]
    assert query("SELECT DISTINCT team, version, replicate, count(*) OVER () FROM item_output WHERE system = 'a'") == [
        ("a", "1", 0, 10)]


def test_pair(query):
    """Every pair from both sides: scores 0.7, 0.6 and 0.4; all else is as view pairwise has it."""
    assert query("SELECT system, other, score, other_score, round(difference, 9) FROM pair ORDER BY ALL") == [
        ("a", "b", 0.7, 0.4, 0.3), ("a", "c", 0.7, 0.6, 0.1), ("b", "a", 0.4, 0.7, -0.3), ("b", "c", 0.4, 0.6, -0.2),
        ("c", "a", 0.6, 0.7, -0.1), ("c", "b", 0.6, 0.4, 0.2)]
    assert query("SELECT submission, other_submission, p_value, verdict FROM pair WHERE system = 'b' "
                 "ORDER BY other") == [
        ("b/b@1", "a/a@1", pytest.approx(12 / 32), "undecided"),
        ("b/b@1", "c/c@1", pytest.approx(10 / 16), "undecided")]
    assert query("SELECT p.ci_low, p.ci_high FROM pair AS p JOIN pair AS q "
                 "ON q.system = p.other AND q.other = p.system "
                 "WHERE p.ci_low + q.ci_high <> 0 OR p.p_adjusted <> q.p_adjusted") == []


def test_missed_answer(query):
    assert query("SELECT task, test_set, item, answer FROM missed_answer") == [
        ("small", "test", "i8", "y"), ("small", "test", "i9", "y")]


def test_answer_support(query):
    """Every answer of items 4, 7 and 8: what the gold says, and what any of the three says."""
    assert query("SELECT item, answer, in_gold, runs_with_answer, runs FROM answer_support "
                 "WHERE item IN ('i4', 'i7', 'i8') ORDER BY item, answer") == [
        ("i4", "x", True, 1, 3), ("i4", "y", False, 1, 3), ("i4", "z", False, 1, 3),
        ("i7", "x", False, 1, 3), ("i7", "y", True, 1, 3), ("i7", "z", False, 1, 3),
        ("i8", "x", False, 3, 3), ("i8", "y", True, 0, 3)]


def test_item_disagreement(query):
    """Three pairs of runs; where two agree against one, two pairs differ by two answers each: 4 / 3."""
    assert query("SELECT item, mean_differing, answers, runs FROM item_disagreement") == [
        ("i4", 2, 3, 3), ("i7", 2, 3, 3), *((i, pytest.approx(4 / 3), 2, 3) for i in ("i3", "i5", "i6")),
        *((i, 0, 1, 3) for i in ("i0", "i1", "i2", "i8", "i9"))]


def test_item_difficulty(query):
    """Right are none on 8 and 9, one on 4 and 7, two on 3, 5 and 6, all on the rest."""
    n_right = {"i8": 0, "i9": 0, "i4": 1, "i7": 1, "i3": 2, "i5": 2, "i6": 2, "i0": 3, "i1": 3, "i2": 3}
    assert query("SELECT item, mean, sd, worst, best, runs FROM item_difficulty WHERE metric = 'acc'") == [
        (i, pytest.approx(n / 3), pytest.approx(0 if n in (0, 3) else math.sqrt(1 / 3)), float(n == 3), float(n > 0), 3)
        for i, n in n_right.items()]


def test_suspect_item(query):
    """All say x to 8 and 9, whose gold is y; on 7 one is right, so that it is not suspect."""
    assert query("SELECT item, missed, spurious, instead, support, runs FROM suspect_item") == [
        ("i8", ["y"], ["x"], "x", 3, 3), ("i9", ["y"], ["x"], "x", 3, 3)]


def test_boards(query):
    assert query("SELECT metric, test FROM latest_comparison") == [("acc", "permutation")]
    assert query("SELECT rank, system, score FROM leaderboard") == [(1, "a", 0.7), (2, "c", 0.6), (3, "b", 0.4)]
    assert query("SELECT system_a, system_b, n_discordant, p_value FROM pairwise WHERE system_b = 'b'") == [
        ("a", "b", 5, pytest.approx(12 / 32)),  # sign test: 1 of 5 or fewer, twice
        ("c", "b", 4, pytest.approx(10 / 16))]


def test_responses(query):
    assert query(f"SELECT item, answer, correct FROM {macro('responses', 'b')} ORDER BY item") == [
        (i, B[i], B[i] == GOLD[i]) for i in ITEMS]


def test_versions(registry, scored, task):
    """Without a version a name means the one that takes part; another is named with it; withdrawn ones must be."""
    def said(name):
        return registry("query", f"SELECT count_if(correct) AS n FROM responses('{name}')", "--format", "json").json

    def refused(name):
        return registry("query", f"FROM responses('{name}')", exit_code=3).stderr

    scored(task)
    task.extra = "\n".join(f'[[submit]]\nfile = "systems/b.tsv"\nsystem = "a"\nversion = "{v}"' for v in (2, 3))
    registry("run", task.write())
    assert [said(f"small/test/a/a{v}") for v in ("@1", "@2", "@3", "")] == [[{"n": n}] for n in (5, 3, 3, 3)]
    task.extra += '\nwithdrawn = true'
    registry("run", task.write())
    assert said("small/test/a/a@3") == [{"n": 3}]
    with Database("registry.duckdb").writing() as connection:
        connection.execute(text("UPDATE submission SET withdrawn = true"))
    assert "no version of small/test/a/a takes part; name one: small/test/a/a@1 or small/test/a/a@2 or" in refused(
        "small/test/a/a")
    with Database("registry.duckdb").writing() as connection:
        connection.execute(text("UPDATE scoring SET gold_revision_id = 0"))
    assert "small/test/a/a@1 has no answers here: its task hides scores" in refused("small/test/a/a@1")
