"""A candidate names a participant: no anonymous task has one, and a purge renames it."""

import pytest

GREATER = {"alternative": "greater"}


@pytest.mark.parametrize("candidate", [None, "s1"])
def test_an_anonymous_task_names_no_candidate(many, registry, scored, candidate):
    """The manifest and the recorded settings can be read by SQL."""
    many.extra = "[board]\nanonymous = true"
    many.significance = {"seed": 1, **GREATER, "candidate": "s1"} if candidate else {"seed": 1}
    if candidate:
        assert "names a participant, but the task is anonymous" in registry("run", many.write(), exit_code=3).stderr
        return
    scored(many)
    told = registry("compare", "--alternative", "greater", "--candidate", "s1", exit_code=3).stderr
    assert "candidate names a participant" in told
    assert 'kind = "baseline"' in told


def test_a_task_with_a_candidate_is_not_hidden(many, registry, scored):
    many.significance = {"seed": 1, **GREATER, "candidate": "s1"}
    scored(many)
    assert "significance.candidate names a participant" in registry("hide", "small", exit_code=3).stderr


def test_a_hidden_task_takes_no_manifest_with_a_candidate(many, registry, scored):
    scored(many)
    registry("hide", "small")
    many.significance = {"seed": 1, **GREATER, "candidate": "s1"}
    many.write()
    for command in ("apply", "run"):
        assert "significance.candidate names a participant" in registry(command, many.manifest, exit_code=3).stderr


def test_a_purged_candidate_has_another_name(many, registry, scored):
    many.systems["Quillmark"] = many.systems.pop("s1")
    scored(many)
    for name in ("Quillmark", "Quillmark/Quillmark"):
        registry("compare", "--alternative", "greater", "--candidate", name)
    registry("purge", "small", "Quillmark", "--reason", "asked for")
    assert "Pairs with the candidate 'purged-1'" in " ".join(registry("board", "--format", "table").stdout.split())
    assert "Quillmark" not in registry("query", "SELECT request FROM comparison", "--format", "json").stdout
    registry("verify")
