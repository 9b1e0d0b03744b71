"""The gate's verdicts, exit statuses and formats."""

import json
import math
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from registry.rendering.render import render
from registry.reports.studies import study_table
from registry.significance.margins import exact_p_value
from registry.studies.gate import Gate
from registry.studies.run import StudyResult
from registry.studies.study import Finding
from tests.label_tasks import second_test_set

ITEMS = [f"i{n:03}" for n in range(200)]
WRONG = {"base": set(ITEMS[:40]), "same": set(ITEMS[2:42]), "good": set(ITEMS[:10]), "bad": set(ITEMS[:90])}


@pytest.fixture
def gated(task, scored):
    task.documents, task.gold = {}, dict.fromkeys(ITEMS, "x")
    task.systems = {name: {item: "y" if item in wrong else "x" for item in ITEMS} for name, wrong in WRONG.items()}
    scored(task)


def run(registry, *arguments, exit_code, base="base"):
    done = registry("gate", base, *arguments, "--format", "json", exit_code=exit_code)
    (row,) = done.json["criteria"]
    return row


@pytest.mark.parametrize(("candidate", "options", "verdict", "exit_code"), [
    ("good", ["--margin", "0.02"], "pass", 0),
    ("good", ["--superior"], "pass", 0),
    ("same", ["--superior"], "undecided", 6),
    ("same", ["--margin", "0.05"], "pass", 0),
    ("same", ["--margin", "0.001"], "undecided", 6),
    ("good", [], "undecided", 6),
    ("bad", ["--margin", "0.02"], "fail", 4),
    ("bad", [], "fail", 4),
])
def test_verdicts_have_exit_statuses(candidate, options, verdict, exit_code, gated, registry):
    row = run(registry, candidate, *options, exit_code=exit_code)
    assert row["verdict"] == verdict
    assert row["difference"] == pytest.approx((len(WRONG["base"]) - len(WRONG[candidate])) / 200)


def test_p_values_are_exact_for_right_and_wrong(gated, registry):
    row = run(registry, "same", "--margin", "0.03", exit_code=None)
    assert (row["test"], row["p_value"]) == ("exact", pytest.approx(exact_p_value(2, 2, 200, 0.03)))


def test_the_interval_has_the_differences_that_no_test_rejects(gated, registry):
    row = run(registry, "same", "--margin", "0.03", exit_code=None)
    assert exact_p_value(2, 2, 200, -row["ci_low"]) == pytest.approx(0.05, rel=0.01)
    assert row["ci_high"] == pytest.approx(-row["ci_low"])
    bad = run(registry, "bad", "--margin", "0.02", exit_code=4)
    assert bad["ci_low"] < bad["difference"] < bad["ci_high"] < -0.02
    assert run(registry, "good", "--superior", exit_code=0)["ci_low"] > 0


def test_the_next_step_depends_on_the_observed_difference(two_sets, registry):
    """On dev b is worse by 0.1, more than the margin of 0.09; a margin of 0.12 is larger than this loss."""
    options = ("--test-set", "dev", "--format", "json")
    loss = registry("gate", "a", "b", "--margin", "0.09", *options, exit_code=6)
    sentences = " ".join(loss.json["sentences"])
    assert "The observed loss is larger than the margin (0.1 by acc on dev): if it is the true loss" in sentences
    assert "If both systems are equally good" not in sentences
    assert "`registry items small disagree --system a --system b` lists the items" in loss.stderr
    row, = loss.json["criteria"]
    assert f"is -0.1, and its 90 % CI, {row['ci_low']:.3g} to {row['ci_high']:.3g}, contains -0.09" in sentences
    undecided = registry("gate", "a", "b", "--margin", "0.12", *options, exit_code=6).json
    assert "observed loss" not in " ".join(undecided["sentences"])
    assert "If both systems are equally good" in " ".join(undecided["sentences"])


def test_attempts_divide_alpha(gated, registry):
    p = run(registry, "same", "--margin", "0.05", exit_code=0)["p_value"]
    attempts = int(0.05 / p) + 1
    assert run(registry, "same", "--margin", "0.05", "--attempts", attempts, exit_code=6)["p_value"] == p


