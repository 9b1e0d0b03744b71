"""Replicability on boards: the same claims as by hand, over test sets and over values of an attribute."""

import csv
from itertools import product

import numpy as np
import pytest
from scipy import stats

from tests.real_data.test_wordalign import MANIFEST


def folded(real_data, systems):
    """The TREC columns of some runs, with the fold of each topic: five of ten topics."""
    with (real_data("trec-adhoc8-ap") / "adhoc8_ap.csv").open() as file:
        rows = list(csv.DictReader(file))
    return [{"fold": f"fold{n // 10}", **{s: float(row[s]) for s in systems}} for n, row in enumerate(rows)]


def imported(registry, rows, path):
    with path.open("w") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    registry("import", "wide", path, "--task", "trec8", "--option", 'attributes=["fold"]')


def test_trec_columns_split_into_folds(registry, real_data, tmp_path):
    """One-sided exact permutation in every fold by all 2^10 swaps, then Bonferroni and Fisher step by step."""
    rows = folded(real_data, ["run125", "run126", "run1"])
    imported(registry, rows, tmp_path / "ap.csv")
    asked = ("study", "replicability", "trec8", "--across", "fold", "--test", "permutation", "--format", "json")
    found = registry(*asked).json
    sets = {(r["better"], r["than"], r["test_set"]): r for r in registry(*asked, "--show", "test_sets").json}
    swaps = np.array(list(product((1, -1), repeat=10)))
    for row in found:
        gains = np.array([r[row["better"]] - r[row["than"]] for r in rows]).reshape(5, 10)
        p = np.array([(swaps @ fold >= fold.sum() - 1e-9).mean() for fold in gains])
        assert row["scores_higher_on"] == (gains.mean(axis=1) > 0).sum() > 0
        ordered = np.sort(p)
        bonferroni = np.maximum.accumulate([(5 - u) * ordered[u] for u in range(5)])
        fisher = np.maximum.accumulate([stats.combine_pvalues(ordered[u:]).pvalue for u in range(5)])
        assert (row["k_bonferroni"], row["k_fisher"]) == ((bonferroni <= .05).sum(), (fisher <= .05).sum())
        of = [sets[row["better"], row["than"], f"fold{n}"] for n in range(5)]
        assert [one["p_value"] for one in of] == pytest.approx(p, rel=1e-9)
        assert row["listed"] == ", ".join(one["test_set"] for one in of if one["listed"])
    assert {("run126", "run125"), ("run126", "run1")} <= {(r["better"], r["than"]) for r in found}
    assert max(row["k_fisher"] for row in found) > 0


def test_a_claim_that_holds_everywhere_and_its_opposite(registry, tmp_path):
    rng = np.random.default_rng(5)
    rows = [{"fold": f"f{n % 4}", "good": round(x + 1, 3), "bad": round(x, 3)} for n, x in enumerate(rng.random(80))]
    imported(registry, rows, tmp_path / "scores.csv")
    (claim,) = registry("study", "replicability", "trec8", "--across", "fold", "--format", "json").json
    assert (claim["better"], claim["than"], claim["k_bonferroni"], claim["k_fisher"]) == ("good", "bad", 4, 4)
    assert claim["listed"] == "f0, f1, f2, f3"
    asked = ("study", "replicability", "trec8", "--across", "fold", "--show", "numbers")
    numbers = registry(*asked, "--format", "json").json
    warned = registry(*asked[:5], "--test", "bootstrap").stderr
    assert "the bootstrap rejects too often on 20 units (fewer than 200" in warned
    assert [row["p_bonferroni"] for row in numbers] == pytest.approx([4 * 2**-20] * 4, rel=1e-9)  # 2^-20 each
    shown = registry("study", "replicability", "trec8", "--across", "fold", "--format", "table").stdout
    assert "on all test sets in 1" in shown
    assert "study:replicability(across=fold)" in shown


def test_a_pair_of_which_either_is_better_somewhere_is_one_pair(registry, tmp_path):
    rng = np.random.default_rng(5)
    rows = [{"fold": f"f{n % 2}", "a": round(x + n % 2, 3), "b": round(x + 1 - n % 2, 3)}
            for n, x in enumerate(rng.random(80))]
    imported(registry, rows, tmp_path / "scores.csv")
    asked = ("study", "replicability", "trec8", "--across", "fold")
    assert [row["k_bonferroni"] for row in registry(*asked, "--format", "json").json] == [1, 1]
    said = " ".join(registry(*asked, "--format", "table").stdout.split())
    assert "Of 1 pair on 2 test sets, one system is significantly better on at least one test set in 1 pair, and on " \
           "all test sets in 0" in said


def test_what_cannot_be_asked(registry, scored, task):
    scored(task)
    one = registry("study", "replicability", "small", exit_code=3).stderr
    assert "--across" in one
    assert "no attribute 'fold'" in registry("study", "replicability", "small", "--across", "fold", exit_code=3).stderr
    asked = ("study", "replicability", "small", "--across", "document")
    assert "direction" in registry(*asked, "--test", "bootstrap(variant=berg-kirkpatrick-2012)", exit_code=3).stderr
    assert "system 'd'" in registry(*asked, "--system", "d", exit_code=3).stderr
    (row,) = registry(*asked, "--system", "a", "--system", "b", "--format", "json").json  # b is the better one nowhere
    assert (row["better"], row["than"], row["test_sets"]) == ("a", "b", 3)


def test_several_test_sets_of_a_real_task(registry, scored, real_data):
    """awesome-align is better than GIZA++ on both, and the two symmetrizations of GIZA++ change places."""
    scored(MANIFEST, "--root", real_data("wordalign"))
    found = {(r["better"], r["than"]): r for r in registry(
        "study", "replicability", "wordalign", "--format", "json").json}
    assert found["awesome", "giza"]["k_bonferroni"] == 2
    both = [found[pair] for pair in (("giza.intersection", "giza"), ("giza", "giza.intersection"))]
    assert [row["scores_higher_on"] for row in both] == [1, 1]
    assert max(row["k_bonferroni"] for row in both) < 2
