"""Compare: incremental to the last bit, independent of every order, adjusted within declared families."""

import random
import statistics
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from scipy import stats

RAW = ("submission_a", "submission_b", "difference", "p_value", "log10_p", "ci_low", "ci_high", "n_units",
       "n_discordant", "method")


def pairs(registry, *options):
    return registry("pairs", *options, "--format", "json").json


def raw(registry):
    return sorted([row[k] for k in RAW] for row in pairs(registry))


@pytest.fixture
def many(task):
    """Nine systems of random answers to 80 items in 20 documents."""
    rng = random.Random(4)
    task.gold = {f"i{n}": rng.choice("xyz") for n in range(80)}
    task.documents = {k: f"d{n % 20}" for n, k in enumerate(task.gold)}
    task.systems = {f"s{n}": {k: v if rng.random() < 0.4 + 0.06 * n else "x" for k, v in task.gold.items()}
                    for n in range(9)}
    return task


def test_p_values_are_those_of_the_binomial_test_and_orders_are_best_first(many, registry, scored):
    scored(many)
    for row in pairs(registry):
        a, b = (many.systems[row[s]] for s in ("system_a", "system_b"))
        only_a = sum(a[k] == v != b[k] for k, v in many.gold.items())
        only_b = sum(b[k] == v != a[k] for k, v in many.gold.items())
        assert row["p_value"] == pytest.approx(stats.binomtest(only_a, only_a + only_b).pvalue, rel=1e-12)
        assert row["n_discordant"] == only_a + only_b
        assert row["difference"] == pytest.approx((only_a - only_b) / 80)
        assert row["score_a"] >= row["score_b"]


@pytest.mark.parametrize(("unit", "alternative", "test"), [
    ("item", "two-sided", "permutation"), ("cluster", "greater", "permutation"), ("item", "greater", "bootstrap"),
    ("cluster", "two-sided", "bootstrap"),
])
def test_one_more_submission_gives_the_last_bit_of_computing_everything_anew(many, registry, scored, tmp_path, unit,
                                                                             alternative, test):
    many.significance = {"seed": 1, "unit": unit, "alternative": alternative, "test": test, "resamples": 1000}
    last = many.systems.pop("s8")
    scored(many)
    many.systems["s8"] = last
    told = registry("run", many.write()).stderr
    assert "pairs: 8 tested, 28 known" in told
    incremental = raw(registry)
    (tmp_path / "registry.duckdb").unlink()
    registry("run", many.manifest)
    assert raw(registry) == incremental


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_permuting_systems_items_and_lines_changes_no_result(many, registry, scored, tmp_path, test):
    """To the last bit, also of what is drawn: items are resampled in the order of their keys."""
    many.significance = {"seed": 0, "test": test, "resamples": 2000}
    scored(many)
    expected = raw(registry), [[r[k] for k in ("rank", "rank_low", "rank_high", "cluster", "submission", "score")]
                               for r in registry("board", "--format", "json").json]
    rng = random.Random(1)

    def shuffled(table):
        return dict(sorted(table.items(), key=lambda _: rng.random()))

    many.gold = shuffled(many.gold)
    many.systems = {k: shuffled(v) for k, v in many.systems.items()}
    many.write()
    names = sorted(many.systems, key=lambda _: rng.random())
    many.manifest.write_text(many.manifest.read_text().replace('file = "systems/{system}.tsv"', "\n[[submit]]\n".join(
        f'file = "systems/{name}.tsv"\nsystem = "{name}"' for name in names)))
    (tmp_path / "registry.duckdb").unlink()
    registry("run", many.manifest)
    assert (raw(registry), [[r[k] for k in ("rank", "rank_low", "rank_high", "cluster", "submission", "score")]
                            for r in registry("board", "--format", "json").json]) == expected


def test_identical_submissions_have_p_1_in_every_test(task, registry, scored):
    scored(task)
    for test in ("permutation", "sign", "mcnemar"):
        for alternative in ("two-sided", "greater", "less"):
            found = registry("compare", "--test", test, "--alternative", alternative, "--format", "json").json
            (row,) = [r for r in found if {r["system_a"], r["system_b"]} == {"b", "c"}]
            assert (row["p_value"], row["p_adjusted"], row["n_discordant"]) == (1.0, 1.0, 0)


