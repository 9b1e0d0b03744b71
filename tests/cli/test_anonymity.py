"""Ten teams whose names nobody may see: all that a registry prints and writes is searched for them.

`python -m tests.cli.test_anonymity` does it with all formats, studies and figures, and opens every way out in each; the
suite does it with some of each.
"""

import contextlib
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

import pytest
import typer

import registry as package
from registry.cli.app import app
from registry.errors import HiddenError, QueryError
from registry.query.question import Query
from registry.query.sql import answer
from registry.store import models, views
from registry.store.database import Database
from registry.studies import STUDIES
from tests.cli import bypasses
from tests.cli.secret_task import SYSTEMS, TEAMS, Told, hits, known, registry_of_secrets, write_ranked

FORMATS = ("table", "tsv", "csv", "md", "latex", "json", "jsonl")


def reading(out, who, whole):
    """Every command that reads and shows something of submissions, `who` being one; `whole` has all formats.

    By the command's name, with what each is given.
    """
    formats = FORMATS if whole else ("json",)
    return {
        "board": [*(("--wide", "--format", of) for of in formats),
                  *(("--format", of) for of in (FORMATS if whole else ("table", "latex", "csv")))],
        "pairs": [("--wide", "--format", "json"), *(("--format", of) for of in formats)],
        "diff": [("--format", of) for of in (("table", "md", "json") if whole else ("md",))],
        "plot": [("small", kind, "-o", out / f"{kind}.svg", "--test-set", "test") for kind in (
            ("scores", "pairs", "gains", "alike", "ranks") if whole else ("alike",))],
        "export": [*(("small", of, "--submission", who) for of in ("codabench", "codalab", "evalai") if whole),
                   ("small", "badge", "--submission", who, "--test-set", "test"), ("small", "croissant-tasks"),
                   *(("small", of) for of in ("bibtex", "citation") if whole),
                   ("small", "wmt", "--test-set", "test")],
        "page": [("small", "-o", out / "page.html", "--items", "5")] if whole else [],
        "site": [("small", "-o", out / "site", "--items", "5")],
        "items": [("small", "show", "test03", "--format", of) for of in formats] + (
            [("small", what) for what in ("disagree", "hard", "suspect")] if whole else []),
        "query": [(f"FROM {name}", *(("--format", of) if of else ())) for name in ("leaderboard", "event", "run")
                  for of in (("csv", "json", "md") if whole else ("json",))],
        "show": [("run:1", "--format", "json"), ("run:2",), (f"small/test/{who}", "--format", "json"),
                 (f"small/dev/{who}",)],
        "list": [(what, "--format", "json") for what in ("tasks", "runs", "submissions", "teams")],
        "effects": [("small", "--format", "json")] if whole else [],
        "best": [("small", "--format", "json")],
        "ranking": [("ranked", "--grid", "2,4", "--format", "json")] if whole else [],
    } | ({"schema": [()], "verify": [()]} if whole else {})


STUDY = {  # of those that show systems: what they are given in the full form
    "advise": (), "threshold": (), "curve": ("--by", "team"), "test-size": (), "calibration": (),
    "correlation": (), "dependence": (), "variance": (), "judge": (), "power": (), "replicability": (),
    "macro-average": (), "new-best": (), "suite": (), "ranking": None, "effects": None, "best": None}
# Commands that write, or check before: what those say is looked at one by one; and commands that show nothing of
# submissions.
OF_WHO_KNOWS = {"withdraw", "restore", "amend", "purge"}  # they are given names, and say these
WRITING = {"run", "apply", "submit", "check", "import", "score", "compare", "reveal", "hide", "verify"}
NAMELESS = {"quick", "new", "init", "task-pack", "schema", "backup", "completion"}
UNNAMED = (  # of what reads, forms without a name
    "list tasks", "list runs", "schema", "verify", "show run:2", "export small codabench", "export small codalab",
    "export small evalai", "export small bibtex", "export small citation", "plot small gains", "items small disagree",
    "items small hard", "items small suspect",
    *(f"study {name} " for name in ("advise", "threshold", "curve", "test-size", "calibration", "dependence",
                                   "variance", "judge")))


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    return registry_of_secrets(folder)


def asked_of(told, *, whole, organiser=False):
    """Ask all that can be asked: what each said and wrote, by the command."""
    asked, before = Told(told.db), ("--organiser",) if organiser else ()
    for command, forms in reading(told.db.parent / "out", known(told.db, organiser=organiser), whole).items():
        for form in forms:
            asked(command, *form, before=before)
    for study, form in STUDY.items() if whole else ():
        if form is not None:
            asked("study", study, "small", *form, "--format", "json", exit_code=None, before=before)  # some need more
    return asked.of


