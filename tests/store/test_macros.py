"""Macros: what they find by hand, and what they refuse."""

import duckdb
import pytest

from tests.store.ten_items import GOLD, ITEMS, NAMES, SCORES, A, B, macro


def test_regions_and_their_answers(query):
    assert query(f"FROM {macro('regions', 'a', 'b')}") == [
        ("D1", 5, 4, 1, 0, 0), ("D2", 5, 1, 4, 0, 0), ("shared", 5, 3, 2, 0, 0)]
    assert query(f"SELECT region, item, answer, correct FROM {macro('difference_region', 'a', 'c')} ORDER BY ALL") == [
        ("D1", "i4", "x", True), ("D1", "i7", "x", False), ("D2", "i4", "z", False), ("D2", "i7", "z", False)]
    assert query(f"SELECT item, answer, correct, score_a, score_b FROM {macro('shared_answers', 'a', 'b')} "
                 "ORDER BY item") == [(i, A[i], A[i] == GOLD[i], SCORES[i], None) for i in ITEMS if A[i] == B[i]]


def test_regions_of_a_submission_with_itself(query):
    """Nothing is in D1 and D2, and still they have their rows."""
    assert query(f"FROM {macro('regions', 'a', 'a')}") == [
        ("D1", 0, 0, 0, 0, 0), ("D2", 0, 0, 0, 0, 0), ("shared", 10, 7, 3, 0, 0)]


def test_contingency(query):
    assert query(f"FROM {macro('contingency', 'a', 'b')}") == [(3, 4, 1, 2, 0, 0)]


def test_discordant_items(query):
    assert query(f"SELECT item, gold, answers_a, answers_b, right_one FROM {macro('discordant_items', 'a', 'b')}") == [
        *((i, [GOLD[i]], [A[i]], [B[i]], "a") for i in ("i3", "i4", "i5", "i6")), ("i7", ["y"], ["x"], ["y"], "b")]


@pytest.mark.parametrize(("ties", "n", "accepted"), [
    ("include", 2, 2), ("include", 4, 6), ("include", 7, 7), ("include", 8, 9),
    ("exclude", 2, 2), ("exclude", 4, 3), ("exclude", 1, 0), ("exclude", 9, 9), ("random", 4, 4), ("random", 9, 9),
])
def test_n_best_with_ties(query, ties, n, accepted):
    """The scores of items 0 to 9 are 5 5 4 3 3 3 2 1 1 0: the 4th best is one of three."""
    found = [item for (item,) in query(f"SELECT item FROM {macro('n_best', 'a', n)[:-1]}, ties := '{ties}')")]
    assert len(found) == accepted
    if ties != "random":
        assert sorted(found) == ITEMS[:accepted]


def test_random_ties_depend_on_the_seed_alone(query):
    def drawn(seed, n=4):
        return {item for (item,) in query(
            f"SELECT item FROM {macro('n_best', 'a', n)[:-1]}, ties := 'random', seed := {seed})")}

    fourth = [drawn(seed) - set(ITEMS[:3]) for seed in range(20)]
    assert set.union(*fourth) == {"i3", "i4", "i5"}
    assert all(drawn(seed) == drawn(seed) < drawn(seed, 5) for seed in range(3))


def test_above(query):
    assert [i for (i,) in query(f"SELECT item FROM {macro('above', 'a', 3)} ORDER BY item")] == ITEMS[:6]


def test_n_best_curve(query):
    assert query(f"FROM {macro('n_best_curve', 'a', [2, 4, 10])}") == [
        (2, 2, 2, 1, 0.2, 0), (4, 4, 4, 1, 0.4, 0), (10, 10, 7, 0.7, 0.7, 0)]
    assert query(f"FROM {macro('n_best_curve', 'a', [4, 2, 4])[:-1]}, ties := 'include')") == [
        (2, 2, 2, 1, 0.2, 0), (4, 6, 6, 1, 0.6, 0)]
    assert query(f"FROM {macro('n_best_curve', 'a', [1, 4])[:-1]}, ties := 'exclude')") == [
        (1, 0, 0, None, 0, 0), (4, 3, 3, 1, 0.3, 0)]


def test_ranked_answers(query):
    assert query(f"SELECT place, item FROM {macro('ranked_answers', 'a')[:-1]}, ties := 'include') ORDER BY item"
                 ) == list(zip([1, 1, 3, 4, 4, 4, 7, 8, 8, 10], ITEMS, strict=True))
    assert query(f"SELECT place, score FROM {macro('ranked_answers', 'a')} ORDER BY place") == list(
        enumerate(sorted(SCORES.values(), reverse=True), 1))


PAIRED = ("difference_region", "shared_answers", "regions", "contingency", "discordant_items")


@pytest.mark.parametrize("call", [
    *(f"{name}({a!r}, {b!r})" for name in PAIRED
      for a, b in ((NAMES["a"], "small/test/a/d"), ("small/test/a/d", NAMES["a"]))),
    *(f"{name}('small/test/a/d'{more})" for name, more in (
        ("responses", ""), ("ranked_answers", ""), ("n_best", ", 3"), ("above", ", 3"), ("n_best_curve", ", [3]"))),
])
@pytest.mark.parametrize("select", ["*", "count(*)"])
def test_an_unknown_name_is_an_error_also_where_nothing_would_be_found(connection, query, call, select):
    with pytest.raises(duckdb.Error, match="unknown submission small/test/a/d; the full name is TASK/TEST_SET/TEAM"):
        query(f"SELECT {select} FROM {call}")
    connection.execute("BEGIN; DELETE FROM response")
    with pytest.raises(duckdb.Error, match="unknown submission small/test/a/d"):
        query(f"SELECT {select} FROM {call}")
    connection.execute("ROLLBACK")


def test_submissions_to_different_test_sets_have_no_regions(registry, scored, task):
    scored(task)
    task.manifest.write_text(task.manifest.read_text().replace('"small"', '"large"'))
    registry("run", task.manifest)
    for called in PAIRED:
        refused = registry("query", f"FROM {macro(called, 'a', 'large/test/b/b')}", exit_code=3).stderr
        assert ("small/test/a/a and large/test/b/b answer different test sets; name two submissions to the same test "
                "set") in refused


@pytest.mark.parametrize("name", ["a", "test/a/a", "small/test/a", "small/test/a/a@2", "small/test/A/a", "%", ""])
def test_a_name_is_whole_or_unknown(query, name):
    with pytest.raises(duckdb.Error, match="unknown submission"):
        query(f"FROM responses('{name}')")


def test_ties_are_one_of_three(query):
    with pytest.raises(duckdb.Error, match="ties is some; expected include, exclude or random"):
        query(f"FROM {macro('n_best', 'a', 2)[:-1]}, ties := 'some')")