def test_one_sided_p_values_are_of_the_better_system(many, registry, scored):
    scored(many)
    two_sided = {(r["system_a"], r["system_b"]): r["p_value"] for r in pairs(registry) if r["difference"] > 0}
    registry("compare", "--alternative", "greater")
    for row in pairs(registry):
        if row["difference"] > 0:
            assert row["p_value"] == pytest.approx(two_sided[row["system_a"], row["system_b"]] / 2, rel=1e-12)


def test_the_comparison_asked_for_last_is_shown(many, registry, scored, tmp_path):
    scored(many)
    holm = pairs(registry)
    registry("compare", "--correction", "bonferroni")
    bonferroni = pairs(registry)
    assert {r["correction"] for r in bonferroni} == {"bonferroni"}
    for row in bonferroni:
        assert row["p_adjusted"] == pytest.approx(min(1, row["p_value"] * 36))
    told = registry("run", many.manifest).stderr
    assert "tested" not in told
    assert pairs(registry) == holm
    before = (tmp_path / "registry.duckdb").read_bytes()
    registry("run", many.manifest)
    assert (tmp_path / "registry.duckdb").read_bytes() == before


def test_holm_is_over_the_family_of_all_pairs(many, registry, scored):
    scored(many)
    rows = sorted(pairs(registry), key=lambda r: r["p_value"])
    expected, highest = [], 0.0
    for n, row in enumerate(rows):
        highest = max(highest, min(1.0, row["p_value"] * (36 - n)))
        expected.append(highest)
    assert [r["p_adjusted"] for r in rows] == pytest.approx(expected)
    assert {r["family_size"] for r in rows} == {36}


