"""Files of an anonymous task, whose paths hold the names of teams: no message may print them.

The names are such that a search for `quill` or `zeph` finds each, in any letter case and however accents are written.
"""

import gzip
import json
import unicodedata
from pathlib import Path

import pytest

from tests.thorough import keep_each

MANIFEST = """manifest = 1
[task]
id = "small"
[[metric]]
name = "Accuracy"
[significance]
seed = 1
[board]
anonymous = true
[[test_set]]
name = "test"
gold = "test.tsv"
format = "labels"
options = { columns = ["item", "label"] }
"""
GOLD = {f"t{n:02}": "abc"[n % 3] for n in range(12)}
NFD = unicodedata.normalize("NFD", "Quillmärk")
LAYOUTS = {  # of files: patterns or single files with their names, and the path of each
    "in the file's name": ('file = "submissions/{team}.{system}.tsv"', "submissions/Quillmark.Zephyrine.tsv"),
    "in the folder's name": ('file = "submissions/{team}/{system}.tsv"', "submissions/Quillmark/Zephyrine.tsv"),
    "twice": ('file = "{team}/{team}.{system}.tsv"', "Quillmark/Quillmark.Zephyrine.tsv"),
    "in the system's name": ('file = "submissions/{system}.tsv"', "submissions/Quillmark-Zephyrine.tsv"),
    "in another case": ('file = "submissions/quillmark.tsv"\nteam = "Quillmark"\nsystem = "ZEPHYRINE"',
                        "submissions/quillmark.tsv"),
    "in another normal form": (f'file = "submissions/{NFD}.tsv"\nteam = "Quillmärk"\nsystem = "Zephyrine"',
                               f"submissions/{NFD}.tsv"),
    "with characters of expressions": ('file = "submissions/{team}.{system}.tsv"',
                                       "submissions/Quill(mark)+[x]*?^$|.Zephyrine\\d.tsv"),
    "with blanks": ('file = "submissions/{team}/{system}.tsv"', "submissions/The Quill mark #1/Zeph & yr ine.tsv"),
    "within a word": ('file = "submissions/{team}.tsv"\nsystem = "Zephyrine"', "submissions/Quill.tsv"),
    "compressed": ('file = "submissions/{team}.{system}.tsv.gz"', "submissions/Quillmark.Zephyrine.tsv.gz"),
    "of runs": ('file = "submissions/{team}.{system}.{run}.tsv"', "submissions/Quillmark.Zephyrine.1.tsv"),
    "of a member of another": ('file = "submissions/{team}.{system}.tsv"', "submissions/Quill.Quill-Zephyrine.tsv"),
}
BROKEN = {  # lines of a file, an error that it has, and how many
    "cut off": (["t00\ta", "t01\tb"], ": item 't02': there is no answer to it (one of 10", 10),
    "a line": (["t00\ta", "t01", "t02\tc"], ":2: 1 column where 2 are expected", 11),
    "empty": ([], ": the file is empty", 1),
    "a zip archive": (["PK\x03\x04Quillmark/Zephyrine.tsv"], ":1: 1 column where 2 are expected", 13),
}


def write(path, lines):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def laid_out(named):
    """Write a task with a submission of that layout, and another one; gives the path of the first."""
    submit, path = LAYOUTS[named]
    write("test.tsv", (f"{item}\t{label}" for item, label in GOLD.items()))
    write("other.tsv", (f"{item}\t{'a' if n else label}" for n, (item, label) in enumerate(GOLD.items())))
    Path("task.toml").write_text(
        f'{MANIFEST}[[submit]]\n{submit}\n[[submit]]\nfile = "other.tsv"\nsystem = "Zephania"\nteam = "Quillon"\n')
    write(path, (f"{item}\t{'b' if n else label}" for n, (item, label) in enumerate(GOLD.items())))
    return path


def plain(text):
    """A text without accents and letter case, JSON's escapes undone."""
    text = text.encode().decode("unicode_escape").encode("latin-1", "replace").decode("utf-8", "replace") + text
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)).lower()


def search(outcome):
    text = plain(outcome.stdout + outcome.stderr)
    assert "quill" not in text, outcome
    assert "zeph" not in text, outcome


@pytest.mark.parametrize("named", keep_each(4, LAYOUTS))
def test_no_error_of_a_file_names_its_team(named, registry):
    path = laid_out(named)
    registry("run", "task.toml", "--db", "good.duckdb")
    write(path, BROKEN["cut off"][0])
    for command in (("check", "task.toml"), ("check", "task.toml", "--db", "good.duckdb", "--format", "json"),
                    ("apply", "task.toml", "--db", "good.duckdb"),
                    ("submit", "small", path, "--system", "Zephyr", "--team", "Quillon", "--db", "good.duckdb")):
        outcome = registry("--verbose", *command, exit_code=3)
        search(outcome)
        said = outcome.stdout + outcome.stderr
        assert "a submission that is not in the registry" in said or '"file": "Team ' in said or "error: Team " in said


