"""Systems with several runs: averages that are fixed, or runs that are drawn as items are."""

import random
import statistics
from collections import Counter
from fractions import Fraction

import pytest

from registry.errors import InputError
from registry.manifest import Significance, update_significance
from registry.messages import Messages
from tests.evaluation.comparing.compared import pairs, raw


def noisy(labels, seed, share=0.2):
    """A run: some of the labels are others."""
    rng = random.Random(seed)
    return {k: rng.choice("xyz") if rng.random() < share else v for k, v in labels.items()}


@pytest.fixture
def repeated(many):
    """Systems of one, two and three runs."""
    many.runs = {f"r{n}": {f"seed{k}": noisy(many.systems[f"s{2 * n}"], 10 * n + k) for k in range(n)} for n in (2, 3)}
    many.systems = {n: many.systems[n] for n in ("s1", "s4", "s8")}
    return many


def shares(task, name):
    """The accuracy of every run."""
    runs = task.runs[name].values() if name in task.runs else [task.systems[name]]
    return [Fraction(sum(labels[k] == v for k, v in task.gold.items()), len(task.gold)) for labels in runs]


def test_a_score_is_that_of_the_average_of_runs(repeated, registry, scored):
    scored(repeated)
    board = registry("board", "--format", "json").json
    assert {row["system"]: row["runs"] for row in board} == {"s1": 1, "s4": 1, "s8": 1, "r2": 2, "r3": 3}
    for row in board:
        found = shares(repeated, row["system"])
        assert row["score"] == float(sum(found) / len(found))
        deviation = pytest.approx(statistics.stdev(map(float, found))) if len(found) > 1 else None
        assert row["run_sd"] == deviation
    assert "SD of runs" in registry("board", "--format", "table").stdout
    kept = registry("query", "SELECT system, avg(value) AS mean FROM replicate_score JOIN ranked_submission "
                             "USING (scoring_id) GROUP BY system", "--format", "json").json
    assert {r["system"]: r["mean"] for r in kept} == pytest.approx({r["system"]: r["score"] for r in board})


def test_boards_without_repeated_runs_look_as_ever(many, registry, scored):
    scored(many)
    assert "SD of runs" not in registry("board", "--format", "table").stdout
    assert {(r["runs"], r["run_sd"]) for r in registry("board", "--format", "json").json} == {(1, None)}


def test_fixed_runs_are_tested_by_exact_permutation_of_their_averages(repeated, registry, scored):
    """Moves are whole numbers of sixths of an item: their distribution is built up in fractions."""
    repeated.significance["unit"] = "item"
    scored(repeated)
    right = {name: [Fraction(sum(run[k] == v for run in runs), len(runs)) for k, v in repeated.gold.items()]
             for name, runs in [(n, list(named.values())) for n, named in repeated.runs.items()]
             + [(n, [labels]) for n, labels in repeated.systems.items()]}
    for row in pairs():
        gains = [a - b for a, b in zip(right[row["system_a"]], right[row["system_b"]], strict=True)]
        sums = {Fraction(0): Fraction(1)}
        for gain in gains:
            new = Counter()
            for total, p in sums.items():
                for moved in (total + gain, total - gain):
                    new[moved] += p / 2
            sums = new
        expected = sum(p for total, p in sums.items() if abs(total) >= abs(sum(gains)))
        assert row["method"] == "exact"
        assert row["p_value"] == pytest.approx(float(expected), rel=1e-12)


def test_runs_of_others_change_no_result(repeated, registry, scored):
    """One system of three runs makes all statistics three times as large, and sixfold with one of two."""
    two, three = repeated.runs.pop("r2"), repeated.runs.pop("r3")
    scored(repeated)
    plain = raw()
    repeated.runs = {"r3": three}
    assert "pairs: 3 tested, 3 already stored" in registry("run", repeated.write()).stderr
    threefold = raw()
    repeated.runs = {"r2": two, "r3": three}
    assert "pairs: 4 tested, 6 already stored" in registry("run", repeated.write()).stderr
    incremental = raw()
    assert all(row in threefold for row in plain)
    assert all(row in incremental for row in threefold)
    registry("run", repeated.manifest, "--db", "anew.duckdb")
    assert raw("anew.duckdb") == incremental


