"""Macro-averages over test sets: tested by swaps and resamples within each of them, held against brute force."""

import itertools
import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from registry.store.database import Database
from registry.store.log import Journal
from registry.studies.run import Archive, plan_studies
from registry.studies.study import Choice
from registry.studies.suites import Macro, load_macro_boards
from tests.label_tasks import second_test_set

TEST = {"a": "111101", "b": "010100", "c": "111101"}  # which items each system has right
DEV = {"a": "1110", "b": "0100", "c": "1010"}
SECOND = second_test_set("dev.tsv", 'file = "dev/{system}.tsv"')


def labels(right):
    """`yes` is always right."""
    return {f"i{n}": "yes" if bit == "1" else "no" for n, bit in enumerate(right)}


@pytest.fixture
def averaged(scored, task):
    """The macro-averages of systems that are right on these items of both test sets, asked for with these settings."""
    def run(on_test=TEST, on_dev=DEV, more="", **significance):
        task.gold, task.documents = labels("1" * len(on_test["a"])), {}
        task.systems = {name: labels(right) for name, right in on_test.items()}
        task.significance = {"seed": 1, "correction": "none"}
        task.extra = SECOND + more
        manifest = task.write()
        manifest.write_text(manifest.read_text().replace('{system}.tsv"', '{system}.tsv"\ntest_set = "test"', 1))
        (task.folder / "dev").mkdir(exist_ok=True)
        for name, right in {"../dev": "1" * len(on_dev["a"]), **on_dev}.items():
            (task.folder / "dev" / f"{name}.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in labels(right).items()))
        database = Database("registry.duckdb")
        if not database.path.exists():
            scored(manifest)
        with database.reading() as connection:
            asked = plan_studies(connection, Macro(), Choice("small"), significance)
        (board,) = load_macro_boards(asked, Archive(database, Journal("study", {})))
        return board

    return run


def bits(right):
    return np.array([int(bit) for bit in right])


def pair(board, a, b):
    return next(of for of in board.pairs if (of["system_a"], of["system_b"]) == (f"{a}/{a}", f"{b}/{b}"))


def test_averages_are_ranked_by_their_means(averaged):
    board = averaged()
    assert [(of.system, of.rank) for of in board.averages] == [("a/a", 1), ("c/c", 2), ("b/b", 3)]
    assert [of.score for of in board.averages] == pytest.approx([(5 / 6 + 3 / 4) / 2, (5 / 6 + 1 / 2) / 2,
                                                                 (2 / 6 + 1 / 4) / 2])
    assert [(of.rank_low, of.rank_high) for of in board.averages] == [(1, 3)] * 3


def test_permutation_swaps_within_each_test_set(averaged):
    """a against b, over all 2^10 swaps of the items of both sets: the mean of two differences, each over its own n."""
    board = averaged()
    parts = [(bits(of["a"]) - bits(of["b"])) / len(of["a"]) / 2 for of in (TEST, DEV)]
    moves = np.concatenate(parts)
    differences = np.array([moves @ signs for signs in itertools.product([-1, 1], repeat=len(moves))])
    expected = (np.abs(differences) >= abs(moves.sum()) - 1e-12).mean()
    found = SimpleNamespace(**pair(board, "a", "b"))
    assert (found.method, found.n_units, found.n_discordant) == ("exact", 10, 5)
    assert found.p_value == pytest.approx(expected, rel=1e-12)
    assert found.difference == pytest.approx(moves.sum())


def test_monte_carlo_agrees_with_all_swaps_of_many(averaged):
    """20 discordant items in sets of 12 and 30: the exact p by enumeration of how many are swapped in each."""
    test = {"a": "1" * 12, "b": "0" * 6 + "1" * 6}
    dev = {"a": "1" * 9 + "0" * 5 + "1" * 16, "b": "0" * 9 + "1" * 21}
    board = averaged(test, dev, resamples=20_000)
    observed = (6 / 12 + (9 - 5) / 30) / 2
    probability = 0.0
    for k, m in itertools.product(range(7), range(15)):  # net of 6, and of 14, that stay
        if abs((2 * k - 6) / 12 + (2 * m - 14) / 30) / 2 >= observed - 1e-12:
            probability += math.comb(6, k) * math.comb(14, m) / 2**20
    found = SimpleNamespace(**pair(board, "a", "b"))
    assert found.method == "monte-carlo"
    assert found.p_low <= probability <= found.p_high


def test_bootstrap_recentres_the_difference_of_the_averages(averaged, registry):
    """All 3^3 x 4^4 resamples of sets of 3 and 4 items, each as likely."""
    test, dev = {"a": "111", "b": "010"}, {"a": "1110", "b": "0101"}
    board = averaged(test, dev, test="bootstrap", resamples=50_000)
    first, second = (bits(of["a"]) - bits(of["b"]) for of in (test, dev))
    observed = (first.mean() + second.mean()) / 2
    extreme = [abs((first[list(i)].mean() + second[list(j)].mean()) / 2 - observed) >= observed - 1e-12
               for i in itertools.product(range(3), repeat=3) for j in itertools.product(range(4), repeat=4)]
    expected = np.mean(extreme)
    found = SimpleNamespace(**pair(board, "a", "b"))
    assert found.p_value == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 50_000))
    assert found.ci_low < observed < found.ci_high
    said = registry("study", "macro-average", "small", "--test", "bootstrap").stderr
    assert all(f"{name}: the bootstrap rejects too often" in said for name in ("test", "dev"))


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_intervals_of_differences_are_percentiles_over_all_resamples(registry, tmp_path, better):
    """Scores of 3 and 4 items, so that all 3^3 x 4^4 resamples can be listed; systems share the resampled items."""
    scores = {"x": {"a": [5, 1, 3], "b": [2, 2, 2.5]}, "y": {"a": [1, 9, 4, 4], "b": [6, 1, 3, 3.25]}}
    for (test_set, systems), system in itertools.product(scores.items(), "ab"):
        path = tmp_path / system / f"{test_set}.tsv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("item\tpoints\n" + "".join(f"{n}\t{value}\n" for n, value in enumerate(systems[system])))
    files = str(tmp_path / "{model}" / "{benchmark}.tsv")
    registry("quick", files, "--score", f"points:{better}", "--keep", "t")
    (row,) = registry("pairs", "--wide", "--format", "json").json
    first, second = (np.array(systems["a"]) - np.array(systems["b"]) for systems in scores.values())
    values = [(first[list(i)].mean() + second[list(j)].mean()) / 2
              for i in itertools.product(range(3), repeat=3) for j in itertools.product(range(4), repeat=4)]
    sign = 1 if row["system_a"] == "a/a" else -1
    values = np.array(values) * sign * (1 if better == "higher" else -1)
    assert row["difference"] == pytest.approx(values.mean())
    for end, level in ((row["ci_low"], 0.025), (row["ci_high"], 0.975)):
        assert np.quantile(values, level - 0.003) <= end <= np.quantile(values, level + 0.003)
    shown = registry("quick", files, "--score", f"points:{better}", "--average", "--format", "table").stdout
    assert f"95 % CI {row['ci_low']:z.4f} to {row['ci_high']:z.4f}" in shown