@pytest.mark.parametrize("damage", BROKEN)
def test_each_error_is_printed_once_and_counted_once_without_a_name(damage, registry):
    path = laid_out("in the folder's name")
    lines, says, n = BROKEN[damage]
    write(path, lines)
    for before, place in (((), "a submission that is not in the registry"), (("--organiser",), path)):
        told = registry(*before, "check", "task.toml", exit_code=3).stderr
        assert f"error: {place}{says}" in told
        assert told.count("error: ") == n
        assert n == 1 or f"{place}: {n} errors: " in told
    outcome = registry("check", "task.toml", "--max-errors", "1", exit_code=3)
    assert "not listed" in outcome.stderr or n == 1
    search(outcome)
    outcome = registry("check", "task.toml", "--format", "json", exit_code=3)
    search(outcome)
    problems = outcome.json
    assert len(problems) == len({(row["line"], row["item"]) for row in problems}) == n
    for form in ("csv", "jsonl"):
        search(registry("check", "task.toml", "--format", form, exit_code=3))
    for command in (("run", "task.toml"), ("apply", "task.toml"), ("run", "task.toml", "--dry-run")):
        outcome = registry(*command, exit_code=3)
        search(outcome)
        assert f"error: a submission that is not in the registry{says}" in outcome.stderr


@pytest.mark.parametrize("named", list(LAYOUTS)[3:9])
def test_no_warning_about_a_file_names_its_team(named, registry):
    """Here it has the answers of the other one, and lines that end with CR LF."""
    path = laid_out(named)
    write(path, (f"{item}\t{'a' if n else label}\r" for n, (item, label) in enumerate(GOLD.items())))
    for command in (("check", "task.toml"), ("apply", "task.toml"),
                    ("submit", "small", path, "--system", "Zephyr", "--team", "Quillon")):
        outcome = registry("--verbose", *command)
        search(outcome)
        assert "has the same answers as" in outcome.stderr


def test_a_pseudonym_stands_for_the_path_of_a_submission_that_has_one(registry):
    path = laid_out("in the file's name")
    registry("run", "task.toml")
    shown = {row["submission"]: row["score"] for row in registry("board", "--format", "json").json}
    pseudonym = next(name for name, score in shown.items() if score == 5 / 12)  # the first item, and 4 with b
    write(path, ["t00\ta", "t01\tb"])
    (file,) = {row["file"] for row in registry(
        "check", "task.toml", "--db", "registry.duckdb", "--format", "json", exit_code=3).json}
    assert file == pseudonym


def test_files_of_the_command_line_are_called_as_there_and_teams_not_at_all(registry):
    for name in ("test", "a", "b"):
        write(f"{name}.tsv", (f"{item}\t{label if name == 'test' else 'a'}" for item, label in GOLD.items()))
    Path("task.toml").write_text(MANIFEST + "".join(
        f'[[submit]]\nfile = "{name}.tsv"\nteam = "Quillmark{name}"\nsystem = "Zephyrine"\n' for name in "ab"))
    outcome = registry("check", "a.tsv", "b.tsv", "--task", "task.toml")
    search(outcome)
    assert "warning: b.tsv: has the same answers as a.tsv, another system" in outcome.stderr


@pytest.mark.parametrize("command", [("check", "task.toml"), ("check", "a.tsv", "--task", "task.toml"),
                                     ("run", "task.toml"), ("apply", "task.toml")])
@pytest.mark.parametrize("submit", [
    'file = "Quillmark.{system}.tsv"\n[[submit]]\nfile = "Quillmark.Zephyrine.tsv"\nsystem = "Zephyrine"\n'
    'exclude = ["x"]', 'file = "Quillmark{system}ine.{x}"', 'file = "{team}.tsv"',
    'file = "{team}.{system}.{version}"'])
def test_no_error_of_the_manifest_names_a_team(command, submit, registry):
    for name in ("test", "a", "Quillmark.Zephyrine", "Quillmark.Zephyrine.x"):
        write(f"{name}.tsv", (f"{item}\t{label}" for item, label in GOLD.items()))
    Path("task.toml").write_text(f"{MANIFEST}[[submit]]\n{submit}\n")
    outcome = registry(*command, exit_code=3)
    search(outcome)
    assert "registry --organiser check" in outcome.stderr


def test_a_submission_that_cannot_be_read_is_not_named(registry):
    path = laid_out("in another case")
    Path(path).unlink()
    Path(path).mkdir()
    for command in (("check", "task.toml"), ("run", "task.toml"), ("apply", "task.toml")):
        search(registry(*command, exit_code=3))


def test_without_anonymity_the_path_is_told(registry):
    write("test.tsv", (f"{item}\t{label}" for item, label in GOLD.items()))
    write("Quillmark.Zephyrine.tsv", ["t00\ta"])
    Path("task.toml").write_text(MANIFEST.replace("anonymous = true", "anonymous = 2020-01-01T00:00:00Z")
                                 + '[[submit]]\nfile = "{team}.{system}.tsv"\n')
    problems = json.loads(registry("check", "task.toml", "--format", "json", exit_code=3).stdout)
    assert {row["file"] for row in problems} == {"Quillmark.Zephyrine.tsv"}
