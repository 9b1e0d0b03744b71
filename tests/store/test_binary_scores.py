"""SQL on correct and incorrect items, of tasks whose items have scores of 0 or 1, answers, or neither."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from registry.store.database import Database

RIGHT = np.array([[1, 1, 1, 0, 0, 1, 0, 1], [1, 0, 1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 1, 1, 0, 1]], dtype=bool)
MACROS = ("contingency", "regions", "discordant_items", "region_counts", "scoring_pair")


def sql(registry, question):
    """Answer a question; the rows as tuples."""
    return [tuple(row.values()) for row in registry("query", question, "--format", "json").json]


def import_wide(registry, scores, *options, name="t"):
    """Import a table of scores, [systems, items], of the systems s0, s1, ..."""
    head = ",".join(f"s{n}" for n in range(len(scores)))
    Path(f"{name}.csv").write_text(f"item,{head}\n" + "".join(
        f"i{n},{','.join(map(str, row))}\n" for n, row in enumerate(np.transpose(scores).tolist())))
    registry("import", "wide", f"{name}.csv", "--task", name, "--option", "item=item", *options)


def test_all_tables_of_a_pair_count_correct_items(registry):
    import_wide(registry, RIGHT.astype(int))
    a, b = RIGHT[:2]
    both, only_a, only_b, neither = (int(of.sum()) for of in (a & b, a & ~b, ~a & b, ~a & ~b))
    names = "('t/test/s0/s0', 't/test/s1/s1')"
    assert sql(registry, f"FROM contingency{names}") == [(both, only_a, only_b, neither, 0, 0)]
    assert sql(registry, f"FROM regions{names}") == [
        ("D1", None, only_a, None, 0, 0), ("D2", None, only_b, None, 0, 0), ("shared", None, both, None, 0, 0)]
    assert sql(registry, f"FROM discordant_items{names}") == [
        (f"i{n}", None, None, None, "a" if a[n] else "b", 0, 0) for n in np.flatnonzero(a != b)]
    assert sql(registry, "SELECT d1_tp, d1_fp, d2_tp, d2_fp, shared_tp, shared_fp, gold FROM pair_region "
               "WHERE system_a = 's0' AND system_b = 's1'") == [(only_a, None, only_b, None, both, None, 8)]
    assert sql(registry, "SELECT agreement, r12, overlap FROM pair_agreement WHERE system_a = 's0' AND system_b = 's1'"
               ) == [((both + neither) / 8, pytest.approx(np.corrcoef(a, b)[0, 1]), None)]
    differing = {f"i{n}": 2 * np.mean([x != y for x, y in combinations(of, 2)]) for n, of in enumerate(RIGHT.T)}
    found = sql(registry, "SELECT item, mean_differing, answers, runs FROM item_disagreement")
    assert found == [(item, pytest.approx(differing[item]), 1 + (differing[item] > 0), 3) for item, *_ in found]
    assert len(found) == 8


def test_the_lower_of_two_scores_may_be_the_correct_one(registry):
    import_wide(registry, 1 - RIGHT.astype(int), "--option", "better=lower")
    assert sql(registry, "SELECT * EXCLUDE (replicate_a, replicate_b) FROM contingency('t/test/s0/s0', 't/test/s1/s1')"
               ) == [(3, 2, 1, 2)]


def test_another_task_with_answers_changes_nothing(registry, task):
    """Ids of its answers are those of items here."""
    registry("run", task.write())
    import_wide(registry, RIGHT.astype(int))
    assert sql(registry, "SELECT task, only_a_correct, only_b_correct FROM pair_contingency "
               "WHERE system_b IN ('b', 's1') AND system_a IN ('a', 's0') ORDER BY task") == [
        ("small", 3, 1), ("t", 2, 1)]
    assert "answer different test sets" in registry(
        "query", "FROM contingency('t/test/s0/s0', 'small/test/b/b')", exit_code=3).stderr


@pytest.mark.parametrize("value", [0.5, 2, -1])
def test_one_grade_makes_all_scores_of_its_test_set_grades(registry, value):
    """Also of pairs whose own scores are 0 and 1; withdrawn submissions do not count."""
    scores = RIGHT.astype(float).tolist()
    scores[2][4] = value
    import_wide(registry, scores)
    for name in MACROS:
        told = registry("query", f"SELECT count(*) FROM {name}('t/test/s0/s0', 't/test/s1/s1')", exit_code=3).stderr
        assert "t/test: its items are neither correct nor incorrect, because they have no answers and their scores " \
            "by the primary metric 'score' are not all 0 or 1; the view item_score has the score of each item" in told
    for name in ("pair_region", "pair_contingency", "pair_agreement", "item_disagreement", "correct_item"):
        assert sql(registry, f"FROM {name}") == []
    with Database("registry.duckdb").writing() as connection:
        connection.execute(text("UPDATE submission SET withdrawn = TRUE WHERE system_id = 3"))
    assert sql(registry, "SELECT both_correct FROM contingency('t/test/s0/s0', 't/test/s1/s1')") == [(3,)]
    assert "neither correct nor incorrect" in registry(
        "query", "FROM contingency('t/test/s0/s0', 't/test/s2/s2@1')", exit_code=3).stderr


def test_what_lists_answers_is_an_error_for_scores(registry):
    import_wide(registry, RIGHT.astype(int))
    for call in ("difference_region('t/test/s0/s0', 't/test/s1/s1')", "shared_answers('t/test/s0/s0', 't/test/s1/s1')",
                 "responses('t/test/s0/s0')", "n_best('t/test/s0/s0', 3)", "above('t/test/s0/s0', 0.5)",
                 "n_best_curve('t/test/s0/s0', [1, 2])"):
        told = registry("query", f"SELECT count(*) FROM {call}", exit_code=3).stderr
        assert "t/test: its items have no answers to list; read their scores from the view item_score" in told


def test_scores_that_are_not_computed_yet_are_an_error_and_no_zeros(registry):
    import_wide(registry, RIGHT.astype(int))
    with Database("registry.duckdb").writing() as connection:
        connection.execute(text("DELETE FROM score WHERE scoring_id = 1"))
    told = registry("query", "FROM contingency('t/test/s0/s0', 't/test/s1/s1')", exit_code=3).stderr
    assert "no scores by the primary metric 'score' yet; run `registry score t`" in told
    assert sql(registry, "SELECT DISTINCT system_a FROM pair_contingency ORDER BY ALL") == [("s1",), ("s2",)]


def write_task(metric, reading, gold, systems):
    """Write a task in the folder `m` with files of these contents."""
    Path("m").mkdir()
    Path("m/gold").write_text(gold)
    for name, content in systems.items():
        Path(f"m/{name}.out").write_text(content)
    Path("m/task.toml").write_text(f"""manifest = 1
