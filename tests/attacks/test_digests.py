"""A digest confirms a guess at its content: names and gold that can be guessed must not have one in the open.

Each attack is first made on a task that hides nothing, where it must succeed.
"""

from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import select

from registry.evaluation.comparing.board_keys import load_board_keys
from registry.evaluation.comparing.settings import build_request
from registry.evaluation.ingest.gold import digest_gold
from registry.identity import digest_json, short
from registry.items import Item
from registry.query.request import Query
from registry.query.sql import run_query
from registry.readers import Labels
from registry.store import catalog, models
from registry.store.database import Database
from tests.label_tasks import LabelTask
from tests.releases.released import contents

DB = "registry.duckdb"
TEAMS = ("Quillmark", "Brambleton", "Ferngully")


@pytest.fixture
def teams(tmp_path):
    """A task of three teams, whose answers differ."""
    gold = {f"i{n:02}": "yes" if n % 3 else "no" for n in range(30)}
    wrong = {"yes": "no", "no": "yes"}
    systems = {f"{team}.crf": {key: wrong[label] if n % (3 + 4 * k) == 0 else label
                               for n, (key, label) in enumerate(gold.items())} for k, team in enumerate(TEAMS)}
    return LabelTask(tmp_path / "task", gold, systems)


def write(task, extra=""):
    """Write the manifest with one pattern for teams and systems."""
    task.extra = extra
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('"systems/{system}.tsv"', '"systems/{team}.{system}.tsv"'))
    return manifest


def published(registry):
    """Everything that is in a public file, and the board that is drawn from it."""
    public = Path("public.duckdb")
    public.unlink(missing_ok=True)
    registry("publish", "--output", public, "--sources")
    with Database(public).querying() as connection:
        rows = [list(run_query(connection, Query(f'FROM "{name}"', {})).batches) for name in models.metadata.tables]
    board = registry("board", "--db", public, "--format", "json", exit_code=None)
    return repr(rows) + board.stdout + board.stderr


def guess_digests(names):
    """The digests of the board without a salt, for each order in which the teams may have the three scores."""
    with Database(DB).reading() as connection:
        (task,) = catalog.tasks(connection)
        request = build_request(task)
        (key,) = load_board_keys(connection, replace(task, salt=None), request)
        for order in permutations(names):
            members = [replace_name(member, team) for member, team in zip(key.members, order, strict=True)]
            guess = replace(key, members=members)
            yield order, {guess.digest(request), short(guess.digest(request, is_random=False))}


def replace_name(member, team):
    task, test_set, _, system = member.name.split("/")
    return member._replace(name=f"{task}/{test_set}/{team}/{system}")


@pytest.mark.parametrize(("extra", "n_found"), [("", 1), ("[board]\nanonymous = true\n", 0)])
def test_names_cannot_be_guessed_by_the_digest_of_a_comparison(teams, registry, extra, n_found):
    registry("run", write(teams, extra))
    text = published(registry)
    found = [order for order, digests in guess_digests(TEAMS) if any(one in text for one in digests)]
    assert len(found) == n_found
    assert found in ([], [tuple(sorted(TEAMS))])  # members stand in the order of submission, which is by file


@pytest.mark.parametrize("command", ["run", "hide"])
def test_a_task_that_hides_names_later_shows_no_digest_from_before(teams, registry, command):
    registry("run", write(teams))
    before = registry("board", "--format", "json").json[0]["signature"]
    if command == "run":
        registry("run", write(teams, "[board]\nanonymous = true\n"))
    else:
        assert "registry compare small" in registry("hide", "small").stderr
        assert before.rpartition("id:")[2] not in published(registry)
        registry("compare", "small")
    text, guesses = published(registry), dict(guess_digests(TEAMS))
    assert not any(one in text for digests in guesses.values() for one in digests)
    assert any(before.rpartition("id:")[2] in digests for digests in guesses.values())
    assert len(registry("board", "--public", "--format", "json").json) == 3
    assert registry("show", before).stdout  # the private registry still has the old id
    assert "Quillmark" not in text
    assert registry("verify").stderr.endswith("no faults\n")


def test_a_comparison_has_one_id_in_private_and_public_and_after_the_reveal(teams, registry):
    registry("run", write(teams, "[board]\nanonymous = true\n"))
    before = {registry("board", *who, "--format", "json").json[0]["signature"] for who in ([], ["--public"])}
    registry("reveal", "small")
    assert "nothing changed" in registry("compare", "small").stderr
    assert {registry("board", "--format", "json").json[0]["signature"]} == before
    assert registry("show", next(iter(before))).stdout


def test_names_of_files_cannot_be_guessed_by_what_a_run_has_read(teams, registry):
    """A digest of exactly the right inputs stands in the log, with the run's salt; no public file has either."""
    registry("run", write(teams))
    with duckdb.connect(DB) as connection:
        ((inputs, salt, details),) = connection.execute(
            "SELECT inputs, run.salt, details FROM run JOIN event USING (run_id) WHERE action = 'end'").fetchall()
    assert "Quillmark" in inputs
    assert digest_json(inputs) not in details
    text = published(registry)
    assert salt not in text
    assert digest_json([salt, inputs]) in details
    assert digest_json([salt, inputs]) not in text


