"""The result of a board in one sentence is what its decisions say, and the details of a pair are right."""

import re
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import registry
from registry.boards.pairs import PairDetails, describe_details, describe_limits
from registry.boards.results import describe_result, select_pair, summarise_for_paper
from registry.messages import NO_MESSAGES, Message, Messages, on_board
from registry.reports.boards import make_pair_table
from registry.reports.paper_tables import render_latex_pairs
from tests.label_tasks import LabelTask
from tests.reports.boards import changed, leaderboard

NAMES = [f"h{n}" for n in range(8)]
ALL = set(combinations(range(8), 2))


def describe(undecided, n=8, equal=1, n_ranked=None):
    """The result of n systems of which some pairs do not differ; the first `equal` ones share rank 1."""
    board = leaderboard(NAMES[:n], significant=lambda a, b: (a, b) not in undecided)
    standings = [replace(standing, rank=1 if place < equal else None if place >= (n_ranked or n) else standing.rank)
                 for place, standing in enumerate(board.standings)]
    return describe_result(replace(board, standings=tuple(standings)))


@pytest.mark.parametrize(("undecided", "result"), [
    (set(), "h0 is significantly better than all other systems."),
    ({(1, 2), (3, 4)}, "h0 is significantly better than all other systems."),
    ({(0, 1)}, "No single winner: h0 and h1 of the 8 systems may be first; h0 has the best score."),
    ({(0, 1), (0, 2), (0, 4), (1, 2), (1, 4), (2, 4), (3, 4)},
     "No single winner: h0, h1, h2 and h4 of the 8 systems may be first; h0 has the best score."),
    ({(a, b) for a, b in ALL if b < 6}, "No single winner: 6 of the 8 systems may be first; h0 has the best score."),
    ({(0, 2)}, "h0 is the only one of the 8 systems that no other system beats significantly."),
    (ALL, "No two of the 8 systems differ significantly; h0 has the best score."),
])
def test_the_result_is_about_the_best_systems(undecided, result):
    assert describe(undecided) == result


@pytest.mark.parametrize(("lows", "result"), [
    ([1, 1, 3], "No single winner: h0 and h1 of the 3 systems may be first; h0 has the best score."),
    ([1, 2, 2], "Only h0 of the 3 systems may be first."),
])
def test_ranks_of_their_own_test_decide_who_may_be_first(lows, result):
    board = leaderboard(NAMES[:3], significant=lambda a, b: True)
    standings = [replace(standing, simultaneous_low=low, simultaneous_high=3)
                 for standing, low in zip(board.standings, lows, strict=True)]
    assert describe_result(replace(board, standings=tuple(standings), ranks="simultaneous")) == result


def test_equal_scores_share_the_first_place():
    assert describe({(0, 1)}, equal=2) == (
        "No single winner: h0 and h1 of the 8 systems may be first; h0 and h1 have the same, best score.")
    assert describe(ALL, equal=5) == (
        "No two of the 8 systems differ significantly; 5 systems have the same, best score.")


def test_systems_without_a_rank_are_left_out():
    assert describe({(0, 3)}, n=4, n_ranked=3) == "h0 is significantly better than all other ranked systems."
    assert describe({(0, 1)}, n=4, n_ranked=2) == (
        "No two of the 2 ranked systems differ significantly; h0 has the best score.")
    assert describe(set(), n=3, n_ranked=1) == ""


def test_the_best_score_is_of_the_ranked_systems_if_an_unranked_one_is_above():
    """h0 and h2 came late and have no rank; the best of the others is h1."""
    board = leaderboard(NAMES[:4], significant=lambda a, b: False)
    ranks = [None, 1, None, 2]

    def describe_board(scores):
        return describe_result(replace(board, standings=tuple(
            replace(standing, rank=rank, score=score)
            for standing, rank, score in zip(board.standings, ranks, scores, strict=True))))

    assert describe_board([0.9, 0.8, 0.7, 0.6]) == (
        "No two of the 2 ranked systems differ significantly; h1 has the best score of the ranked systems.")
    assert describe_board([0.8, 0.8, 0.7, 0.6]).endswith("h1 has the best score.")


