"""Files that a manifest names: braces capture, and nothing leaves the root."""

import pytest

from registry.errors import ManifestError
from registry.manifest import Root, make_submit
from registry.manifest.files import identify_file


@pytest.fixture
def root(tmp_path):
    for name in ("Ann.one.txt", "Bob.two.txt", "Bob[1].x+y.txt", "other.md", ".Hid.den.txt"):
        (tmp_path / "subs" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "subs" / name).write_text("x")
    (tmp_path / "teams" / "Cat").mkdir(parents=True)
    (tmp_path / "teams" / "Cat" / "run-1").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    return Root(tmp_path, tmp_path / "task.toml")


def match(root, pattern, single=(), **keys):
    found = root.match(make_submit(file=pattern, **keys), "submit[0]", frozenset(map(identify_file, single)))
    return [captured for _, captured in found]


def test_braces_capture_names_and_all_else_is_literal(root):
    assert match(root, "subs/{team}.{system}.txt") == [
        {"team": "Ann", "system": "one"}, {"team": "Bob", "system": "two"}, {"team": "Bob[1]", "system": "x+y"}]
    assert match(root, "subs/Bob[1].{system}.txt") == [{"system": "x+y"}]
    assert match(root, "teams/{team}/run-{version}", system="x") == [{"team": "Cat", "version": "1"}]
    assert match(root, "teams/{team}/run-{run}", system="x") == [{"team": "Cat", "run": "1"}]
    assert match(root, "*s/{team}.*.txt", system="x") == [{"team": "Ann"}, {"team": "Bob"}, {"team": "Bob[1]"}]


def test_synonyms_and_the_name_of_the_system(root):
    """Without {system} the run, or else the team, names it."""
    assert match(root, "subs/{model}.{benchmark}.txt")[0] == {"system": "Ann", "test_set": "one"}
    assert match(root, "subs/{model}.{n}.txt", system="{model}-{n}")[0] == {"model": "Ann", "n": "one"}
    assert match(root, "teams/{team}/run-{run}") == [{"team": "Cat", "system": "run1"}]
    assert match(root, "subs/{team}.{run}.txt")[0] == {"team": "Ann", "system": "one"}
    assert match(root, "teams/{team}/run-1") == [{"team": "Cat", "system": "Cat"}]


@pytest.mark.parametrize(("pattern", "says"), [
    ("subs/{team}.{sytem}.txt", "did you mean 'system'"),
    ("subs/{team}.{team}.txt", "no file"),
    ("subs/{team}.conll", "no file"),
    ("nowhere/{team}", "no file"),
    ("subs/absent.txt", "no such file"),
    ("../{team}", "is outside the task folder|no file"),
    ("../task.toml", "is outside the task folder"),
    ("/etc/passwd", "is outside the task folder"),
    ("subs", "not a regular file"),
    ("x" * 300, "cannot use the path"),
    ("loop", "cannot use the path|no such file"),
])
def test_what_does_not_work_out_is_named(root, pattern, says):
    with pytest.raises(ManifestError, match=says) as caught:
        match(root, pattern)
    assert "submit[0].file" in str(caught.value)


def test_a_name_that_splits_in_two_ways_is_refused(root):
    (root.folder / "subs" / "a.b.c.txt").write_text("x")
    with pytest.raises(ManifestError, match=r"a\.b\.c\.txt matches .* in more than one way"):
        match(root, "subs/{team}.{system}.txt")


@pytest.mark.parametrize("written", ["subs/a.b.c.txt", "./subs/a.b.c.txt", "subs/../subs/a.b.c.txt",
                                     "linked/a.b.c.txt"])
def test_a_file_named_by_itself_is_left_out_of_patterns(root, written):
    (root.folder / "subs" / "a.b.c.txt").write_text("x")
    (root.folder / "linked").symlink_to("subs")
    assert len(match(root, "subs/{team}.{system}.txt", single=[root.folder / written])) == 3


def test_a_file_named_by_itself_is_left_out_where_the_last_part_of_the_pattern_is_literal(root):
    assert match(root, "teams/{team}/run-1", single=[root.folder / "teams/Cat/run-1"]) == []


def test_the_same_capture_twice_agrees(root):
    for name in ("Cat.1", "Dog.1", "CatCat.1"):
        (root.folder / "teams" / "Cat" / name).write_text("x")
    assert match(root, "teams/{system}/{system}.{run}") == [{"system": "Cat", "run": "1"}]
    assert match(root, "teams/Cat/{system}{system}.1") == [{"system": "Cat"}]


@pytest.mark.parametrize("exclude", ["Bob*.txt", "subs/Bob*", "Bob???.x+y.txt", "Bob[1].x+y.txt"])
def test_files_are_excluded_by_name_or_path(root, exclude):
    kept = match(root, "subs/{team}.{system}.txt", exclude=[exclude])
    assert {"team": "Ann", "system": "one"} in kept
    assert {"team": "Bob[1]", "system": "x+y"} not in kept
    assert len(kept) == (1 if "*" in exclude else 2)


def test_an_excluded_file_may_match_in_two_ways(root):
    (root.folder / "subs" / "a.b.c.txt").write_text("x")
    assert len(match(root, "subs/{team}.{system}.txt", exclude=["a.b.c.txt"])) == 3


def test_what_exclude_does_not_find_is_told(root):
    with pytest.raises(ManifestError, match=r"submit\[0\]\.exclude\[1\]: 'Eve\.\*' is not a file that the pattern"):
        match(root, "subs/{team}.{system}.txt", exclude=["Ann.*", "Eve.*"])


def test_a_key_may_use_captures_that_have_no_meaning_of_their_own(root):
    assert match(root, "subs/{team}.{n}.txt", system="{team}-{n}")[0] == {"team": "Ann", "n": "one"}
    with pytest.raises(ManifestError, match=r"\{n\} is an unknown field; known: .*or use it in another key"):
        match(root, "subs/{team}.{n}.txt", system="a")


def test_a_link_out_of_the_root_is_refused(root, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("x")
    (root.folder / "subs" / "Eve.link.txt").symlink_to(secret)
    with pytest.raises(ManifestError, match="is outside the task folder"):
        match(root, "subs/{team}.{system}.txt")
