"""A public file, and every command that shows what is public, holds no hidden name, score or gold."""

import itertools
import shutil
import zlib
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pytest

import registry as package
from registry.errors import HiddenError
from registry.publication import publish as publishing
from registry.publication.publish import publish
from registry.store import models
from registry.store.database import Database
from tests.conftest import alone
from tests.label_tasks import LabelTask
from tests.publication.secret_task import SECRETS, SYSTEMS, TEAMS, Commands, build_secret_registry, hits

REAL = f"{TEAMS[0]}/{SYSTEMS[0]}"
ANONYMOUS = "[board]\nanonymous = true\n"
BLIND = "[board]\nhidden = true\n"
WITHHELD = "[release]\ngold = false\n"
PUBLISH = ("publish", "-o", "public.duckdb")
PUBLIC = ("--db", "public.duckdb")


@pytest.fixture(scope="session")
def secret_registry(scored_registries):
    """The folder of a registry of secrets and its public file, which no test writes to."""
    folder = scored_registries / "secret"
    with alone(scored_registries / "secret.lock"):
        if not folder.exists():
            commands = build_secret_registry(folder)
            publish(Database(commands.db), folder / "public.duckdb", sources=True)
    return folder


@pytest.fixture
def secret(secret_registry, tmp_path):
    """Commands on a copy of the registry of secrets."""
    commands = Commands(tmp_path / "secret")
    shutil.copyfile(secret_registry / "registry.duckdb", commands.db)
    return commands


def fetch(path, sql):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def rows_of(path, *tables):
    """Return the rows of some tables, or of all, as text, with the contents of files unpacked."""
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = [row for name in tables or models.metadata.tables
                for row in connection.execute(f'FROM "{name}"').fetchall()]
    return str([[zlib.decompress(value) if isinstance(value, bytes) else value for value in row] for row in rows])


def pseudonyms(path):
    """Return the pseudonym of every participating system as `team/system`, by the names of both."""
    return dict(fetch(path, """
        SELECT team.name || '/' || system.name, team.pseudonym || '/' || system.pseudonym
        FROM system JOIN team USING (team_id)
        WHERE team.pseudonym IS NOT NULL AND team.name <> 'organisers'"""))


def test_no_secret_is_in_the_file(secret_registry):
    private, public = secret_registry / "registry.duckdb", secret_registry / "public.duckdb"
    assert hits(rows_of(private)) == set(SECRETS)
    assert hits(private.read_bytes())
    assert not hits(rows_of(public))
    assert not hits(public.read_bytes())
    assert fetch(public, "SELECT name, salt, names FROM tombstone") == [("purged-1", "", "[]")]
    assert fetch(public, "SELECT name FROM source WHERE name NOT LIKE 'organisers/%' ORDER BY name") == [
        ("gold",), ("gold",), ("normalized manifest of small",)]
    assert "Correlation" in rows_of(private, "study")
    assert rows_of(public, "study") == "[]"
    # The one version and the one level that are names became numbers.
    assert set(fetch(public, "SELECT version FROM submission")) == {("1",), ("2",)}
    assert set(fetch(public, "SELECT factor, level FROM replicate_factor")) == {
        ("prompt", "level 1"), ("prompt", "level 2")}


def requests(out, who, manifest):
    """Return commands, by the option with which they show something else than they do by themselves."""
    export, board = ("export", "small"), ("--test-set", "test")
    return {
        "--public": [
            ("board", "--format", "csv"), ("pairs", "--format", "json"), ("diff", "--format", "md"),
            ("items", "small", "show", "test03", "--format", "json"), ("query", "FROM event", "--format", "json"),
            ("show", f"small/test/{who}"), ("plot", "small", "scores", "-o", out / "plot.svg", *board),
            ("study", "correlation", "small", "--format", "json"), ("run", manifest)],
        "--private": [
            ("page", "small", "-o", out / "page.html", "--items", "5"), ("site", "-o", out / "site", "--items", "5"),
            *((*export, form, "--submission", who) for form in ("codabench", "codalab", "evalai")),
            (*export, "badge", "--submission", who, *board), (*export, "wmt", *board),
            *((*export, form) for form in ("bibtex", "citation", "croissant-tasks")),
            (*export, "every-eval-ever", "-o", out / "records"),
            (*export, "huggingface", "-o", out / "hub", "--dataset", "organisation/dataset")],
    }


