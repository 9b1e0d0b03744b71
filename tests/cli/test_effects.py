"""Effect sizes, equivalence and the best systems, as commands print them."""

import pytest
from scipy import stats


def test_effects_of_a_pair(task, registry, scored):
    """System a has 5 of 6 right, b 3, one of them alone: by hand and by scipy."""
    scored(task)
    rows = registry("effects", "--margin", "0.5", "--unit", "item", "--format", "json").json
    of = {row["effect"]: row for row in rows if (row["system_a"], row["system_b"]) == ("a", "b")}
    only_a, only_b = 3, 1
    assert of["difference"]["value"] == pytest.approx(2 / 6)
    assert of["odds_ratio"]["value"] == 3
    exact = stats.binomtest(only_a, only_a + only_b).proportion_ci(0.95)
    assert of["odds_ratio"]["low"] == pytest.approx(exact.low / (1 - exact.low))
    assert of["odds_ratio"]["high"] == pytest.approx(exact.high / (1 - exact.high))
    assert of["probability_of_superiority"]["value"] == pytest.approx((1 + 2 / 6) / 2)
    assert of["equivalence"]["value"] == 0.5
    assert of["equivalence"]["p_value"] > 0.05
    assert {"shapiro-wilk", "anderson-darling", "lilliefors"} < of.keys()
    copies = {row["effect"]: row for row in rows if {row["system_a"], row["system_b"]} == {"b", "c"}}
    assert copies["difference"]["value"] == copies["standardized_difference"]["value"] == 0


@pytest.mark.parametrize("declared", [
    {"test": "permutation"}, {"test": "sign"}, {"test": "bootstrap", "resamples": 999},
    {"test": "permutation", "alternative": "greater", "candidate": "b"}])
def test_a_pair_has_one_p_value(task, registry, declared):
    """Also of systems with several runs, which are averaged, and on the side that is declared."""
    gold = {f"i{n:02}": "yes" if n % 2 else "no" for n in range(40)}
    task.gold, task.documents = gold, None
    task.systems = {"b": gold | dict.fromkeys(("i01", "i03", "i05"), "no")}
    task.runs = {name: {f"run{run}": gold | {f"i{n:02}": "maybe" for n in range(run, 40, step)} for run in (0, 1)}
                 for name, step in (("c", 5), ("d", 3))} if declared["test"] != "sign" else {}
    task.systems |= {} if task.runs else {"c": gold | {f"i{n:02}": "maybe" for n in range(0, 40, 3)}}
    task.significance |= declared
    registry("run", task.write())
    expected = {(row["system_a"], row["system_b"]): row["p_value"]
                for row in registry("pairs", "small", "--format", "json").json}
    rows = [row for row in registry("effects", "small", "--format", "json").json if row["effect"] == "difference"]
    assert {(row["system_a"], row["system_b"]): row["p_value"] for row in rows} == expected
    assert len(rows) == (3 if task.runs else 1)
    methods = [row["messages"][0] for row in rows]
    assert {(of["code"], of["parameters"]["test"]) for of in methods} == {("effect-methods", declared["test"])}
    assert all("; interval: bootstrap, " in of["text"] for of in methods)
    shown = registry("effects", "small", "--format", "table").stdout
    assert ("not corrected for 3 pairs" in " ".join(shown.split())) == (len(rows) == 3)


def test_clusters_and_their_effect(task, registry, scored):
    scored(task)
    rows = registry("effects", "--unit", "cluster", "--format", "json").json
    assert {"design_effect", "intra_cluster_correlation"} < {row["effect"] for row in rows}
    assert "equivalence" not in {row["effect"] for row in rows}
    assert registry("effects", "--margin", "0", exit_code=3).stderr.startswith("error: margin")


def test_best_systems(task, registry, scored):
    """The one that is always right may be the best alone, against two copies that are mostly wrong."""
    wrong = {"yes": "no", "no": "yes"}
    task.gold = {f"i{n}": "yes" if n % 2 else "no" for n in range(60)}
    task.documents = None
    b = {k: v if n % 3 else wrong[v] for n, (k, v) in enumerate(task.gold.items())}
    task.systems = {"a": dict(task.gold), "b": b, "c": dict(b)}
    scored(task)
    rows = {row["system"]: row for row in registry("best", "--format", "json").json}
    assert [rows[s]["may_be_best"] for s in "abc"] == [True, False, False]
    assert [(rows[s]["rank_low"], rows[s]["rank_high"]) for s in "abc"] == [(1, 1), (2, 3), (2, 3)]
    assert rows["a"]["low"] == 0
    assert rows["b"]["high"] == 0
    shown = registry("best", "--format", "table").stdout
    assert "may be best" in shown
    assert [line.split()[2] for line in shown.splitlines() if line.split()[:1] in (["a"], ["b"], ["c"])] == [
        "yes", "no", "no"]
    assert "The result of the leaderboard can name more systems that may be first" in " ".join(shown.split())
    assert "the rank sets of all systems hold simultaneously" in " ".join(shown.split())


