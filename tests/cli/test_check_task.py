"""A manifest's check: all that `run` would refuse, said at once, before anything is stored."""

import pytest

from registry.errors import InputError
from tests.cli.test_check_agrees import agree, command, told
from tests.conftest import ROOT


def check(manifest, *options):
    return told(command("check", manifest, *options), "error")


def refused(task, tmp_path, *says):
    """`check` refuses the task with an error that says so, and `run` with the same one, leaving nothing behind."""
    manifest = task.write() if hasattr(task, "write") else task
    exit_code, errors = agree(manifest, manifest.parent, tmp_path / "new.duckdb")
    assert exit_code == InputError.exit_code
    assert not (tmp_path / "new.duckdb").exists()
    for part in says:
        assert any(part in error for error in errors), errors


def test_a_policy_that_the_metric_cannot_have(task, tmp_path):
    task.systems["a"].pop("i0")
    task.submission, task.significance = {"missing": "own"}, {"test": "rank-sum", "seed": 1}
    task.extra = '[[metric]]\nname = "LabelF"\n'
    refused(task, tmp_path, "small/test, LabelF: LabelF needs an answer of every system",
            'the setting missing = "own" leaves out different items for each system; set missing = "drop"')


def test_a_test_that_needs_the_same_items(task, tmp_path):
    task.systems["a"].pop("i0")
    task.submission = {"missing": "own"}
    refused(task, tmp_path, "small/test, acc: permutation needs the same items for all systems")


def test_all_boards_are_refused_at_once(task, tmp_path):
    task.systems["a"].pop("i0")
    task.submission, task.test_set = {"missing": "own"}, {"facets": ["document"]}
    refused(task, tmp_path, "small/test, acc: permutation", "small/test, document=d0, acc: permutation")


def test_draws_that_do_not_go_into_memory(task, tmp_path):
    task.significance = {"correction": "min-p", "resamples": 2**30, "seed": 1}
    refused(task, tmp_path, "needs 12.0 GiB of memory for the resamples of all pairs")


def test_several_runs_of_a_correlation_are_refused_before_anything_is_scored(tmp_path, registry):
    for name in ("gold", "x.1", "x.2"):
        rows = "".join(f"i{n}\t{n}\t{n * n}\n" for n in range(5))
        (tmp_path / f"{name}.tsv").write_text("item\tgold\tscore\n" + rows)
    manifest = tmp_path / "task.toml"
    manifest.write_text('manifest = 1\n[task]\nid = "t"\n[[test_set]]\nname = "test"\ngold = "gold.tsv"\n'
                        'format = "scores"\noptions = { gold = "gold" }\n[[metric]]\nname = "Pearson"\n'
                        '[[submit]]\nfile = "{system}.{run}.tsv"\n')
    refused(manifest, tmp_path, "metric[0]: Pearson cannot be averaged over runs, but x/x@1 has 2 runs")
    assert "cannot be averaged over runs" in registry("apply", manifest, exit_code=3).stderr


@pytest.fixture
def formula(tmp_path):
    """Two systems of which each lacks an item that would count as wrong, by formulas without a worst value."""
    (tmp_path / "gold.tsv").write_text("item\tn\na\t1\nb\t2\n")
    (tmp_path / "x.tsv").write_text("item\tn\na\t1\n")
    (tmp_path / "y.tsv").write_text("item\tn\nb\t2\n")
    manifest = tmp_path / "task.toml"
    manifest.write_text('manifest = 1\n[task]\nid = "t"\n[[test_set]]\nname = "test"\ngold = "gold.tsv"\n'
                        'format = "statistics"\noptions = { statistics = ["n"] }\n[submission]\nmissing = "worst"\n'
                        '[[metric]]\nname = "Formula"\noptions = { formula = "n" }\n'
                        '[[submit]]\nfile = "{system}.tsv"\nexclude = ["gold.tsv"]\n')
    return manifest


def test_a_formula_without_a_worst_value(formula, tmp_path, registry):
    refused(formula, tmp_path, "x.tsv: item 'b': it has no answer, and Formula", "y.tsv: item 'a': it has no answer, "
                                                                                 "and")
    for arguments in (("apply", formula), ("check", tmp_path / "x.tsv", "--task", formula)):
        assert "no worst value" in registry(*arguments, exit_code=3).stderr


def test_numbers_that_cannot_be_kept_are_told_of_all_files(formula, tmp_path, registry):
    formula.write_text(formula.read_text().replace("{ statistics", "{ unscored = '-', statistics").replace(
        '"n" }', '"n", worst = [0] }', 1).replace('"worst"', '"drop"'))
    for name in "xy":
        (tmp_path / f"{name}.tsv").write_text("item\tn\na\t4398046511104.5\nb\t1\n")
    exit_code, errors = agree(formula, tmp_path, tmp_path / "new.duckdb")
    assert (exit_code, len(errors)) == (InputError.exit_code, 2)