def test_a_verdict_is_stored_once_and_verified(gated, registry):
    registry("gate", "base", "good", "--margin", "0.02")
    again = registry("gate", "base", "good", "--margin", "0.02")
    assert "already stored" in again.stderr
    registry("verify")


def test_junit_has_a_case_for_each_criterion(gated, registry):
    registry("gate", "base", "bad", "--margin", "0.02", "--junit", "gate.xml", exit_code=4)
    suite = Xml.parse("gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert suite[0][0].get("type") == "fail"
    registry("gate", "base", "same", "--superior", "--junit", "gate.xml", exit_code=6)
    assert Xml.parse("gate.xml").getroot()[0][0].get("type") == "undecided"


@pytest.mark.parametrize(("arguments", "message"), [
    (["base", "nobody"], "unknown system 'nobody'"),
    (["base", "good", "--margin", "-1"], "expected a number above 0"),
    (["base", "good", "--margin", "2"], "scores of acc are from 0 to 1, so 2 points of 100 are 0.02"),
    (["base", "good", "--margin", "0.1", "--superior"], "give one of them"),
    (["base", "base"], "on no test set together"),
    (["base", "good", "--margin", "0.1", "--reference", "base"], "the gate tests this system already"),
    (["base", "good", "--margin", "0.1", "--reference", "nobody"], "unknown system 'nobody'"),
    (["base", "good", "--margin", "0.1", "--expected", "-0.2"], "expected -0.1 or more"),
    (["base", "good", "--looks", "3"], "the number of this look is missing; add --look 1"),
    (["base", "good", "--look", "1"], "add --looks"),
    (["base", "good", "--looks", "3", "--look", "4"], "expected a number from 1 to 3"),
    (["base", "good", "--items"], "add --looks and --look"),
])
def test_bad_requests_name_the_remedy(arguments, message, gated, registry):
    assert message in registry("gate", *arguments, exit_code=3).stderr


def test_a_test_set_that_the_candidate_lacks_is_no_pass(task, registry):
    """The base is on two test sets, the candidate on one."""
    task.documents = {}
    task.extra = second_test_set("gold.tsv", 'file = "dev/{system}.tsv"')
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('file = "systems/{system}.tsv"',
                                                     'file = "systems/{system}.tsv"\ntest_set = "test"'))
    (task.folder / "dev").mkdir()
    (task.folder / "dev" / "a.tsv").write_bytes((task.folder / "systems" / "a.tsv").read_bytes())
    registry("run", manifest)
    refused = registry("gate", "a", "b", "--margin", "0.5", exit_code=3).stderr
    assert "b has no score on" in refused
    assert "--test-set" in refused
    registry("gate", "a", "b", "--margin", "0.5", "--test-set", "test", exit_code=None)


def test_a_reference_stops_a_slow_decline(gated, registry):
    """`same` is as good as `base`, but worse than `good`, the release of long ago."""
    rows = registry("gate", "base", "same", "--margin", "0.05", "--reference", "good", "--format", "json",
                    exit_code=4).json["criteria"]
    alone = run(registry, "same", "--margin", "0.05", exit_code=0)
    assert [(row["against"], row["verdict"]) for row in rows] == [("base", "pass"), ("good", "fail")]
    assert [row["difference"] for row in rows] == pytest.approx([0, (len(WRONG["good"]) - len(WRONG["same"])) / 200])
    assert rows[0]["p_value"] == alone["p_value"]
    assert rows[1]["p_loss"] == pytest.approx(2 * exact_p_value(32, 2, 200, -0.05)), "Holm's correction of two criteria"
    text = registry("gate", "base", "same", "--margin", "0.05", "--reference", "good", "--format", "table",
                    "--junit", "gate.xml", exit_code=4).stdout
    assert "fail: same is worse than good by more than 0.05" in text
    assert [case.get("name") for case in Xml.parse("gate.xml").getroot()] == ["acc", "acc against good"]
    both = registry("gate", "base", "good", "--margin", "0.05", "--reference", "same", "--format", "table").stdout
    assert "good is not worse by more than 0.05 than base and same" in both