@pytest.fixture
def near_perfect(tmp_path):
    """A task of 40 right-or-wrong items, and a system that has two of them wrong."""
    gold = {f"i{n:02}": "yes" if n % 3 else "no" for n in range(40)}
    wrong = {"yes": "no", "no": "yes"}
    near = {key: wrong[label] if key in ("i07", "i31") else label for key, label in gold.items()}
    other = {key: wrong[label] if n % 3 == 0 else label for n, (key, label) in enumerate(gold.items())}
    return LabelTask(tmp_path / "task", gold, {"near": near, "other": other})


def guess_gold(answers, text):
    """The golds that differ from a system's answers in two items and whose digest begins as one in a text does."""
    reader = Labels(columns=("item", "label"))
    flip = {"yes": "no", "no": "yes"}
    for places in combinations(answers, 2):
        guess = {key: flip[label] if key in places else label for key, label in answers.items()}
        if short(digest_gold(reader, [Item(key, label) for key, label in guess.items()])) in text:
            yield guess


@pytest.mark.parametrize(("extra", "is_found"), [("", True), ("[release]\ngold = false\n", False)])
def test_the_gold_cannot_be_guessed_by_eight_digits_in_a_signature(near_perfect, registry, extra, is_found):
    near_perfect.extra = extra
    registry("run", near_perfect.write())
    registry("page", "small", "-o", "page.html")
    for text in (published(registry), Path("page.html").read_text()):
        assert list(guess_gold(near_perfect.systems["near"], text)) == ([near_perfect.gold] if is_found else [])


@pytest.mark.parametrize(("extra", "is_shown"), [("", True), ("[board]\nhidden = true\n", False)])
def test_no_digest_of_a_submission_confirms_nearly_perfect_answers_in_a_blind_phase(
        near_perfect, registry, extra, is_shown):
    """Readers have the gold, so that they could write every file with two errors."""
    near_perfect.extra = extra
    registry("run", near_perfect.write())
    seen = published(registry) + "".join(
        registry("show", f"small/test/{name}/{name}", "--public").stdout for name in ("near", "other"))
    with duckdb.connect(DB) as connection:
        kept = connection.execute("""
            SELECT submission.digest, source_digest, run.salt
            FROM submission JOIN submission_source USING (submission_id) JOIN run USING (run_id)""").fetchall()
    assert len(kept) == 2
    assert {one in seen for *digests, _ in kept for one in digests} == {is_shown}
    assert not [salt for *_, salt in kept if salt in seen]
    assert {short(one) in seen for digest_, source, _ in kept for one in (digest_, source)} == {is_shown}
    assert registry("verify").stderr.endswith("no faults\n")


@pytest.mark.parametrize(("extra", "is_open"), [("", True), ("[release]\ngold = false\n", False)])
def test_no_digest_of_gold_or_of_single_items_leaves_with_a_release_that_withholds_them(
        near_perfect, registry, extra, is_open):
    near_perfect.extra = extra
    registry("run", near_perfect.write())
    registry("release", "small", "-o", "release")
    registry("publish", "small", "--output", "copy.duckdb")
    with duckdb.connect(DB) as connection:
        kept = [digest for table in ("gold_revision", "submission", "score", "tested_statistics")
                for (digest,) in connection.execute(f"SELECT digest FROM {table}").fetchall()]
    assert len(kept) == 1 + 2 + 2 + 2
    for content in (contents(Path("release")), Path("copy.duckdb").read_bytes()):
        assert [one.removeprefix("sha256:").encode() in content for one in kept] == [is_open] * len(kept)
    for verified in (("release/",), ("--db", "copy.duckdb")):
        assert "no faults" in registry("verify", *verified).stderr


def test_a_release_that_withholds_the_gold_needs_a_signature_that_does_too(near_perfect, registry):
    registry("run", near_perfect.write())
    near_perfect.extra = "[release]\ngold = false\n"
    registry("apply", near_perfect.write())
    told = registry("release", "small", "-o", "release", exit_code=4).stderr
    assert "run `registry score` and `registry compare`" in told
    registry("compare", "small")
    registry("release", "small", "-o", "release")


def test_the_salt_stays_in_the_private_registry(teams, registry):
    """It is in no release and no public file; what is altered of it is named."""
    registry("run", write(teams, "[board]\nanonymous = true\n[release]\ngold = false\n"))
    with Database(DB).reading() as connection:
        salt = connection.execute(select(models.task.c.salt)).scalar_one()
    assert len(salt) == 32
    assert salt not in published(registry)
    registry("reveal", "small")
    registry("release", "small", "-o", "release")
    registry("publish", "small", "--output", "copy.duckdb")
    assert salt.encode() not in contents(Path("release"))
    assert salt.encode() not in Path("copy.duckdb").read_bytes()
    with duckdb.connect(DB) as connection:
        connection.execute("UPDATE task SET salt = reverse(salt)")
    assert "its salt does not match the log" in registry("verify", exit_code=4).stdout