NAMELESS = {"codabench", "codalab", "evalai", "bibtex", "citation"}  # forms of an export


@pytest.mark.slow
@pytest.mark.parametrize("is_public", [True, False])
def test_names_are_in_no_public_output_and_in_every_private_one(secret, secret_registry, is_public, monkeypatch):
    """Commands get the public file that was written before, which takes less time than to publish for each."""
    monkeypatch.setattr(publishing, "publish_temporarily", lambda database, sources: nullcontext(
        Database(secret_registry / "public.duckdb", named=database.named)))
    who = pseudonyms(secret.db)[REAL] if is_public else REAL
    for option, commands in requests(secret.out, who, secret_registry / "task" / "task.toml").items():
        for command in commands:
            secret(*command, *([option] if is_public == (option == "--public") else ()))
    if is_public:
        secret("release", "small", "-o", secret.out / "release")
        assert not {command: hits(text) for command, text in secret.told.items() if hits(text)}
        assert b"Team " in secret.told["board --format csv --public"]
        assert b"organisers/majority" in secret.told["board --format csv --public"], "a baseline keeps its name"
    else:
        assert not [command for command, text in secret.told.items()
                    if not hits(text.replace(REAL.encode(), b"")) and not NAMELESS & set(command.split())]
        assert all(b"output may contain names, which are not public until" in text for text in secret.told.values())


def test_python_shows_what_is_public(secret_registry):
    with package.open(secret_registry / "registry.duckdb", public=True) as public:
        assert not hits(str(list(public.leaderboard("small"))))
    with package.open(secret_registry / "registry.duckdb") as private:
        assert hits(str(list(private.leaderboard("small"))))


def test_past_boards_of_a_public_file_are_those_of_the_registry(registry, secret_registry):
    private, public = secret_registry / "registry.duckdb", secret_registry / "public.duckdb"
    shown = pseudonyms(private)
    signatures = fetch(private, "SELECT signature FROM comparison ORDER BY comparison_id")
    assert len(signatures) == 4, "two boards, one of them compared three times"
    for (signature,) in signatures:
        real, rows = ([[(f"{row['team']}/{row['system']}", row["rank_low"], row["rank_high"], row["score"], row["wins"])
                        for row in registry("board", "--at", signature, "--format", "json", "--db", path).json]
                       for path in (private, public)])
        assert sorted((shown.get(name, name), *row) for name, *row in real) == sorted(rows)
        assert not hits(str(rows))
    assert "organisers/majority" in dict.fromkeys(name for name, *_ in rows)


def test_who_was_who_is_published_after_the_reveal(secret):
    before, named = pseudonyms(secret.db), secret.db.with_name("named.duckdb")
    secret("reveal", "small")
    secret("publish", "-o", named)
    assert pseudonyms(named) == before
    assert hits(rows_of(named)) >= {*TEAMS, *SYSTEMS}
    assert hits(secret("board", "--public")) >= {*TEAMS}


def test_a_candidate_of_before_is_in_no_manifest_or_setting(registry, task):
    """A candidate may be named while a task is open. Its manifest's digest would confirm a guess at the name."""
    task.systems[TEAMS[0]] = task.systems.pop("a")
    task.significance |= {"alternative": "greater", "candidate": TEAMS[0]}
    registry("run", task.write())
    (normalized,) = fetch("registry.duckdb", "SELECT details ->> '$.normalized' FROM event WHERE action = 'task'")[0]
    del task.significance["candidate"], task.significance["alternative"]
    task.extra = ANONYMOUS
    registry("run", task.write())
    registry(*PUBLISH)
    assert normalized in rows_of("registry.duckdb", "event")
    assert normalized not in rows_of("public.duckdb")
    assert not hits(rows_of("public.duckdb"))
    (signature,) = fetch("public.duckdb", "SELECT signature FROM comparison")[0]
    assert len(registry("board", "--at", signature, "--format", "json", *PUBLIC).json) == 3