def test_needed_units_are_those_of_the_expected_difference(gated, registry):
    """4 of 200 items differ. With n items of which none differs, the exact p-value is (1 - margin)^n."""
    needed = {expected: run(registry, "same", "--margin", "0.01", "--expected", expected, exit_code=6)["needed_units"]
              for expected in (0, 0.01)}
    assert math.log(0.05) / math.log(1 - 0.01) < needed[0.01] < needed[0]
    assert run(registry, "same", "--superior", exit_code=6)["needed_units"] is None


def look(registry, candidate, number, *options, looks=2, exit_code=None):
    return registry("gate", "base", candidate, "--margin", "0.02", "--looks", looks, "--look", number, *options,
                    "--format", "json", exit_code=exit_code)


def list_items(registry, number, looks=2):
    return [row["item"] for row in look(registry, "late", number, "--items", looks=looks, exit_code=0).json]


def submit(registry, items, version, *options, wrong=WRONG["same"]):
    file = Path(f"late{version}.tsv")
    file.write_text("".join(f"{item}\t{'y' if item in wrong else 'x'}\n" for item in items))
    registry("submit", "small", file, "--system", "late", "--version", version, *options)
    registry("score", "small")


def test_a_candidate_is_scored_on_the_items_of_each_look(gated, registry):
    first, every = list_items(registry, 1), list_items(registry, 2)
    assert first == list_items(registry, 2)[:100], "the first look has half of the items, and the second one all"
    assert sorted(every) == ITEMS
    assert sorted(first) != ITEMS[:100], "the order is random"
    submit(registry, first, 1, "--missing", "own")
    first_look = look(registry, "late", 1, exit_code=6).json
    early = first_look["criteria"][0]
    same, base = (sum(item in wrong for item in first) for wrong in (WRONG["same"], WRONG["base"]))
    assert (early["units"], first_look["look"], first_look["looks"]) == (100, 1, 2)
    assert early["difference"] == pytest.approx((base - same) / 100)
    refused = look(registry, "late", 2, exit_code=3).stderr
    assert "late/late@1 has no score on 100 of the 200 items of look 2" in refused
    submit(registry, every, 2)
    last_look = look(registry, "late", 2).json
    last = last_look["criteria"][0]
    assert (last["units"], last["p_value"]) == (200, pytest.approx(exact_p_value(2, 2, 200, 0.02)))
    assert first_look["alpha"] + last_look["alpha"] == pytest.approx(0.05)
    registry("verify")


def test_an_item_that_the_look_needs_has_to_be_answered(gated, registry):
    first = list_items(registry, 1)
    submit(registry, first[1:], 1, "--missing", "own")
    refused = look(registry, "late", 1, exit_code=3).stderr
    assert f"no score on 1 of the 100 items of look 1, such as {first[0]!r}" in refused


def test_looks_follow_their_plan(gated, registry):
    assert "there is no look 1 of 3 with" in look(registry, "same", 2, looks=3, exit_code=3).stderr
    look(registry, "same", 1, looks=3, exit_code=6)
    assert "with --looks 3" in look(registry, "same", 1, looks=2, exit_code=3).stderr
    assert "with --looks 3" in registry("gate", "base", "same", "--margin", "0.02", exit_code=3).stderr
    assert "there is no look 2 of 3 with" in look(registry, "same", 3, looks=3, exit_code=3).stderr
    assert "there is no look 1 of 3 with" in look(registry, "same", 2, "--alpha", "0.1", looks=3, exit_code=3).stderr
    look(registry, "same", 2, looks=3, exit_code=6)
    assert "already stored" in look(registry, "same", 1, looks=3, exit_code=6).stderr
    look(registry, "bad", 1, looks=3, exit_code=4)
    assert "ended at look 1 with the verdict fail" in look(registry, "bad", 2, looks=3, exit_code=3).stderr


def test_a_changed_candidate_begins_with_its_first_look(gated, registry):
    first, every = list_items(registry, 1), list_items(registry, 2)
    submit(registry, first, 1, "--missing", "own")
    look(registry, "late", 1, exit_code=6)
    submit(registry, every, 2, wrong={first[0], *WRONG["same"]} - {first[1]})
    assert "the scores of look 1 have changed" in look(registry, "late", 2, exit_code=3).stderr
    assert "2 candidates were gated" in look(registry, "late", 1).stderr
    look(registry, "late", 2)


