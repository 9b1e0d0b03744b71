"""What is hidden until when, and pseudonyms: what was said last counts, and what was drawn stays."""

import itertools
import re
import shutil
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from registry.errors import InputError
from registry.store import models
from registry.store.database import Database
from registry.store.hiding import pseudonyms
from registry.store.hiding.concealment import SAID, concealed
from registry.store.hiding.shadows import shadows
from registry.store.log.journal import now
from registry.store.rows import insert
from tests.label_tasks import LabelTask

# What is shown of the tables that pseudonyms stand in, column by column, and the tables that name no participant and
# hold no score. What is new here must be looked at in `registry.store.hiding.shadows` first.
COLUMNS = {
    "task": "task_id slug title version manifest manifest_digest seed created_at anonymous_until blind_until salt",
    "team": "team_id task_id name pseudonym",
    "system": "system_id team_id name pseudonym",
    "submission": "submission_id test_set_id system_id track_id version kind reader missing withdrawn late attributes "
                  "digest run_id created_at declared",
    "submission_source": "submission_id replicate source_digest name",
    "replicate_factor": "submission_id replicate factor level",
    "source": "digest name n_bytes content created_at",
    "run": "run_id command parameters inputs started_at ended_at code_version code_revision code_dirty environment "
           "salt digest",
    "event": "event_id run_id at actor action subject details hash salt digest",
    "tombstone": "tombstone_id task_id team_id name salt names run_id created_at",
    "study": "study_id digest study task_id subject result signature run_id created_at is_anonymous",
    "study_part": "digest key result",
    "standing": "comparison_id position submission_id rank rank_low rank_high cluster wins losses score ci_low ci_high "
                "runs run_deviation scoring_id kind late",
    "comparison_pair": "comparison_id position submission_a submission_b pair_result_id is_swapped p_adjusted "
                       "is_significant is_resolved",
}
OPEN = {
    "test_set", "gold_revision", "gold_source", "item", "item_attribute", "track", "metric", "task_metric"}


def hidden(path, what="anonymous_until"):
    with Database(path).reading() as connection:
        return connection.execute(select(models.task.c[what])).scalar_one()


def test_what_was_said_last_counts(task, registry):
    """A key that stays as it is says nothing again."""
    path = "registry.duckdb"
    task.extra = "[board]\nanonymous = true\nhidden = 2999-01-01T00:00:00+02:00\n"
    registry("run", task.write())
    assert (hidden(path), hidden(path, "blind_until")) == (SAID, datetime(2998, 12, 31, 22))
    registry("reveal", "small", "--scores")
    for_readers, for_organisers = (registry(*who, "reveal", "small", "--dry-run") for who in ([], ["--organiser"]))
    assert for_readers.stdout == ""
    assert "`registry --organiser reveal --dry-run` shows who was who" in for_readers.stderr
    assert "do not pass it on" in for_organisers.stderr
    assert "Team " in for_organisers.stdout
    assert hidden(path) == SAID
    told = registry("reveal", "small", "--format", "json").json
    assert [row["team"] for row in told] == ["a", "b", "c"]
    assert all(re.fullmatch(r"Team (\d\d)/System \1[A-Z]", row["pseudonym"]) for row in told)
    revealed = registry("reveal", "small").stderr
    assert revealed.startswith("nothing changed\n")
    assert "do not pass it on" not in revealed
    assert "a/a@1" in registry("run", task.write()).stdout
    task.extra = "[board]\nanonymous = 2999-01-01T00:00:00Z\n"
    assert "a/a@1" not in registry("run", task.write()).stdout
    assert hidden(path) == datetime(2999, 1, 1)
    registry("reveal", "small")
    registry("hide", "small")
    with Database(path, organiser=True).reading() as connection:
        assert [of.pseudonym for of in connection.execute(select(models.team))] == [
            row["pseudonym"].partition("/")[0] for row in told]
        assert concealed(connection, datetime(3000, 1, 1)).anonymous == {"small": 1}
    with Database(path).writing() as connection:
        connection.execute(models.task.update().values(anonymous_until=now() - timedelta(seconds=1)))
    assert "a/a@1" in registry("board").stdout


