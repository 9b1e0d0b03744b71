"""`registry export`: what competition platforms, papers, READMEs and catalogues take."""

import json
import re
from itertools import accumulate
from xml.etree import ElementTree

import pytest
import yaml

from registry.boards.submissions import SubmissionScore
from registry.manifest.spec import Task
from registry.reports.exports import draw_badge, format_codabench, format_codalab, format_evalai
from registry.reports.paper_tables import render_wmt
from registry.reports.papers import bibtex, citation_file
from tests.conftest import ROOT
from tests.reports.boards import HOSTILE, leaderboard

SVG = "{http://www.w3.org/2000/svg}"
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
    (line,) = format_codalab([SubmissionScore("test", "acc", score)]).splitlines()
    key, value = line.split(":")
    assert (key, float(value)) == ("acc", score)
    assert re.fullmatch(r"[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]+)?", value.strip())  # PyYAML's pattern of a float


def test_undefined_scores_are_left_out():
    scores = [SubmissionScore("test", "f1", None), SubmissionScore("test", "acc", 0.1 + 0.2)]
    assert json.loads(format_codabench(scores)) == {"acc": 0.30000000000000004}
    assert format_codalab(scores) == "acc: 0.30000000000000004\n"
    assert json.loads(format_evalai(scores)) == {"result": [{"test": {"acc": 0.30000000000000004}}]}


def test_names_are_no_patterns(registry, scored, task):
    """A name with a wildcard of SQL is only itself."""
    task.systems = {"a": task.systems["a"], "_": task.systems["b"]}
    scored(task)
    assert registry("export", "small", "codabench", "--submission", "_/_").json == {"acc": 0.5}


def test_what_is_not_there(export, registry):
    for form in ("codabench", "badge"):
        assert "unknown submission 'a/A'; did you mean 'a/a" in export(
            form, "--submission", "a/A", exit_code=3).stderr
    assert "add --submission TEAM/SYSTEM" in export("evalai", exit_code=3).stderr
    assert "leave out --submission" in export("wmt", "--submission", "a/a", exit_code=3).stderr
    assert "add --submission TEAM/SYSTEM" in export("badge", exit_code=3).stderr
    assert "leave out --submission" in export("bibtex", "--submission", "a/a", exit_code=3).stderr
    assert "unknown task 'smal'" in registry("export", "smal", "citation", exit_code=3).stderr
    assert "leave out --metric" in export("codalab", "--submission", "a/a", "--metric", "acc", exit_code=3).stderr


def test_wmt_prints_ranges_scores_and_systems_with_rules_between_clusters(registry, scored):
    scored(ENTITIES)
    written = registry("export", "entities", "wmt").stdout
    body = written.partition(r"\midrule")[2].partition(r"\bottomrule")[0].split("\n")
    rows = [line.removesuffix(r" \\").split(" & ") for line in body if line]
    assert rows[:3] == [["1", "0.959", "aspen-xl"], [r"\midrule"], ["2--5", "0.805", "aspen-s"]]
    assert rows.count([r"\midrule"]) == 3  # four clusters


def test_wmt_leaves_names_alone():
    written = render_wmt(leaderboard(list(HOSTILE)))
    assert r"\input" not in written
    assert r"\textbackslash{}input\{x\}" in written.replace(r"\penalty500{}", "")


def test_a_badge_says_which_places_are_left_open(export):
    """a is significantly better than no other of three: its rank may be any; a swap of 6 items tells nothing."""
    drawn = ElementTree.fromstring(export("badge", "--submission", "a/a").stdout)
    texts = [element.text for element in drawn.iter(f"{SVG}text")]
    assert texts == ["small", "rank 1-3 of 3"]
    assert drawn.find(f"{SVG}title").text == "a: rank 1-3 of 3 (small/test: acc = accuracy)"


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_badges_are_text_and_nothing_else(name):
    board = leaderboard([name, "b"])
    drawn = ElementTree.fromstring(draw_badge(board, board.standings[0], name))
    assert {element.tag for element in drawn.iter()} == {f"{SVG}{tag}" for tag in (
        "svg", "title", "rect", "path", "g", "text")}
    assert len("".join(drawn.itertext())) < 250


