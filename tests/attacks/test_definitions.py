"""Altered definitions and comments in the suite: several in one registry, which needs no content for it."""

import pytest

from registry.evaluation.verifying.stored import verify_definitions
from registry.store.database import Database
from tests.attacks.alterations import DEFINITIONS, alter, redefine, verified


def in_groups():
    """Group alterations, so that no two of a group are of one thing or of a column of it."""
    groups = []
    for what, (_, _, name) in DEFINITIONS.items():
        thing = name.rpartition(" ")[2].partition(".")[0]
        group = next((group for group in groups if thing not in group), None)
        if group is None:
            groups.append(group := {})
        group[thing] = what
    return [list(group.values()) for group in groups]


@pytest.mark.parametrize("group", in_groups(), ids=lambda group: group[0])
def test_definitions_and_comments_are_named(group, tmp_path):
    path = tmp_path / "registry.duckdb"
    Database(path).create()
    with Database(path).writing(dry_run=True) as connection:
        assert verify_definitions(connection) == []
    redefine(path, *(DEFINITIONS[what][0] for what in group))
    with Database(path).writing(dry_run=True) as connection:
        found = {(fault.of, fault.name) for fault in verify_definitions(connection)}
    assert [what for what in group if DEFINITIONS[what][1:] not in found] == []


def test_a_view_that_was_replaced_by_a_table_is_named_with_other_faults(copy):
    alter(copy, "CREATE TABLE held AS FROM leaderboard; DROP VIEW leaderboard; ALTER TABLE held RENAME TO leaderboard; "
                "UPDATE score SET value = 0.5 WHERE scoring_id = 1")
    found = {(fault.kind, fault.of, fault.name) for fault in verified(copy, "none").faults}
    assert {("missing", "view", "leaderboard"), ("surplus", "table", "leaderboard")} <= found
    assert ("altered", "score", "small/test/ann/ann@1 by Accuracy, LabelF") in found


def test_verify_goes_on_after_another_comment(copy):
    """A comment is no reason to skip studies."""
    alter(copy, "COMMENT ON TABLE team IS 'x'; UPDATE score SET value = 0.5 WHERE scoring_id = 1")
    found = verified(copy, "none")
    assert {("comment", "table team"), ("score", "small/test/ann/ann@1 by Accuracy, LabelF")} <= {
        (fault.of, fault.name) for fault in found.faults}