@given(st.sets(st.sampled_from(sorted(ALL))))
def test_the_sentence_names_the_systems_that_nobody_beats(undecided):
    result = describe(undecided)
    first = {b for b in range(8) if all((a, b) in undecided for a in range(b))}
    if found := re.search(r"winner: (\d) of", result):
        assert int(found[1]) == len(first) > 4
    elif "winner" in result:
        assert {int(n) for n in re.findall(r"h(\d)", result)} == first
    elif "No two" in result:
        assert undecided == ALL
    else:
        assert first == {0}
        assert ("all other" in result) == (not any(a == 0 for a, b in undecided))


@pytest.mark.parametrize(("undecided", "verdict"), [
    (set(), "significantly better at 5 % than all other systems (largest p = 0.0300 after Holm's correction over 3 "
            "pairs)."),
    ({(0, 1)}, "significantly better at 5 % than h2 (p = 0.0300 after Holm's correction over 3 pairs), but not than h1 "
               "(p = 0.0200)."),
    ({(0, 1), (0, 2)}, "not significantly better at 5 % than any other system (smallest p = 0.0200 after Holm's "
                       "correction over 3 pairs).")])
def test_the_best_system_is_compared_with_all_others_for_the_paper(undecided, verdict):
    p_values = iter([0.02, 0.03, 0.04])
    board = changed(leaderboard(NAMES[:3], significant=lambda a, b: (a, b) not in undecided), lambda _: {
        "p_adjusted": next(p_values)})
    assert summarise_for_paper(board) == (
        f"On 100 items, h0 has the best score of 3 systems: 1.0000 (accuracy). It is {verdict}")
    standings = tuple(replace(standing, runs=2) for standing in board.standings)
    assert summarise_for_paper(replace(board, standings=standings)).endswith(" for these runs, not for new ones.")


def test_results_without_a_best_system_are_not_summarised():
    """Two systems share the first place, a p-value is missing, a test is one-sided, or no result can be significant."""
    board = leaderboard(NAMES[:3])
    standings = [replace(standing, rank=1) for standing in board.standings]
    message = Message("too-few-units", {"units": 2, "unit": "item", "needed": 6, "least": 0.5})
    for other in (replace(board, standings=tuple(standings)), changed(board, lambda _: {"p_adjusted": None}),
                  replace(board, comparison=board.comparison._replace(alternative="observed")),
                  replace(board, statements=(message,))):
        assert summarise_for_paper(other) == ""


def change_pair(**values):
    board = changed(leaderboard(["a", "b"], [0.9, 0.8]), lambda _: values)
    return describe_result(replace(board, decisions=replace(board.decisions, columns={
        **board.decisions.columns, "significant": np.ma.MaskedArray([values.get("significant", True)])})))


def test_the_result_of_two_systems_has_all_numbers():
    numbers = {"ci_low": 0.02, "ci_high": 0.18, "p_value": 0.012, "p_adjusted": 0.012, "alternative": "two-sided"}
    assert change_pair(**numbers) == (
        "a is significantly better than b: difference 0.1000, 95 % CI 0.0200 to 0.1800, p = 0.0120.")
    assert change_pair(**numbers, significant=False).startswith("a is not significantly better than b: difference")
    assert change_pair(**numbers | {"alternative": "greater"}).endswith("one-sided p = 0.0120.")
    assert change_pair(**numbers | {"p_value": None}) == (
        "a and b are not tested (difference 0.1000, 95 % CI 0.0200 to 0.1800).")
    assert change_pair(**numbers | {"difference": 0.0, "p_value": 1.0}).startswith("a and b have the same score: ")


@pytest.mark.parametrize(("p_value", "method", "shown"), [
    (1 / 1000, "monte-carlo", "p ≤ 0.0010"), (2 / 1000, "monte-carlo", "p = 0.0020"),
    (1 / 1000, "exact", "p = 0.0010")])