def test_looks_take_clusters_as_a_whole(task, scored, registry):
    task.gold = dict.fromkeys(ITEMS, "x")
    task.documents = {item: f"d{n // 10}" for n, item in enumerate(ITEMS)}
    task.systems = {name: {item: "y" if item in WRONG[name] else "x" for item in ITEMS} for name in ("base", "same")}
    scored(task)
    items = [row["item"] for row in look(registry, "same", 1, "--items", exit_code=0).json]
    documents = {task.documents[item] for item in items}
    assert len(documents) == 10
    assert sorted(items) == [item for item in ITEMS if task.documents[item] in documents]
    assert look(registry, "same", 1).json["criteria"][0]["units"] == 10


def test_the_number_of_candidates_is_compared_with_the_attempts(gated, registry):
    options = "--margin", "0.02"
    assert "candidates" not in registry("gate", "base", "good", *options, exit_code=None).stderr
    assert "candidates" not in registry("gate", "base", "good", "--margin", "0.03", exit_code=None).stderr
    second = registry("gate", "base", "same", *options, exit_code=None).stderr
    assert "info: 2 candidates were gated against base by these criteria (good, same)" in second
    assert "--attempts 2" in second
    assert "candidates" not in registry("gate", "base", "same", *options, "--attempts", "2", exit_code=None).stderr
    assert "candidates" not in registry("gate", "good", "same", *options, exit_code=None).stderr, "another base"
    assert "2 candidates" in registry("gate", "base", "same", *options, exit_code=None).stderr, "a stored verdict, too"


def test_other_names_of_the_same_systems_give_the_stored_verdict(gated, registry):
    registry("gate", "base", "good", "--margin", "0.02")
    assert "already stored" in registry("gate", "base/base", "good/good@1", "--margin", "0.02").stderr


@pytest.fixture
def two_sets(task, scored):
    """`b` gets 30 items more than `a` on the first test set right, and 20 fewer on the second one."""
    task.documents, task.gold = {}, dict.fromkeys(ITEMS, "x")
    wrong = {"test": {"a": ITEMS[:60], "b": ITEMS[30:60]}, "dev": {"a": ITEMS[:40], "b": ITEMS[:60]}}
    task.systems = {name: {item: "y" if item in wrong["test"][name] else "x" for item in ITEMS} for name in "ab"}
    task.extra = second_test_set("gold.tsv", 'file = "dev/{system}.tsv"')
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('file = "systems/{system}.tsv"',
                                                     'file = "systems/{system}.tsv"\ntest_set = "test"'))
    (task.folder / "dev").mkdir()
    for name in "ab":
        (task.folder / "dev" / f"{name}.tsv").write_text(
            "".join(f"{item}\t{'y' if item in wrong['dev'][name] else 'x'}\n" for item in ITEMS))
    scored(manifest)


def test_the_average_over_test_sets_is_one_criterion(two_sets, registry):
    both = registry("gate", "a", "b", "--margin", "0.02", "--format", "json", exit_code=4).json["criteria"]
    assert [row["verdict"] for row in both] == ["pass", "fail"]
    row = run(registry, "b", "--margin", "0.02", "--average", base="a", exit_code=0)
    assert (row["test_set"], row["test"], row["units"]) == ("average", "bootstrap-t", 400)
    assert row["difference"] == pytest.approx((30 - 20) / 200 / 2)
    variances = [share * (1 - share) / 199 for share in (30 / 200, 20 / 200)]
    assert row["standard_error"] == pytest.approx(math.sqrt(sum(variances)) / 2)
    refused = registry("gate", "a", "b", "--margin", "0.02", "--average", "--test-set", "dev", exit_code=3).stderr
    assert "two or more test sets are required for acc (only dev)" in refused
    registry("verify")


