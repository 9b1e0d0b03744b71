"""`registry quick VOTES` and `registry import votes`: from a table of votes to strengths and tests of differences."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from registry.errors import InputError
from registry.importers import IMPORTERS

WINS, TIES, LOSSES = 30, 8, 12  # of aspen against birch


def write(path, rows, columns=("model_a", "model_b", "winner")):
    path.write_text("".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows))


def two_systems():
    """Each system is the first one in every second vote."""
    outcomes = ["aspen"] * WINS + ["tie"] * TIES + ["birch"] * LOSSES
    for n, outcome in enumerate(outcomes):
        yield ("aspen", "birch", outcome) if n % 2 else ("birch", "aspen", outcome)


def test_two_systems_have_the_log_odds_of_their_points(registry, tmp_path):
    """With one pair, the strengths are +- half the logit of the share of points, and the test is that of a mean."""
    write(tmp_path / "votes.jsonl", two_systems())
    board = registry("quick", "votes.jsonl", "--keep", "arena", "--format", "json")
    points = np.repeat([1, 0.5, 0], [WINS, TIES, LOSSES])
    n, p = len(points), points.mean()
    half = math.log(p / (1 - p)) / 2
    assert [row["score"] for row in board.json] == pytest.approx([half, -half])
    (pair,) = registry("pairs", "arena", "--format", "json").json
    error = math.sqrt(np.square(points - p).sum() * n / (n - 1)) / (n * p * (1 - p))  # delta method
    t = math.log(p / (1 - p)) / error
    assert pair["difference"] == pytest.approx(math.log(p / (1 - p)))
    assert pair["p_value"] == pytest.approx(2 * stats.t.sf(t, n - 1), rel=1e-6)
    reach = stats.t.ppf(0.975, n - 1) * error
    assert (pair["ci_low"], pair["ci_high"]) == pytest.approx((t * error - reach, t * error + reach))
    assert (pair["unit"], pair["n_units"]) == ("judgment", n)
    assert "no faults" in registry("verify").stderr


@pytest.mark.parametrize(("spellings", "columns"), [
    ({"a": "model_a", "b": "model_b", "tie": "tie"}, ("model_a", "model_b", "winner")),
    ({"a": "model_1", "b": "model_2", "tie": "Tie"}, ("model_1", "model_2", "winner")),
    ({"a": "A", "b": "B", "tie": "draw"}, ("System A", "System B", "Outcome")),
    ({"a": 1, "b": 0, "tie": 0.5}, ("system_a", "system_b", "outcome")),
    ({"a": "A>B", "b": "B>>A", "tie": "A=B"}, ("system_a", "system_b", "verdict")),
    ({"a": "left", "b": "right", "tie": "tie (bothbad)"}, ("left", "right", "choice")),
])
def test_usual_spellings_mean_the_same(registry, tmp_path, spellings, columns):
    votes = [("aspen", "birch", "a")] * 6 + [("aspen", "birch", "b")] * 3 + [("aspen", "birch", "tie")] * 3
    write(tmp_path / "votes.jsonl", [(a, b, spellings[outcome]) for a, b, outcome in votes], columns)
    rows = registry("quick", "votes.jsonl", "--format", "json").json
    assert rows[0]["score"] - rows[1]["score"] == pytest.approx(math.log(7.5 / 4.5))


def test_votes_that_find_both_bad_can_be_dropped(registry, tmp_path):
    votes = [("aspen", "birch", "a")] * 6 + [("aspen", "birch", "b")] * 3 + [("aspen", "birch", "both_bad")] * 4
    write(tmp_path / "votes.jsonl", votes)
    rows = registry("quick", "votes.jsonl", "--option", "both_bad=drop", "--format", "json").json
    assert rows[0]["score"] - rows[1]["score"] == pytest.approx(math.log(6 / 3))


def test_weights_count_as_votes(registry, tmp_path):
    columns = ("model_a", "model_b", "winner", "w")
    write(tmp_path / "votes.jsonl", [("aspen", "birch", "a", 2.5)] * 4 + [("aspen", "birch", "b", 0.5)] * 10, columns)
    rows = registry("quick", "votes.jsonl", "--option", "weight=w", "--format", "json").json
    assert rows[0]["score"] - rows[1]["score"] == pytest.approx(math.log(10 / 5))


def test_elo_is_a_linear_scale_of_strengths(registry, tmp_path):
    write(tmp_path / "votes.jsonl", two_systems())
    logit, elo = (registry("quick", "votes.jsonl", "--option", f"scale={scale}", "--format", "json").json
                  for scale in ("logit", "elo"))
    for before, after in zip(logit, elo, strict=True):
        for key in ("score", "ci_low", "ci_high"):
            assert after[key] == pytest.approx(1000 + 400 / math.log(10) * before[key])


@pytest.mark.parametrize(("voters", "are_few"), [(8, False), (5, True), (1, True)])
def test_votes_of_one_voter_are_dependent(registry, tmp_path, voters, are_few):
    """A voter who always prefers one system is one observation; results of few voters hold only for these."""
    columns = ("model_a", "model_b", "winner", "voter", "question_id")
    votes = [("aspen", "birch", "ba"[(n % 10 > 0 and voter % 4 > 0) or (voters == 1 and n % 2)], f"v{voter}", f"q{n}")
             for voter in range(voters) for n in range(20)]
    write(tmp_path / "votes.jsonl", votes, columns)
    done = registry("quick", "votes.jsonl", "--keep", "arena")
    assert (f"the results hold only for the {voters} voter{'s' * (voters > 1)} in the data" in done.stderr) == are_few
    by_voter = registry("pairs", "arena", "--format", "json").json[0]
    write(tmp_path / "alone.jsonl", [vote[:3] for vote in votes])
    registry("quick", "alone.jsonl", "--keep", "alone")
    alone = registry("pairs", "alone", "--format", "json").json[0]
    assert by_voter["difference"] == pytest.approx(alone["difference"])
    assert are_few or by_voter["p_value"] > 100 * alone["p_value"]


@pytest.mark.parametrize(("vote", "says"), [
    (("aspen", "birch", "perhaps"), "2: item '2': the outcome is 'perhaps'; expected a, b, tie, both bad"),
    (("aspen", "aspen", "a"), "a vote is between 'aspen' and 'aspen'; expected two different systems"),
    (("", "birch", "a"), "a vote is between '' and 'birch'"),
])
def test_what_is_wrong_is_named_with_its_line(tmp_path, vote, says):
    write(tmp_path / "votes.jsonl", [("aspen", "birch", "a"), vote])
    with pytest.raises(InputError) as refused:
        IMPORTERS["votes"]().read(tmp_path / "votes.jsonl")
    assert says in str(refused.value)


def test_columns_can_be_named(registry, tmp_path):
    write(tmp_path / "votes.jsonl", [("aspen", "birch", "a"), ("birch", "aspen", "a")], ("x", "y", "z"))
    refused = registry("import", "votes", "votes.jsonl", "--task", "arena", exit_code=3)
    assert "no column is known as system_a or system_b or outcome; it has x, y, z" in refused.stderr
    registry("import", "votes", "votes.jsonl", "--task", "arena", "--option", "system_a=x", "--option", "system_b=y",
             "--option", "outcome=z")


def test_other_tests_refuse_votes(registry, tmp_path):
    write(tmp_path / "votes.jsonl", two_systems())
    for test in ("permutation", "bootstrap", "mcnemar", "t"):
        refused = registry("quick", "votes.jsonl", "--test", test, exit_code=3)
        assert "does not support votes, because the scores of all systems are estimated together" in refused.stderr
        assert "use --test wald" in refused.stderr


def test_rank_sets_of_the_study_contain_the_decisions_of_the_board(registry, tmp_path):
    """Systems are named in an order that differs from that of their strengths."""
    strengths = {"cedar": 2.0, "birch": 1.9, "dogwood": 0.0, "aspen": -1.5}
    rng = np.random.default_rng(7)
    votes = [(a, b, "a" if rng.random() < 1 / (1 + math.exp(strengths[b] - strengths[a])) else "b")
             for a in strengths for b in strengths if a != b for _ in range(60)]
    write(tmp_path / "votes.jsonl", votes)
    registry("quick", "votes.jsonl", "--keep", "arena")
    rows = {row["system"]: row for row in registry("study", "best", "arena", "--format", "json").json}
    assert {name: (row["rank_low"], row["rank_high"]) for name, row in rows.items()} == {
        "cedar": (1, 2), "birch": (1, 2), "dogwood": (3, 3), "aspen": (4, 4)}
    assert [name for name, row in rows.items() if row["may_be_best"]] == [
        name for name in rows if name in ("cedar", "birch")]
    refused = registry("study", "power", "arena", exit_code=3)
    assert "this study does not support votes" in refused.stderr


def test_the_judge_of_mt_bench_votes_in_both_orders(registry, tmp_path):
    """FastChat's `gpt-4_pair.jsonl`; errors of the judge are no votes."""
    games = [("model_1", "model_1")] * 4 + [("model_1", "model_2")] * 2 + [("tie", "model_2"), ("error", "model_2")]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps({
        "question_id": 81 + n, "model_1": "aspen", "model_2": "birch", "g1_winner": g1, "g2_winner": g2,
        "judge": ["gpt-4", "pair-v2"], "turn": 1, "tstamp": 1.5}) + "\n" for n, (g1, g2) in enumerate(games)))
    rows = registry("quick", "pairs.jsonl", "--format", "json").json
    assert [row["system"] for row in rows] == ["aspen", "birch"]
    points, votes = 4 * 2 + 2 + 0.5, 15
    assert rows[0]["score"] - rows[1]["score"] == pytest.approx(math.log(points / (votes - points)))