[task]
id = "m"
version = "1"
[[test_set]]
name = "test"
gold = "gold"
{reading}
[[metric]]
id = "measure"
name = "{metric}"
[[submit]]
file = "{{system}}.out"
""")
    return Path("m/task.toml")


@pytest.mark.parametrize(("metric", "reading", "gold", "out", "says"), [
    ("BLEU", 'format = "lines"', "a b c d e\nf g h i j\n", "a b c d f\nf g h i j\n",
     "their scores by the primary metric 'measure' are not all 0 or 1; the view item_score has the score of each "
     "item"),
    ("WER", 'format = "lines"', "a b c d e\nf g h i j\n", "a b c d f\nf g h i j\n",
     "their scores by the primary metric 'measure' are not all 0 or 1; the view item_score has the score of each "
     "item"),
    ("Pearson", 'format = "scores"\noptions = { gold = "right", score = "score", columns = ["item", "right"] }',
     "i1\t1\ni2\t0\ni3\t1\n", "i1\t1\ni2\t0\ni3\t0\n",
     "no scores of their own by the primary metric 'measure'; the table statistics_pair has the part of each "
     "item in the score"),
])
def test_metrics_without_correct_items_are_an_error(registry, metric, reading, gold, out, says):
    manifest = write_task(metric, reading, gold, {"a": out, "b": out})
    if metric == "Pearson":
        manifest.write_text(manifest.read_text() + 'options = { columns = ["item", "score"] }\n')
    registry("apply", manifest)
    registry("score", "m")
    for name in MACROS:
        told = registry("query", f"FROM {name}('m/test/a/a', 'm/test/b/b')", exit_code=3).stderr
        assert "m/test: its items are neither correct nor incorrect, because they have no answers and " + says in told
    assert sql(registry, "FROM pair_contingency") == sql(registry, "FROM pair_region") == []


@pytest.mark.parametrize(("metric", "reading"), [
    ("SetF", 'format = "responses"'),
    ("SpanF", 'format = "spans"\n'
     'options = { syntax = "jsonl", spans = "answers", start = "0", end = "1", type = "2" }'),
])
def test_answers_are_counted_one_by_one_and_items_as_a_whole(registry, metric, reading):
    """Two systems, one of which has two runs; the table is of gold answers, discordant items of all answers to one."""
    rng = np.random.default_rng(4)
    gold, only, first, second = ([set(rng.integers(0, 6, rng.integers(0, 4)).tolist()) for _ in range(25)]
                                 for _ in range(4))
    runs = [[of if n % 2 else gold[n] for n, of in enumerate(first)], second]

    def lines(items):
        written = (sorted(str(one) if metric == "SetF" else [2 * one, 2 * one + 1, "x"] for one in of) for of in items)
        return "".join(json.dumps({"item": f"i{n}", "answers": of}) + "\n" for n, of in enumerate(written))

    files = {"a.1": only, "b.1": runs[0], "b.2": runs[1]}
    manifest = write_task(metric, reading, lines(gold), {name: lines(items) for name, items in files.items()})
    manifest.write_text(manifest.read_text().replace("{system}.out", "{system}.{run}.out"))
    registry("apply", manifest)
    expected, discordant = [], []
    for run, items in enumerate(runs):
        hits = np.array([[one in a, one in b] for right, a, b in zip(gold, only, items, strict=True) for one in right])
        expected.append((*(int((hits == row).all(axis=1).sum()) for row in ([1, 1], [1, 0], [0, 1], [0, 0])), 0, run))
        discordant += [(f"i{n}", "a" if a == right else "b", run) for n, (right, a, b) in enumerate(
            zip(gold, only, items, strict=True)) if (a == right) != (b == right)]
    assert discordant
    names = "('m/test/a/a', 'm/test/b/b')"
    assert sql(registry, f"FROM contingency{names}") == expected
    assert sql(registry, f"SELECT item, right_one, replicate_b FROM discordant_items{names}") == discordant


def test_clusters_are_counted_by_item(registry, task):
    """Items of declared clusters: a gets 5 of 6 right, b 3, and both 2."""
    registry("run", task.write())
    table = "SELECT * EXCLUDE (replicate_a, replicate_b) FROM contingency"
    assert sql(registry, f"{table}('small/test/a/a', 'small/test/b/b')") == [(2, 3, 1, 0)]
    reading = 'format = "scores"\ncluster = "doc"\noptions = { columns = ["item", "doc"], attributes = ["doc"] }'
    manifest = write_task("Mean", reading, "".join(f"i{n}\td{n // 2}\n" for n in range(6)), {
        name: "".join(f"i{n}\t{int(RIGHT[row, n])}\n" for n in range(6)) for row, name in enumerate("ab")})
    manifest.write_text(manifest.read_text() + 'options = { columns = ["item", "score"] }\n')
    registry("run", manifest)
    a, b = RIGHT[:2, :6]
    assert sql(registry, f"{table}('m/test/a/a', 'm/test/b/b')") == [
        tuple(int(of.sum()) for of in (a & b, a & ~b, ~a & b, ~a & ~b))]
