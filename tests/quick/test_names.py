"""Names that `registry new` makes from file names, values and the command line: `registry run` accepts them all."""

import pytest

KEPT = [
    "Grüße", "Ångström-ß", "система", "模型", "型", "with space", "a+b", "bert+", "c#", "#1", "7b", "v1.2.3", "a..b",
    "x" * 190, "ü" * 100, "con", "aux", "data", "gold", "systems", "task.toml", "{team}", "a{run}b", "{}", "it's",
    'say"x"', "100%", "$HOME", "`x`", "--help", "a*b", "[x]", "😀", "_", "&<b>", "a,b", "a=b", "a|b", "~", "!",
    "null", "Aspen", "aspen", "a b", "a_b", "ı", "ﬁ"]
GOLD = "item\tlabel\n" + "".join(f"i{n}\t{'yn'[n % 2]}\n" for n in range(8))


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def run_new(registry, *arguments):
    registry("new", "t", *arguments)
    return {row["system"] for row in registry("run", "t/task.toml", "--format", "json").json}


def test_names_of_systems_are_those_of_files(registry, tmp_path):
    write(tmp_path, {"gold.tsv": GOLD, **{f"subs/{name}.tsv": GOLD for name in KEPT}})
    assert run_new(registry, "--gold", "gold.tsv", "subs") == {*KEPT}
    names = [path.name for path in (tmp_path / "t" / "systems").iterdir()]
    assert len(names) == len({name.casefold() for name in names}) == len(KEPT)
    assert {"Grüße.tsv", "模型.tsv", "_con.tsv"} <= {*names}
    assert max(len(name.encode()) for name in names) < 200


def test_characters_that_no_name_has_are_replaced(registry, tmp_path):
    """File names of macOS are in the normal form NFD."""
    write(tmp_path, {"gold.tsv": GOLD, "subs/e\u0301te\u0301.tsv": GOLD, "subs/a@b.tsv": GOLD, "subs/c\\d.tsv": GOLD})
    assert run_new(registry, "--gold", "gold.tsv", "subs") == {"été", "a_b", "c\\d"}


@pytest.mark.parametrize(("file", "says"), [
    ("a\u200bb.tsv", r"'a\u200bb.tsv' has an invisible character; rename the file"),
    ("a_b.tsv", "subs/a_b.tsv: this system would get the name 'a_b', like subs/a@b.tsv; rename one of the two files")])
def test_files_whose_names_make_no_name_are_named(registry, tmp_path, file, says):
    write(tmp_path, {"gold.tsv": GOLD, f"subs/{file}": GOLD, "subs/a@b.tsv": GOLD})
    assert says in registry("new", "t", "--gold", "gold.tsv", "subs", exit_code=3).stderr
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(("task", "remedy"), [
    ("Größe", "; use Grosse\n"), ("my task", "; use my_task\n"), ("tasks/a", "; use a and --to for the folder\n"),
    (".hidden", "; use hidden\n"), ("..", "begin with a letter or digit\n"), ("模型", "begin with a letter or digit\n"),
    ("", "begin with a letter or digit\n")])
def test_an_invalid_id_is_refused_before_anything_is_written(registry, tmp_path, task, remedy):
    write(tmp_path, {"gold.tsv": GOLD, "a.tsv": GOLD, "b.tsv": GOLD})
    files = ("--gold", "gold.tsv", "a.tsv", "b.tsv")
    refused = registry("new", task, *files, exit_code=3).stderr
    assert refused.startswith("error: TASK: ")
    assert refused.endswith(remedy)
    assert "error: --keep: " in registry("quick", *files, "--keep", task, exit_code=3).stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tsv", "b.tsv", "gold.tsv"]


def test_ids_of_test_sets_have_no_accents(registry, tmp_path):
    rows = [line.split("\t") for line in GOLD.splitlines()[1:]]
    values = ["für", "a b", "C+", "7"]
    write(tmp_path, {"gold.tsv": "item\tlabel\tsplit\n" + "".join(
        f"{item}\t{label}\t{values[n // 2]}\n" for n, (item, label) in enumerate(rows)), "a.tsv": GOLD, "b.tsv": GOLD})
    registry("new", "t", "--gold", "gold.tsv", "--by", "split", "a.tsv", "b.tsv")
    boards = registry("run", "t/task.toml", "--format", "json").json
    assert {row["test_set"] for row in boards} == {"fur", "a_b", "Cplus", "7"}
    (tmp_path / "gold.tsv").write_text((tmp_path / "gold.tsv").read_text().replace("für", "日本"))
    refused = registry("new", "u", "--gold", "gold.tsv", "--by", "split", "a.tsv", "b.tsv", exit_code=3).stderr
    assert ("the name of the test set '日本' has no letter from a to z and no digit, so it cannot make an id; rename "
            "the test set\n") in refused