def test_systems_with_one_score_are_in_the_order_of_their_pseudonyms(registry, tmp_path):
    """Six of eight have one item wrong, one none, and one three."""
    gold = {f"i{n}": "ab"[n % 2] for n in range(8)}
    systems = {name: gold | {f"i{n}": "c" for n in wrong} for name, wrong in zip(
        "abcdefgh", [[2], [0], [], [4], [3], [1, 2, 5], [6], [5]], strict=True)}
    registry("run", LabelTask(tmp_path / "task", gold, systems, extra=ANONYMOUS).write())
    rows = registry("board", "--public", "--format", "json").json
    order = [row["submission"] for row in rows]
    assert order[1:7] == sorted(order[1:7])
    assert [row["score"] for row in rows] == [1, *[7 / 8] * 6, 5 / 8]
    pairs = registry("pairs", "--public", "--format", "json").json
    assert [(row["submission_a"], row["submission_b"]) for row in pairs] == list(itertools.combinations(order, 2))
    assert all(row["difference"] == row["score_a"] - row["score_b"] for row in pairs)
    assert sorted(row["p_value"] for row in pairs) == sorted(
        row["p_value"] for row in registry("pairs", "--format", "json").json)


def test_in_a_blind_phase_no_score_is_public(registry, task):
    """System a has 5 of 6 items right, which no other number is, and one label that the gold does not have."""
    task.systems["a"]["i0"], task.systems["a"]["i5"] = "zzlabel", task.gold["i5"]
    task.extra = BLIND
    told = registry("run", task.write(), "--public")
    assert "0.833" not in told.stdout + told.stderr
    assert "scores and ranks are hidden until the organisers reveal them" in told.stderr
    private = registry("board")
    assert "0.833" in private.stdout
    assert "scores and ranks, which are not public until the organisers reveal them; `--public`" in private.stderr
    for command in (("board",), ("pairs",), ("items", "small", "hard"), ("effects", "small")):
        told = registry(*command, "--public")
        assert "error" not in told.stderr
        assert (told.stdout, "hidden until" in told.stderr) == ("", True), command
    for command in (("page", "small", "-o", "page.html"), ("release", "small", "-o", "release"),
                    ("export", "small", "badge", "--submission", "a/a")):
        assert "hidden until" in registry(*command).stderr
    assert not Path("page.html").exists()
    assert not Path("release").exists()
    registry(*PUBLISH, "--sources")
    assert "zzlabel" in rows_of("registry.duckdb")
    assert "zzlabel" not in rows_of("public.duckdb")
    assert fetch("public.duckdb", "SELECT name FROM source ORDER BY name") == [("normalized manifest of small",)]
    for table in ("scoring", "score", "replicate_score", "scoring_message", "response", "comparison", "pair_result",
                  "standing", "statistics_ratio_whole"):
        assert rows_of("public.duckdb", table) == "[]", table
    with package.open("registry.duckdb", public=True) as public, pytest.raises(HiddenError):
        public.leaderboard("small")
    registry("reveal", "small", "--scores")
    assert registry("board", "--public").stdout == private.stdout


def test_a_ladder_is_public_while_scores_are_hidden(registry, task):
    task.extra = '[board]\nrelease = "ladder"\nstep = 0.01\nanonymous = true\n'
    registry("run", task.write())
    (row,) = registry("board", "--public", "--format", "json").json
    assert (row["rank"], row["score"]) == (1, pytest.approx(0.83))
    assert row["team"].startswith("Team ")
    assert "0.83333" not in registry("board", "--public", "--format", "json").stdout
    registry(*PUBLISH)
    assert registry("board", "--format", "json", *PUBLIC).json == [row]


def test_withheld_gold_is_not_public(registry, task):
    task.gold = {f"zqitem{n}": {"yes": "zqyes", "no": "zqno"}[label] for n, label in enumerate(task.gold.values())}
    task.systems = {name: dict(zip(task.gold, (f"zq{label}" for label in labels.values()), strict=True))
                    for name, labels in task.systems.items()}
    task.documents = dict.fromkeys(task.gold, "zqdocument") | {"zqitem0": "zqother"}
    task.extra = WITHHELD
    registry("run", task.write())
    told = registry(*PUBLISH, "--sources")
    assert "task 'small': public.duckdb hides the gold, which is not public" in told.stderr
    assert "zq" in rows_of("registry.duckdb", "item", "answer", "item_attribute")
    assert "zq" not in rows_of("public.duckdb")
    assert b"zq" not in Path("public.duckdb").read_bytes()
    # a has 5 of 6 items right, b and c have 3.
    totals = fetch("public.duckdb", "SELECT scoring_id, statistic, total // per_one FROM statistic_total ORDER BY ALL")
    assert totals == [(scoring, statistic, n) for scoring, n_right in ((1, 5), (2, 3), (3, 3))
                      for statistic, n in (("denominator", 6), ("numerator", n_right))]
    assert registry("board", "--format", "csv", *PUBLIC).stdout == registry("board", "--format", "csv").stdout
    assert "with --private" in registry("page", "small", "--items", "9", "-o", "public.html").stderr
    registry("page", "small", "--items", "9", "-o", "private.html", "--private")
    assert ["zqitem" in Path(f"{name}.html").read_text() for name in ("public", "private")] == [False, True]
    with duckdb.connect("public.duckdb") as connection:
        connection.execute("UPDATE statistic_total SET total = total + 1 WHERE scoring_id = 2 AND position = 0")
    assert "score" in registry("verify", *PUBLIC, exit_code=4).stdout


