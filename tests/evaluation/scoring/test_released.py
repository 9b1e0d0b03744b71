"""Boards that stay open: a Ladder's score is all that is shown, recorded as submissions come, and verified."""

import json
import math
import re

import pytest

from registry.evaluation.scoring.score import LADDER_ACTION, choose_shown_score
from registry.evaluation.verifying.stored import verify_ladders
from registry.store.database import Database
from registry.store.log import Journal

ITEMS = [f"i{n:02}" for n in range(40)]
BOARD = '[board]\nrelease = "ladder"\nstep = 0.1\nanonymous = true\n'


def right(n):
    return {item: "yes" if k < n else "no" for k, item in enumerate(ITEMS)}


def brought(task, registry, folder, *rights):
    """A registry to which submissions came with so many of 40 items right, one after the other; what is told."""
    task.folder, task.gold, task.documents = folder, dict.fromkeys(ITEMS, "yes"), {}
    task.systems, task.extra = dict(zip("abcd", map(right, rights), strict=True)), BOARD
    return registry("run", task.write(), "--public", "--db", folder / "registry.duckdb").stderr.replace(str(folder), "")


def _without_pseudonyms(text):
    return re.sub(r"(Team|System) \d\d[A-Z]?( *)", "x", text)


def test_what_is_shown_is_the_ladder_alone_and_stays_and_is_verified(task, registry, tmp_path):
    """In steps of 0.1: 20 and 37 of 40 raise it to 0.5 and 0.9; that others have 22 and 34, or 23 and 38, is not."""
    shown = []
    for folder, rights in ((tmp_path / "one", (20, 22, 37, 34)), (tmp_path / "other", (20, 23, 37, 38))):
        told, db = brought(task, registry, folder, *rights), folder / "registry.duckdb"
        asked = (("board", "small", "--format", "table"), ("pairs", "small"), (
            "query", "SELECT entry, step, shown, raised, (SELECT count(*) FROM score) FROM released_score"))
        shown.append([_without_pseudonyms(text) for text in (
            told, *(registry(*of, "--public", "--db", db).stdout for of in asked))])
    assert shown[0] == shown[1]
    public = ("--public", "--format", "json", "--db", db)
    first, second = registry("board", "small", *public).json
    assert [(row["rank"], row["score"]) for row in (first, second)] == [
        (1, pytest.approx(0.9)), (2, pytest.approx(0.5))]
    assert first["team"].startswith("Team ")
    registry("withdraw", "small/test/c/c", "--reason", "a mistake", "--db", db)
    assert registry("board", "small", *public).json == [first, second]
    of_second = registry("show", f"small/test/{second['submission']}", *public).stdout
    assert '\\"raised\\":true' in of_second
    _verified(db)
    registry("reveal", "small", "--scores", "--db", db)
    assert registry("board", "small", *public).json[0]["score"] == 38 / 40
    of_time = registry("study", "new-best", "small", "--release", "ladder", "--format", "json", "--db", db).json
    assert [row["shown"] for row in of_time] == pytest.approx([0.5, 0.5, 0.9]), "by the task's own step; c is withdrawn"


def _verified(db):
    """What does not follow is found; what a purge has blanked is not missed."""
    with Database(db).writing() as connection:
        assert list(verify_ladders(connection)) == []
        first, *_, last = connection.exec_driver_sql(
            "SELECT event_id, details FROM event WHERE action = 'ladder' ORDER BY event_id").all()
        again = json.loads(first.details) | {"before": json.loads(last.details)["shown"]}
        journal = Journal("score", {})
        journal.event(connection, LADDER_ACTION, "small/test/a/a@2",
                      **again | {"shown": again["before"], "raised": False})
        assert list(verify_ladders(connection)) == []
        connection.exec_driver_sql(f"UPDATE event SET details = '{{}}' WHERE event_id = {last.event_id}")
        assert list(verify_ladders(connection)) == [], "a purge has blanked what was shown before"
        journal.event(connection, LADDER_ACTION, "small/test/a/a@3", **again | {"shown": 0.8, "raised": True})
        (fault,) = verify_ladders(connection)
    assert fault.kind == "altered"
    assert "shows 0.8, which does not follow from its score" in fault.message


@pytest.mark.parametrize(("board", "says"), [
    ('release = "ladder"', "board.step: is missing, but release = 'ladder' needs it"),
    ("step = 0.1", "works only with release = 'ladder'"),
    ('release = "ladder"\nstep = 0', "expected a number above 0"),
])
def test_what_does_not_go_together_is_refused(task, registry, board, says):
    task.gold, task.systems, task.documents, task.extra = {"x": "a"}, {}, {}, f"[board]\n{board}\n"
    assert says in registry("run", task.write(), exit_code=3).stderr


def test_scores_of_other_items_have_no_ladder(task, registry):
    task.gold, task.systems, task.documents = {"x": "a"}, {}, {}
    task.extra, task.submission = BOARD, {"missing": "drop"}
    assert "'ladder' requires scores on the same items, but missing = 'drop'" in registry(
        "run", task.write(), exit_code=3).stderr


def test_lower_scores_are_better_where_they_are():
    assert choose_shown_score(0.31, 0.5, 0.1, lower_is_better=True) == pytest.approx(0.3)
    assert choose_shown_score(0.45, 0.5, 0.1, lower_is_better=True) == 0.5
    assert choose_shown_score(0.52, math.nan, 0.1, lower_is_better=True) == pytest.approx(0.5)
