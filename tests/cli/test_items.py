"""`registry items`: which items to look at, and what everybody says of one."""

import pytest

from tests.conftest import ROOT

SAMPLES = ROOT / "sample_data"


@pytest.fixture
def labels(registry, scored, task):
    """Six items; a errs on i5 alone, b and c, who say the same, on i2, i3 and i4; after that i0's gold is changed."""
    task.gold["i0"] = "maybe"
    scored(task)

    def items(*arguments, **options):
        return registry("items", "small", *arguments, "--format", "json", **options).json

    return items


def test_items_on_which_systems_disagree(labels):
    """Everywhere but on i0 and i1, a is alone: two of three pairs of runs differ by two answers."""
    rows = labels("disagree")
    assert [(row["item"], row["mean_differing"]) for row in rows] == [
        *((i, pytest.approx(4 / 3)) for i in ("i2", "i3", "i4", "i5")), ("i0", 0), ("i1", 0)]
    assert labels("disagree", "--limit", 2) == rows[:2]


@pytest.mark.parametrize(("which", "system"), [("disagree", ()), ("hard", ()), ("disagree", ("a", "b"))])
def test_items_beyond_the_limit_are_counted(which, system, labels, registry):
    def list_items(limit):
        systems = [part for name in system for part in ("--system", name)]
        return registry("items", "small", which, *systems, "--limit", limit, "--format", "json")

    n_items = len(list_items(20).json)
    assert n_items == (4 if system else 6)
    done = list_items(n_items - 1)
    assert len(done.json) == n_items - 1
    assert f"{n_items - 1} of {n_items} items are shown; --limit N shows more" in done.stderr
    assert "are shown" not in list_items(n_items).stderr


def test_items_on_which_two_systems_differ(registry, tmp_path, monkeypatch):
    """a and c differ on items 1 and 2, and b is ignored; the columns have the scores of the named systems."""
    scores = {"a": [1, 1, 0, 0], "b": [0, 0, 1, 1], "c": [1, 0, 1, 0]}
    monkeypatch.chdir(tmp_path)
    for system, values in scores.items():
        rows = "".join(f"{n}\t{value}\n" for n, value in enumerate(values))
        (tmp_path / f"{system}.tsv").write_text(f"item\tcorrect\n{rows}")
    registry("quick", "{system}.tsv", "--score", "correct:higher", "--keep", "t")

    def disagree(*systems, **options):
        named = [part for system in systems for part in ("--system", system)]
        return registry("items", "t", "disagree", *named, "--format", "json", **options)

    assert [(row["item"], row["a"], row["c"]) for row in disagree("a", "c").json] == [("1", 1, 0), ("2", 0, 1)]
    assert [row["item"] for row in disagree("c/c", "b").json] == ["0", "3"]
    assert "unknown system 'x'; known: a, b, c" in disagree("a", "x", exit_code=3).stderr
    assert "name two or more systems" in disagree("a", exit_code=3).stderr
    assert "leave it out" in registry("items", "t", "hard", "--system", "a", exit_code=3).stderr
    assert "t has scores or free texts of items" in registry("items", "t", "suspect", exit_code=4).stderr


def test_hard_items(labels):
    assert [(row["item"], row["mean"]) for row in labels("hard")] == [
        ("i0", 0), *((i, pytest.approx(1 / 3)) for i in ("i2", "i3", "i4")), ("i5", pytest.approx(2 / 3)), ("i1", 1)]


def test_suspect_items(labels):
    """All say no to i0, and the gold maybe."""
    (row,) = labels("suspect")
    assert (row["item"], row["missed"], row["spurious"], row["instead"], row["support"]) == (
        "i0", ["maybe"], ["no"], "no", 3)


def test_one_item_side_by_side(labels):
    gold, a, b, c = labels("show", "i5")
    assert (gold["source"], gold["system"], gold["all_correct"], gold["correct"]) == ("gold", None, None, ["yes"])
    assert (a["system"], a["all_correct"], a["score"], a["correct"], a["incorrect"], a["missed"]) == (
        "a", False, 0, [], ["no"], ["yes"])
    assert [(r["system"], r["all_correct"], r["score"], r["correct"], r["incorrect"]) for r in (b, c)] == [
        (s, True, 1, ["yes"], []) for s in "bc"]


def test_runs_stand_below_each_other(registry, scored, task):
    task.runs = {"r": {"1": task.systems.pop("a"), "2": task.systems.pop("b")}}
    scored(task)
    rows = registry("items", "small", "show", "i5", "--format", "json").json
    assert [(r["system"], r["replicate"], r["all_correct"]) for r in rows] == [
        (None, None, None), ("c", 0, True), ("r", 0, False), ("r", 1, True)]
    assert " run " in registry("items", "small", "show", "i5", "--format", "table").stdout