def test_a_public_file_is_only_read(registry, task):
    manifest = task.write()
    registry("run", manifest)
    registry(*PUBLISH)
    content = Path("public.duckdb").read_bytes()
    for command in (("run", manifest), ("apply", manifest), ("score",), ("compare", "small", "--test", "sign"),
                    ("hide", "small"), ("withdraw", "small/test/a/a", "--reason", "x"),
                    ("purge", "small", "a", "--reason", "x"),
                    ("submit", "small", task.folder / "systems" / "a.tsv", "--system", "d")):
        assert "this is a public file, which commands only read" in registry(*command, *PUBLIC, exit_code=1).stderr
        assert not list(Path().glob(".public.duckdb*")), "no lock file is left"
    refused = registry("publish", "-o", "again.duckdb", *PUBLIC, exit_code=3).stderr
    assert "this is a public file already" in refused
    assert not Path("again.duckdb").exists()
    assert Path("public.duckdb").read_bytes() == content
    assert registry("board", "--public", *PUBLIC).stdout == registry("board", *PUBLIC).stdout


def test_files_are_replaced_only_if_they_are_public(registry, task):
    registry("run", task.write())
    registry(*PUBLISH)
    assert "add --force" in registry(*PUBLISH, exit_code=3).stderr
    registry("hide", "small")
    registry(*PUBLISH, "--force")
    assert fetch("public.duckdb", "SELECT count(*) FROM team WHERE starts_with(name, 'Team ')") == [(3,)]
    assert "is not a public file" in registry("publish", "-o", "registry.duckdb", "--force", exit_code=3).stderr
    Path("notes.txt").write_text("mine")
    assert "is not a public file" in registry("publish", "-o", "notes.txt", "--force", exit_code=3).stderr
    assert Path("notes.txt").read_text() == "mine"


@pytest.mark.parametrize(("settings", "shown"), [
    (WITHHELD, "gold = false"), (ANONYMOUS, "anonymous = true"), (BLIND, "hidden = true")])
def test_settings_that_hide_data_must_be_applied_first(registry, task, settings, shown):
    manifest = task.write()
    registry("run", manifest)
    task.extra = settings
    task.write()
    for command in (PUBLISH, ("page", "small", "-o", "page.html"), ("release", "small", "-o", "release")):
        refused = registry(*command, exit_code=4).stderr
        assert f"task.toml has `[{'release' if settings == WITHHELD else 'board'}] {shown}`" in refused
        assert "registry apply" in refused
    assert not [path for path in ("public.duckdb", "page.html", "release") if Path(path).exists()]
    registry("run", manifest)
    registry(*PUBLISH)


def test_the_contents_of_a_public_file_are_printed(registry, task):
    manifest = task.write()
    registry("apply", manifest)
    printed = registry(*PUBLISH).stderr
    assert "contains gold: yes, texts of items: no, answers of systems: yes, leaderboards: 0" in printed
    assert "public.duckdb has no leaderboard; run `registry score small`" in printed
    registry("run", manifest)
    printed = registry(*PUBLISH, "--force", "--sources").stderr
    assert "contains gold: yes, texts of items: yes, answers of systems: yes, leaderboards: 1" in printed
    assert "no leaderboard" not in printed
    task.extra = BLIND
    registry("run", task.write())
    printed = registry(*PUBLISH, "--force").stderr
    assert "contains gold: yes, texts of items: no, answers of systems: no, leaderboards: 0" in printed
    assert "no leaderboard" not in printed