@pytest.mark.parametrize(("test", "unit"), [("fisher", "response"), ("binomial-z", "item"), ("mcnemar", "item")])
def test_tests_that_count_things_refuse_averages(repeated, undone, test, unit):
    with pytest.raises(InputError, match=r"use (--test sign or )?--test permutation|set test = \"permutation\""):
        undone(repeated).compare(test=test, unit=unit)


@pytest.mark.parametrize("test", ["permutation", "bootstrap", "crossed"])
def test_random_runs(repeated, registry, scored, tmp_path, test):
    """One more system tests only its own pairs; what runs are called changes nothing."""
    repeated.systems = {}
    repeated.runs["r4"] = {f"seed{k}": noisy(repeated.gold, 40 + k, 0.6) for k in range(4)}
    if test == "bootstrap":
        repeated.runs = {system: named | {f"seed{k}": noisy(repeated.gold, 60 + k, 0.5) for k in range(len(named), 6)}
                         for system, named in repeated.runs.items()}
    repeated.significance = {"seed": 1, "test": test, "runs": "random", "resamples": 600}
    last = repeated.runs.pop("r3")
    scored(repeated)
    repeated.runs["r3"] = last
    assert "pairs: 2 tested, 1 already stored" in registry("run", repeated.write()).stderr
    incremental = raw()
    rows = pairs()
    assert all("|runs:random|" in row["signature"] for row in rows)
    if test == "permutation":
        (row,) = [r for r in rows if {r["system_a"], r["system_b"]} == {"r2", "r3"}]
        runs = {system: {"r2": 2, "r3": 3}[row[f"system_{system}"]] for system in "ab"}
        assert row["messages"] == Messages.make("smallest-p-value", runs_a=runs["a"], runs_b=runs["b"],
                                              least=pytest.approx(0.1))
        shown = registry("board", "--format", "table").stdout
        assert "(permutation over whole runs)" in shown
        assert "These conclusions hold for these items" in shown
    if test == "crossed":
        assert "(crossed over 20 clusters and runs)" in registry("board", "--format", "table").stdout
    for name in (tmp_path / "task" / "runs").glob("*"):
        name.unlink()
    repeated.runs = {system: {f"seed{9 - int(run[-1])}": labels for run, labels in named.items()}
                     for system, named in repeated.runs.items()}
    registry("run", repeated.write(), "--db", "renamed.duckdb")
    assert raw("renamed.duckdb") == incremental
    fixed = registry("compare", "--runs", "fixed", "--test", test.replace("crossed", "permutation"), "--format", "json")
    assert "have several runs, and the results hold for these runs, but not for new runs" in fixed.stderr
    assert "These conclusions hold for these runs" in registry("board", "--format", "table").stdout
    assert "runs:" not in fixed.json[0]["signature"]
    assert len({row["signature"] for row in [*fixed.json, *rows]}) == 2


def test_random_runs_are_crossed_with_items_unless_another_test_is_named(repeated, scored):
    """Swaps of whole runs speak of these items only (up to 54 % false differences on others, docs/validity.md)."""
    repeated.systems, repeated.significance = {}, {"runs": "random"}
    scored(repeated)
    (undeclared,) = pairs()
    assert undeclared["test"] == "crossed"


