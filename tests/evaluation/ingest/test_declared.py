"""What `[[submit]]` tables declare: names composed of captures, files left out, and what contradicts itself."""

import pytest

from registry.errors import ManifestError
from registry.evaluation.ingest.declared import expand_submissions
from registry.evaluation.resolve import resolve
from registry.manifest import read_manifest

TASK = '''manifest = 1
[task]
id = "t"
[[test_set]]
name = "test-es"
gold = "es.gold"
format = "labels"
[[test_set]]
name = "test-pt"
gold = "pt.gold"
format = "labels"
[[metric]]
name = "Accuracy"
'''


@pytest.fixture
def names(tmp_path):
    """Give the names of what `[[submit]]` tables declare of files, each with the number of its runs."""
    def of(submits, *files):
        for file in files:
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text("a\tyes\n")
        path = tmp_path / "task.toml"
        task = resolve(read_manifest((TASK + submits).encode(), path), path)
        return sorted((one.test_set.name, one.name, len(one.files)) for one in expand_submissions(task))

    return of


FILES = [f"{language}/{team}_{run}.tsv" for language in ("es", "pt") for team in ("Aspen", "Birch") for run in "12"]


def test_captures_compose_one_system_over_test_sets(names):
    submit = '[[submit]]\nfile = "{language}/{team}_{run}.tsv"\ntest_set = "test-{language}"\nsystem = "{team}-{run}"\n'
    assert names(submit, *FILES) == [
        (f"test-{language}", f"{team}/{team}-{run}@1", 1) for language in ("es", "pt")
        for team in ("Aspen", "Birch") for run in "12"]


def test_runs_that_no_key_uses_are_runs(names):
    submit = '[[submit]]\nfile = "{language}/{team}_{run}.tsv"\ntest_set = "test-{language}"\nsystem = "{team}"\n'
    assert names(submit, *FILES) == [
        (f"test-{language}", f"{team}/{team}@1", 2) for language in ("es", "pt") for team in ("Aspen", "Birch")]


@pytest.mark.parametrize("written", ["es/Aspen_1.tsv", "./es//Aspen_1.tsv", "pt/../es/Aspen_1.tsv",
                                     "by/link/Aspen_1.tsv"])
@pytest.mark.parametrize(("pattern", "others"), [
    ('"{language}/{team}_{run}.tsv"\ntest_set = "test-{language}"', 3),
    ('"es/{team}_{run}.tsv"\ntest_set = "test-es"', 3),
    ('"{language}/Aspen_1.tsv"\ntest_set = "test-{language}"', 0)])
def test_a_file_named_by_itself_with_a_test_set_is_left_out_of_every_pattern(names, tmp_path, pattern, others, written):
    (tmp_path / "by").mkdir()
    (tmp_path / "by" / "link").symlink_to("../es")
    found = names(f'[[submit]]\nfile = {pattern}\nsystem = "s"\n'
                  f'[[submit]]\nfile = "{written}"\ntest_set = "test-es"\nsystem = "alone"\n', *FILES)
    runs = [(name, runs) for test_set, name, runs in found if test_set == "test-es"]
    assert ("alone/alone@1", 1) in runs
    assert sum(n for name, n in runs if name != "alone/alone@1") == others


@pytest.mark.parametrize(("submit", "says"), [
    ('file = "{language}/{team}_{run}.tsv"\nsystem = "x"', "{language} is an unknown field"),
    ('file = "{team}/{system}.tsv"\nsystem = "{tem}"', "does not contain {tem}; did you mean 'team'"),
    ('file = "{team}/{system}.tsv"\nsystem = "x"', "system is set twice, by the key and by {system}"),
    ('file = "{test_set}/{system}.tsv"', "unknown test set 'es' of "),
    ('file = "{team}/{team}_{run}.tsv"\nsystem = "x"\ntest_set = "test-es"', "no file matches"),
    ('file = "es/{team}_1.tsv"\nsystem = "{team}/x"\ntest_set = "test-es"', "contains '/'"),
    ('file = "es/Aspen_1.tsv"\nsystem = "x"\ntest_set = "test-es"\nexclude = ["x"]', "needs a file pattern"),
])
def test_what_does_not_work_out_is_refused(names, submit, says):
    with pytest.raises(ManifestError) as caught:
        names(f"[[submit]]\n{submit}\n", *FILES)
    assert says in str(caught.value)
    assert "submit[0]" in str(caught.value)


def test_a_file_of_an_undeclared_test_set_is_named_with_the_remedy(names):
    remedy = r"es/Aspen_1\.tsv: add a \[\[test_set\]\] of that name, or exclude the file"
    with pytest.raises(ManifestError, match=remedy):
        names('[[submit]]\nfile = "{test_set}/{system}.tsv"\n', *FILES)


@pytest.mark.parametrize(("globs", "kept"), [
    ('"Aspen/*"', ["Birch/Birch-1", "Birch/Birch-2"]), ('"*-2"', ["Aspen/Aspen-1", "Birch/Birch-1"]),
    ('"Aspen-?", "Birch/Birch-1"', ["Birch/Birch-2"])])
def test_systems_are_excluded_by_name_or_team(names, globs, kept):
    submit = '''[[submit]]
file = "{language}/{team}_{run}.tsv"
test_set = "test-{language}"
system = "{team}-{run}"
'''
    found = names(f"{submit}exclude_systems = [{globs}]", *FILES)
    assert [name for test_set, name, _ in found if test_set == "test-es"] == [f"{name}@1" for name in kept]
    assert len(found) == 2 * len(kept)
    with pytest.raises(ManifestError, match=r"exclude_systems\[0\]: 'Cedar' is not a system of the pattern"):
        names(f'{submit}exclude_systems = ["Cedar"]', *FILES)
    with pytest.raises(ManifestError, match="exclude_systems: needs a file pattern"):
        names('[[submit]]\nfile = "es/Aspen_1.tsv"\ntest_set = "test-es"\nsystem = "a"\nexclude_systems = ["a"]')
