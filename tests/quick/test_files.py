"""Files, folders and patterns of systems, what these are called, and runs."""

import unicodedata
from pathlib import Path
from shlex import split

import pytest

from registry.errors import InputError
from registry.quick.files import name_systems
from registry.quick.make import make
from registry.quick.plan import QuestionError, Request
from tests.quick.layouts import GOLD, HALVES, IDS, A, B, rows

LABELS, OURS = rows(IDS, GOLD), rows(IDS, A)
SCORES = rows(IDS, HALVES, header=("item", "f1"))
LAYOUTS = {  # files of systems, what systems are called, and the path that is given
    "a folder": (["sub/a.tsv", "sub/b.tsv"], ["a", "b"], "sub"),
    "a folder of each team": (["res/a/answer.tsv", "res/b/answer.tsv"], ["a", "b"], "res"),
    "a folder of each seed": (["out/a/seed1/p.tsv", "out/b/seed1/p.tsv"], ["a", "b"], "out"),
    "a pattern": (["out/a/1.tsv", "out/b/2.tsv"], ["a", "b"], "out/{model}/{run}.tsv"),
    "a pattern within names": (["x.a.out", "x.b.out", "x.c.log"], ["a", "b"], "x.{system}.out"),
}


def systems(made):
    return [one["system"] for one in made.folder.tables["submit"]]


@pytest.mark.parametrize("name", LAYOUTS)
def test_systems_of_a_folder_or_pattern(name, folder):
    files, names, given = LAYOUTS[name]
    path = folder({"gold.tsv": LABELS, **dict.fromkeys(files, OURS)})
    assert systems(make([path / given], Request(gold=str(path / "gold.tsv")))) == names


@pytest.mark.parametrize(("beside", "notes"), [
    (".DS_Store", []), (".gitkeep", []), ("README.md", ["README.md"]), ("score.csv", ["score.csv"])])
def test_other_files_beside_folders_of_systems(beside, notes, folder):
    """Case 22: hidden files are ignored, others are named."""
    path = folder({"gold.z": LABELS, f"sys/{beside}": "x", "sys/a - 1/p.txt": OURS, "sys/b/p.txt": OURS})
    made = make([path / "sys"], Request(gold=str(path / "gold.z")))
    assert systems(made) == ["a - 1", "b"]
    assert [note.rpartition(": ")[2] for note in made.notes if note.startswith("not read")] == notes


def test_a_pattern_gives_team_and_system(folder, registry, monkeypatch):
    """The manifest has one entry for all files, and names without `@`, which an info explains."""
    path = folder({"gold.tsv": LABELS, **{f"in/{team}_{system}.tsv": OURS for team in ("Aspen", "NLP@Graz")
                                          for system in ("run1", "run2")}})
    monkeypatch.chdir(path)
    arguments = ("--gold", "gold.tsv", "in/{team}_{system}.tsv")
    made = registry("new", "t", *arguments)
    assert "info: 'NLP@Graz' is called 'NLP_Graz', because names have no @\n" in made.stderr
    assert (path / "t/task.toml").read_text().partition("[[submit]]")[2].split("\n", 2)[1:] == [
        'file = "systems/{team}/{system}.tsv"', ""]
    registry("run", "t/task.toml")
    assert {(row["team"], row["system"]) for row in registry("board", "t", "--format", "json").json} == {
        (team, system) for team in ("Aspen", "NLP_Graz") for system in ("run1", "run2")}
    registry("new", "runs", "--runs", "fixed", *arguments)
    assert (path / "runs/task.toml").read_text().count('file = "systems/Aspen/{run}.tsv"\nsystem = "Aspen"') == 1


def test_a_manifest_of_the_valid_files(folder, registry, monkeypatch):
    """All faults are printed at once; a corrected file is added by the command that the warning shows."""
    path = folder({"gold.tsv": LABELS, "in/A/one.tsv": OURS, "in/B/one.tsv": OURS + OURS.splitlines()[-1] + "\n",
                   "in/C/one.tsv": OURS.splitlines()[0] + "\n"})
    monkeypatch.chdir(path)
    arguments = ("--gold", "gold.tsv", "in/{team}/{system}.tsv")
    warnings = [line for line in registry("new", "t", *arguments).stderr.splitlines() if line.startswith("warning:")]
    faults = ("warning: left out: in/B/one.tsv:", "warning: left out: in/C/one.tsv: item ")
    assert [line.startswith(fault) for line, fault in zip(warnings, (*faults, "warning: 2 files are left"), strict=True)
            ] == [True] * 3
    assert (path / "t/task.toml").read_text().count("# Left out: in/") == 2
    registry("run", "t/task.toml")
    (path / "in/B/one.tsv").write_text(OURS)
    command = warnings[-1].rpartition("`registry ")[2].rstrip("`")
    registry(*command.split())
    assert registry("list", "submissions", "--format", "json").json[-1]["id"] == "t/test/B/one@1"
    (path / "in/A/one.tsv").write_text("")
    printed = registry("new", "u", *arguments).stderr
    assert "warning: left out: in/A/one.tsv: the file is empty" in printed
    assert "`registry submit u in/A/one.tsv --team A --system one`" in printed
    for name in "BC":
        (path / f"in/{name}/one.tsv").write_bytes("a\tb".encode("utf-16"))
    assert "error: in/A/one.tsv: the file is empty" in registry("new", "v", *arguments, exit_code=3).stderr


