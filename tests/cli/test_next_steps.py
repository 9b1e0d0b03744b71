"""Next steps: printed only if they are possible and change something now."""

import pytest


@pytest.fixture
def bare(task):
    """A task without submissions."""
    task.systems = {}
    return task


def get_next(outcome):
    return [line for line in outcome.stderr.splitlines() if line.startswith("next: ")]


SUBMIT = ["next: `registry submit small FILE --system NAME` adds a submission"]
UPDATE = ["next: `registry score small` and `registry compare small` update the leaderboards"]


def test_a_task_without_submissions_needs_one(bare, registry):
    assert get_next(registry("apply", bare.write(), "--dry-run")) == []
    assert get_next(registry("apply", bare.manifest)) == SUBMIT
    assert get_next(registry("apply", bare.manifest)) == []
    none = "there is no submission to compare; `registry submit` adds one\n"
    assert registry("board", exit_code=4).stderr.endswith(f"error: {none}")
    assert f"info: {none}" in registry("compare").stderr
    assert f"info: {none}" in registry("run", bare.manifest).stderr


def test_only_changes_of_leaderboards_need_a_comparison(task, registry):
    assert get_next(registry("apply", task.write())) == UPDATE
    assert "there is no comparison to show yet" in registry("board", exit_code=4).stderr
    registry("run", task.manifest)
    name, reason = "small/test/b/b", ("--reason", "asked by mail")
    assert get_next(registry("amend", name, "--attribute", "size=3", *reason)) == []
    assert get_next(registry("withdraw", name, *reason, "--dry-run")) == []
    assert get_next(registry("withdraw", name, *reason)) == UPDATE
    assert get_next(registry("withdraw", name, *reason)) == []
    assert get_next(registry("restore", name, *reason)) == []  # as in the last comparison


def test_readers_of_a_public_file_need_no_command(task, registry):
    registry("apply", task.write())
    registry("publish", "-o", "public.duckdb")
    for source in (("--db", "public.duckdb"), ("--public",)):
        assert registry("board", *source, exit_code=4).stderr == (
            "error: there is no public leaderboard yet; organisers make one by `registry compare` and "
            "`registry publish`\n")


def test_reveal_names_what_is_still_hidden(task, registry, scored):
    scored(task)
    registry("hide", "small")
    registry("hide", "small", "--scores")
    assert "still hidden; `registry reveal small --scores` makes" in registry("reveal", "small").stderr
    assert "still hidden" not in registry("reveal", "small", "--scores").stderr