TEXTS = {"title": 'On {braces}, 50 % of #1 & "x"\n\u202e: \\input{y}', "organisers": ["Ann Ä. and {Sons", "漢字: #"],
         "citation": "Cite\tme}", "description": "- a: [b]", "url": "https://example.org/a?b=%20#c"}


def test_citations_are_text_and_nothing_else():
    """BibTeX counts braces, also those that TeX escapes; YAML reads what JSON writes in quotes, as CFF wants it."""
    task = Task(id="small", version="1.0", licence="MIT OR CC-BY-4.0", **TEXTS)
    entry = bibtex(task, "2027-03-01")
    depth = list(accumulate(1 if c == "{" else -1 if c == "}" else 0 for c in entry))
    assert min(depth) == 0 == depth[-1]
    assert [entry[n] for n, deep in enumerate(depth) if deep == 0] == [*"@misc", "}", "\n"]
    assert re.findall(r"^  (\w+) = ", entry, re.MULTILINE) == ["title", "author", "year", "url", "note"]
    assert "{Ann Ä. and \\textbraceleft{}Sons} and {漢字: \\#}" in entry
    assert "  url = {https://example.org/a?b=%20#c},\n" in entry
    assert not re.search(r"(?<!\\)[%&]|\\input", entry.replace("a?b=%20", ""))
    told = yaml.safe_load(citation_file(task, "2027-03-01"))
    assert told == {
        "cff-version": "1.2.0", "type": "dataset", "message": "Cite me}", "abstract": "- a: [b]", "version": "1.0",
        "title": 'On {braces}, 50 % of #1 & "x" : \\input{y}', "date-released": "2027-03-01", "url": TEXTS["url"],
        "license": ["MIT", "CC-BY-4.0"], "keywords": ["shared task", "evaluation", "leaderboard"],
        "authors": [{"name": name} for name in TEXTS["organisers"]]}
    bare = yaml.safe_load(citation_file(Task(id="small", title=" \u202e", licence="LicenseRef-ours"), None))
    assert bare["title"] == "small"
    assert bare.keys() == {"cff-version", "type", "message", "title", "version", "keywords", "authors"}


def test_croissant_tasks_have_a_solution_for_each_submission_and_its_scores(export):
    """As the vocabulary's shapes want it: a problem with a specification, solutions of it with an implementation."""
    graph = {of["@id"]: of for of in export("croissant-tasks").json["@graph"]}
    assert graph["#task"]["cr:output"]["@type"] == "cr:OutputSpec"
    found = {}
    for of in graph.values():
        if of["@type"] == "cr:EvaluationTask":
            solution = graph[of["cr:evaluatedSolution"]["@id"]]
            assert solution["sc:isBasedOn"] == {"@id": "#task"}
            assert solution["cr:implementation"]["@type"] == "sc:SoftwareApplication"
            (result,) = of["cr:evaluationResults"]
            found[solution["sc:name"]] = result["cr:metric"], result["cr:value"]["sc:value"], result["sc:position"]
    assert found == {"a/a@1": ("Accuracy", 5 / 6, "1-3"), "b/b@1": ("Accuracy", 0.5, "1-3"),
                     "c/c@1": ("Accuracy", 0.5, "1-3")}


def test_in_a_blind_phase_nobodys_place_is_exported(export, registry):
    registry("hide", "small", "--scores")
    for form in (("badge", "--submission", "a/a"), ("croissant-tasks",)):
        hidden = export(*form)
        assert "hidden" in hidden.stderr
        assert hidden.stdout == ""
    assert export("bibtex").stdout == "@misc{small-1,\n  title = {{small}},\n  note = {Shared task, version 1}\n}\n"