def test_wrong_gold_of_several_test_sets_and_wrong_submissions_are_told_together(task):
    task.extra = '[[test_set]]\nname = "dev"\ngold = "dev.tsv"\nformat = "labels"\n'
    task.test_set, task.documents = {"cluster": "document"}, {}
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('file = "systems/{system}.tsv"',
                                                     'file = "systems/{system}.tsv"\ntest_set = "test"'))
    (task.folder / "dev.tsv").write_text("i0\tyes\ni0\tyes\ni1\n")
    (task.folder / "systems" / "b.tsv").write_text("i0\tyes\textra\n")
    errors = check(manifest)
    for part in ("gold.tsv:1: item 'i0': has no attribute 'document'", "dev.tsv:2: item 'i0': occurs twice",
                 "dev.tsv:3: the line has 1 column", "b.tsv:1: the line has 3 columns"):
        assert any(part in error for error in errors), errors


def test_misspelt_names_and_options_are_told_together(task):
    manifest = task.write()
    text = manifest.read_text()
    manifest.write_text(text.replace('format = "labels"', 'format = "label"').replace(
        'name = "Accuracy"', 'name = "LabelF"\noptions = { avrage = "micro", bta = 1 }').replace(
            "seed = 1", 'seed = 1\ntest = "permuttion"'))
    errors = [error.partition("task.toml: ")[2] for error in check(manifest)]
    assert [error.partition("; ")[0] for error in errors] == [
        "test_set[0]: unknown reader 'label'", "metric[0]: unknown option 'avrage' of LabelF",
        "metric[0]: unknown option 'bta' of LabelF", "significance: unknown test 'permuttion'"]


def test_patterns_that_do_not_work_out_are_told_together(task):
    task.extra = '[[submit]]\nfile = "nowhere/{system}"\n[[submit]]\nfile = "systems/a.tsv"\n'
    errors = check(task.write())
    assert [error.partition("task.toml: ")[2].partition(": ")[0] for error in errors] == ["submit[1].file", "submit[2]"]


def test_schema_errors_are_rows_for_programs_too(task, registry):
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace("[[metric]]", "[[metrics]]"))
    (row,) = registry("check", manifest, "--format", "json", exit_code=3).json
    assert (row["test_set"], row["file"], row["category"]) == (None, str(manifest), "manifest")
    assert "did you mean 'metric'?" in row["message"]


def test_what_the_registry_holds_is_held_against_it(task, registry, scored, tmp_path):
    """Other gold under the same version, and other content of two submissions: all at once, by the registry alone."""
    scored(task)
    task.systems["a"]["i0"] = task.systems["b"]["i0"] = "yes"
    manifest = task.write()
    assert check(manifest) == []
    errors = check(manifest, "--db", "registry.duckdb")
    assert [error.partition("is already stored with different answers")[1] != "" for error in errors] == [True, True]
    task.gold["i0"] = "yes"
    told_ = registry("check", task.write(), "--db", "registry.duckdb", exit_code=4).stderr
    assert "task.version is still '1'" in told_
    assert agree(manifest, task.folder, tmp_path / "registry.duckdb")[0] == 4


def test_a_version_that_goes_down_is_a_warning(task, registry, scored):
    task.version = "2"
    scored(task)
    task.version = "1"
    assert "warning: task.version goes down" in registry("check", task.write(), "--db", "registry.duckdb").stderr


@pytest.mark.parametrize(("db", "says"), [
    ("nowhere/x.duckdb", "this folder does not exist"),
    ("x.csv", "name the file *.duckdb"), ("task.toml", "not a DuckDB database")])
def test_a_database_that_run_could_not_use(task, tmp_path, db, says, registry):
    (tmp_path / "task.toml").write_text("x" * 20)
    for command_ in ("check", "run"):
        assert says in registry(command_, task.write(), "--db", db, exit_code=3).stderr


def test_causes_come_first_then_counts_then_examples(registry, tmp_path):
    sample = ROOT / "sample_data" / "stance"
    path = tmp_path / "new.tsv"
    path.write_text((sample / "submissions" / "Aspen.aspen-base.tsv").read_text().replace("\t", ","))
    told_ = registry("check", path, "--task", sample / "task.toml", "--max-errors", "2", exit_code=3).stderr.split("\n")
    assert told_[0].startswith("likely cause of 2 problems and more: ")
    assert told_[1] == f"{path}: 800 errors: 400 format, 400 missing"
    assert [line.partition(":")[0] for line in told_[2:5]] == ["error", "error", "not listed"]