@pytest.fixture
def scores(registry, tmp_path):
    """Two models and two benchmarks of 100 items, which are correct or not, and have a cost from 0.001 to 0.0025."""
    for model, cost in (("old", 0.0015), ("new", 0.001)):
        for benchmark in ("arc", "gsm"):
            path = Path("results", model, f"{benchmark}.jsonl")
            path.parent.mkdir(parents=True, exist_ok=True)
            factor = 3 if model == "old" else 7
            rows = [{"id": n, "correct": n % 10 != (model == "new" and n < 60), "cost": cost + n * factor % 11 / 10000}
                    for n in range(100)]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    registry("quick", "results/{model}/{benchmark}.jsonl", "--score", "correct:higher", "--score", "cost:lower",
             "--keep", "evals", "--db", "registry.duckdb")


@pytest.mark.parametrize(("margins", "message"), [
    (["correct=2", "cost=0.0005"], "--margin 2: scores of correct are from 0 to 1, so 2 points of 100 are 0.02"),
    (["correct=0.02", "cost=0.02"], "scores of cost are from 0.001 to 0.0025, so every candidate would pass"),
    (["2%"], "--margin 2%: expected a number, such as 0.02, or METRIC=NUMBER; if scores are from 0 to 1, 2% are 0.02"),
    (["0.02"], "the metrics have different ranges (correct from 0 to 1, cost from 0.001 to 0.0025)"),
    (["correct=0.02"], "cost has no margin; add --margin cost=D"),
    (["correct=0.02", "latency=1"], "unknown metric of the gate 'latency'"),
    (["0.02", "cost=0.0005"], "give one margin for all metrics, or one METRIC=NUMBER for each metric"),
])
def test_margins_fit_the_scores_of_their_metrics(margins, message, scores, registry):
    options = [text for margin in margins for text in ("--margin", margin)]
    assert message in registry("gate", "old", "new", *options, exit_code=3).stderr


def test_each_metric_has_its_margin(scores, registry):
    rows = registry("gate", "old", "new", "--margin", "correct=0.5", "--margin", "cost=0.0005", "--format",
                    "json").json["criteria"]
    assert [(row["metric"], row["margin"], row["verdict"]) for row in rows] == [
        ("correct", 0.5, "pass"), ("correct", 0.5, "pass"), ("cost", 0.0005, "pass"), ("cost", 0.0005, "pass")]
    text = registry("gate", "old", "new", "--margin", "correct=0.5", "--margin", "cost=0.0005", "--format", "table")
    assert "by more than 0.5 (correct), 0.0005 (cost)" in text.stdout
    assert "|correct+cost|" in text.stdout
    assert "|n:200|" in text.stdout
    alone = registry("gate", "old", "new", "-m", "correct", "--margin", "0.5", "--format", "json").json["criteria"]
    assert alone[0]["p_value"] == rows[0]["p_value"]
    registry("verify")


def test_the_difference_is_named_if_lower_scores_are_better(scores, registry):
    both = "--margin", "correct=0.5", "--margin", "cost=0.0005"
    assert "better by" in registry("gate", "old", "new", *both, "--format", "table").stdout
    assert "better by" not in registry("gate", "old", "new", "-m", "correct", "--margin", "0.5", "--format",
                                       "table").stdout


def test_sentences_are_on_stderr_if_the_format_has_only_rows(gated, registry):
    sentence = "undecided: the data do not show whether same is better than base, by acc on test."
    done = registry("gate", "base", "same", "--superior", exit_code=6)
    assert sentence in done.stderr
    assert sentence not in done.stdout
    done = registry("gate", "base", "same", "--superior", "--format", "json", exit_code=6)
    assert sentence in done.stderr
    assert (done.json["verdict"], done.json["sentences"][0]) == ("undecided", sentence)
    done = registry("gate", "base", "same", "--superior", "--format", "md", exit_code=6)
    assert sentence in done.stdout
    assert sentence not in done.stderr