def test_spans_are_shown_with_their_words(registry, scored):
    """Of sentence d01-04 of the sample: `Shares of Orion Systems fell after Elif Duarte resigned .`"""
    scored(SAMPLES / "entities" / "task.toml")
    shown = registry("items", "entities", "show", "d01-04", "--format", "table").stdout
    assert "company 3-4 'Orion Systems', person 7-8 'Elif Duarte'" in shown
    assert "Shares of Orion Systems fell after Elif Duarte resigned ." in shown
    (crf,) = [r for r in registry("items", "entities", "show", "d01-04", "--format", "json").json
              if r["system"] == "birch-crf"]
    assert (crf["correct"], crf["incorrect"], crf["missed"]) == (
        ["person 7-8 'Elif Duarte'"], ["company 3-3 'Orion'"], ["company 3-4 'Orion Systems'"])
    assert crf["score"] == pytest.approx(2 * 1 / (2 + 2))


def test_texts_are_shown_below_their_references(registry, scored):
    folder = SAMPLES / "translation"
    scored(folder / "task.toml")
    rows = registry("items", "translation", "show", "3", "--format", "json").json
    expected = {name: (folder / file).read_text().splitlines()[2] for name, file in {
        "gold A": "reference.A.txt", "gold B": "reference.B.txt", "harbour": "submissions/harbour.txt",
        "pocket": "submissions/pocket.txt"}.items()}
    said = {r["system"] or r["source"]: r["text"] for r in rows}
    assert {name: said[name] for name in expected} == expected
    assert len(registry("items", "translation", "disagree", "--format", "json").json) == 20
    hard = registry("items", "translation", "hard", "--format", "json").json
    assert [row["mean"] for row in hard] == sorted(row["mean"] for row in hard)
    assert "`registry items translation hard`" in registry("items", "translation", "suspect", exit_code=4).stderr


@pytest.mark.parametrize(("arguments", "said"), [
    (["small", "show", "i7"], "unknown item 'i7'"), (["smal", "hard"], "unknown task 'smal'; did you mean 'small'"),
    (["small", "show"], "`registry items small show` requires the ID of an item"),
    (["small", "hard", "i1"], "`show i1` shows one item"),
])
def test_what_cannot_be_shown_is_said(registry, scored, task, arguments, said):
    scored(task)
    assert said in registry("items", *arguments, exit_code=3).stderr


def test_control_characters_in_texts_are_escaped(registry, tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / "gold.txt").write_text("good\n")
    (folder / "s.txt").write_text("bad \x1b[31m\n")
    (folder / "task.toml").write_text(
        'manifest = 1\n[task]\nid = "t"\n[[test_set]]\nname = "test"\ngold = "gold.txt"\nformat = "lines"\n'
        '[[metric]]\nid = "bleu"\nname = "BLEU"\n[[submit]]\nfile = "s.txt"\nsystem = "s"\n')
    registry("run", folder / "task.toml")
    for format_ in ("table", "tsv", "md"):
        shown = registry("items", "t", "show", "1", "--format", format_).stdout
        assert "\x1b" not in shown
        assert "x1b" in shown


TASK = """manifest = 1
task.id = "t"
test_set = [{ name = "test", gold = "gold", format = "%s" }]
metric = [{ name = "%s" }]
submit = [{ file = "a", system = "a" }, { file = "b", system = "b" }]
"""


def shown_of(registry, tmp_path, task, files, item):
    for name, lines in {"task.toml": task, **files}.items():
        (tmp_path / name).write_text(lines)
    registry("run", tmp_path / "task.toml")
    return {row["system"]: row for row in registry("items", "t", "show", item, "--format", "json").json}


def test_documents_of_a_ranking_are_right_or_wrong(registry, tmp_path):
    """The best first, of equal scores the later name; d4 was not judged, and nobody finds d3."""
    gold = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\n"
    rows = shown_of(registry, tmp_path, TASK % ("trec", "AP"), {
        "gold": gold, "a": "q1 Q0 d1 1 0.5 a\nq1 Q0 d2 2 0.5 a\nq1 Q0 d4 3 0.9 a\n", "b": "q1 Q0 d1 1 1 b\n"}, "q1")
    assert (rows[None]["correct"], rows[None]["all_correct"]) == (["d3", "d1"], None), "the most relevant first"
    assert (rows["a"]["correct"], rows["a"]["incorrect"], rows["a"]["missed"]) == (["d1"], ["d4", "d2"], ["d3"])
    assert rows["a"]["score"] == pytest.approx(1 / 3 / 2)


def test_nobody_misses_a_link_that_is_merely_possible(registry, tmp_path):
    task = TASK.replace('"%s" }]\nmetric', '"%s", options = { offset = 1 } }]\nmetric') % ("pharaoh", "AER")
    rows = shown_of(registry, tmp_path, task, {"gold": "1-1 2p2 2-3\n", "a": "1-1 2-3\n", "b": "1-1 2-2 3-3\n"}, "1")
    assert (rows["a"]["all_correct"], rows["a"]["missed"]) == (True, [])
    assert (rows["b"]["correct"], rows["b"]["incorrect"], rows["b"]["missed"]) == (["1-1", "2-2"], ["3-3"], ["2-3"])


def test_numbers_are_shown_as_they_are(registry, tmp_path):
    task = TASK % ("scores", "Mean")
    files = {"gold": "item\nx\n", "a": "item\tscore\nx\t0.25\n", "b": "item\tscore\nx\t3\n"}
    rows = shown_of(registry, tmp_path, task, files, "x")
    assert {name: row["text"] for name, row in rows.items()} == {None: None, "a": "0.25", "b": "3"}