def test_ranks_by_other_methods(task, registry, scored):
    """Copies share both of their ranks by each method, and are among the best two; flips want more than 30 items."""
    task.gold = {f"i{n}": "yes" if n % 2 else "no" for n in range(30)}
    task.documents = None
    worse = {key: "no" if n < 24 else value for n, (key, value) in enumerate(task.gold.items())}
    task.systems = {"a": dict(task.gold), "b": worse, "c": dict(worse)}
    scored(task)
    for method in ("bootstrap", "flips", "holm"):
        said = registry("best", "--method", method, "--tau", "2", "--format", "json")
        assert [(row["rank_low"], row["rank_high"], row["marginal_low"], row["marginal_high"], row["among_best"])
                for row in said.json] == [(1, 1, 1, 1, True), (2, 3, 2, 3, True), (2, 3, 2, 3, True)]
        assert ("(at least 50 are recommended)" in said.stderr) == (method == "flips")
    assert [row["among_best"] for row in registry("best", "--format", "json").json] == [True, False, False]
    assert {row["low"] for row in registry("best", "--method", "holm", "--format", "json").json} == {None}


def test_ranks_of_few_items_are_doubted_wherever_they_are_shown(task, registry, scored):
    """Before the work and once; six items let none of three pairs be significant: 3 * 2^(1 - 6) > 0.05."""
    task.significance["unit"] = "item"  # it declares three documents
    scored(task)
    assert len(task.gold) == 6
    doubt = "there are only 6 units (at least 20 are recommended)"
    assert registry("best", "--dry-run").stderr.count(doubt) == 1
    assert registry("best").stderr.count(doubt) == 1
    assert registry("best").stderr.count(doubt) == 1  # made before
    assert registry("best", "--method", "holm").stderr.count("smallest possible p-value with 6 units is 0.03125") == 1
    board = registry("board", "--ranks", "simultaneous", "--format", "table")
    assert board.stderr.count(doubt) == 1
    shown = " ".join(board.stdout.split())
    assert f"Simultaneous ranks: ranks by bootstrap may be wrong too often, because {doubt}" in shown
    assert "Simultaneous" not in registry("board", "--format", "table").stdout


def test_one_system_has_nothing_to_be_compared_with(task, registry, scored):
    task.systems = {"a": task.systems["a"]}
    scored(task)
    for command in ("effects", "best"):
        assert "nothing to compare" in registry(command, exit_code=4).stderr


@pytest.mark.slow
@pytest.mark.parametrize("runs", [(5, 5), (5, 7)])
def test_ranks_of_relabelled_runs_halve_no_p_of_unlike_numbers_of_runs(task, registry, scored, runs):
    """At a level between a half of p and p: labellings of as many runs of each are symmetric, others need not be."""
    task.gold = {f"i{n}": "yes" for n in range(30)}
    task.documents, task.systems = None, {}
    task.runs = {name: {f"r{k}": {key: "no" if n < k % 4 + wrong else "yes" for n, key in enumerate(task.gold)}
                        for k in range(m)} for name, m, wrong in zip("ab", runs, (1, 3), strict=True)}
    task.significance = {"test": "permutation", "runs": "random", "seed": 1}
    scored(task)
    (pair,) = registry("pairs", "--format", "json").json
    best = registry("best", "--method", "holm", "--alpha", f"{0.75 * pair['p_value']:.6f}", "--format", "json").json
    assert [row["may_be_best"] for row in best] == [True, len(set(runs)) > 1]


def test_systems_of_the_same_name_have_their_teams(task, registry, scored):
    task.extra = "".join(f'[[submit]]\nfile = "systems/{name}.tsv"\nteam = "{team}"\nsystem = "run1"\n'
                         for name, team in (("a", "Aspen_B"), ("b", "Birch")))
    scored(task)
    names = {"Aspen_B/run1", "Birch/run1", "c"}
    assert {row["system"] for row in registry("best", "--format", "json").json} == names
    assert {name for row in registry("effects", "--unit", "item", "--format", "json").json
            for name in (row["system_a"], row["system_b"])} == names
    for command in ("best", "effects"):
        assert names <= {*registry(command, "--format", "table").stdout.split()}
