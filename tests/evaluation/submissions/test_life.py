"""The life of a submission: what commands and manifests declare of it, its deadline, and how many may come."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from registry.boards.load import load_leaderboards
from registry.errors import ManifestError
from registry.evaluation.comparing.compare import compare
from registry.evaluation.comparing.settings import build_request
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.resolve import resolve_stored
from registry.evaluation.scoring.score import score
from registry.evaluation.submissions.life import amend, check_limits, describe_lateness, select_submissions
from registry.manifest import read_manifest
from registry.parallel.execution import Execution
from registry.store import catalog
from registry.store.database import Database
from registry.store.log import Journal
from tests.evaluation.stored import query
from tests.evaluation.verifying.test_tampering import alter, faults


def board(registry):
    return {row["submission"]: row for row in registry("board", "--format", "json").json}


def compared():
    """The board after what `score` and `compare` do."""
    journal = Journal("compare", {})
    with Database("registry.duckdb").writing() as connection:
        (row,) = catalog.tasks(connection)
        score(Ingest(connection, journal, resolve_stored(row.manifest, row.slug)), Execution(workers=1))
        compare(connection, journal, row, build_request(row))
        journal.close(connection)
        (shown,) = load_leaderboards(connection, row)
    return {of.submission: of for of in shown.standings}


def state(registry, system):
    return query(registry, "SELECT withdrawn, late, kind, attributes FROM submission JOIN system USING (system_id) "
                           f"WHERE name = '{system}'")[0]


def declare(name, reason, **declared):
    """What `withdraw`, `restore` and `amend` do."""
    journal = Journal("amend", {})
    with Database("registry.duckdb").writing() as connection:
        amend(connection, journal, select_submissions(connection, name), reason, declared)
        journal.close(connection)


def told_of(registry, name):
    """What `show` has in the log of a submission: reasons by what was done."""
    found = {title: rows for section in registry("show", name, "--format", "json").json
             for title, rows in section.items()}
    return [(row["action"], row["reason"]) for row in found["log"]]


def test_the_latest_declaration_counts_and_an_unchanged_manifest_is_none(task, registry, scored):
    scored(task)
    name = "small/test/b/b"
    told = registry("withdraw", name, "--reason", "asked by mail").stderr
    assert f"the next comparison will remove {name}@1 from the leaderboard" in told
    assert "next: `registry score small` and `registry compare small` update the leaderboards" in told
    shown = registry("board", "--format", "json")
    assert "b/b@1" in {row["submission"] for row in shown.json}, "boards change when they are compared"
    assert "submissions or gold have changed" in shown.stderr
    assert "nothing changed" in registry("withdraw", name, "--reason", "again").stderr
    assert "nothing changed" in registry("apply", task.manifest).stderr
    assert state(registry, "b")["withdrawn"]

    task.extra = '[[submit]]\nfile = "systems/b.tsv"\nsystem = "b"\nwithdrawn = true\nreason = "in the manifest too"\n'
    registry("apply", task.write())
    task.extra = task.extra.replace("true", "false").replace("in the manifest too", "back by the manifest")
    assert "1 changed" in registry("apply", task.write()).stderr, "true to false is a declaration, after the command"
    assert not state(registry, "b")["withdrawn"]
    declare(name, "again by mail", withdrawn=True)
    registry("restore", name, "--reason", "a mistake", "--actor", "ada")
    assert told_of(registry, name) == [
        ("submission-added", None), ("submission-changed", "asked by mail"),
        ("submission-changed", "in the manifest too"), ("submission-changed", "back by the manifest"),
        ("submission-changed", "again by mail"), ("submission-changed", "a mistake")]

    registry("amend", name, "--kind", "baseline", "--late", "--attribute", "parameters=7", "--reason", "it is ours")
    assert "submissions or gold have changed" in registry("board").stderr
    declare("small/test/c/c", "it too", withdrawn=True)
    shown = compared()
    assert (shown["b/b@1"].kind, shown.keys()) == ("baseline", {"a/a@1", "b/b@1"})
    declare(name, "said later", attributes={"seen": True}, track="open")
    assert json.loads(state(registry, "b")["attributes"]) == {"parameters": 7, "seen": True}
    registry("apply", task.manifest)
    assert (state(registry, "b")["late"], state(registry, "b")["kind"]) == (True, "baseline")
    assert faults("registry.duckdb", results="none") == []


def test_what_nobody_can_amend_is_told(task, registry, scored):
    scored(task)
    assert "did you mean" in registry("withdraw", "small/test/b/bb", "--reason", "x", exit_code=3).stderr
    assert "--reason" in registry("withdraw", "small/test/b/b", "--reason", " ", exit_code=3).stderr
    assert "nothing to change; add --kind" in registry("amend", "small/test/b/b", "--reason", "x", exit_code=3).stderr


MANIFEST = """
manifest = 1
[task]
id = "t"
deadline = {deadline}
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "labels"
[[test_set]]
name = "late"
gold = "gold.tsv"
format = "labels"
deadline = 2026-12-24T00:00:00Z
[[metric]]
name = "Accuracy"
"""


@pytest.mark.parametrize("local", ["2026-11-30T23:59:59", "2026-11-30", "23:59:59", '"2026-11-30 23:59"'])
def test_a_deadline_without_a_zone_is_refused_with_the_remedy(local):
    with pytest.raises(ManifestError, match=r"task\.deadline.*which has no time zone; write date, time and zone, such "
                                             "as 20"):
        read_manifest(MANIFEST.format(deadline=local).encode(), "task.toml")


def test_a_deadline_is_a_moment_and_a_test_set_can_have_its_own():
    manifest = read_manifest(MANIFEST.format(deadline="2026-11-30T23:59:59-12:00").encode(), "task.toml")
    moment = datetime(2026, 12, 1, 11, 59, 59)
    assert describe_lateness(manifest, "test", moment) is None
    assert describe_lateness(manifest, "test", moment + timedelta(hours=3)) == (
        "comes 3.0 h after the deadline of test set test, 2026-11-30 23:59:59-12:00")
    assert describe_lateness(manifest, "late", moment + timedelta(hours=3)) is None


def test_late_submissions_are_marked_and_not_ranked_where_the_manifest_says_so(task, registry, scored, tmp_path):
    now = datetime.now(UTC)
    past, future = ((now + timedelta(days=days)).isoformat(timespec="seconds") for days in (-1, 1))
    task.extra = "[board]\nrank_late = false\n"
    task.test_set = {"gold": "gold.tsv"}
    written = task.write().read_text()

    def due(when):
        task.manifest.write_text(written.replace('id = "small"', f'id = "small"\ndeadline = {when}'))
        return task.manifest

    scored(due(past))
    assert not any(row["late"] for row in board(registry).values()), "the manifest's own are in time"
    (tmp_path / "d.tsv").write_text("".join(f"{item}\t{label}\n" for item, label in task.gold.items()))
    told = registry("submit", "small", tmp_path / "d.tsv", "--system", "d").stderr
    assert "d/d@1 comes 24.0 h after the deadline of test set test" in told
    assert "counts as late and has no rank" in told
    shown = compared()
    assert (shown["d/d@1"].late, shown["d/d@1"].rank, shown["a/a@1"].rank) == (True, None, 1)
    assert faults("registry.duckdb", results="2") == []
    assert "d/d@1 is in time by the new deadline" in registry("apply", due(future)).stderr
    assert compared()["d/d@1"].rank == 1
    assert ("warning: small/test/d/d@1 is late by the new deadline; it counts as late and has no rank\n"
            in registry("apply", due(past)).stderr)
    registry("apply", due(future))
    declare("small/test/d/d", "the mail came later", late=True)
    registry("apply", due(past))
    registry("apply", due(future))
    assert state(registry, "d")["late"], "what somebody has declared stays"
    alter("registry.duckdb", "UPDATE submission SET late = FALSE WHERE late")
    alter("registry.duckdb", "UPDATE task SET manifest = replace(manifest, ?, ?)", future[:10], past[:10])
    assert {(fault.of, fault.kind) for fault in faults("registry.duckdb", results="none")} == {
        ("submission", "altered"), ("task", "altered"), ("row", "altered")}


def test_a_team_submits_so_many_times_a_day_and_in_all(task, registry, scored, tmp_path):
    task.submission = {"limit": 3, "limit_per_day": 2}
    scored(task)
    (tmp_path / "d.tsv").write_text("".join(f"{item}\tyes\n" for item in task.gold))

    def submit(version, team="delta", exit_code=0):
        return registry("submit", "small", tmp_path / "d.tsv", "--system", "d", "--team", team, "--version", version,
                        exit_code=exit_code).stderr

    submit("1")
    submit("2")
    submit("2")  # is there already
    refused = submit("3", exit_code=3)
    assert "2 submissions of team delta to test set test came today, and the task allows 2 a day" in refused
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    assert f"submit again from {tomorrow} 00:00:00+00:00 on" in refused
    submit("1", team="echo")
    alter("registry.duckdb", "UPDATE submission SET created_at = created_at - INTERVAL 1 DAY")
    submit("3")
    refused = submit("4", exit_code=3)
    assert "3 submissions of team delta to test set test already exist, and the task allows 3" in refused


def test_days_are_those_of_the_deadlines_zone(task, registry, scored, tmp_path):
    task.submission = {"limit_per_day": 1}
    scored(task)
    (tmp_path / "d.tsv").write_text("".join(f"{item}\tyes\n" for item in task.gold))
    registry("submit", "small", tmp_path / "d.tsv", "--system", "d")
    alter("registry.duckdb", "UPDATE submission SET created_at = '2026-11-30 22:30:00'")
    manifest = read_manifest(MANIFEST.format(deadline="2026-12-31T00:00:00+02:00").replace(
        "[[metric]]", "[submission]\nlimit_per_day = 1\n[[metric]]", 1).encode(), "task.toml")
    with Database("registry.duckdb").reading() as connection:
        check_limits(connection, manifest, 1, "d", datetime(2026, 11, 30, 21, 59))  # that day is 30 November there
        with pytest.raises(Exception, match=r"submit again from 2026-12-02 00:00:00\+02:00 on"):
            check_limits(connection, manifest, 1, "d", datetime(2026, 12, 1, 21, 59))


def test_a_submission_can_be_brought_to_the_board_at_once(task, registry, scored, tmp_path):
    scored(task)
    (tmp_path / "d.tsv").write_text("".join(f"{item}\t{label}\n" for item, label in task.gold.items()))
    done = registry("submit", "small", tmp_path / "d.tsv", "--system", "d", "--run", "--format", "json")
    assert [(row["submission"], row["rank"]) for row in done.json] == [
        ("d/d@1", 1), ("a/a@1", 2), ("b/b@1", 3), ("c/c@1", 3)]
    assert "d has 1.0000, rank 1 of 4 (significant differences leave 1 to 4 open)" in done.stderr
    assert "it beats 0 systems significantly and loses to 0" in done.stderr
    assert done.json == registry("board", "--format", "json").json
    again = registry("submit", "small", tmp_path / "d.tsv", "--system", "d", "--run", "--format", "json")
    assert again.json == done.json
    assert "nothing changed" in again.stderr