def test_the_smallest_p_value_of_a_simulation_is_a_bound(p_value, method, shown):
    """(c + 1) / (R + 1) of 999 permutations is 1 / 1000 if none is as extreme as the data."""
    board = changed(leaderboard(["a", "b"], [0.9, 0.8]), lambda _: {
        "p_value": p_value, "p_adjusted": p_value, "method": method, "resamples": 999, "alternative": "two-sided"})
    assert shown in describe_result(board)
    (row,) = make_pair_table(board).rows
    assert (row["shown_p"], row["shown_p_adjusted"]) == (shown[2:].removeprefix("= "),) * 2
    assert ("$\\leq$ 0.0010" in render_latex_pairs(board)) == ("≤" in shown)


def test_the_p_value_of_a_pair_of_many_is_corrected():
    board = changed(leaderboard(["a", "b", "c"]), lambda _: {"alternative": "two-sided"})
    result = describe_result(select_pair(board, 1, 0))
    assert result.endswith("p = 0.0100, 0.0400 after Holm's correction over 3 pairs.")


@pytest.mark.parametrize(("p_adjusted", "interval", "is_explained"), [
    (0.2, (0.02, 0.18), True), (0.2, (-0.02, 0.18), False), (0.04, (0.02, 0.18), False)])
def test_a_pair_that_only_the_correction_makes_not_significant_is_explained(p_adjusted, interval, is_explained):
    board = changed(leaderboard(["a", "b", "c"], significant=lambda a, b: p_adjusted <= 0.05), lambda _: {
        "alternative": "two-sided", "p_adjusted": p_adjusted, "ci_low": interval[0], "ci_high": interval[1]})
    text = " ".join(describe_details(select_pair(board, 1, 0), PairDetails(100, 3, 2, 1, 0.1)))
    assert ("leaves out 0 although the difference is not significant: the interval is about this pair alone, the "
            "p-value is corrected for 3 pairs." in text) == is_explained
    assert "significant at 5 % by the corrected p-value (" in text


@pytest.mark.parametrize(("p_value", "interval", "verb"), [
    (0.5, (0.02, 0.18), "leaves out"), (0.04, (-0.02, 0.18), "includes"), (0.5, (-0.02, 0.18), ""),
    (0.04, (0.02, 0.18), "")])
def test_an_interval_that_contradicts_its_p_value_is_explained(p_value, interval, verb):
    """Also on boards that are too small for any significant difference."""
    board = changed(leaderboard(["a", "b"]), lambda _: {
        "alternative": "two-sided", "p_value": p_value, "p_adjusted": p_value, "ci_low": interval[0],
        "ci_high": interval[1]})
    board = replace(board, statements=(Message("too-few-units", {"units": 2, "unit": "item", "needed": 6,
                                                                 "least": 0.5}),))
    text = " ".join(describe_details(board, PairDetails(2, 1, 1, 0, None)))
    assert (f"The confidence interval {verb} 0 although p = {p_value:.4f}, because" in text) == bool(verb)
    assert ("because intervals and p-values use different methods; the p-value decides." in text) == bool(verb)


def test_limits_of_a_selected_pair_are_its_own():
    """a and b have a warning that the board shows, b and c none, and a and c depend on simulation error."""
    rare = Message("rare-class")
    board = changed(leaderboard(["a", "b", "c"]), lambda decision: {
        "messages": Messages([rare]) if (decision.a, decision.b) == (0, 1) else NO_MESSAGES,
        "resolved": (decision.a, decision.b) != (0, 2)})
    board = replace(board, statements=("", on_board(rare, 1, 3)))
    assert describe_limits(select_pair(board, 0, 1)) == [
        "About this pair: equal systems may be called different too often, because the score depends on a class with "
        "fewer than 20 items."]
    assert describe_limits(select_pair(board, 1, 2)) == []
    assert describe_limits(select_pair(board, 0, 2)) == ["The decision about this pair depends on simulation error."]


RNG = np.random.default_rng(7)
GOLD = RNG.choice(["x", "y", "z"], 400)
SYSTEMS = {name: np.where(RNG.random(400) < share, GOLD, RNG.choice(["x", "y", "z"], 400))
           for name, share in (("good", 0.8), ("bad", 0.7))}


