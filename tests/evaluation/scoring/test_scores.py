"""Numbers that the user brings: a formula over sums is tested as the metric that it writes down; scores and errors."""

import csv
import json

import pytest
from scipy import stats

from tests.conftest import ROOT
from tests.evaluation.tables import manifest

SUMS = """SELECT item, system, true_positives AS tp, predicted AS pred, gold
    FROM statistics_prf JOIN item USING (item_id) JOIN ranked_submission USING (scoring_id)
    WHERE metric_id = (SELECT metric_id FROM metric WHERE name = 'SpanF(type=none, beta=1)')"""


@pytest.fixture
def entities(registry, scored, tmp_path):
    """The sample task's statistics as tables of a task of its own, where a formula says what F1 is."""
    scored(ROOT / "sample_data" / "entities" / "task.toml")
    rows = registry("query", SUMS.replace("item,", "key AS item,", 1), "--format", "json").json
    folder = tmp_path / "formula"
    folder.mkdir()
    for system in {row["system"] for row in rows}:
        with (folder / f"{system}.csv").open("w") as file:
            table = csv.DictWriter(file, ["item", "tp", "pred", "gold"], extrasaction="ignore")
            table.writeheader()
            table.writerows(row for row in rows if row["system"] == system)
    (folder / "gold").write_text((folder / "aspen-s.csv").read_text())
    return folder


def test_a_formula_of_f1_is_tested_as_f1_is(registry, entities):
    """However the formula is written."""
    formulas = {"sum": "2*tp/(pred+gold)", "rest": "1 - (pred + gold - 2*tp)/(pred+gold)"}
    path = manifest(entities, metric=[f'id = "{name}"\nname = "Formula"\noptions = {{ formula = "{formula}" }}'
                                      for name, formula in formulas.items()],
                    test_set='gold = "gold"\nformat = "statistics"\noptions = { separator = "comma", statistics = '
                             '["tp", "pred", "gold"] }')
    registry("run", path)
    registry("compare", "entities", "--unit", "item")
    by_formula, by_metric = ({(row["metric"], row["system_a"], row["system_b"]): row for row in registry(
        "pairs", task, "--format", "json").json} for task in ("t", "entities"))
    assert (len(by_formula), len(by_metric)) == (56, 28)
    for (name, *pair), found in by_formula.items():
        row = by_metric["span_f1", *pair]
        assert found["method"] == row["method"] == "exact"
        for column in ("score_a", "score_b", "difference", "p_value", "p_adjusted", "n_discordant"):
            assert found[column] == pytest.approx(row[column], rel=1e-12), (name, column)


def test_scores_errors_and_their_directions(registry, tmp_path):
    gold, near, far = {"a": 1.0, "b": 2.0, "c": 4.0}, {"a": 1.5, "b": 2, "c": 4}, {"a": 2, "b": 2, "c": 1}
    folder = tmp_path / "t"
    folder.mkdir()
    for name, scores in (("near", near), ("far", far)):
        (folder / f"{name}.csv").write_text("item,score\n" + "".join(f"{k},{v}\n" for k, v in scores.items()))
    (folder / "gold").write_text("".join(json.dumps({"item": k, "right": v}) + "\n" for k, v in gold.items()))
    path = manifest(
        folder, test_set='gold = "gold"\nformat = "scores"\noptions = { syntax = "jsonl", gold = "right" }',
        metric=['name = "MAE"', 'name = "RMSE"', 'name = "Mean"\noptions = { better = "lower" }'],
        submit='[submission]\noptions = { syntax = "delimited", separator = "comma" }\n'
               '[[submit]]\nfile = "{system}.csv"')
    board = {(row["metric"], row["system"]): (row["rank"], row["score"]) for row in registry(
        "run", path, "--format", "json").json}
    assert board == {
        ("MAE", "near"): (1, pytest.approx(0.5 / 3)), ("MAE", "far"): (2, pytest.approx(4 / 3)),
        ("RMSE", "near"): (1, pytest.approx((0.25 / 3) ** 0.5)), ("RMSE", "far"): (2, pytest.approx((10 / 3) ** 0.5)),
        ("Mean", "far"): (1, pytest.approx(5 / 3)), ("Mean", "near"): (2, pytest.approx(7.5 / 3))}


def test_perplexity_is_resampled_from_sums(registry, tmp_path):
    """Perplexity is monotone in the mean nats of a token: of one length, its ranks of swaps are those of the nats'."""
    folder = tmp_path / "t"
    folder.mkdir()
    rows = {"x": [-1.0, -2.0, -0.5, -3.0, -1.25, -0.75], "y": [-1.5, -2.5, -0.25, -3.5, -1.75, -1.0]}
    for name, values in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(
            json.dumps({"item": str(n), "logprobs": [v / 2, v / 2]}) + "\n" for n, v in enumerate(values)))
    (folder / "gold").write_text("".join(json.dumps({"item": str(n), "text": "abcd"}) + "\n" for n in range(6)))
    path = manifest(folder, metric=['name = "Perplexity"', 'name = "BitsPerCharacter"'],
                    test_set='gold = "gold"\nformat = "logprobs"\noptions = { syntax = "jsonl", base = "e", '
                             'text = "text" }', submit='[[submit]]\nfile = "{system}.jsonl"')
    registry("run", path)
    expected = stats.permutation_test(
        (rows["x"], rows["y"]), lambda a, b: sum(a) - sum(b), permutation_type="samples").pvalue
    found = {row["metric"]: row for row in registry("pairs", "t", "--format", "json").json}
    assert {row["method"] for row in found.values()} == {"exact"}
    assert found["BitsPerCharacter"]["p_value"] == found["Perplexity"]["p_value"] == pytest.approx(expected)


