"""Files that a manifest names: braces capture, and nothing leaves the root."""

import pytest

from registry.errors import ManifestError
from registry.manifest import Root


@pytest.fixture
def root(tmp_path):
    for name in ("Ann.one.txt", "Bob.two.txt", "Bob[1].x+y.txt", "other.md", ".Hid.den.txt"):
        (tmp_path / "subs" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "subs" / name).write_text("x")
    (tmp_path / "teams" / "Cat").mkdir(parents=True)
    (tmp_path / "teams" / "Cat" / "run-1").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    return Root(tmp_path, tmp_path / "task.toml")


def match(root, pattern):
    return [captured for _, captured in root.match(pattern, "submit[0].file")]


def test_braces_capture_names_and_all_else_is_literal(root):
    assert match(root, "subs/{team}.{system}.txt") == [
        {"team": "Ann", "system": "one"}, {"team": "Bob", "system": "two"}, {"team": "Bob[1]", "system": "x+y"}]
    assert match(root, "subs/Bob[1].{system}.txt") == [{"system": "x+y"}]
    assert match(root, "teams/{team}/run-{version}") == [{"team": "Cat", "version": "1"}]
    assert match(root, "teams/{team}/run-{run}") == [{"team": "Cat", "run": "1"}]


@pytest.mark.parametrize(("pattern", "says"), [
    ("subs/{team}.{sytem}.txt", "did you mean 'system'"),
    ("subs/{team}.{team}.txt", "twice"),
    ("subs/{team}.conll", "no file"),
    ("nowhere/{team}", "no file"),
    ("subs/absent.txt", "no such file"),
    ("../{team}", "leads out|no file"),
    ("../task.toml", "leads out"),
    ("/etc/passwd", "leads out"),
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


def test_a_file_named_by_itself_is_left_out_of_patterns(root):
    odd = root.folder / "subs" / "a.b.c.txt"
    odd.write_text("x")
    assert len(list(root.match("subs/{team}.{system}.txt", "key", frozenset({odd})))) == 3


def test_a_link_out_of_the_root_is_refused(root, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("x")
    (root.folder / "subs" / "Eve.link.txt").symlink_to(secret)
    with pytest.raises(ManifestError, match="leads out"):
        match(root, "subs/{team}.{system}.txt")
