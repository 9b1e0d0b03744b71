"""The gate's verdicts, exit statuses and formats."""

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
])
def test_bad_requests_name_the_remedy(arguments, message, gated, registry):
    assert message in registry("gate", *arguments, exit_code=None).stderr


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