@pytest.mark.parametrize(("test_set", "metric", "says"), [
    ('format = "scores"', 'name = "MAE"',
     """metric[0]: MAE needs the gold of test set 'test': set its options = { gold = "COLUMN" }"""),
    ('format = "scores"', 'name = "Accuracy"', "Accuracy compares labels, but reader 'scores' of test set 'test'"),
    ('format = "statistics"\noptions = { statistics = "tp" }', 'name = "Formula"\noptions = { formula = "tp/n" }',
     "metric[0]: unknown column of test set test 'n'; known: tp"),
    ('format = "statistics"\noptions = { statistics = "tp" }', 'name = "Formula"\noptions = { formula = "tp/" }',
     "metric[0]: formula 'tp/', character 4 (the end): expected a number"),
])
def test_what_does_not_fit_together_is_named_by_the_manifest(registry, tmp_path, test_set, metric, says):
    path = manifest(tmp_path / "t", test_set=f'gold = "gold"\n{test_set}', metric=[metric])
    assert says in registry("apply", path, exit_code=3).stderr


def test_a_score_that_cannot_be_kept_exactly_is_refused_with_its_item(registry, tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    path = manifest(folder, test_set='gold = "s.csv"\nformat = "scores"\noptions = { separator = "comma" }',
                    metric=['name = "Mean"'])
    for number in ("5000000000000.5", "1e308", "-4503599627370496"):
        (folder / "s.csv").write_text("item,score\na,1\nc,4503599627370495\n")
        (folder / "x.csv").write_text(f"item,score\na,1\nb,{number}\n")
        for command in (("run", path), ("check", folder / "x.csv", "--task", path)):
            says = (f"x.csv:3: item 'b': 'score' is '{number}', which is too large: whole numbers must be below 2^52, "
                    "other numbers below 2^42")
            assert says in registry(*command, exit_code=3).stderr


def test_a_statistic_that_is_made_too_large_is_refused_with_its_item(registry, tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / "s.csv").write_text("item,score,gold\na,1,1\nb,1e8,1\n")
    path = manifest(folder, metric=['name = "RMSE"'], test_set=(
        'gold = "s.csv"\nformat = "scores"\noptions = { separator = "comma", gold = "gold" }'))
    assert "item 'b': RMSE: a statistic is 2^52 or larger" in registry("run", path, exit_code=3).stderr


@pytest.mark.parametrize(("scores", "rho"), [
    (("4e-11", "2e-10", "0.1"), 1), (("1", "1.00000000000001", "1.00000000000002"), 1), ((4, 20, 1e10), 1),
    (("0", "5.551115123125783e-17", "0.1"), 3 / 12**0.5),  # 0.1 + 0.2 - 0.3: rounding remains a tie
    (("0", "1e-17", "0.1"), 1),
    (("0.3", "0.30000000000000004", "0.4"), 3 / 12**0.5),
])
def test_correlations_take_numbers_as_they_are_given(scores, rho, registry, tmp_path):
    """Three items that rank as the gold does: rho is 1, with a tie of two of them 3 / sqrt(12)."""
    folder = tmp_path / "t"
    folder.mkdir()
    path = manifest(folder, metric=['name = "Spearman"'], submit='[[submit]]\nfile = "x"\nsystem = "x"', test_set=(
        'gold = "gold"\nformat = "scores"\noptions = { gold = "score" }'))
    (folder / "gold").write_text("item\tscore\na\t1\nb\t2\nc\t3\n")
    (folder / "x").write_text("item\tscore\n" + "".join(
        f"{item}\t{score}\n" for item, score in zip("abc", scores, strict=True)))
    (row,) = registry("run", path, "--format", "json").json
    assert row["score"] == pytest.approx(rho)


@pytest.mark.parametrize(("reader", "metric", "gold", "submission", "says"), [
    ("logprobs", "Perplexity", '{"item": "a"}', '{"item": "a", "logprobs": [-1e308, -1e308]}',
     "x:1: item 'a': the log-probability of token 1 is -1e+308; expected a number above -2^42 and at most 0"),
    ("mtme", "Pearson", "s 1\ns 2", "s 1\ns -1e308", "item 's 2': Pearson: a statistic is 2^52 or larger"),
])
def test_sums_without_bound_are_refused(reader, metric, gold, submission, says, registry, tmp_path):
    options = 'options = { base = "e", syntax = "jsonl" }' if reader == "logprobs" else ""
    path = manifest(tmp_path / "t", metric=[f'name = "{metric}"'], submit='[[submit]]\nfile = "x"\nsystem = "x"',
                    test_set=f'gold = "gold"\nformat = "{reader}"\n{options}')
    (tmp_path / "t" / "gold").write_text(gold + "\n")
    (tmp_path / "t" / "x").write_text(submission + "\n")
    assert says in registry("run", path, exit_code=3).stderr