def test_details_of_labels_are_counts_of_items():
    board = registry.evaluate(GOLD, SYSTEMS)
    good, bad = (SYSTEMS[name] == GOLD for name in ("good", "bad"))
    only_good, only_bad = int((good & ~bad).sum()), int((bad & ~good).sum())
    p = binomtest(only_good, only_good + only_bad).pvalue
    assert f"difference {good.mean() - bad.mean():.4f}" in board.result
    assert f"p = {p:.4f}" in board.result if p >= 0.001 else f"p = {p:.1e}" in board.result
    assert (f"differ on {only_good + only_bad} of 400 items: {only_good} favour good, {only_bad} favour bad." in
            board.result)


def test_the_detectable_difference_has_a_power_of_80_percent():
    """By drawing test sets of McNemar's exact test, with the discordance of the data."""
    board = registry.evaluate(GOLD, SYSTEMS)
    detectable = float(re.search(r"true difference of (0\.\d+) or more with 80 % power", board.result)[1])
    share = float(np.mean((SYSTEMS["good"] == GOLD) != (SYSTEMS["bad"] == GOLD)))
    discordant = RNG.binomial(400, share, 4000)
    wins = RNG.binomial(discordant, (share + detectable) / share / 2)
    power = np.mean([binomtest(int(k), int(n)).pvalue <= 0.05 for k, n in zip(wins, discordant, strict=True)])
    assert abs(power - 0.8) < 0.03


def macro_f1(gold, answers):
    scores = []
    for label in np.unique([gold, answers]):
        found, correct = (answers == label).sum() + (gold == label).sum(), ((answers == label) & (gold == label)).sum()
        scores.append(2 * correct / found)
    return np.mean(scores)


def test_an_item_favours_the_system_that_would_lose_by_a_swap():
    board = registry.evaluate(GOLD, SYSTEMS, metric="LabelF")
    good, bad = SYSTEMS["good"], SYSTEMS["bad"]
    difference = macro_f1(GOLD, good) - macro_f1(GOLD, bad)
    effects = []
    for item in np.flatnonzero(good != bad):
        swapped_good, swapped_bad = good.copy(), bad.copy()
        swapped_good[item], swapped_bad[item] = bad[item], good[item]
        effects.append(difference - macro_f1(GOLD, swapped_good) + macro_f1(GOLD, swapped_bad))
    effects = np.array(effects)
    assert f"{(effects > 1e-12).sum()} favour good, {(effects < -1e-12).sum()} favour bad" in board.result
    only_good, only_bad = int(((good == GOLD) & (bad != GOLD)).sum()), int(((bad == GOLD) & (good != GOLD)).sum())
    assert only_good + only_bad < (good != bad).sum()  # both are wrong, with different labels
    assert (f"good alone is correct on {only_good} items, bad alone on {only_bad}; items on which both are wrong can "
            "favour one of them, too.") in board.result


def test_identical_systems_have_no_favourites():
    board = registry.evaluate(GOLD, {"a": SYSTEMS["good"], "b": SYSTEMS["good"]})
    assert board.result.startswith("a and b have the same score: difference 0.0000")
    assert "detects no true difference" in board.result


def test_few_items_have_neither_power_nor_a_sentence_for_the_paper():
    board = registry.evaluate(["x", "y", "x", "y"], {"a": ["x", "y", "x", "y"], "b": ["x", "y", "x", "x"]})
    assert board.result.endswith("The systems differ on 1 of 4 items: 1 favour a, 0 favour b.")


def test_texts_without_4_grams_have_no_bleu_to_detect():
    """All scores are 0, and so is the standard error."""
    texts = [" ".join(RNG.choice(list("abcdefgh"), 3)) for _ in range(30)]
    systems = {name: [" ".join(text.split()[::step]) for text in texts] for name, step in (("a", 1), ("b", -1))}
    assert "detects a true difference" not in registry.evaluate(texts, systems, metric="BLEU").result