def test_a_corrected_file_is_added_to_its_test_set_and_names_are_in_nfc(folder, registry, monkeypatch):
    """The team's folder has a name in NFD, as macOS writes it; the printed command runs as it is."""
    nfd = unicodedata.normalize("NFD", "Müller")
    broken = OURS + OURS.splitlines()[-1] + "\n"
    path = folder({**{f"gold.{test_set}.tsv": LABELS for test_set in ("de", "en")},
                   "in/A/one.de.tsv": OURS, "in/A/one.en.tsv": OURS,
                   f"in/{nfd}/one.de.tsv": broken, f"in/{nfd}/one.en.tsv": OURS})
    monkeypatch.chdir(path)
    told = registry("new", "t", "--gold", "gold.{test_set}.tsv", "in/{team}/{system}.{test_set}.tsv").stderr
    command = told.rpartition("`registry submit ")[2].partition("`")[0]
    registry("run", "t/task.toml")
    (path / f"in/{nfd}/one.de.tsv").write_text(OURS)
    missing = registry("submit", "t", f"in/{nfd}/one.de.tsv", "--system", "two", exit_code=3).stderr
    assert "the task has 2 test sets; add --test-set de or --test-set en" in missing
    registry("submit", *split(command))
    registry("submit", "t", "in/A/one.de.tsv", "--system", "two", "--team", nfd, "--test-set", "de")
    names = {row["id"] for row in registry("list", "submissions", "--format", "json").json}
    assert {"t/de/Müller/one@1", "t/de/Müller/two@1"} < names
    assert names == {unicodedata.normalize("NFC", name) for name in names}


@pytest.mark.parametrize(("column", "values"), [("label", ["yes", "no"] * 6), ("score", range(12))])
def test_a_submission_without_a_header(column, values, folder, registry, monkeypatch):
    """The options in the error read it."""
    late = "".join(f"q{n}\t{value}\n" for n, value in enumerate(values))
    complete = f"id\t{column}\n{late}"
    monkeypatch.chdir(folder({"gold.tsv": complete, "in/a.tsv": complete, "late.tsv": late}))
    registry("new", "t", "--gold", "gold.tsv", f"--{column}", column, "in")
    registry("run", "t/task.toml")
    submit = ("submit", "t", "late.tsv", "--system", "late")
    error = registry(*submit, exit_code=3).stderr
    options = error.partition("(registry submit: ")[2].rpartition(")")[0]
    assert "submissions: 1 added" in registry(*submit, *split(options)).stderr


def test_of_several_files_in_each_folder_one_question(folder):
    """Case 24: the one that ends as the gold's does; else patterns are shown, each of which is read."""
    teams = {f"out/{team}/{name}": OURS for team in "ab" for name in ("p.tsv", "p.check")}
    path = folder({"gold.tsv": LABELS, "out/score.csv": "team,f1\na,1\n", **teams})
    asked = Request(gold=str(path / "gold.tsv"))
    made = make([path / "out"], asked)
    assert systems(made) == ["a", "b"]
    assert {note.rpartition(": ")[2] for note in made.notes if note.startswith("not read")} == {"score.csv", "p.check"}
    folder({f"out/{team}/p.score.tsv": OURS for team in "ab"})
    with pytest.raises(QuestionError, match="has 3 files; expected one file in each folder") as question:
        make([path / "out"], asked)
    patterns = [option.strip("'") for option in question.value.options]
    assert [Path(pattern).name for pattern in patterns] == ["p.score.tsv", "p.tsv"]
    assert [systems(make([Path(pattern)], asked)) for pattern in patterns] == [["a", "b"]] * 2


