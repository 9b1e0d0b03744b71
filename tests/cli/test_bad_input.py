"""Bad input: one line that names the place and the remedy, exit 3, and the database as it was."""

import pytest


@pytest.fixture
def applied(task, registry, scored, tmp_path):
    """A task that is in the registry; `refused` runs it again, expecting a refusal that changes nothing."""
    scored(task)
    before = (tmp_path / "registry.duckdb").read_bytes()

    def refused(*says, command=("run", task.manifest), exit_code=3):
        told = registry(*command, exit_code=exit_code).stderr
        assert told.count("\n") == 1 or "check" in command, told  # which tells more than the first problem
        assert told.startswith("error: ") or "check" in command  # which begins with likely causes and counts
        for part in says:
            assert part in told
        assert (tmp_path / "registry.duckdb").read_bytes() == before

    task.refused = refused
    return task


def new_file(task, content):
    path = task.folder / "systems" / "new.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


FULL = "".join(f"i{n}\tyes\n" for n in range(6))


@pytest.mark.parametrize(("content", "says"), [
    (b"", ["new.tsv: the file is empty"]),
    (FULL.encode() + b"\xff\n", ["new.tsv:7: byte 0xff is not UTF-8"]),
    (FULL.replace("i3\t", "i3 "), ["new.tsv:4: the line has 1 column; expected 2 (item, label) with the separator "
                                   "tab"]),
    (FULL + "i77\tyes\n", ["new.tsv:7: item 'i77': not in the gold"]),
    (FULL + "i2\tno\n", ["new.tsv:7: item 'i2': occurs twice, first in line 3"]),
    (FULL.replace("i4\tyes\n", ""), ["new.tsv: item 'i4': it has no answer", "missing = "]),
    (FULL.replace("i4", "i4\x1b[31m"), ["new.tsv:5:", "control or invisible character"]),
])
def test_a_bad_submission_is_refused_by_every_command(applied, content, says):
    path = new_file(applied, content)
    for command in (("run", applied.manifest), ("apply", applied.manifest), ("check", applied.manifest),
                    ("check", path, "--task", applied.manifest), ("submit", "small", path, "--system", "new")):
        applied.refused(*says, command=command)


@pytest.mark.parametrize(("old", "new", "says"), [
    ('id = "small"', 'id = "small"\nname = "x"', ["task.toml: task.name: unknown key; known: citation, contact"]),
    ('name = "Accuracy"', 'name = "Acuracy"', [
        "metric[0]: unknown metric of labels 'Acuracy'; the most similar names are accuracy, balanced accuracy"]),
    ('name = "Accuracy"', 'name = "F1"', ["metric[0]: 'F1' of labels is ambiguous; write 'macro-F1', "]),
    ('name = "Accuracy"', 'name = "macro-F1"\noptions = { average = "micro" }', [
        "metric[0]: the name 'macro-F1' already sets the option 'average'; remove the option, or write name = "]),
    ('format = "labels"', 'format = "label"', ["test_set[0]: unknown reader 'label'; did you mean 'labels'"]),
    ("seed = 1", 'test = "permuttion"', ["significance: unknown test 'permuttion'; did you mean 'permutation'"]),
    ("seed = 1", 'unit = "cluster"\noverall = "cochran"', ["significance: cochran does not support clusters as units"]),
    ("seed = 1", 'test = "response-permutation"\noverall = "cochran"', [
        "cochran does not support responses as units; set unit = \"item\", or leave out overall"]),
    ("seed = 1", 'test = "fisher"', ["significance: metric 'acc': fisher supports only the precision",
                                      "use --test mcnemar"]),
    ("seed = 1", 'test = "bootstrap"\nstrata = "genre"',
     ["gold.tsv:1: item 'i0': has no attribute 'genre', which the key significance.strata of the manifest names",
      "document"]),
    ("seed = 1", 'runs = "random"',
     ["significance.runs: 'random' requires at least two runs", "a/a@1 and 2 more have only one"]),
    ("seed = 1", 'test = "cochran"', ["significance: 'cochran' tests all systems together; name it in overall"]),
    ("seed = 1", 'correction = "holms"', ["significance: unknown correction 'holms'; did you mean 'holm'"]),
    ('gold = "gold.tsv"', 'gold = "silver.tsv"', ["test_set[0].gold: no such file", "silver.tsv"]),
    ('gold = "gold.tsv"', 'gold = "../x/gold.tsv"', ["test_set[0].gold: '../x/gold.tsv' is outside the task folder"]),
    ('gold = "gold.tsv"', 'gold = "/etc/passwd"', ["is outside the task folder"]),
    ('cluster = "document"', 'cluster = "docment"', ["gold.tsv:1: item 'i0': has no attribute 'docment'", "document"]),
    ('{system}', '{sistem}', ["submit[0].file: {sistem} is an unknown field; did you mean 'system'"]),
    ('"systems/{system}.tsv"', '"systems/a.tsv"', [
        "submit[0]: the pattern 'systems/a.tsv' names no system; add {system}, {run} or {team}, or the key system"]),
    ('"systems/{system}.tsv"', '"systems/none.tsv"\nsystem = "none"', ["submit[0].file: no such file"]),
])
def test_a_bad_manifest_is_refused(applied, old, new, says):
    text = applied.manifest.read_text()
    assert old in text
    applied.manifest.write_text(text.replace(old, new, 1))
    applied.refused(*says)
    applied.refused(*says, command=("check", applied.manifest))