def test_the_family_is_all_pairs_of_averages(averaged):
    plain, corrected = averaged(), averaged(correction="bonferroni")
    for raw, adjusted in zip(plain.pairs, corrected.pairs, strict=True):
        assert adjusted["p_adjusted"] == pytest.approx(min(1, 3 * raw["p_value"]))
        assert adjusted["p_value"] == raw["p_value"]


def test_significant_averages_are_told_apart(averaged):
    bad = "0" * 19 + "1"
    test, dev = {"a": "1" * 20, "b": bad, "c": "1" * 19 + "0"}, {"a": "1" * 20, "b": bad, "c": "1" * 20}
    board = averaged(test, dev)
    assert [(of.system, of.rank_low, of.rank_high, of.cluster) for of in board.averages] == [
        ("a/a", 1, 2, 1), ("c/c", 1, 2, 1), ("b/b", 3, 3, 2)]


def test_baselines_can_do_without_a_rank(averaged):
    more = ("[[submit]]\nfile = 'systems/b.tsv'\nsystem = 'b'\nkind = 'baseline'\ntest_set = 'test'\n"
            "[board]\nrank_baselines = false")
    board = averaged(more=more)
    assert [(of.system, of.rank) for of in board.averages] == [("a/a", 1), ("c/c", 2), ("b/b", None)]
    assert len(board.pairs) == 3


@pytest.mark.parametrize(("asked", "said"), [
    ({"test": "mcnemar"}, "mcnemar over items does not support averages"),
    ({"correction": "max-t"}, "the correction max-t does not support averages"),
    ({"test": "permutation(studentized=true)"}, "needs a score that is a quotient"),
])
def test_why_averages_are_not_tested(averaged, asked, said):
    board = averaged(**asked)
    assert said in board.untested
    assert board.pairs == ()
    assert [of.rank for of in board.averages] == [None] * 3
    assert all(of.ci_low < of.score for of in board.averages)


def test_pairs_are_printed(averaged, registry):
    averaged()
    rows = registry("pairs", "--wide", "--format", "json").json
    assert (rows[0]["system_a"], rows[0]["system_b"], rows[0]["test_sets"]) == ("a/a", "c/c", "test dev")
    assert rows[0]["difference"] == pytest.approx(1 / 8)
    (kept,) = registry("query", "SELECT * FROM study", "--format", "json").json
    assert kept["signature"].startswith("study:macro-average|acc|task:small@1|set:test+dev|n:10|systems:3|")
    decided = json.loads(kept["result"])["tables"]["pairs"]
    assert [(of["system_a"], of["p_adjusted"], of["significant"]) for of in decided] == [
        (of["system_a"], of["p_adjusted"], of["significant"]) for of in rows]
    shown = registry("pairs", "--wide", "--format", "table").stdout
    assert "small: macro acc" in shown
    assert "None of 3 differences is significant at 5 % without correction (permutation of items within each" in shown
    registry("page", "small", "-o", "page.html")
    assert "By the average of acc over 2 test sets, no two of the 3 systems differ significantly; a has" in (
        Path("page.html").read_text())
    wide = registry("board", "--wide", "--format", "json").json
    assert [(row["system"], row["macro acc rank_low"], row["macro acc rank_high"]) for row in wide] == [
        ("a", 1, 3), ("c", 1, 3), ("b", 1, 3)]


def test_a_test_set_of_which_no_item_is_left_is_not_averaged(registry, task):
    """On dev a answers i0 and b answers i1, so that dropping what is missing leaves nothing."""
    task.submission = {"missing": "drop"}
    task.extra = SECOND
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('{system}.tsv"', '{system}.tsv"\ntest_set = "test"', 1))
    (task.folder / "dev").mkdir()
    (task.folder / "dev.tsv").write_text("i0\tyes\ni1\tno\n")
    (task.folder / "dev" / "a.tsv").write_text("i0\tyes\n")
    (task.folder / "dev" / "b.tsv").write_text("i1\tno\n")
    registry("run", manifest)
    assert "no task has averages" in registry("pairs", "--wide", exit_code=4).stderr
    assert "macro" not in registry("board", "--wide", "--format", "table").stdout


def test_one_test_set_has_no_averages(registry, scored, task):
    scored(task)
    said = registry("pairs", "--wide", exit_code=4).stderr
    assert "no task has averages" in said
