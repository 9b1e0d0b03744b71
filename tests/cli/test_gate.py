"""The gate's verdicts, exit statuses and formats."""

import math
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from registry.significance.margins import exact_p_value
from tests.label_tasks import second_test_set

ITEMS = [f"i{n:03}" for n in range(200)]
WRONG = {"base": set(ITEMS[:40]), "same": set(ITEMS[2:42]), "good": set(ITEMS[:10]), "bad": set(ITEMS[:90])}


@pytest.fixture
def gated(task, scored):
    task.documents, task.gold = {}, dict.fromkeys(ITEMS, "x")
    task.systems = {name: {item: "y" if item in wrong else "x" for item in ITEMS} for name, wrong in WRONG.items()}
    scored(task)


def run(registry, *arguments, exit_code):
    done = registry("gate", "base", *arguments, "--format", "json", exit_code=exit_code)
    (row,) = done.json
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
                    exit_code=4).json
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
    early = look(registry, "late", 1, exit_code=6).json[0]
    same, base = (sum(item in wrong for item in first) for wrong in (WRONG["same"], WRONG["base"]))
    assert (early["units"], early["look"], early["looks"]) == (100, 1, 2)
    assert early["difference"] == pytest.approx((base - same) / 100)
    refused = look(registry, "late", 2, exit_code=3).stderr
    assert "late/late@1 has no score on 100 of the 200 items of look 2" in refused
    submit(registry, every, 2)
    last = look(registry, "late", 2).json[0]
    assert (last["units"], last["p_value"]) == (200, pytest.approx(exact_p_value(2, 2, 200, 0.02)))
    assert early["alpha"] + last["alpha"] == pytest.approx(0.05)
    registry("verify")


def test_an_item_that_the_look_needs_has_to_be_answered(gated, registry):
    first = list_items(registry, 1)
    submit(registry, first[1:], 1, "--missing", "own")
    refused = look(registry, "late", 1, exit_code=3).stderr
    assert f"no score on 1 of the 100 items of look 1, such as {first[0]!r}" in refused


def test_looks_follow_their_plan(gated, registry):
    assert "look 1 of 3 was not made" in look(registry, "same", 2, looks=3, exit_code=3).stderr
    look(registry, "same", 1, looks=3, exit_code=6)
    assert "with --looks 3" in look(registry, "same", 1, looks=2, exit_code=3).stderr
    assert "with --looks 3" in registry("gate", "base", "same", "--margin", "0.02", exit_code=3).stderr
    assert "look 2 of 3 was not made" in look(registry, "same", 3, looks=3, exit_code=3).stderr
    assert "look 1 of 3 was not made" in look(registry, "same", 2, "--alpha", "0.1", looks=3, exit_code=3).stderr
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
    assert look(registry, "same", 1).json[0]["units"] == 10


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
    both = registry("gate", "a", "b", "--margin", "0.02", "--format", "json", exit_code=4).json
    assert [row["verdict"] for row in both] == ["pass", "fail"]
    (row,) = registry("gate", "a", "b", "--margin", "0.02", "--average", "--format", "json", exit_code=0).json
    assert (row["test_set"], row["test"], row["units"]) == ("average", "bootstrap-t", 400)
    assert row["difference"] == pytest.approx((30 - 20) / 200 / 2)
    variances = [share * (1 - share) / 199 for share in (30 / 200, 20 / 200)]
    assert row["standard_error"] == pytest.approx(math.sqrt(sum(variances)) / 2)
    refused = registry("gate", "a", "b", "--margin", "0.02", "--average", "--test-set", "dev", exit_code=3).stderr
    assert "two or more test sets are required for acc (only dev)" in refused
    registry("verify")