def test_junit_has_the_numbers_of_each_case(gated, registry):
    def text(candidate, *options):
        registry("gate", "base", candidate, *options, "--junit", "gate.xml", exit_code=None)
        (case,) = Xml.parse("gate.xml").getroot()
        return case[0].tag, case[0].get("message") or case[0].text

    assert text("good", "--margin", "0.02") == (
        "system-out", "pass: good is better by 0.15 than base by acc on test (0.95 and 0.8), margin 0.02, "
        f"p = {exact_p_value(30, 0, 200, 0.02):.1e}, 200 units")
    assert text("bad", "--margin", "0.02") == (
        "failure", "fail: bad is worse by 0.25 than base by acc on test (0.55 and 0.8), margin 0.02, "
        f"p = {exact_p_value(50, 0, 200, -0.02):.1e}, 200 units")
    tag, message = text("same", "--margin", "0.001")
    needed = run(registry, "same", "--margin", "0.001", exit_code=6)["needed_units"]
    assert tag == "failure"
    assert message.startswith("undecided: same has no difference to base by acc on test (0.8 and 0.8), margin 0.001, ")
    assert message.endswith("200 units. If both systems are equally good, a power of 80 % needs about "
                            f"{needed:,} units on test (now 200).")
    done = registry("gate", "base", "same", "--margin", "0.001", "--format", "table", exit_code=6)
    assert message.partition("units. ")[2] in done.stdout, "the sentence of the terminal"


def test_junit_does_not_advise_more_units_after_a_loss(two_sets, registry):
    options = "--margin", "0.09", "--test-set", "dev", "--junit", "gate.xml", "--format", "table"
    text = registry("gate", "a", "b", *options, exit_code=6).stdout
    message = Xml.parse("gate.xml").getroot()[0][0].get("message")
    step = "The observed loss is larger than the margin (0.1 by acc on dev): if it is the true loss, more items lead to"
    assert step in text
    assert step in message
    assert "equally good" not in message


@pytest.mark.parametrize(("policy", "counts", "difference"), [
    ("drop", "are left out for all systems", 0), ("worst", "count as wrong", -20 / 200)])
def test_items_that_the_candidate_does_not_answer_are_named(policy, counts, difference, registry, tmp_path):
    """The new system lacks 20 of the items that the old one solves, and 1 of another test set."""
    for model, lacking in (("old", 0), ("new", 20)):
        for test_set, n_missing in (("arc", lacking), ("gsm", lacking // 20)):
            path = Path("results", model, f"{test_set}.csv")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("id,correct\n" + "".join(
                f"{n},{'' if n < n_missing else int(n < 120)}\n" for n in range(200)))
    registry("quick", "results/{model}/{benchmark}.csv", "--score", "correct:higher", "--missing", policy, "--keep",
             "evals", "--db", "registry.duckdb")
    options = "gate", "old", "new", "--margin", "0.05", "--junit", "gate.xml"
    both = f"new: 20 of 200 items on arc and 1 of 200 items on gsm have no 'correct' and {counts}."
    for form in ("table", "md"):
        assert both in registry(*options, "--format", form, exit_code=None).stdout
    done = registry(*options, "--format", "json", exit_code=None).json
    assert both in done["sentences"]
    assert done["criteria"][0]["difference"] == pytest.approx(difference)
    assert [(row["system"], row["test_set"], row["n"], row["items"], row["policy"]) for row in done["missing"]] == [
        ("new", "arc", 20, 200, policy), ("new", "gsm", 1, 200, policy)]
    texts = [case[0].get("message") or case[0].text for case in Xml.parse("gate.xml").getroot()]
    assert f"new: 20 of 200 items on arc have no 'correct' and {counts}." in texts[0]
    one = counts.replace("are", "is").replace("count", "counts")
    assert f"new: 1 of 200 items on gsm has no 'correct' and {one}." in texts[1]


def test_the_verdict_is_in_the_only_part_of_a_narrow_table():
    row = {"metric": "exact_match", "test_set": "gsm8k.flexible-extract", "track": None, "against": "production-v1",
           "base": 0.8925, "candidate": 0.8725, "difference": -0.02, "margin": 0.02, "test": "bootstrap-t",
           "p_value": 0.5926, "p_loss": 0.01, "verdict": "fail", "ci_low": -0.0312, "ci_high": -0.0125}
    result = StudyResult(Gate(base="a", candidate="b", reference="c", margin=0.02), "evals", "evals", Finding(
        {"criteria": [row, row | {"against": "c"}], "gate": [{"confidence": 0.9}]}), "", is_new=True)
    lines = [line for line in render([study_table(result)], "table", width=80).splitlines() if "p (worse)" in line]
    assert len(lines) == 1
    assert lines[0].split()[:4] == ["metric", "test", "set", "verdict"]
