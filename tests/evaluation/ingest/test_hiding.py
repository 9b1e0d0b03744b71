"""What is hidden until when, and pseudonyms: what was said last counts, and what was drawn stays."""

import re
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from registry.errors import InputError
from registry.identity import digest
from registry.store import embargoes, models
from registry.store.database import Database
from registry.store.embargoes import UNTIL_REVEALED, find_hidden
from registry.store.log import now, read_entries
from registry.store.rows import insert


def stored_task(path):
    with Database(path).reading() as connection:
        return connection.execute(select(models.task)).one()


def test_what_was_said_last_counts(task, registry):
    """A key that stays as it is says nothing again."""
    path = "registry.duckdb"
    task.extra = "[board]\nanonymous = true\nhidden = 2999-01-01T00:00:00+02:00\n"
    registry("run", task.write())
    declared = stored_task(path)
    assert (declared.anonymous_until, declared.blind_until) == (UNTIL_REVEALED, datetime(2998, 12, 31, 22))
    registry("reveal", "small", "--scores")
    assert "a/a@1" not in registry("board", "--public").stdout
    assert "Team " in registry("reveal", "small", "--dry-run").stdout
    assert stored_task(path).anonymous_until == UNTIL_REVEALED
    told = registry("reveal", "small", "--format", "json").json
    assert [row["team"] for row in told] == ["a", "b", "c"]
    assert all(re.fullmatch(r"Team (\d\d)/System \1[A-Z]", row["pseudonym"]) for row in told)
    assert registry("reveal", "small").stderr.startswith("nothing changed\n")
    assert "a/a@1" in registry("run", task.write(), "--public").stdout
    task.extra = "[board]\nanonymous = 2999-01-01T00:00:00Z\n"
    assert "a/a@1" not in registry("run", task.write(), "--public").stdout
    assert stored_task(path).anonymous_until == datetime(2999, 1, 1)
    registry("reveal", "small")
    registry("hide", "small")
    with Database(path).reading() as connection:
        assert [row.pseudonym for row in connection.execute(select(models.team))] == [
            row["pseudonym"].partition("/")[0] for row in told]
        assert find_hidden(connection, datetime(3000, 1, 1)).anonymous == {"small"}
    with Database(path).writing() as connection:
        connection.execute(models.task.update().values(anonymous_until=now() - timedelta(seconds=1)))
    assert "a/a@1" in registry("board", "--public").stdout


def test_a_salt_is_drawn_once_and_the_log_has_its_digest(task, registry):
    registry("apply", task.write())
    assert stored_task("registry.duckdb").salt is None
    salts = set()
    for command in ("hide", "reveal", "hide"):
        registry(command, "small")
        salts.add(stored_task("registry.duckdb").salt)
    (salt,) = salts
    with Database("registry.duckdb").reading() as connection:
        recorded = [entry.details for action in ("hide", "reveal") for entry in read_entries(connection, action)]
    assert [details["salt"] for details in recorded if "salt" in details] == [digest(salt.encode())]


@pytest.mark.parametrize(("said", "told"), [
    ("2026-12-01T12:00:00", "is 2026-12-01; expected true, false, or a time with its time zone"), ('"soon"', "'soon'")])
def test_a_time_has_its_time_zone(task, registry, said, told):
    task.extra = f"[board]\nanonymous = {said}\n"
    refused = registry("run", task.write(), exit_code=3).stderr
    assert "board.anonymous" in refused
    assert told in refused


def test_a_phase_does_not_end_before_it_begins(task, registry):
    registry("apply", task.write())
    assert "is in the past" in registry("hide", "small", "--until", "2020-01-01T00:00:00Z", exit_code=3).stderr
    for wrong in ("2999-01-01", "9999-12-31T23:59:59-12:00"):
        assert "time zone" in registry("hide", "small", "--until", wrong, exit_code=3).stderr


@pytest.fixture
def many(tmp_path):
    """A task of 60 teams, the first of which has 40 systems."""
    database = Database(tmp_path / "many.duckdb")
    database.create()
    with database.writing() as connection:
        task = insert(connection, models.task, slug="many", title="", version="1", manifest="{}", manifest_digest="",
                      seed=0, created_at=now())
        assert task == 1
        for n in range(60):
            team = insert(connection, models.team, task_id=task, name=f"t{n}", pseudonym=None)
            for m in range(1 if n else 40):
                insert(connection, models.system, team_id=team, name=f"s{m}", pseudonym=None)
        yield connection


def test_pseudonyms_are_drawn_once_and_each_is_another(many):
    drawn = embargoes.draw_pseudonyms(many, 1)
    assert len(set(drawn["teams"].values())) == 60
    assert len(set(drawn["systems"].values())) == 99
    assert list(drawn["teams"].values()) != sorted(drawn["teams"].values())  # but for one draw in 60!
    assert embargoes.draw_pseudonyms(many, 1) == {}
    insert(many, models.team, task_id=1, name="late", pseudonym=None)
    assert not set(embargoes.draw_pseudonyms(many, 1)["teams"].values()) & set(drawn["teams"].values())


def test_a_team_called_as_the_pseudonym_of_another_is_refused(many):
    called = embargoes.draw_pseudonyms(many, 1)["teams"]["7"]
    insert(many, models.team, task_id=1, name=called, pseudonym=None)
    with pytest.raises(InputError, match="is another team's pseudonym"):
        embargoes.draw_pseudonyms(many, 1)
