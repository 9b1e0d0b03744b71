"""Compare: incremental to the last bit, independent of every order, adjusted within declared families."""

import random

import pytest
from scipy import stats

from registry.errors import InputError
from registry.messages import Message
from registry.parallel.execution import Execution
from tests.conftest import ROOT
from tests.evaluation.comparing.compared import pairs, raw


def test_p_values_are_those_of_the_binomial_test_and_orders_are_best_first(many, scored):
    many.significance["unit"] = "item"
    scored(many)
    for row in pairs():
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
    many.significance = {"seed": 1, "unit": unit, "alternative": alternative, "test": test, "resamples": 1000,
                         **({"candidate": "s3"} if alternative == "greater" else {})}
    last = many.systems.pop("s8")
    scored(many)
    many.systems["s8"] = last
    told = registry("run", many.write()).stderr
    assert "pairs: 8 tested, 28 already stored" in told
    incremental = raw()
    registry("run", many.manifest, "--db", tmp_path / "anew.duckdb")
    assert raw(tmp_path / "anew.duckdb") == incremental


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_permuting_systems_items_and_lines_changes_no_result(many, registry, scored, tmp_path, test):
    """To the last bit, also of what is drawn: items are resampled in the order of their keys."""
    many.significance = {"seed": 0, "test": test, "resamples": 2000}
    scored(many)
    expected = raw(), [[r[k] for k in ("rank", "rank_low", "rank_high", "cluster", "submission", "score")]
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
    assert (raw(), [[r[k] for k in ("rank", "rank_low", "rank_high", "cluster", "submission", "score")]
                            for r in registry("board", "--format", "json").json]) == expected


def test_identical_submissions_have_p_1_in_every_test(task, undone):
    registry = undone(task)
    for test in ("permutation", "sign", "mcnemar"):
        for asked in ({}, {"alternative": "greater", "candidate": "b"}, {"alternative": "greater", "candidate": "c"}):
            registry.compare(test=test, unit="item", **asked)
            (row,) = [r for r in registry.pairs if {r["system_a"], r["system_b"]} == {"b", "c"}]
            assert (row["p_value"], row["p_adjusted"], row["n_discordant"]) == (1.0, 1.0, 0)


def test_the_comparison_asked_for_last_is_shown(many, registry, scored, tmp_path):
    scored(many)
    holm = pairs()
    registry("compare", "--correction", "bonferroni")
    bonferroni = pairs()
    assert {r["correction"] for r in bonferroni} == {"bonferroni"}
    for row in bonferroni:
        assert row["p_adjusted"] == pytest.approx(min(1, row["p_value"] * 36))
    told = registry("run", many.manifest).stderr
    assert "tested" not in told
    assert pairs() == holm
    before = (tmp_path / "registry.duckdb").read_bytes()
    registry("run", many.manifest)
    assert (tmp_path / "registry.duckdb").read_bytes() == before


def test_holm_is_over_the_family_of_all_pairs(many, scored):
    scored(many)
    rows = sorted(pairs(), key=lambda r: r["p_value"])
    expected, highest = [], 0.0
    for n, row in enumerate(rows):
        highest = max(highest, min(1.0, row["p_value"] * (36 - n)))
        expected.append(highest)
    assert [r["p_adjusted"] for r in rows] == pytest.approx(expected)
    assert {r["family_size"] for r in rows} == {36}


def test_a_test_that_does_not_apply_says_why(task, registry, scored):
    scored(task)
    refused = registry("compare", "--test", "mcnemar", "--unit", "cluster", exit_code=3).stderr
    assert "mcnemar does not support clusters as units; set unit = \"item\", or test = \"permutation\"" in refused


def test_all_systems_at_once(many, registry, scored):
    """Cochran's Q by hand, stored with the comparison and said under the board."""
    scored(many)
    told = registry("compare", "--unit", "item", "--overall", "cochran", "--format", "table").stdout
    right = [[labels[k] == v for labels in many.systems.values()] for k, v in many.gold.items()]
    k, totals, rows = 9, [sum(column) for column in zip(*right, strict=True)], [sum(row) for row in right]
    q = k * (k - 1) * sum((t - sum(totals) / k) ** 2 for t in totals) / sum(r * (k - r) for r in rows)
    (row,) = registry("query", "SELECT * FROM overall_result", "--format", "json").json
    assert row["statistic"] == pytest.approx(q)
    assert row["p_value"] == pytest.approx(stats.chi2.sf(q, 8))
    assert f"All systems together: cochran {q:.2f} with 8 degrees of freedom" in told
    assert "did you mean" in registry("compare", "--overall", "cochrane", exit_code=3).stderr


def few_units(units):
    return Message("few-units-bootstrap", {"units": units, "least": 200, "is_judged": False, "use": "permutation"})


@pytest.mark.parametrize(("options", "warning"), [
    ({"test": "t", "unit": "item"}, Message("t-on-categories")),
    ({"test": "bootstrap", "unit": "item"}, few_units(80)),
    ({"test": "bootstrap"}, few_units(20)),
    ({"test": "two-sample-t"}, Message("independent-test", {"test": "two-sample-t", "is_shared": False})),
    ({"test": "bootstrap", "unit": "item", "correction": "max-t"},
     Message("known-errors", {"correction": "max-t", "units": 80, "pairs": 36,
                              "percent": pytest.approx(7, abs=0.5)})),
    ({"test": "sign"}, None),
    ({"test": "sign", "correction": "shaffer"}, Message("shaffer-not-transitive", {"test": "sign"})),
    # of right and wrong the sign test is one of equal scores
    ({"test": "sign", "unit": "item", "correction": "shaffer"}, None),
])
def test_misuse_is_warned_of_not_refused(many, undone, options, warning):
    registry = undone(many)
    told = [of.message for of in registry.compare(**options).warnings if of.message.code != "clustered-units"]
    assert (warning in told) if warning else told == []
    assert len(registry.pairs) == 36


@pytest.mark.parametrize("correction", ["min-p", "max-t", "shaffer", "hochberg", "bh", "by", "bonferroni"])
def test_every_correction_reaches_the_board(many, undone, correction):
    """Step-down corrections lie between the raw p-values and Holm's; the others are as their own tests say."""
    many.significance = {"seed": 1, "test": "bootstrap", "resamples": 2000}
    registry = undone(many)
    holm = {row["submission_a"] + row["submission_b"]: row["p_adjusted"] for row in registry.pairs}
    registry.compare(correction=correction)
    assert f"corr:{correction}/36" in registry.boards[0].signature
    for row in registry.pairs:
        assert row["p_adjusted"] >= row["p_value"]
        if correction in ("min-p", "max-t"):
            assert row["p_adjusted"] <= holm[row["submission_a"] + row["submission_b"]] + 0.02
        assert row["significant"] == (row["p_adjusted"] <= 0.05)


def test_corrections_that_do_not_apply_say_why(many, undone):
    registry = undone(many)
    with pytest.raises(InputError, match="tests permutation and bootstrap without options, not with sign; set corr"):
        registry.compare(correction="min-p", test="sign")
    with pytest.raises(InputError, match="requires two-sided tests"):
        registry.compare(correction="shaffer", alternative="greater", candidate="s3")
    with pytest.raises(InputError, match="--memory"):
        registry.compare(Execution(memory=2**21), correction="max-t", resamples=10_000_000, test="permutation")


def test_a_test_that_favours_the_worse_system_gives_no_win(many, undone):
    """Documents of one item that a wins against a long one that b wins: the sign test is for a, accuracy for b."""
    wrong = {"x": "y", "y": "z", "z": "x"}
    many.gold = {f"i{n:02}": "x" for n in range(70)}
    many.documents = {k: f"d{min(n, 30)}" for n, k in enumerate(many.gold)}
    many.systems = {name: {k: v if (n < 30) == (name == "a") else wrong[v]
                           for n, (k, v) in enumerate(many.gold.items())} for name in "ab"}
    registry = undone(many)
    registry.compare(test="sign", unit="cluster")
    (row,) = registry.pairs
    assert (row["system_a"], row["significant"]) == ("b", False)
    assert row["p_value"] < 1e-6
    assert [message.code for message in row["messages"]] == ["worse-system-favoured"]
    assert "is not significantly better than" in str(registry.boards[0].sentences)


def test_what_few_clusters_can_show_depends_on_the_correction(many, undone):
    """6 documents: the least p is 1/32, which Hochberg's correction can reject for all pairs together."""
    many.gold = {f"i{n}": "x" for n in range(36)}
    many.documents = {k: f"d{n % 6}" for n, k in enumerate(many.gold)}
    many.systems = {f"s{n}": {k: "x" if i // 6 < 2 * n else "y" for i, k in enumerate(many.gold)} for n in range(1, 4)}
    registry, said = undone(many), {}
    for correction in ("hochberg", "holm"):
        registry.compare(unit="cluster", correction=correction)
        said[correction] = str(registry.boards[0].sentences)
    assert "All 3 differences are significant" in said["hochberg"]
    assert "can be significant" not in said["hochberg"]
    assert ("No difference can be significant, because the smallest possible p-value with 6 clusters is 0.03125; at "
            "least 7 clusters are needed") in said["holm"]


def test_tests_of_single_responses_take_them_as_units(undone, tmp_path):
    """By themselves, or kept together by item or cluster, which is the permutation; no other test takes them."""
    manifest = tmp_path / "task.toml"
    sample = ROOT / "sample_data" / "entities"
    manifest.write_text((sample / "task.toml").read_text() + '\nexclude = ["*/Birch.*", "*/Cedar.*", "*-xl.conll"]\n')
    registry = undone(manifest, "--root", sample)
    of_unit = {}
    for unit in ("response", "item", "cluster"):
        registry.compare(test="response-permutation", unit=unit)
        of_unit[unit] = registry.pairs
        assert {row["unit"] for row in of_unit[unit]} == {unit}
        registry.compare(test="permutation", unit=unit.replace("response", "item"))
        permuted = [row["p_value"] for row in registry.pairs]
        assert ([row["p_value"] for row in of_unit[unit]] == pytest.approx(permuted, rel=1e-12)) == (unit != "response")
    given = dict(map(tuple, registry.connection.exec_driver_sql(
        "SELECT system, count(*) FROM item_response GROUP BY system")))
    for row in of_unit["response"]:
        assert max(given[row["system_a"]], given[row["system_b"]]) <= row["n_units"]
        assert row["n_units"] <= given[row["system_a"]] + given[row["system_b"]]
    with pytest.raises(InputError, match='"item" or "cluster", or test = "fisher" or "response-permutation"'):
        registry.compare(unit="response")