@pytest.mark.parametrize(("said", "told"), [
    ("2026-12-01T12:00:00", "is 2026-12-01; expected true, false, or a time with its time zone"), ('"soon"', "'soon'")])
def test_a_time_has_its_time_zone(task, registry, said, told):
    task.extra = f"[board]\nanonymous = {said}\n"
    refused = registry("run", task.write(), exit_code=3).stderr
    assert "board.anonymous" in refused
    assert told in refused


def test_a_phase_does_not_end_before_it_begins(task, registry):
    registry("apply", task.write())
    assert "is past" in registry("hide", "small", "--until", "2020-01-01T00:00:00Z", exit_code=3).stderr
    for wrong in ("2999-01-01", "9999-12-31T23:59:59-12:00"):
        assert "time zone" in registry("hide", "small", "--until", wrong, exit_code=3).stderr


@pytest.mark.parametrize(("hidden", "shown"), [
    ("anonymous = true", "anonymous = false"), ("anonymous = true", "[significance]"),
    ("hidden = 2999-01-01T00:00:00Z", "hidden = 2000-01-01T00:00:00Z"), ("hidden = true", "hidden = false")])
def test_a_dry_run_of_a_manifest_that_reveals_is_for_organisers(task, registry, hidden, shown):
    """Whoever reads a registry can write a manifest."""
    task.extra = f"[board]\n{hidden}\n"
    registry("run", task.write())
    task.extra = "" if shown.startswith("[sig") else f"[board]\n{shown}\n"
    refused = registry("run", task.write(), "--dry-run")
    assert "this manifest shows what is hidden until" in refused.stderr
    assert "a/a" not in refused.stdout
    assert "0.8" not in refused.stdout
    assert "a/a" in registry("--organiser", "run", task.manifest, "--dry-run").stdout
    assert "a/a" in registry("run", task.manifest).stdout


@pytest.mark.parametrize(("extra", "n_errors"), [("", 2), ("[board]\nhidden = true\n", 0)])
def test_wrong_answers_are_no_scores_in_a_blind_phase(task, registry, extra, n_errors):
    """Readers could count the answers that are not in the gold, submission by submission."""
    task.extra = extra
    task.systems = {"a": task.systems["a"] | {"i0": "other", "i1": "another"}}
    registry("run", task.write())
    (row,) = registry("query", "SELECT count(*) FILTER (key LIKE '%other') AS n FROM answer", "--format", "json").json
    assert row["n"] == n_errors


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
    drawn = pseudonyms.draw(many, 1)
    assert len(set(drawn["teams"].values())) == 60
    assert len(set(drawn["systems"].values())) == 99
    assert list(drawn["teams"].values()) != sorted(drawn["teams"].values())  # but for one draw in 60!
    assert pseudonyms.draw(many, 1) == {}
    insert(many, models.team, task_id=1, name="late", pseudonym=None)
    assert not set(pseudonyms.draw(many, 1)["teams"].values()) & set(drawn["teams"].values())


def test_a_team_called_as_the_pseudonym_of_another_is_refused(many):
    called = pseudonyms.draw(many, 1)["teams"]["7"]
    insert(many, models.team, task_id=1, name=called, pseudonym=None)
    with pytest.raises(InputError, match="is another team's pseudonym"):
        pseudonyms.draw(many, 1)


def test_every_table_was_looked_at():
    stand_in = {name for name, _ in shadows("main", [1], [1], asks=True) if not name.startswith("secret_")}
    assert stand_in | OPEN == set(models.metadata.tables)
    assert not stand_in & OPEN
    assert {name: " ".join(column.name for column in models.metadata.tables[name].columns) for name in COLUMNS
            } == COLUMNS