def test_preferences_of_alpaca_eval_may_be_probabilities(registry, tmp_path):
    preferences = [1, 1, 2, 0, 1.5, 1.25, None]
    (tmp_path / "annotations.json").write_text(json.dumps([
        {"instruction": f"do {n}", "output_1": "x", "generator_1": "reference", "output_2": "y", "generator_2": "aspen",
         "annotator": "weighted_gpt4", "preference": preference} for n, preference in enumerate(preferences)]))
    rows = registry("quick", "annotations.json", "--format", "json").json
    scores = {row["system"]: row["score"] for row in rows}
    points = 1 + 1 + 0 + 0.5 + 0.5 + 0.75
    assert scores["reference"] - scores["aspen"] == pytest.approx(math.log(points / (6 - points)))


def test_a_system_that_lost_all_votes_is_named_and_has_no_p_value(registry, tmp_path):
    votes = [(*pair, outcome) for pair in (("aspen", "birch"), ("birch", "cedar"), ("cedar", "aspen"))
             for outcome in "aaaaabbbb"] + [("aspen", "elm", "a")] * 9
    write(tmp_path / "votes.jsonl", votes)
    registry("quick", "votes.jsonl", "--keep", "arena")
    board = registry("board", "arena", "--format", "table", "--notes").stdout
    assert "strength can be estimated for elm, because it won all votes or lost all votes" in board
    pairs = registry("pairs", "arena", "--format", "json").json
    assert {pair["p_value"] is None for pair in pairs if "elm" in (pair["system_a"], pair["system_b"])} == {True}
    assert {pair["method"] for pair in pairs} == {"asymptotic"}
    assert "exact" not in registry("board", "arena", "--methods").stdout