def test_compare_pair_shows_two_systems_of_a_board(task, scored, registry):
    scored(task)
    registry("compare", "small")
    names = sorted({row["system"] for row in registry("board", "--format", "json").json})
    pairs = {frozenset((row["system_a"], row["system_b"])): row for row in registry("pairs", "--format", "json").json}
    for a, b in product(names[:2], names[:2]):
        if a == b:
            assert "not compared on any leaderboard" in registry("compare-pair", a, b, exit_code=None).stderr
            continue
        (row,) = registry("compare-pair", a, b, "--format", "json").json
        assert row["p_adjusted"] == pairs[frozenset((a, b))]["p_adjusted"]
        shown = registry("compare-pair", a, b, "--format", "table").stdout
        assert "The systems differ on " in shown
        assert shown.count("\n    ") <= 2  # two systems
    assert "unknown system 'nobody'" in registry("compare-pair", names[0], "nobody", exit_code=None).stderr
    unknown = registry("compare-pair", *names[:2], "--test-set", "none", exit_code=None).stderr
    assert "unknown test set 'none'" in unknown
    assert registry("compare-pair", *names[:2], "--test-set", "test").stdout


def test_a_planned_comparison_of_one_pair_needs_no_correction(registry, tmp_path):
    gold = {f"i{n}": "ab"[n % 2] for n in range(40)}
    systems = {name: {item: "ab"[(n + (n % 10 < wrong)) % 2] for n, item in enumerate(gold)}
               for wrong, name in enumerate("xyz")}
    registry("run", LabelTask(tmp_path / "task", gold, systems).write())
    permission = "If you planned this comparison alone before you saw any score, you may report p without the corr"
    assert f"{permission}ection for 3 pairs." in registry("compare-pair", "x", "z", "--format", "table").stdout
    del systems["y"]
    registry("run", LabelTask(tmp_path / "two", gold, systems).write(), "--db", "two.duckdb")
    assert permission not in registry("compare-pair", "x", "z", "--format", "table", "--db", "two.duckdb").stdout


def test_compare_pair_refuses_a_name_of_several_systems(task, registry):
    task.extra = "\n".join(f'[[submit]]\nfile = "systems/{letter}.tsv"\nteam = "{team}"\nsystem = "ensemble"\n'
                           for letter, team in (("a", "One"), ("b", "Two")))
    registry("run", task.write())
    error = registry("compare-pair", "c", "ensemble", exit_code=3).stderr
    assert "ensemble is the name of 2 systems; give one of One/ensemble, Two/ensemble" in error
    assert registry("compare-pair", "c", "Two/ensemble").stdout


def test_random_runs_have_a_sentence_for_the_paper():
    """The number of runs is in it; no difference that the test set detects is printed, and a note says why."""
    runs = {(name, seed): np.where(RNG.random(400) < share, GOLD, RNG.choice(["x", "y", "z"], 400))
            for name, share, seeds in (("good", 0.8, 3), ("bad", 0.6, 2)) for seed in range(seeds)}
    board = registry.evaluate(GOLD, runs, runs="random")
    pair = board.pairs["good", "bad"]
    text = str(board)
    assert "For the paper: On 400 items, 3 runs of good and 2 of bad, good reaches " in text
    assert f"({pair.difference:.4f}, 95 % CI {pair.interval[0]:.4f} to {pair.interval[1]:.4f}, p " in text
    assert "not computed for random runs" in text
    assert "detects a true difference" not in text
    del runs["good", 2]
    assert "On 400 items and 2 runs of each system, " in str(registry.evaluate(GOLD, runs, runs="random"))
    assert "holds for these runs" not in text
    fixed = str(registry.evaluate(GOLD, runs, runs="fixed"))
    assert "On 400 items and 2 runs of each system, " in fixed
    assert "(accuracy, from statistics averaged over runs). " in fixed
    assert "permutation test). The result holds for these runs, not for new ones." in fixed


def test_a_better_system_with_fewer_units_has_larger_effects():
    """a is better by 0.9 in one item, and b by 0.1 in two; with one item each, counts do not contradict the score."""
    scores = {"a": [1.0, 0.0, 0.0] + [0.5] * 7, "b": [0.1, 0.1, 0.1] + [0.5] * 7}
    text = str(registry.evaluate(None, scores)).replace("\n", " ")
    assert "1 favour a, 2 favour b. An item that favours a changes the difference more, on average." in text
    scores["b"][1:3] = [0.0, 0.0]
    assert "changes the difference more" not in str(registry.evaluate(None, scores))