ANONYMOUS = "[board]\nanonymous = true\n"
ZZ = '[[submit]]\nteam = "Zzteam"\nsystem = "{}"\nfile = "{}"\n'
WRONG = {  # what a manifest says more, and what is told of it instead of names
    "a key": (ZZ.format("Zzsystem", "a.tsv") + 'kind = "Zzkind"\n', "submit[1]"),
    "twice": (ZZ.format("Zzsystem", "a.tsv") + ZZ.format("Zzsystem", "b.tsv"), "submit[2]"),
    "left out": (ZZ.format("{system}", "{system}.tsv") + 'exclude = ["Zzfile.tsv"]\n', "submit[1].exclude[0]"),
    "no file": (ZZ.format("Zzsystem", "Zzfile.tsv"), "submit[1].file"),
    "runs": (ZZ.format("Zzsystem", "a.tsv"), "'random' needs two runs or more of every system, and a submission"),
    "an answer": (ZZ.format("Zzsystem", "Zz.tsv"), "a submission that is not in the registry"),
}


@pytest.mark.parametrize(("wrong", "there"), [
    *((wrong, False) for wrong in WRONG), ("runs", True), ("an answer", True)])
def test_a_manifest_that_newly_hides_names_tells_none_before_it_is_brought_in(task, registry, wrong, there):
    if there:
        registry("run", task.write())
    said, told = WRONG[wrong]
    task.extra = ANONYMOUS + said
    task.significance |= {"runs": "random"} if wrong == "runs" else {}
    manifest = task.write()
    (task.folder / "Zz.tsv").write_text("Zzitem")
    for name in "ab":
        shutil.copyfile(task.folder / "systems" / f"{name}.tsv", task.folder / f"{name}.tsv")
    refused = registry("run", manifest, exit_code=3).stderr
    assert "Zz" not in refused
    assert "@1" not in refused
    assert told in refused
    real = registry("--organiser", "run", manifest, exit_code=3).stderr
    assert "Zz" in real or "a/a@1" in real
    if there:  # nothing was kept of it
        assert "a/a@1" in registry("board").stdout


def test_a_query_in_a_blind_phase_tells_why_there_are_no_scores(task, registry):
    registry("run", task.write())
    assert not registry("query", "FROM leaderboard").stderr
    registry("hide", "small", "--scores")
    asked = registry("query", "FROM leaderboard", "--format", "json")
    assert asked.json == []
    assert asked.stderr == ("note: small: scores and ranks are hidden until its organisers say otherwise; "
                            "`registry --organiser` shows them\n")
    files = "SELECT name FROM source WHERE name NOT IN ('gold.tsv', 'task.toml')"
    assert registry("query", files, "--format", "json").json == []  # from which scores could be computed
    assert registry("--organiser", "query", files, "--format", "json").json


def test_systems_with_the_same_score_stand_in_the_order_of_their_pseudonyms(registry, tmp_path):
    """Six of eight have one item wrong each, one none, and one three; another task is in a blind phase."""
    gold = {f"i{n}": "ab"[n % 2] for n in range(8)}
    systems = {name: gold | {f"i{n}": "c" for n in wrong} for name, wrong in zip(
        "abcdefgh", [[2], [0], [], [4], [3], [1, 2, 5], [6], [5]], strict=True)}
    task = LabelTask(tmp_path / "task", gold, systems, extra=ANONYMOUS)
    shown = {}
    registry("run", task.write())
    task.folder, task.extra = tmp_path / "other", "[board]\nhidden = true\n"
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('id = "small"', 'id = "other"'))
    registry("apply", manifest)
    for names in ("hidden", "shown"):
        rows = registry("board", "small", "--format", "json").json
        shown[names] = rows, registry("pairs", "small", "--format", "json").json, [
            row["submission"] for row in registry("query", "FROM leaderboard WHERE task = 'small'", "--format",
                                                  "json").json]
        registry("reveal", "small")
    hidden, pairs, asked = shown["hidden"]
    order = [row["submission"] for row in hidden]
    assert order == asked
    assert order[1:7] == sorted(order[1:7])
    assert [row["score"] for row in hidden] == [row["score"] for row in shown["shown"][0]] == [1, *[7 / 8] * 6, 5 / 8]
    assert [row["submission"] for row in shown["shown"][0]] == [f"{name}/{name}@1" for name in "cabdeghf"]
    assert [(row["submission_a"], row["submission_b"]) for row in pairs] == list(itertools.combinations(order, 2))
    assert all(row["difference"] == row["score_a"] - row["score_b"] for row in pairs)
    assert sorted(row["p_value"] for row in pairs) == sorted(row["p_value"] for row in shown["shown"][1])
