"""`--at`: boards, pairs and pages as they stood, byte for byte but for the line that says so."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import registry as package
from registry.errors import InputError
from registry.identity import digest
from tests.label_tasks import LabelTask
from tests.scenarios.shared_task import PURGED, SharedTask, forgotten, unmarked


@pytest.fixture(scope="module")
def lived_once():
    return []


@pytest.fixture
def lived(lived_once, tmp_path_factory):
    """The story, lived through once for all tests here, with what the tests of the suite share."""
    if not lived_once:
        lived_once.append(SharedTask(tmp_path_factory.mktemp("lived")).live())
    return lived_once[0]


def test_every_board_of_the_past_is_printed_as_it_was_then_but_for_a_team_that_was_purged(lived, registry):
    """Until it is compared again a board is out of date by the purge, and it was not before that."""
    with_team = [PURGED in step.printed["board", "--format", "md"] for step in lived.steps]
    assert with_team == [True] * 5 + [False] * 4
    for step in lived.steps:
        for command, printed in step.printed.items():
            found = registry(*command, "--at", step.at, "--db", lived.db)
            assert unmarked(found.stdout) == forgotten(printed), (step.what, command)
            assert "info: This is the state of the registry at 2" in found.stderr
            assert ("This is the state" in found.stdout) == ("md" in command)
            assert [line for line in found.stderr.splitlines() if "This is the state" not in line] == [
                "warning: then, labels/test: purged-1 was purged since the last comparison; run `registry "
                "compare`"] * (step.what == "dogwood is purged")


def test_a_board_that_is_declared_no_more_shows_no_earlier_state(lived):
    shown = ["genre=" in step.printed["board", "--format", "md"] for step in lived.steps]
    assert shown == [True] * 3 + [False] * 6


def test_a_signature_names_its_own_board(lived, registry):
    first, *_, last = lived.steps
    pairs = json.loads(forgotten(first.printed["pairs", "--format", "json"]))
    signature = next(of["signature"] for of in pairs if of["facet"] == "genre=blog")
    for name in (signature, signature.rpartition("|")[2]):
        found = registry("pairs", "--at", name, "--db", lived.db, "--format", "json").json
        assert found == [of for of in pairs if of["signature"] == signature]
    assert json.loads(last.printed["pairs", "--format", "json"])


def test_pages_averages_and_differences_are_of_the_past_too(lived, registry):
    corrected = lived.steps[2].at
    registry("page", "labels", "-o", "then.html", "--at", corrected, "--db", lived.db)
    registry("page", "labels", "-o", "now.html", "--db", lived.db)
    then, now = (Path(f"{name}.html").read_text() for name in ("then", "now"))
    of_then = then.partition('id="data">')[2].partition("</script>")[0]  # scripts and styles speak of trees
    assert "<strong>This is the state of the registry at 2" in then
    assert "This is the state" not in now
    assert ("birch" in then, "birch" in now, "tree" in of_then) == (True, False, False)
    assert "This is the state" in registry(
        "board", "--wide", "--at", corrected, "--format", "md", "--db", lived.db).stdout
    (found, *_) = registry("diff", lived.steps[0].at, corrected, "--format", "json", "--db", lived.db).json
    assert "The gold was revised (version 1, then 2)." in found["reasons"]
    assert "New: cedar/one, cedar/two." in found["reasons"]


def test_what_else_is_told_of_boards_of_then_is_as_it_was_before_the_purge(lived, registry):
    """A p-value that went with a team is not one that is undefined."""
    then = registry("pairs", "--at", lived.steps[0].at, "--format", "md", "--db", lived.db).stdout
    assert "a team was purged" not in then
    assert "undefined" not in then
    assert "no faults" in registry("verify", "--db", lived.db).stderr


def test_python_reads_the_past_as_the_command_does(lived):
    corrected = lived.steps[2]
    then = json.loads(forgotten(corrected.printed["pairs", "--format", "json"]))
    with package.open(lived.db, at=corrected.at) as reg:
        pairs = reg.pairs("labels")
        for _ in range(2):  # also when it is asked again
            assert [(row["submission_a"], row["p_value"]) for row in map(dict, (
                zip(pairs.columns, row, strict=True) for row in pairs))] == [
                (row["submission_a"], row["p_value"]) for row in then]
        assert ("one",) in list(reg.query("SELECT system FROM leaderboard"))
        assert ("labels/test/birch/birch@1", 0) in reg.contingencies("labels").runs
    with pytest.raises(InputError, match="not a date or time"):
        package.open(lived.db, at="2026-02-30")


@pytest.mark.parametrize(("at", "told"), [
    ("2020-01-01", "before the first entry of the log, of 2"),
    ("2026-02-30", "is not a date or time"),
    ("2026-02-03T12:00", "has no time zone; add Z for UTC"),
    ("12345678", "unknown date, time or signature"),
    ("0001-01-01T00:00+14:00", "is out of range"),
])
def test_what_is_no_moment_of_the_registry_is_said(lived, registry, at, told):
    assert told in registry("board", "--at", at, "--db", lived.db, exit_code=3).stderr


@pytest.mark.parametrize("form", ["seconds", "minutes"])
def test_a_time_is_meant_to_its_end(lived, registry, form):
    """What a command printed within the second, or the minute, that is named is shown."""
    last = lived.steps[-1]
    at = datetime.fromisoformat(last.at).astimezone(UTC).isoformat(timespec=form)
    assert unmarked(registry("board", "--at", at, "--format", "md", "--db", lived.db).stdout) == (
        last.printed["board", "--format", "md"])


def test_today_ends_later_than_now(lived, registry):
    today = datetime.now(UTC).date().isoformat()
    assert unmarked(registry("board", "--at", today, "--format", "md", "--db", lived.db).stdout) == (
        lived.steps[-1].printed["board", "--format", "md"])


def test_five_numbers_of_the_last_board_are_explained_from_end_to_end(lived, registry):
    shown = lived.explain()
    pairs = {(of["metric"], of["system_a"], of["system_b"]): of
             for of in json.loads(lived.steps[-1].printed["pairs", "--format", "json"])}
    pair = pairs["f1", "tree", "two"]
    gold = digest((lived.folder / "gold.tsv").read_bytes())

    board = shown["the rank of tree"]
    assert [row["rank"] for row in board["systems"] if row["submission"] == "elm/tree@1"] == [2]
    assert [(row["digest"], row["revision"]) for row in board["gold"]] == [(gold, 3)]

    p_value = shown["the p-value of tree and two"]
    found = {row["what"]: row["value"] for row in p_value["result"]}
    assert (found["p_value"], found["p_adjusted"]) == (str(pair["p_value"]), str(pair["p_adjusted"]))
    assert {row["submission"]: row["digest"] for row in p_value["answers"]} == {
        f"{team}/{system}@1": digest(path.read_bytes()) for team, system, path in (
            ("elm", "tree", lived.folder / "systems" / "tree.tsv"), ("cedar", "two", lived.folder / "cedar-two.tsv"))}
    assert (p_value["gold"], {row["actor"] for row in p_value["log"]}) == (board["gold"], {"ada"})

    score = shown["the score of two"]
    assert {(row["metric"], row["gold"]): row["score"] for row in score["scores"]}["LabelF(average=micro)", 3] == (
        pair["score_b"])
    assert {(row["metric"], row["gold"]) for row in score["scores"]} == {
        ("LabelF", 1), ("LabelF", 2), ("LabelF(average=micro)", 2), ("LabelF(average=micro)", 3), ("Accuracy", 2),
        ("Accuracy", 3)}
    assert [(row["action"], row["actor"]) for row in score["log"]] == [("submission-added", "cedar")]

    late, withdrawn = shown["the star of tree"], shown["why birch is not there"]
    assert {row["what"]: row["value"] for row in late["submission"]}["late"] == "True"
    assert [json.loads(row["details"])["late"] for row in late["log"]] == [True]
    assert [json.loads(row["details"]).get("withdrawn") for row in withdrawn["log"]] == [False, True]
    assert len(withdrawn["boards"]) == 3 * 3  # three steps, with two genres each


def test_what_a_purge_blanked_and_said_again_counts_from_when_it_was_said_first(registry, tmp_path):
    """As where commands were given by somebody with the name of a team, for reasons that name two."""
    gold = {f"i{n}": "ab"[n % 2] for n in range(12)}
    systems = {name: gold | {f"i{n}": "c"} for n, name in enumerate(("aspen", "birch", "cedar", "dogwood"))}
    task, db = LabelTask(tmp_path / "task", gold, systems), tmp_path / "r.duckdb"
    registry("run", task.write(), "--actor", "aspen", "--db", db)
    told = ("small/test/cedar/cedar", "--reason", "as aspen and birch say", "--db", db)
    registry("withdraw", *told)
    registry("compare", "small", "--db", db)
    then = registry("board", "--format", "json", "--db", db).json
    registry("restore", *told)
    task.version = "2"
    registry("run", task.write(), "--actor", "aspen", "--db", db)
    for team, instead in (("aspen", "purged-1"), ("birch", "purged-2")):
        registry("purge", "small", team, "--reason", "asked by mail", "--db", db)
        then = [row | {key: instead for key in ("system", "team") if row[key] == team} for row in then]
        found = registry("board", "--at", then[0]["signature"], "--format", "json", "--db", db)
        names = ("signature", "system", "team", "rank", "rank_low", "rank_high", "score")
        assert [[row[name] for name in names] for row in found.json] == [[row[name] for name in names] for row in then]
        assert [line for line in found.stderr.splitlines() if "This is the state" not in line] == []