def test_tracks_and_facets_are_families_of_their_own(many, registry):
    many.test_set = {"facets": ["document"]}
    many.documents = {k: "odd" if n % 2 else "even" for n, k in enumerate(many.gold)}
    s0 = many.systems.pop("s0")
    many.extra = '[[submit]]\nfile = "open.tsv"\nsystem = "open"\ntrack = "open"\n'
    many.write()
    (many.folder / "open.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in s0.items()))
    registry("run", many.manifest)
    board = registry("board", "--format", "json").json
    places = {(r["track"], r["facet"]): sum(q["track"] == r["track"] and q["facet"] == r["facet"] for q in board)
              for r in board}
    assert places == {(t, f): 8 if t is None else 1 for t in (None, "open")
                      for f in (None, "document=even", "document=odd")}
    half = [k for k in many.gold if many.documents[k] == "odd"]
    (row,) = [r for r in board if r["system"] == "s8" and r["facet"] == "document=odd"]
    assert row["score"] == sum(many.systems["s8"][k] == many.gold[k] for k in half) / len(half)
    assert {r["family_size"] for r in pairs(registry)} == {28}


def test_baselines_are_shown_unranked_when_the_board_says_so(task, registry):
    task.extra = ('[[submit]]\nfile = "base.tsv"\nsystem = "base"\nkind = "baseline"\n'
                  "[board]\nrank_baselines = false\n")
    task.write()
    (task.folder / "base.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    registry("run", task.manifest)
    board = registry("board", "--format", "json").json
    assert [(r["system"], r["rank"], r["rank_high"]) for r in board] == [
        ("base", None, None), ("a", 1, 3), ("b", 2, 3), ("c", 2, 3)]
    assert "-" in registry("board", "--format", "table").stdout


def test_a_test_that_does_not_apply_says_why(task, registry, scored):
    scored(task)
    refused = registry("compare", "--test", "mcnemar", "--unit", "cluster", exit_code=3).stderr
    assert "mcnemar does not take clusters as units; set unit = \"item\", or take permutation" in refused


def test_signature_identifies_the_comparison(task, registry, scored):
    scored(task)
    signature = registry("board", "--format", "json").json[0]["signature"]
    assert signature.startswith("acc|task:small@1|set:test|n:6|gold:")
    assert "|test:permutation-exact|seed:-|corr:holm/3|a:.05|v:" in signature
    others = []
    for option in (("--alpha", "0.01"), ("--unit", "cluster"), ("--alternative", "greater"), ("--test", "sign")):
        registry("compare", *option)
        others.append(registry("board", "--format", "json").json[0]["signature"])
    assert "|n:6/3c|" in others[1]
    assert "|test:permutation-exact|alt:greater|" in others[2]
    assert len({signature, *others}) == 5


def test_an_exact_comparison_has_the_same_identity_under_every_seed(task, registry):
    """The line that a paper prints must come out again elsewhere; exact tests draw nothing."""
    signatures = set()
    for seed in ({"seed": 1}, {"seed": 2, "resamples": 177}, {}):
        task.significance = seed or {"alpha": 0.05}
        registry("run", task.write(), "--db", f"{len(signatures)}{len(seed)}.duckdb")
        signatures.add(registry("board", "--db", f"{len(signatures)}{len(seed)}.duckdb", "--format", "json")
                       .json[0]["signature"])
    assert len(signatures) == 1


def test_boards_that_are_no_more_are_not_shown(many, registry, scored):
    """Tracks, facets and test sets come and go with the manifest; what a board showed stays in the database."""
    many.test_set = {"facets": ["document"]}
    many.documents = {k: f"d{n % 2}" for n, k in enumerate(many.gold)}
    scored(many)
    assert {r["facet"] for r in registry("board", "--format", "json").json} == {None, "document=d0", "document=d1"}
    many.test_set = {"name": "renamed"}
    board = registry("run", many.write(), "--format", "json").json
    assert {(r["test_set"], r["facet"]) for r in board} == {("renamed", None)}
    assert len(board) == 9
    assert registry("board").stderr == ""
    many.test_set = {"facets": ["document"]}
    again = registry("run", many.write(), "--format", "json").json
    assert len(again) == 27
    many.submission = {"track": "closed"}
    moved = registry("run", many.write(), "--format", "json").json
    assert {r["track"] for r in moved} == {"closed"}
    assert registry("board").stderr == ""


def test_a_single_system_has_a_board_and_no_pairs(task, registry, scored):
    task.systems = {"a": task.systems["a"]}
    scored(task)
    assert "nothing to compare" in registry("board", "--format", "table").stdout
    assert registry("pairs", "--format", "json").json == []


def test_too_few_units_for_any_significance_are_told(task, registry, scored):
    scored(task)
    assert "With 6 items no p-value can be below 0.03125" in registry("board", "--format", "table").stdout


def test_one_of_a_thing_is_not_told_in_the_plural(task, registry, scored):
    task.documents = dict.fromkeys(task.gold, "d0")
    del task.systems["c"]
    scored(task)
    told = registry("compare", "--unit", "cluster", "--overall", "friedman", "--format", "table").stdout
    assert "The one difference is not significant at 0.05 after Holm's correction (permutation over 1 cluster)" in told
    assert "with 1 degree of freedom" in told
    assert "With 1 cluster no p-value can be below 1," in told


def test_all_systems_at_once(many, registry, scored):
    """Cochran's Q by hand, stored with the comparison and said under the board."""
    scored(many)
    told = registry("compare", "--overall", "cochran", "--format", "table").stdout
    right = [[labels[k] == v for labels in many.systems.values()] for k, v in many.gold.items()]
    k, totals, rows = 9, [sum(column) for column in zip(*right, strict=True)], [sum(row) for row in right]
    q = k * (k - 1) * sum((t - sum(totals) / k) ** 2 for t in totals) / sum(r * (k - r) for r in rows)
    (row,) = registry("query", "SELECT * FROM overall_result", "--format", "json").json
    assert row["statistic"] == pytest.approx(q)
    assert row["p_value"] == pytest.approx(stats.chi2.sf(q, 8))
    assert f"All systems at once: cochran {q:.2f} with 8 degrees of freedom" in told
    assert "did you mean" in registry("compare", "--overall", "cochrane", exit_code=3).stderr


def test_open_decisions_are_told_and_resolved_by_more_draws(many, registry, scored):
    """The intervals of p-values must lie on one side of the level wherever the adjustment puts them."""
    options = ("--test", "bootstrap(variant=studentized)", "--correction", "none", "--resamples", "200")
    scored(many)
    told = registry("compare", *options, "--format", "table").stdout
    rows = pairs(registry)
    undecided = [row for row in rows if row["p_low"] <= 0.05 < row["p_high"]]
    assert undecided
    assert [row for row in rows if not row["resolved"]] == undecided
    assert f"{len(undecided)} of these decisions" in told
    registry("compare", *options, "--resolve", "1000000")
    resolved = pairs(registry)
    assert all(row["resolved"] or row["resamples"] == 1_000_000 for row in resolved)
    assert sum(not row["resolved"] for row in resolved) < len(undecided)
    more = {row["submission_a"] + row["submission_b"]: row["resamples"] for row in resolved}
    assert {more[row["submission_a"] + row["submission_b"]] > 200 for row in undecided} == {True}
    assert {row["resamples"] for row in resolved if row not in undecided} >= {200}
    registry("compare", *options, "--resolve", "800")
    assert {row["resamples"] for row in pairs(registry)} == {200, 800}


@pytest.mark.parametrize(("options", "warning"), [
    (("--test", "t"), "take mcnemar or permutation"),
    (("--test", "bootstrap"), "80 units are fewer than 200"),
    (("--test", "two-sample-t"), "results are independent"),
    (("--test", "sign", "--unit", "cluster"), None),
])
def test_misuse_is_warned_of_not_refused(many, registry, scored, options, warning):
    scored(many)
    told = registry("compare", *options).stderr
    assert (warning in told) if warning else ("warning" not in told)
    assert len(pairs(registry)) == 36


def test_workers_and_memory_change_no_bit(many, registry):
    many.significance = {"seed": 3, "test": "bootstrap", "resamples": 3000}
    registry("run", many.write(), "--workers", "1", "--memory", "1M")
    first = registry("pairs", "--format", "json").stdout
    (many.folder.parent / "registry.duckdb").unlink()
    registry("run", many.manifest, "--workers", "3")
    assert registry("pairs", "--format", "json").stdout == first
    assert "not a size" in registry("compare", "--memory", "lots", exit_code=3).stderr


@pytest.mark.parametrize(("options", "unused"), [
    (("--dask", "tcp://nowhere:8786", "--workers", "2", "--alpha", "0.01"), "--dask"),  # threads share the exact tests
    (("--test", "sign", "--workers", "2", "--memory", "1G"), "--workers"),  # the memory bounds the database too
    (("--resolve", "1000", "--alpha", "0.01"), "--resolve"),
    (("--seed", "5", "--resamples", "500"), "--resamples, --seed"),
    (("--alpha", "0.01"), None),
    (("--test", "bootstrap", "--resamples", "500", "--seed", "5", "--workers", "2"), None),
])
def test_options_of_draws_that_had_no_effect_are_told(many, registry, scored, monkeypatch, options, unused):
    monkeypatch.setenv("REGISTRY_MEMORY", "512M")  # set once for all commands: nothing to tell
    scored(many)
    told = registry("compare", *options).stderr
    assert (f"note: nothing had to be drawn, so {unused} had no effect\n" in told) if unused else ("note" not in told)
    assert "note" not in registry("compare", *options).stderr  # nothing is made


def test_run_tells_options_without_effect_too(many, registry):
    assert "nothing had to be drawn, so --dask had" in registry("run", many.write(), "--dask", "tcp://nowhere").stderr


@pytest.mark.parametrize(("options", "says"), [
    (("--correction", "max-t"), "max-t adjusts the draws of all pairs; raise resamples instead"),
    (("--resamples", "1000"), "it is 1000, and 1000 resamples are drawn at once"),
    (("--resamples", "500"), None),
])
def test_where_nothing_can_be_drawn_again_resolve_is_told_to_have_no_effect(many, registry, scored, options, says):
    many.significance = {"seed": 1, "test": "bootstrap(variant=studentized)" if "max-t" not in options else "bootstrap",
                         "resamples": 200}
    scored(many)
    told = registry("compare", *options, "--resolve", "1000").stderr
    assert (f"note: resolve has no effect: {says}" in told) if says else ("note" not in told)


def test_bootstrap_within_strata(many, registry):
    """A stratum in which nothing ever differs adds no variance: the interval is that of the other stratum alone."""
    for labels in many.systems.values():
        labels |= {k: v for k, v in many.gold.items() if int(k[1:]) >= 40}
    many.test_set = {"options": {"columns": ["item", "label", "half"]}}
    many.documents = {k: "second" if int(k[1:]) >= 40 else "first" for k in many.gold}
    many.test_set |= {"cluster": "half"}
    many.significance = {"seed": 1, "test": "bootstrap", "resamples": 20_000, "strata": "half"}
    board = registry("run", many.write(), "--format", "json").json
    assert "|strata:half|" in board[0]["signature"]
    stratified = pairs(registry)
    registry("compare", "--strata", "other", exit_code=3)
    assert "bootstrap" in registry("compare", "--test", "sign", exit_code=3).stderr
    for row in stratified:
        a, b = (many.systems[row[s]] for s in ("system_a", "system_b"))
        gains = [(a[k] == v) - (b[k] == v) for k, v in many.gold.items() if int(k[1:]) < 40]
        mean = sum(gains) / 40
        deviation = (sum((g - mean) ** 2 for g in gains) / 40) ** 0.5
        if deviation:
            width = (row["ci_high"] - row["ci_low"]) / 2
            assert width == pytest.approx(1.96 * deviation / 40**0.5 / 2, rel=0.12)
    refused = registry("compare", "--unit", "cluster", "--strata", "item", exit_code=3).stderr
    assert "attribute 'item'" in refused


def test_strata_of_one_unit_are_warned_of(many, registry):
    many.documents = {k: k for k in many.gold}
    many.significance = {"seed": 1, "test": "bootstrap", "resamples": 500, "strata": "document", "correction": "min-p"}
    done = registry("run", many.write(), "--format", "json")
    assert "small/test, acc: 80 units are alone in a stratum" in done.stderr
    assert {(row["ci_low"], row["ci_high"]) for row in done.json} == {(None, None)}
    assert {(row["p_value"], row["significant"]) for row in pairs(registry)} == {(None, False)}
    refused = registry("best", exit_code=3).stderr
    assert "small/test, acc: strata of one unit each cannot be resampled" in refused


@pytest.mark.parametrize("correction", ["min-p", "max-t", "shaffer", "hochberg", "bh", "by", "bonferroni"])
def test_every_correction_reaches_the_board(many, registry, scored, correction):
    """Step-down corrections lie between the raw p-values and Holm's; the others are as their own tests say."""
    many.significance = {"seed": 1, "test": "bootstrap", "resamples": 2000}
    scored(many)
    holm = {row["submission_a"] + row["submission_b"]: row["p_adjusted"] for row in pairs(registry)}
    board = registry("compare", "--correction", correction, "--format", "table").stdout
    assert f"corr:{correction}/36" in board
    for row in pairs(registry):
        assert row["p_adjusted"] >= row["p_value"]
        if correction in ("min-p", "max-t"):
            assert row["p_adjusted"] <= holm[row["submission_a"] + row["submission_b"]] + 0.02
        assert row["significant"] == (row["p_adjusted"] <= 0.05)


def test_corrections_that_do_not_apply_say_why(many, registry, scored):
    scored(many)
    assert "sign has none" in registry("compare", "--correction", "min-p", "--test", "sign", exit_code=3).stderr
    one_sided = ("--correction", "shaffer", "--alternative", "greater")
    assert "one-sided" in registry("compare", *one_sided, exit_code=3).stderr
    many_draws = ("--correction", "max-t", "--resamples", "10000000", "--memory", "2M", "--test", "permutation")
    assert "--memory" in registry("compare", *many_draws, exit_code=3).stderr


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
        assert row["run_deviation"] == deviation
    assert "deviation" in registry("board", "--format", "table").stdout
    kept = registry("query", "SELECT system, avg(value) AS mean FROM replicate_score JOIN ranked_submission "
                             "USING (scoring_id) GROUP BY system", "--format", "json").json
    assert {r["system"]: r["mean"] for r in kept} == pytest.approx({r["system"]: r["score"] for r in board})


def test_boards_without_repeated_runs_look_as_ever(many, registry, scored):
    scored(many)
    assert "deviation" not in registry("board", "--format", "table").stdout
    assert {(r["runs"], r["run_deviation"]) for r in registry("board", "--format", "json").json} == {(1, None)}


def test_fixed_runs_are_tested_by_exact_permutation_of_their_averages(repeated, registry, scored):
    """Moves are whole numbers of sixths of an item: their distribution is built up in fractions."""
    scored(repeated)
    right = {name: [Fraction(sum(run[k] == v for run in runs), len(runs)) for k, v in repeated.gold.items()]
             for name, runs in [(n, list(named.values())) for n, named in repeated.runs.items()]
             + [(n, [labels]) for n, labels in repeated.systems.items()]}
    for row in pairs(registry):
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
    plain = raw(registry)
    repeated.runs = {"r3": three}
    assert "pairs: 3 tested, 3 known" in registry("run", repeated.write()).stderr
    threefold = raw(registry)
    repeated.runs = {"r2": two, "r3": three}
    assert "pairs: 4 tested, 6 known" in registry("run", repeated.write()).stderr
    incremental = raw(registry)
    assert all(row in threefold for row in plain)
    assert all(row in incremental for row in threefold)
    registry("run", repeated.manifest, "--db", "anew.duckdb")
    assert sorted([row[k] for k in RAW] for row in pairs(registry, "--db", "anew.duckdb")) == incremental


@pytest.mark.parametrize("test", ["fisher", "binomial-z", "mcnemar"])
def test_tests_that_count_things_refuse_averages(repeated, registry, scored, test):
    scored(repeated)
    assert "take" in registry("compare", "--test", test, exit_code=3).stderr


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_random_runs(repeated, registry, scored, tmp_path, test):
    """One more system tests only its own pairs; what runs are called changes nothing."""
    repeated.systems = {}
    repeated.runs["r4"] = {f"seed{k}": noisy(repeated.gold, 40 + k, 0.6) for k in range(4)}
    repeated.significance = {"seed": 1, "test": test, "runs": "random", "resamples": 600}
    last = repeated.runs.pop("r3")
    scored(repeated)
    repeated.runs["r3"] = last
    assert "pairs: 2 tested, 1 known" in registry("run", repeated.write()).stderr
    incremental = raw(registry)
    rows = pairs(registry)
    assert all("|runs:random|" in row["signature"] for row in rows)
    if test == "permutation":
        (row,) = [r for r in rows if {r["system_a"], r["system_b"]} == {"r2", "r3"}]
        assert row["note"] in {f"smallest attainable p with {sizes} runs: 0.1" for sizes in ("2 and 3", "3 and 2")}
        assert "(permutation over whole runs)" in registry("board", "--format", "table").stdout
    for name in (tmp_path / "task" / "runs").glob("*"):
        name.unlink()
    repeated.runs = {system: {f"seed{9 - int(run[-1])}": labels for run, labels in named.items()}
                     for system, named in repeated.runs.items()}
    registry("run", repeated.write(), "--db", "renamed.duckdb")
    assert sorted([row[k] for k in RAW] for row in pairs(registry, "--db", "renamed.duckdb")) == incremental
    fixed = registry("compare", "--runs", "fixed", "--format", "json").json
    assert "runs:" not in fixed[0]["signature"]
    assert len({row["signature"] for row in [*fixed, *rows]}) == 2


def test_too_few_runs_for_any_significance_are_told(repeated, registry, scored):
    repeated.systems = {}
    repeated.significance = {"runs": "random"}
    scored(repeated)
    assert "With 3 and 2 runs no p-value can be below 0.1" in registry("board", "--format", "table").stdout


def test_what_does_not_go_with_random_runs_is_refused(repeated, registry, scored):
    scored(repeated)
    refused = registry("compare", "--runs", "random", exit_code=3).stderr
    assert "3 of 5 systems have one run only" in refused
    repeated.significance, lone, repeated.systems = {"runs": "random"}, repeated.systems, {}
    registry("apply", repeated.write())  # those of one run are no more of this manifest, but take part
    assert "3 of 5 systems have one run only" in registry("best", exit_code=3).stderr
    refused = registry("compare", "--runs", "random", "--test", "sign", exit_code=3).stderr
    assert "does not take random runs; set runs = " in refused
    assert "take permutation or bootstrap" in refused
    refused = registry("compare", "--runs", "random", "--correction", "min-p", exit_code=3).stderr
    assert "random runs are permuted as wholes" in refused
    repeated.significance = {"runs": "random", "interval": "bca"}
    assert "take dual, percentile or basic" in registry("run", repeated.write(), exit_code=3).stderr
    repeated.significance = {"runs": "random"}
    registry("apply", repeated.write())
    one = repeated.folder / "systems" / "s1.tsv"
    assert "s/s@1 has one only" in registry("submit", "small", one, "--system", "s", exit_code=3).stderr
    repeated.systems = lone
    told = registry("check", repeated.write(), exit_code=3).stderr
    assert "task.toml: significance.runs: 'random' needs two runs or more of every system" in told
    assert "s1/s1@1 and 2 more have one only" in told
    repeated.manifest.write_text(repeated.manifest.read_text().replace(
        'file = "systems/{system}.tsv"', 'file = "systems/{system}.tsv"\nwithdrawn = true'))
    registry("run", repeated.manifest)


def test_facets_have_deviations_of_their_own(repeated, registry, scored):
    repeated.test_set = {"facets": ["document"]}
    repeated.documents = {k: f"d{n % 2}" for n, k in enumerate(repeated.gold)}
    scored(repeated)
    deviations = {r["facet"]: r["run_deviation"] for r in registry("board", "--format", "json").json
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


def test_a_test_that_favours_the_worse_system_gives_no_win(many, registry, scored):
    """Documents of one item that a wins against a long one that b wins: the sign test is for a, accuracy for b."""
    wrong = {"x": "y", "y": "z", "z": "x"}
    many.gold = {f"i{n:02}": "x" for n in range(70)}
    many.documents = {k: f"d{min(n, 30)}" for n, k in enumerate(many.gold)}
    many.systems = {name: {k: v if (n < 30) == (name == "a") else wrong[v]
                           for n, (k, v) in enumerate(many.gold.items())} for name in "ab"}
    scored(many)
    board = registry("compare", "--test", "sign", "--unit", "cluster", "--format", "table").stdout
    (row,) = pairs(registry)
    assert (row["system_a"], row["significant"]) == ("b", False)
    assert row["p_value"] < 1e-6
    assert "worse score" in row["note"]
    assert "The one difference is not significant" in board


def test_what_few_clusters_can_show_depends_on_the_correction(many, registry, scored):
    """6 documents: the least p is 1/32, which Hochberg's correction can reject for all pairs together."""
    many.gold = {f"i{n}": "x" for n in range(36)}
    many.documents = {k: f"d{n % 6}" for n, k in enumerate(many.gold)}
    many.systems = {f"s{n}": {k: "x" if i // 6 < 2 * n else "y" for i, k in enumerate(many.gold)} for n in range(1, 4)}
    scored(many)
    options = ("compare", "--unit", "cluster", "--format", "table")
    hochberg = registry(*options, "--correction", "hochberg").stdout
    assert "All 3 differences are significant" in hochberg
    assert "can be significant" not in hochberg
    assert "no difference can be" in registry(*options, "--correction", "holm").stdout


def test_tests_of_single_responses_take_them_as_units(registry, scored):
    """By themselves, or kept together by item or cluster, which is the permutation; no other test takes them."""
    scored(Path(__file__).parents[2] / "sample_data" / "entities" / "task.toml")
    of_unit = {}
    for unit in ("response", "item", "cluster"):
        registry("compare", "entities", "--test", "response-permutation", "--unit", unit)
        of_unit[unit] = pairs(registry)
        assert {row["unit"] for row in of_unit[unit]} == {unit}
        registry("compare", "entities", "--test", "permutation", "--unit", unit.replace("response", "item"))
        permuted = [row["p_value"] for row in pairs(registry)]
        assert ([row["p_value"] for row in of_unit[unit]] == pytest.approx(permuted, rel=1e-12)) == (unit != "response")
    given = {row["system"]: row["n"] for row in registry(
        "query", "SELECT system, count(*) AS n FROM item_response GROUP BY system", "--format", "json").json}
    for row in of_unit["response"]:
        assert max(given[row["system_a"]], given[row["system_b"]]) <= row["n_units"]
        assert row["n_units"] <= given[row["system_a"]] + given[row["system_b"]]
    refused = registry("compare", "entities", "--unit", "response", exit_code=3)
    assert "take fisher or response-permutation" in refused.stderr