def test_strata_that_cut_through_clusters_are_refused(applied):
    """A cluster of one item in two genres; the gold itself is what was read before."""
    text = applied.manifest.read_text().replace("seed = 1", 'seed = 1\ntest = "bootstrap"\nunit = "cluster"')
    gold = (applied.folder / "gold.tsv").read_text().splitlines()
    (applied.folder / "gold.tsv").write_text("".join(f"{row}\t{n % 3}\n" for n, row in enumerate(gold)))
    applied.manifest.write_text(text.replace('"document"]', '"document", "genre"]').replace(
        'test = "b', 'strata = "genre"\ntest = "b').replace('version = "1"', 'version = "2"'))
    for command in ("run", "check"):
        applied.refused("gold.tsv:2: item 'i1': its document has items with different values of 'genre'",
                        "significance.strata", 'unit = "item"', command=(command, applied.manifest))


@pytest.mark.parametrize("extra", [
    'x = ' + "[" * 5000, "x = " + "9" * 5000, '[[submit]]\nfile = "a"\nattributes = { x = nan }',
    '[[submit]]\nfile = "systems/\\u0000"\nsystem = "x"', '[[metric]]\nid = "b"\nname = "Accuracy"',
])
def test_odd_toml_is_refused_in_one_line(applied, extra):
    applied.manifest.write_text(applied.manifest.read_text() + extra + "\n")
    applied.refused("task.toml")


def test_no_registry_is_left_behind_by_a_first_run_that_fails(task, registry, tmp_path):
    task.systems["a"]["unknown"] = "yes"
    registry("run", task.write(), exit_code=3)
    assert not list(tmp_path.glob("[!.]*.duckdb*"))


def test_a_log_without_its_database_is_not_played_into_a_new_one(registry, tmp_path):
    (tmp_path / "registry.duckdb.wal").write_bytes(b"x")
    told = registry("init", exit_code=3).stderr
    assert "the log registry.duckdb.wal of a missing database exists" in told
    assert (tmp_path / "registry.duckdb.wal").read_bytes() == b"x"


@pytest.mark.parametrize("name", ["gold.csv", "x.parquet"])
def test_a_name_that_duckdb_takes_for_a_table(registry, tmp_path, name):
    assert "name the file *.duckdb" in registry("init", "--db", name, exit_code=3).stderr
    (tmp_path / name).write_text("a,b\n1,2\n")
    assert "not a DuckDB database" in registry("board", "--db", name, exit_code=3).stderr


def test_a_link_that_leads_nowhere(registry, tmp_path):
    (tmp_path / "d.duckdb").symlink_to("nowhere.duckdb")
    assert "this symbolic link has no target" in registry("init", "--db", "d.duckdb", exit_code=3).stderr


def test_long_items_are_clipped(applied):
    path = new_file(applied, FULL + "x" * 100_000 + "\tyes\n")
    applied.refused("not in the gold", command=("check", path, "--task", applied.manifest))


def test_two_files_of_one_name(applied):
    applied.manifest.write_text(applied.manifest.read_text() + '[[submit]]\nfile = "systems/a.tsv"\nsystem = "b"\n')
    applied.refused("submit[1]: b/b@1 is declared twice", "a.tsv", "b.tsv")


@pytest.mark.parametrize(("command", "says", "exit_code"), [
    (("run", "absent.toml"), ["absent.toml: cannot read the manifest"], 3),
    (("board", "smal"), ["unknown task 'smal'; did you mean 'small'"], 3),
    (("board", "--metric", "acuracy"), ["unknown metric 'acuracy'; did you mean 'acc'"], 3),
    (("compare", "--metric", "macro-F1"), ["unknown metric 'macro-F1'"], 3),
    (("diff", "--metric", "macro-F1"), ["unknown metric 'macro-F1'"], 3),
    (("compare", "--test", "bootstrapp"), ["unknown test 'bootstrapp'"], 3),
    (("compare", "--test", "cochran"), ["'cochran' tests all systems together", "--overall", "known: binomial-z"], 3),
    (("compare", "--test", "friedman(x=1)"), ["tests all systems together; name it in overall (--overall)"], 3),
    (("compare", "--overall", "sign(tie=1)"), ["'sign(tie=1)' tests pairs of systems; name it in test (--test)"], 3),
    (("compare", "--test", "permutation(x=1)"), ["unknown option 'x' of permutation"], 3),
    (("compare", "--alpha", "1.5"), ["alpha: is 1.5; expected a number above 0 and below 1"], 3),
    (("compare", "--test", "sign(tie=nan)"), ["option 'tie' of sign is nan; expected a finite number from 0 up"], 3),
    (("effects", "--margin", "nan"), ["margin: is nan; expected a finite number above 0"], 3),
    (("compare", "--unit", "word"), ["unit: is 'word'; expected 'item', 'cluster', 'response' or 'judgment'"], 3),
    (("submit", "small", "absent.tsv", "--system", "x"), ["absent.tsv: cannot read the file"], 3),
    (("board", "--db", "elsewhere.duckdb"), ["elsewhere.duckdb: there is no registry here"], 3),
])
def test_bad_arguments_are_refused(applied, command, says, exit_code):
    applied.refused(*says, command=command, exit_code=exit_code)


def test_a_bad_name_on_the_command_line(applied):
    path = new_file(applied, FULL)
    applied.refused("system: 'x/y' contains '/'", command=("submit", "small", path, "--system", "x/y"))
    applied.refused("test set 'dev'; known: test",
                    command=("submit", "small", path, "--system", "x", "--test-set", "dev"))