def test_boards_count_voters_and_print_the_advantage_of_the_first_system(registry, tmp_path):
    """With one pair in both places, the advantage is half the difference of the logits of the two places."""
    columns = ("model_a", "model_b", "winner", "voter")
    votes = [("aspen", "birch", "a" if n % 4 else "b", f"v{n % 8}") for n in range(64)]
    votes += [("birch", "aspen", "a" if n % 2 else "b", f"v{n % 8}") for n in range(64)]
    write(tmp_path / "votes.jsonl", votes, columns)
    registry("quick", "votes.jsonl", "--option", "order=true", "--keep", "arena")
    board = registry("board", "arena", "--format", "table", "--notes").stdout
    assert f"an advantage of {math.log(3) / 2:.3f} in log odds" in board
    assert "128 judgments have 8 voters; errors allow for dependent judgments of one voter" in board
    assert "clustered by voter (8 voters)" in registry("board", "arena", "--methods").stdout


def test_columns_without_a_role_are_named_and_kept_on_request(registry, tmp_path):
    columns = ("model_a", "model_b", "winner", "language")
    votes = [("aspen", "birch", "ab"[n % 3 > 1], ("en", "de")[n % 2]) for n in range(30)]
    write(tmp_path / "votes.jsonl", votes, columns)
    assert "columns that were not used: language" in registry("quick", "votes.jsonl").stderr
    told = registry("quick", "votes.jsonl", "--keep", "arena", "--attribute", "language").stderr
    assert "not used" not in told
    assert 'attributes = ["language"]' in (tmp_path / "arena" / "task.toml").read_text()
    refused = registry("quick", "votes.jsonl", "--by", "language", exit_code=None)
    assert refused.exit_code != 0
    assert "--by does not apply to results of votes; keep the column with --attribute language" in refused.stderr


def test_simultaneous_ranks_and_win_rates(registry, tmp_path):
    votes = [(a, b, "a") for a, b in (("aspen", "birch"), ("birch", "cedar"), ("aspen", "cedar")) for _ in range(40)]
    votes += [(b, a, "a") for a, b, _ in votes[::10]]
    write(tmp_path / "votes.jsonl", votes)
    registry("quick", "votes.jsonl", "--keep", "arena", "--metric", "win rate")
    rows = registry("board", "arena", "--ranks", "simultaneous", "--format", "json").json
    assert [(row["system"], row["simultaneous_low"], row["simultaneous_high"]) for row in rows] == [
        ("aspen", 1, 1), ("birch", 2, 2), ("cedar", 3, 3)]
    assert [row["score"] for row in rows] == pytest.approx([80 / 88, 0.5, 8 / 88])


def test_quick_asks_for_the_columns_of_votes_with_other_names(registry, tmp_path):
    systems = ("aspen", "birch", "cedar")
    votes = [(f"q{n}", systems[n % 3], systems[(n + 1 + n // 3 % 2) % 3], "first" if n % 5 else "second", n % 2)
             for n in range(60)]
    write(tmp_path / "votes.jsonl", votes, ("question", "links", "rechts", "besser", "runde"))
    refused = registry("quick", "votes.jsonl", exit_code=None)
    assert refused.exit_code != 0
    assert "table of votes between the systems in the columns links and rechts" in refused.stderr
    assert "--as votes --option system_a=links --option system_b=rechts --option outcome=besser" in refused.stderr