def test_every_command_is_looked_at():
    """What `serve` shows is looked at in tests/serving."""
    group = typer.main.get_command(app)
    read = set(reading(Path(), "", whole=False))
    assert read | WRITING | NAMELESS | OF_WHO_KNOWS | {"release", "serve"} == group.commands.keys() - {"study"}
    assert {command for command, forms in reading(Path(), "", whole=True).items() if forms} - {"schema", "verify"} == (
        bypasses.READING.keys() - {"study"})
    assert STUDY.keys() == STUDIES.keys()
    assert STUDIES.keys() | {"synthesize", "resample-train"} == group.commands["study"].load("study").commands.keys()


def test_no_output_holds_a_name_before_the_reveal(secrets):
    told, _ = secrets
    assert not {command: hits(text) for command, text in told.of.items() if hits(text.replace(command, ""))}
    shown = asked_of(told, whole=False)
    assert not {command: hits(text) for command, text in shown.items() if hits(text)}
    assert all("Team " in shown[command] and "majority" in shown[command] for command in (
        "board --format csv", "pairs --format json", "list teams --format json"))


def test_no_table_or_view_holds_a_name_or_lets_sql_around(secrets):
    told, _ = secrets
    everything = [*(set(models.metadata.tables) - {"source"}), *(view.name for view in views.load())]
    found = {}
    for organiser in (False, True):
        with Database(told.db, organiser=organiser).querying() as connection:
            found[organiser] = {name for name in everything
                                if hits(str(list(answer(connection, Query(f"FROM {name}", {})).batches)))}
    assert found[False] == set()
    assert found[True] >= {"team", "system", "event", "run", "submission", "submission_source", "leaderboard",
                           "pairwise"}
    with package.open(told.db) as reg:
        assert not hits(str(list(reg.leaderboard("small"))))
        for around in ("FROM registry.main.team", "FROM registry.team", "SELECT (SELECT max(name) FROM registry.team)",
                       "DESCRIBE registry.team", "FROM pragma_storage_info('registry.main.team')",
                       "FROM duckdb_tables()", "SELECT estimated_size FROM duckdb_tables",
                       "FROM histogram_values('registry.main.team', name)", "FROM query_table('registry.main.team')",
                       "FROM secret_team", 'SELECT max(s.name) FROM temp."SECRET_submission" AS s',
                       "DESCRIBE secret_run"):
            with pytest.raises(QueryError):
                list(reg.query(around))


@pytest.mark.parametrize("name", ["pg_catalog", "information_schema", "temp", "main", "system"])
def test_a_file_that_is_called_as_a_schema_is_lets_no_sql_around(secrets, tmp_path, name):
    shutil.copyfile(secrets[0].db, tmp_path / f"{name}.duckdb")
    with package.open(tmp_path / f"{name}.duckdb") as reg:
        for around in (f"FROM {name}.main.team", f"FROM {name}.team", f'FROM "{name}".main."system"'):
            with contextlib.suppress(QueryError):
                assert not hits(str(list(reg.query(around))))


def test_what_is_refused_is_told_without_names(secrets):
    told, manifest = secrets
    file = manifest.parent / TEAMS[2] / f"{SYSTEMS[2]}.test.tsv"
    whole = file.read_text()
    try:
        file.write_text("test00\ta\n")
        bad = Told(told.db)
        bad("apply", manifest, exit_code=3)
        bad("submit", "small", file, "--system", SYSTEMS[2], "--team", TEAMS[2], "--test-set", "test", exit_code=3)
        bad("submit", "small", file, "--system", "Nobodying", "--test-set", "test", exit_code=3)
        bad("release", "small", "-o", told.db.parent / "out" / "release", exit_code=4)
        bad("export", "small", "every-eval-ever", "-o", told.db.parent / "out" / "records", exit_code=4)
        bad("export", "small", "huggingface", "-o", told.db.parent / "out" / "hub", exit_code=4)
        assert all(any(part in text for part in ("12 items", "other content", "no answer", "registry reveal small"))
                   for text in bad.of.values())
        assert not {command: text for command, text in bad.of.items() if hits(text) or "Nobodying" in text}
    finally:
        file.write_text(whole)