@pytest.mark.parametrize("facets", ["", 'facets = ["genre"]'])
def test_texts_of_items_are_public_only_with_their_file(registry, tmp_path, facets):
    (tmp_path / "gold.tsv").write_text("id\tgenre\tsentence\tlabel\n" + "".join(
        f"i{n}\tzqgenre{n % 2}\tzqtext {n}\t{'ab'[n % 2]}\n" for n in range(8)))
    for name in ("x", "y"):
        (tmp_path / f"{name}.tsv").write_text("id\tlabel\n" + "".join(f"i{n}\ta\n" for n in range(8)))
    registry("new", "small", "--gold", tmp_path / "gold.tsv", tmp_path / "x.tsv", tmp_path / "y.tsv")
    manifest = Path("small/task.toml")
    manifest.write_text(manifest.read_text().replace('format = "labels"', f'format = "labels"\n{facets}'))
    registry("run", manifest)
    assert {"zqtext", "zqgenre"} <= {word for word in ("zqtext", "zqgenre") if word in rows_of("registry.duckdb")}
    registry(*PUBLISH)
    registry("release", "small", "-o", "release")
    file = Path("release/data/item_attributes.parquet")  # a table without rows has no file
    released = str(duckdb.read_parquet(str(file)).fetchall()) if file.exists() else ""
    for text in (rows_of("public.duckdb"), released):
        assert "zqtext" not in text
        assert ("zqgenre" in text) == bool(facets)
    assert registry("verify", *PUBLIC).stdout == registry("verify", "release").stdout == ""
    registry(*PUBLISH, "--force", "--sources")
    assert "zqtext" in rows_of("public.duckdb", "item_attribute")


HIDING = {"zqopen": "", "zqanonymous": ANONYMOUS, "zqblind": BLIND, "zqwithheld": WITHHELD,
          "zqboth": ANONYMOUS + WITHHELD}


@pytest.fixture
def several(registry, task, once):
    """A registry of tasks that hide different things; the first has one more system, which came last."""
    def run(name, extra):
        task.folder, task.extra = task.folder.with_name(name), extra
        if name == "zqblind":
            task.extra += '[[metric]]\nname = "LabelF"\n'
        manifest = task.write()
        manifest.write_text(manifest.read_text().replace('id = "small"', f'id = "{name}"'))
        registry("run", manifest)

    def build():
        systems = task.systems
        for name, extra in HIDING.items():
            task.systems = {f"{name}.{system}": labels for system, labels in systems.items()}
            run(name, extra)
        task.systems = {"zqopen.later": systems["a"]}
        run("zqopen", "")

    once(build)


def test_a_public_file_follows_from_itself(registry, several):
    registry(*PUBLISH, "--sources")
    verified = registry("verify", *PUBLIC).stderr
    assert "checked 5 comparisons, 13 scores: no faults" in verified
    assert "this is a public file: its log is redacted" in verified


def test_one_published_task_has_no_trace_of_others(registry, several):
    registry("publish", "zqanonymous", "-o", "public.duckdb")
    rows = rows_of("public.duckdb")
    assert not [name for name in (*HIDING, "LabelF") if name != "zqanonymous" and name in rows]
    with duckdb.connect("public.duckdb", read_only=True) as connection:
        for name, table in models.metadata.tables.items():
            if f"{name}_id" in table.columns:
                ids = connection.execute(f'SELECT DISTINCT {name}_id FROM "{name}" ORDER BY ALL').fetchall()
                assert ids == [(n,) for n in range(1, 1 + len(ids))], name
    assert "did you mean" in registry("publish", "zqopem", "-o", "x.duckdb", exit_code=3).stderr


def test_missing_answers_are_counted_although_the_gold_is_withheld(registry, task):
    del task.systems["b"]["i0"]
    task.systems["c"] = {item: label.upper() if item in ("i0", "i1") else label for item, label in task.gold.items()}
    task.submission = {"missing": "worst"}
    task.extra = WITHHELD
    registry("run", task.write())
    registry(*PUBLISH)
    private, public = (registry("board", "--format", "table", *options).stdout for options in ((), PUBLIC))
    caveat = "1 of 6 items has no answer and counts as wrong"
    assert (caveat in private, caveat in public) == (True, True)
    assert ("unknown to the gold" in private, "unknown to the gold" in public) == (True, False)