@pytest.mark.parametrize(("declared", "given", "test"), [
    ({}, {}, "permutation"),
    ({"runs": "random"}, {}, "crossed"),
    ({"runs": "random", "test": "permutation"}, {}, "permutation"),
    ({}, {"runs": "random"}, "crossed"),
    ({"runs": "random"}, {"runs": "fixed"}, "permutation"),
    ({"runs": "random"}, {"alpha": 0.01}, "crossed"),
    ({}, {"runs": "random", "test": "permutation"}, "permutation"),
    ({"test": "sign"}, {"runs": "random"}, "sign"),  # which is refused, not replaced
    ({"runs": "random", "test": "permutation"}, {"alpha": 0.01}, "permutation"),
])
def test_the_usual_test_is_that_of_the_runs(declared, given, test):
    assert update_significance(Significance(**declared), given).test == test


def test_too_few_runs_for_any_significance_are_told(repeated, registry, scored):
    repeated.systems = {}
    repeated.significance = {"runs": "random", "test": "permutation"}
    scored(repeated)
    assert "smallest possible p-value with 3 and 2 runs is 0.1" in registry("board", "--format", "table").stdout


def test_what_does_not_go_with_random_runs_is_refused(repeated, registry, scored):
    scored(repeated)
    refused = registry("compare", "--runs", "random", exit_code=3).stderr
    assert "3 of 5 systems have only one run" in refused
    repeated.significance, lone, repeated.systems = {"runs": "random"}, repeated.systems, {}
    registry("apply", repeated.write())  # those of one run are no more of this manifest, but take part
    assert "3 of 5 systems have only one run" in registry("best", exit_code=3).stderr
    refused = registry("compare", "--runs", "random", "--test", "sign", exit_code=3).stderr
    assert "does not support random runs; set runs = " in refused
    assert 'or test = "permutation" or "bootstrap" or "crossed"' in refused
    refused = registry("compare", "--runs", "random", "--test", "permutation", "--correction", "min-p",
                       exit_code=3).stderr
    assert "random runs are permuted as a whole; set correction = " in refused
    repeated.significance = {"runs": "random", "interval": "bca"}
    assert "set interval to 'dual', 'percentile' or 'basic'" in registry("run", repeated.write(), exit_code=3).stderr
    repeated.significance = {"runs": "random"}
    registry("apply", repeated.write())
    one = repeated.folder / "systems" / "s1.tsv"
    assert "s/s@1 has only one" in registry("submit", "small", one, "--system", "s", exit_code=3).stderr
    repeated.systems = lone
    told = registry("check", repeated.write(), exit_code=3).stderr
    assert "task.toml: significance.runs: 'random' requires at least two runs of every system" in told
    assert "s1/s1@1 and 2 more have only one" in told
    repeated.manifest.write_text(repeated.manifest.read_text().replace(
        'file = "systems/{system}.tsv"', 'file = "systems/{system}.tsv"\nwithdrawn = true'))
    registry("run", repeated.manifest)


def test_facets_have_deviations_of_their_own(repeated, registry, scored):
    repeated.test_set = {"facets": ["document"]}
    repeated.documents = {k: f"d{n % 2}" for n, k in enumerate(repeated.gold)}
    scored(repeated)
    deviations = {r["facet"]: r["run_sd"] for r in registry("board", "--format", "json").json
                  if r["system"] == "r3"}
    half = [k for k in repeated.gold if repeated.documents[k] == "d0"]
    found = [sum(run[k] == repeated.gold[k] for k in half) / len(half) for run in repeated.runs["r3"].values()]
    assert deviations["document=d0"] == pytest.approx(statistics.stdev(found))
    assert len(set(deviations.values())) == 3


def test_regions_are_of_every_pair_of_runs(repeated, registry, scored):
    scored(repeated)
    found = registry("query", "SELECT replicate_a, replicate_b, count(*) AS n FROM discordant_answer "
                              "WHERE system_a = 'r2' AND system_b = 'r3' GROUP BY ALL ORDER BY ALL", "--format", "json")
    r2, r3 = (list(repeated.runs[name].values()) for name in ("r2", "r3"))
    assert [(r["replicate_a"], r["replicate_b"], r["n"]) for r in found.json] == [
        (a, b, sum(r2[a][k] != r3[b][k] for k in repeated.gold)) for a in range(2) for b in range(3)]