def test_benchmarks_of_a_pattern_are_test_sets(folder):
    """With a gold of each, or with scores and none."""
    path = folder({**{f"{model}/{name}.tsv": OURS for model in "xy" for name in ("one", "two")},
                   **{f"gold/{name}.tsv": LABELS for name in ("one", "two")}})
    made = make([path / "{model}/{benchmark}.tsv"], Request(gold=str(path / "gold/{benchmark}.tsv")))
    tables = made.folder.tables
    assert [one["name"] for one in tables["test_set"]] == ["one", "two"]
    assert {(one["test_set"], one["system"]) for one in tables["submit"]} >= {("one", "x"), ("two", "y")}
    path = folder({f"runs/{model}/{name}.tsv": SCORES for model in "xy" for name in ("one", "two")})
    made = make([path / "runs/{model}/{benchmark}.tsv"], Request())
    assert [one["name"] for one in made.folder.tables["test_set"]] == ["one", "two"]
    with pytest.raises(InputError, match=r"unknown name \{name\}; known: annotator"):
        make([path / "runs/{name}/one.tsv"], Request())
    with pytest.raises(InputError, match="no file matches this pattern"):
        make([path / "other/{model}.tsv"], Request())


def test_a_folder_with_the_gold_in_it_is_asked_about(folder):
    """The question shows the command; without a gold each file has scores."""
    path = folder({"gold/key.tsv": LABELS, "systems/a.tsv": OURS, "systems/b.tsv": OURS})
    with pytest.raises(QuestionError) as question:
        make([path], Request())
    assert question.value.options == (f"--gold {path}/gold/key.tsv {path}/systems",)
    path = folder({f"scores/{name}/x.tsv": SCORES for name in "ab"})
    assert systems(make([path / "scores"], Request())) == ["a", "b"]
    with pytest.raises(InputError, match="--gold is a folder"):
        make([path / "systems"], Request(gold=str(path / "gold")))
    with pytest.raises(InputError, match="--gold: no such file"):
        make([path / "systems"], Request(gold=str(path / "gald")))


def test_systems_are_called_by_what_distinguishes_them(folder):
    assert name_systems([Path(f"x/wmt.cs-en.hyp.{name}.en") for name in ("Online-A", "Online-B")]) == [
        "Online-A", "Online-B"]
    assert name_systems([Path("arcada"), Path("mic-cis.txt")]) == ["arcada", "mic-cis"]
    path = folder({"gold.tsv": LABELS, "a.tsv": OURS, "a.txt": OURS, "b.txt": OURS})
    with pytest.raises(InputError, match="would get the name 'a'"):
        make([path / name for name in ("a.tsv", "a.txt", "b.txt")], Request(gold=str(path / "gold.tsv")))


@pytest.mark.parametrize("ending", ["", ".tsv"])
def test_runs_of_a_system(ending, folder):
    """Case 42: also if the number is the ending of the file."""
    names = {"x.run0": A, "x.run1": B, "y.run0": B, "y.run1": A}
    path = folder({"gold": LABELS, **{f"{name}{ending}": rows(IDS, of) for name, of in names.items()}})
    paths = [path / f"{name}{ending}" for name in names]
    asked = Request(gold=str(path / "gold"))
    assert "x.run0, x.run1 are separate systems" in "".join(make(paths, asked).notes)
    made = make(paths, Request(gold=asked.gold, runs="random"))
    assert [(one["system"], one["file"]) for one in made.folder.tables["submit"]] == [
        ("x", f"systems/x/{{run}}{ending}"), ("y", f"systems/y/{{run}}{ending}")]
    assert made.folder.tables["significance"]["test"] == "crossed"
    assert made.folder.files[f"systems/x/1{ending}"] == rows(IDS, B).encode()
    with pytest.raises(InputError, match="needs file names that differ only in a number"):
        make(paths[::2], Request(gold=asked.gold, runs="fixed"))


def test_new_warns_of_labels_in_another_letter_case(folder, registry, monkeypatch):
    monkeypatch.chdir(folder({"gold.tsv": LABELS, "one.tsv": OURS.replace("yes", "Yes")}))
    printed = registry("new", "t", "--gold", "gold.tsv", "one.tsv").stderr
    assert f"warning: one.tsv: {A.count('yes')} of 24 labels are unknown to the gold: 'Yes'" in printed
    assert "fold_case = true" in printed


def test_an_item_that_occurs_twice_in_a_system_has_advice_for_the_command_line(folder, registry, monkeypatch):
    texts = "id\ttext\na\tit rains\nb\tit is dry\n"
    monkeypatch.chdir(folder({"gold.tsv": texts, "one.tsv": f"{texts}b\tit is wet\n"}))
    printed = registry("quick", "--gold", "gold.tsv", "one.tsv", "--text", "text", exit_code=3).stderr
    assert "error: one.tsv:4: item 'b': occurs twice, first in line 3; keep one" in printed
    assert "item = []" not in printed