def test_in_a_blind_phase_no_output_holds_a_score(secrets, tmp_path):
    """One of the ten has 10 of 13 right, which stands nowhere."""
    told, manifest = secrets
    blind = Told(tmp_path / "registry.duckdb")
    shutil.copyfile(told.db, blind.db)
    (tmp_path / "out").mkdir()
    before = blind("board", "small", "--format", "json")
    blind("hide", "small", "--scores", "--until", "2999-12-01T12:00:00+01:00")
    asked = Told(blind.db)
    for command, forms in reading(tmp_path / "out", known(blind.db), whole=False).items():
        for form in forms[-1:]:
            asked(command, *form)
    asked("run", manifest, "--dry-run")
    asked("effects", "small")
    assert "0.76923" in before
    assert not [command for command, text in asked.of.items() if "0.769" in text]
    assert {command.split()[0] for command, text in asked.of.items() if "hidden until 2999-12-01 11:00" in text} >= {
        "board", "pairs", "diff", "plot", "export", "site", "items", "best", "effects", "run"}
    with package.open(blind.db) as reg:
        assert not [name for name in ("score", "standing", "comparison", "pair_result", "response", "item_score")
                    if list(reg.query(f"FROM {name}"))]
        with pytest.raises(HiddenError):
            reg.leaderboard("small")
    blind("reveal", "small", "--scores")
    assert blind("board", "small", "--format", "json") == before


def through(told, manifest, way, whole):
    """Ask all that goes by one of the `bypasses`; a command that writes ends as if it could not."""
    out, db = told.db.parent / "out", told.db
    file = manifest.parent / TEAMS[2] / f"{SYSTEMS[2]}.test.tsv"
    submitted = ("submit", "small", file, "--system", SYSTEMS[2], "--team", TEAMS[2], "--test-set", "test")
    if way == "python":
        with package.open(db) as reg:
            told.of["registry.open"] = str(list(reg.leaderboard("small")))
    elif way == "study":
        for study, form in STUDY.items():
            if form is not None and (whole or study == "correlation"):
                told("study", study, "small", *form, "--format", "json", exit_code=None)
    elif way == "verify":
        altered = Told(db.parent / "altered.duckdb")
        shutil.copyfile(db, altered.db)
        with Database(altered.db).writing() as connection:
            connection.exec_driver_sql("UPDATE submission SET digest = 'sha256:00' WHERE submission_id = 3")
        told.of["what was altered"] = altered("verify", "--results", "none", exit_code=4)
    elif way in bypasses.READING:
        asked = reading(out, known(db, organiser=True), whole)[way]
        for form in asked if whole else asked[-1:]:
            told(way, *form)
    elif way == "release":
        for kind in ("-o", "--database") if whole else ("-o",):
            told("release", "small", kind, out / f"opened{kind}", exit_code=None)
    elif way in ("submit", "errors"):
        kept = file.read_text()
        file.write_text("test00\ta\n")
        try:
            told(*submitted, exit_code=3)
        finally:
            file.write_text(kept)
    else:  # those that bring names in find all there already
        told(*{"run": ("run", manifest), "apply": ("apply", manifest, "--dry-run"), "compare": ("compare", "small"),
               "notes": ("apply", manifest, "--dry-run")}[way])


def unnoticed(told, manifest, way, whole=False):
    """What shows no name though its way out is opened, but forms that have none; and the number of forms."""
    real = Told(told.db)
    with bypasses.opened((bypasses.READING | bypasses.WRITING)[way]):
        through(real, manifest, way, whole)
    return [command for command, text in real.of.items() if not hits(text.replace(command, ""))
            and not command.startswith(UNNAMED)], len(real.of)


@pytest.mark.thorough
@pytest.mark.parametrize("way", sorted((bypasses.READING | bypasses.WRITING).keys() - {"page", "effects", "ranking"}))
def test_of_every_way_out_that_is_opened_the_search_finds_names(secrets, way):
    told, manifest = secrets
    silent, n = unnoticed(told, manifest, way)
    assert n
    assert not silent


def test_without_any_one_of_the_tables_that_stand_for_others_the_search_finds_names(secrets):
    told, _ = secrets
    for shadow in bypasses.SHADOWS:
        with bypasses.without(shadow), Database(told.db).querying() as connection:
            assert hits(str(connection.exec_driver_sql(f"FROM {shadow}").all())), shadow


def by_hand(folder):
    """Search all there is, then with each way out opened; gives whether a name was found, or one not found."""
    told, manifest = registry_of_secrets(folder, write_ranked(folder / "ranked"))
    shown, real = (asked_of(told, whole=True, organiser=of) for of in (False, True))
    said = told.of | shown
    print(f"{len(said)} commands of an anonymous task: {sum(bool(hits(text)) for text in said.values())} with a "
          f"name; as an organiser {sum(bool(hits(text)) for text in real.values())} of {len(real)}")
    found = [bool(hits(text)) for text in said.values()]
    for way in bypasses.READING | bypasses.WRITING:
        silent, n = unnoticed(told, manifest, way, whole=True)
        print(f"opened: {way}: {n - len(silent)} of {n} outputs are found", *silent, sep="\n    ")
        found += map(bool, silent)
    return any(found)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made, chdir(made):
        sys.exit(by_hand(Path(made)))
