"""Evert (2004), figures 1 to 3, on the candidates of Krenn and Evert."""

import csv
from pathlib import Path

import numpy as np
import pytest

from registry.significance.pairwise.independent import fisher_tail
from registry.studies.ranking import Ranked, evaluate

MANIFEST = Path(__file__).parent / "krennppv.toml"
MEASURES = ("log-likelihood", "chi-squared", "t-score", "frequency")


@pytest.fixture
def krennppv(real_data, registry, scored):
    scored(MANIFEST, "--root", real_data("krennppv"))

    def rankings(*arguments):
        return registry("ranking", "krennppv", *arguments, "--format", "json").json

    return rankings


def test_curves_of_figures_1_and_2(krennppv):
    curves = krennppv("--show", "curves")
    assert {round(100 * row["baseline"], 2) for row in curves} == {11.09}
    assert sorted({row["n"] for row in curves}) == list(range(100, 2001, 50))
    precision = {(row["system"], row["n"]): row["precision"] for row in curves}
    for n in (100, 500, 1000):  # "G2 and t are the most useful, by far superior to frequency-based ranking"
        assert min(precision["log-likelihood", n], precision["t-score", n]) > max(
            precision["chi-squared", n], precision["frequency", n]) + 0.02
    assert all(row["accepted"] == row["n"] for row in curves)
    assert all(row["ci_low"] > row["baseline"] for row in curves if row["system"] in MEASURES[:2])


@pytest.mark.parametrize("ties", ["random", "include", "exclude"])
def test_g2_and_x2_differ_up_to_n_1250_and_nowhere_beyond(krennppv, ties):
    chosen = ("--system", "log-likelihood", "--system", "chi-squared", "--ties", ties)
    (pair,) = krennppv(*chosen)
    assert pair["differs_up_to"] == 1250
    assert (pair["significant"], pair["cut_offs"], pair["significant_at"]) == (24, 39, "100 to 1250")
    tests = krennppv(*chosen, "--show", "tests")
    assert {row["n"]: row["significant"] for row in tests} == {n: n <= 1250 for n in range(100, 2001, 50)}


@pytest.mark.parametrize("other", ["chisq", "chisq.corr"])
@pytest.mark.parametrize("seed", range(3))
def test_so_does_the_corrected_x2_whatever_the_order_of_ties_and_the_two_sided_rule(real_data, other, seed):
    with (real_data("krennppv") / "KrennPPV.csv").open() as file:
        rows = list(csv.DictReader(file))
    right = np.array([row["is.colloc"] == "True" for row in rows])
    scores = np.array([[float(row["log.like"]), float(row[other])] for row in rows])
    order = np.random.default_rng(seed).permutation(len(rows))
    (contest,) = evaluate(Ranked(("G2", "X2"), right, scores, order), np.arange(100, 2001, 50)).contests
    assert contest.significant.tolist() == (contest.n <= 1250).tolist()
    doubled = [fisher_tail([[ra, na - ra], [rb, nb - rb]], rule="doubling").p for ra, na, rb, nb in zip(
        contest.right_a, contest.only_a, contest.right_b, contest.only_b, strict=True)]
    assert (np.array(doubled) <= 0.05).tolist() == contest.significant.tolist()


def test_off_the_grid_a_few_are_significant_above_1250(krennppv):
    """The facts of shared/data/README.md: 1251 to 1268, 1366 and 1367."""
    (pair,) = krennppv("--system", "log-likelihood", "--system", "chi-squared", "--grid", "1250:2000:1")
    assert pair["significant_at"] == "1250 to 1268, 1366 to 1367"


@pytest.mark.parametrize("rule", ["point", "doubling"])
def test_the_board_of_500_best_tests_the_same_regions(krennppv, registry, rule):
    registry("compare", "krennppv", "--test", f"fisher(rule={rule})")
    board = {(row["system_a"], row["system_b"]): row["p_value"] for row in registry(
        "pairs", "krennppv", "--format", "json").json}
    study = {(row["system_a"], row["system_b"]): row["p_value"] for row in krennppv("--show", "tests", "--grid", "500")}
    assert len(board) == len(study) == 6
    for (a, b), p in board.items():  # with regions of the same size the two rules agree
        assert p == pytest.approx(study[(a, b) if (a, b) in study else (b, a)], rel=1e-10)


def test_frequency_is_tied_at_cut_offs_and_its_lists_differ_in_size(krennppv, registry):
    told = registry("ranking", "krennppv", "--ties", "include", "--show", "curves")
    assert "the systems accept different numbers of candidates at" in told.stderr
    assert "frequency accepts" in told.stderr
    assert "differ in size" not in registry("ranking", "krennppv").stderr


@pytest.mark.parametrize("ties", ["random", "include", "exclude"])
def test_sql_accepts_the_same_candidates(krennppv, registry, ties):
    """Frequencies, which are tied at many cut-offs; of those tied a seed takes the same ones on both sides."""
    sizes = (100, 333, 500, 1000)
    curves = krennppv("--system", "frequency", "--show", "curves", "--ties", ties, "--seed", 7, "--grid",
                      ",".join(map(str, sizes)))
    by_sql = registry("query", " UNION ALL ".join(f"""
        SELECT count(*) AS accepted, count(*) FILTER (correct) AS "right"
        FROM n_best('krennppv/test/frequency/frequency', {n}, ties := '{ties}', seed := 7)""" for n in sizes),
        "--format", "json").json
    assert [{"accepted": row["accepted"], "right": row["right"]} for row in curves] == by_sql


def test_the_docs_show_what_is_printed(krennppv, registry):
    page = (Path(__file__).parent.parent.parent / "docs" / "ranking.md").read_text()
    printed = registry("ranking", "krennppv", "--format", "table").stdout.splitlines()
    assert "".join(f"    {line}".rstrip() + "\n" for line in printed[:9]) in page
