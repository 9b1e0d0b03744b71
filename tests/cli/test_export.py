"""`registry export`: what competition platforms read."""

import json
import re

import pytest

from registry.leaderboards.scores import SubmissionScore
from registry.reports.platforms import codabench, codalab, evalai, wmt
from tests.conftest import ROOT
from tests.reports.boards import HOSTILE, leaderboard

ENTITIES = ROOT / "sample_data" / "entities" / "task.toml"


@pytest.fixture
def export(registry, scored, task):
    scored(task)
    return lambda *arguments, **more: registry("export", "small", *arguments, **more)


def test_codabench_gets_numbers_by_column(export):
    assert json.loads(export("codabench", "--submission", "a/a").stdout) == {"acc": 5 / 6}


def test_codalab_gets_a_line_for_each(export):
    assert export("codalab", "--submission", "b/b@1").stdout == "acc: 0.5\n"


def test_evalai_gets_splits(export):
    assert export("evalai", "--submission", "a/a").json == {"result": [{"test": {"acc": 5 / 6}}]}


def test_several_test_sets_are_told_apart(registry, task):
    task.extra = ("[[test_set]]\nname = 'dev'\ngold = 'gold.tsv'\nformat = 'labels'\n"
                  "options = { columns = ['item', 'label', 'document'] }\n"
                  "[[submit]]\nfile = 'systems/b.tsv'\nsystem = 'a'\ntest_set = 'dev'")
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace(
        'file = "systems/{system}.tsv"', 'file = "systems/{system}.tsv"\ntest_set = "test"'))
    registry("run", manifest)
    shown = registry("export", "small", "codabench", "--submission", "a/a").json
    assert shown == {"test_acc": 5 / 6, "dev_acc": 0.5}
    assert registry("export", "small", "evalai", "--submission", "a/a").json == {
        "result": [{"test": {"acc": 5 / 6}}, {"dev": {"acc": 0.5}}]}


@pytest.mark.parametrize("score", [0.1 + 0.2, 1e-5, 2.5e-7, 3e20, 0.0, -4.0])
def test_scores_txt_is_read_in_lines_and_as_yaml(score):
    """CodaLab parts each line at its colon; Codabench reads the file as YAML 1.1, whose numbers have a point."""
    (line,) = codalab([SubmissionScore("test", "acc", score)]).splitlines()
    key, value = line.split(":")
    assert (key, float(value)) == ("acc", score)
    assert re.fullmatch(r"[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]+)?", value.strip())  # PyYAML's pattern of a float


def test_undefined_scores_are_left_out():
    scores = [SubmissionScore("test", "f1", None), SubmissionScore("test", "acc", 0.1 + 0.2)]
    assert json.loads(codabench(scores)) == {"acc": 0.30000000000000004}
    assert codalab(scores) == "acc: 0.30000000000000004\n"
    assert json.loads(evalai(scores)) == {"result": [{"test": {"acc": 0.30000000000000004}}]}


def test_names_are_no_patterns(registry, scored, task):
    """A name with a wildcard of SQL is only itself."""
    task.systems = {"a": task.systems["a"], "_": task.systems["b"]}
    scored(task)
    assert registry("export", "small", "codabench", "--submission", "_/_").json == {"acc": 0.5}


def test_what_is_not_there(export):
    assert "unknown submission 'a/A'; did you mean 'a/a'" in export(
        "codabench", "--submission", "a/A", exit_code=3).stderr
    assert "name it by --submission" in export("evalai", exit_code=3).stderr
    assert "leave --submission out" in export("wmt", "--submission", "a/a", exit_code=3).stderr
    assert "leave --metric" in export("codalab", "--submission", "a/a", "--metric", "acc", exit_code=3).stderr


def test_wmt_prints_ranges_scores_and_systems_with_rules_between_clusters(registry, scored):
    scored(ENTITIES)
    written = registry("export", "entities", "wmt").stdout
    body = written.partition(r"\midrule")[2].partition(r"\bottomrule")[0].split("\n")
    rows = [line.removesuffix(r" \\").split(" & ") for line in body if line]
    assert rows[:3] == [["1", "0.959", "aspen-xl"], [r"\midrule"], ["2--5", "0.805", "aspen-s"]]
    assert rows.count([r"\midrule"]) == 3  # four clusters


def test_wmt_leaves_names_alone():
    written = wmt(leaderboard(list(HOSTILE)))
    assert r"\input" not in written
    assert r"\textbackslash{}input\{x\}" in written
