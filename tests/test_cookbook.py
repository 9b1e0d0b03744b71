"""The cookbook is true: its queries run on the sample tasks, and print what it shows."""

import re
import shlex
from collections import Counter

import pytest
from typer.testing import CliRunner

from registry.cli.app import app
from registry.readers import Bio, Document
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "cookbook.md").read_text()
QUESTIONS = {question: (shlex.split(command)[1:], printed) for question, command, printed in re.findall(
    r"^## ([^\n]+)\n+```console\n\$ (registry [^$]*?--format table)\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)}
TASKS = ("entities", "stance", "relations")


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """The sample tasks in one registry."""
    path = tmp_path_factory.mktemp("cookbook") / "registry.duckdb"
    for name in TASKS:
        done = CliRunner().invoke(app, ["run", str(ROOT / "sample_data" / name / "task.toml"), "--db", str(path)])
        assert done.exit_code == 0
    return path


@pytest.mark.parametrize("question", QUESTIONS)
def test_queries_print_what_is_shown(samples, registry, question):
    command, printed = QUESTIONS[question]
    assert registry(*command, "--db", samples).stdout.strip("\n") == printed.strip("\n")


def test_every_question_is_tested():
    asked = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert len(asked) >= 13
    assert [q for q in asked if q not in QUESTIONS] == ["Which answers are among the n best?"]


def test_views_and_macros_that_are_named_exist(samples, registry):
    rows = registry("query", "SELECT view_name AS name FROM duckdb_views() UNION ALL FROM (SELECT function_name "
                    "FROM duckdb_functions())", "--db", samples, "--format", "json").json
    known = {row["name"] for row in rows}
    assert set(re.findall(r"`(\w+_\w+)[`(]", PAGE)) - {"sample_data"} <= known
    assert set(re.findall(r"FROM (\w+)\(", PAGE)) <= known


def test_the_vote_counts_what_the_files_say():
    """The spans that more than four of eight files have, counted here without the database."""
    folder = ROOT / "sample_data" / "entities"
    reader = Bio(scheme="iob2", comment="#", invalid_tags="reject")

    def spans(path):
        answers = reader.read_answers(Document.load(path))
        return {(answer.key, span) for answer in answers for span in answer.value.spans}

    gold = spans(folder / "gold.conll")
    said = Counter(span for path in (folder / "submissions").iterdir() for span in spans(path))
    vote = {span for span, n in said.items() if n > 4}
    shown = QUESTIONS["What would a vote of all systems have scored?"][1].splitlines()[2].split()
    assert shown == [str(len(vote)), *(f"{x:.4f}".rstrip("0") for x in (
        len(vote & gold) / len(vote), len(vote & gold) / len(gold), 2 * len(vote & gold) / (len(vote) + len(gold))))]
    by_systems = Counter(said[span] for span in gold)
    shown = QUESTIONS["How many systems find each gold answer?"][1].splitlines()[2:]
    assert {int(n): int(count) for n, count in (line.split() for line in shown)} == by_systems
