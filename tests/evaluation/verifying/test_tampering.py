"""Everything that a board rests on is altered by another program: each alteration is found, and named.

Several are made in one database here. `python -m tests.evaluation.verifying.test_tampering` makes each alone.
"""

import shutil
import sys
import tempfile
import zlib
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from registry.cli.app import app
from registry.evaluation.verifying.verify import VerificationResult, verify
from registry.identity import digest
from registry.provenance import environment
from registry.significance import Execution
from registry.store import models
from registry.store.database import CONFIG, Database
from registry.store.history import read_log_head
from registry.store.log import Journal, append, digest_of_words, link
from registry.studies import STUDIES
from registry.studies.verify import verify_studies
from tests.label_tasks import LabelTask

ITEMS = [f"i{n:02}" for n in range(24)]
GOLD = {item: "abc"[n % 3] for n, item in enumerate(ITEMS)}
ANOTHER = "".join(f"{item}\tc\td{n % 2}\n" for n, item in enumerate(ITEMS)).encode()


def answers(*wrong, instead="a"):
    return GOLD | {item: instead if GOLD[item] != instead else "b" for item in ITEMS[::wrong[0]]}


def written(folder, told="", **of_test_set):
    """The manifest of a task with clusters, runs, two metrics, a family, remarks and a test of all systems."""
    manifest = LabelTask(
        folder / "task", GOLD,
        {"ann": answers(8), "bob": answers(3), "cid": answers(2), "dee": answers(5, instead="zzz")},
        {item: f"d{n % 2}" for n, item in enumerate(ITEMS)}, test_set=of_test_set,
        significance={"seed": 3, "overall": "friedman", "family": ["acc"]},
        runs={"eve": {"1": answers(4), "2": answers(6)}},
        extra='[[metric]]\nid = "f1"\nname = "LabelF"\n').write()
    manifest.write_text(manifest.read_text().replace('id = "small"\n', f'id = "small"\n{told}', 1))
    return manifest


def made(folder):
    """A registry with such a task, a study, and pseudonyms."""
    path = folder / "registry.duckdb"
    for arguments in (["run", written(folder)], ["effects", "small"], ["hide", "small"], ["reveal", "small"]):
        done = CliRunner().invoke(app, [*map(str, arguments), "--db", str(path)])
        assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    return made(tmp_path_factory.mktemp("untouched"))


def faults(path, **asked):
    with Database(path).writing(dry_run=True) as connection:
        return verify(connection, Journal("verify", {}), None, asked.pop("results", "all"), Execution(workers=1),
                      **asked).faults


def test_nothing_is_found_where_nothing_was_altered(untouched):
    assert faults(untouched) == []


SQL = {  # by what is altered: how, and what has to be named
    "a p-value": ("UPDATE pair_result SET p_value = 0.001 WHERE p_value > 0.5", "pair"),
    "a log p-value": ("UPDATE pair_result SET log10_p = -9 WHERE pair_result_id = 3", "pair"),
    "an adjusted p-value": ("UPDATE comparison_pair SET p_adjusted = 0.04 WHERE position = 2", "pair"),
    "a decision": ("UPDATE comparison_pair SET is_significant = NOT is_significant WHERE position = 1", "pair"),
    "a pair that is gone": ("DELETE FROM comparison_pair WHERE comparison_id = 1 AND position = 4", "pair"),
    "a rank": ("UPDATE standing SET rank = 1 WHERE position = 1", "standing"),
    "the score of a place": ("UPDATE standing SET score = 0.99 WHERE position = 4", "standing"),
    "a place that is gone": ("DELETE FROM standing WHERE comparison_id = 2 AND position = 4", "comparison"),
    "two places that change": ("UPDATE standing SET position = 9 - position WHERE position IN (4, 5)", "standing"),
    "a score": ("UPDATE score SET value = 0.9 WHERE scoring_id = 2 AND metric_id = 1", "score"),
    "a title": ("UPDATE task SET title = 'other'", "task"),
    "a score of a run": ("UPDATE replicate_score SET value = 0.9 WHERE replicate = 1", "replicate score"),
    "statistics of an item": ("UPDATE statistics_ratio_whole SET numerator = 1 - numerator WHERE item_id = 5",
                              "statistics"),
    "statistics that are gone": ("DELETE FROM statistics_confusion WHERE item_id = 5", "statistics"),
    "statistics that stand twice": (
        "INSERT INTO statistics_ratio_whole FROM statistics_ratio_whole WHERE item_id = 5", "statistics"),
    "a response": ("UPDATE response SET correct = NOT correct WHERE scoring_id = 3", "response"),
    "a response that is gone": (
        "DELETE FROM response WHERE scoring_id = 1 AND answer_id = (SELECT max(answer_id) FROM response "
        "WHERE scoring_id = 1)", "response"),
    "an answer": ("UPDATE answer SET key = 'c' WHERE NOT in_gold AND key = 'a'", "response"),
    "a gold answer": ("UPDATE answer SET key = 'c' WHERE in_gold AND key = 'a'", "gold"),
    "an item": ("UPDATE item SET key = 'j' || key WHERE position = 3", "gold"),
    "the document of an item": ("UPDATE item_attribute SET value = 'd1' WHERE value = 'd0'", "gold"),
    "a remark that is gone": ("DELETE FROM scoring_message", "scoring message"),
    "a remark": ("UPDATE scoring_message SET code = 'unordered-rows'", "scoring message"),
    "a team": ("UPDATE team SET name = 'zoe' WHERE name = 'ann'", "submission"),
    "a system": ("UPDATE system SET name = 'zoe' WHERE name = 'bob'", "submission"),
    "a kind": ("UPDATE submission SET kind = 'baseline' WHERE submission_id = 2", "submission"),
    "a withdrawal": ("UPDATE submission SET withdrawn = TRUE WHERE submission_id = 1", "submission"),
    "a policy": ("UPDATE submission SET missing = 'drop' WHERE submission_id = 1", "submission"),
    "the digest of a submission": (f"UPDATE submission SET digest = '{digest(b'')}' WHERE submission_id = 1",
                                   "submission"),
    "a seed": ("UPDATE task SET seed = 4", "task"),
    "a manifest": ("UPDATE task SET manifest = replace(manifest, '0.05', '0.5')", "task"),
    "a metric": ("UPDATE metric SET better = 'lower' WHERE name = 'Accuracy'", "metric"),
    "the primary metric": ("UPDATE task_metric SET is_primary = NOT is_primary", "metric"),
    "the cluster": ("UPDATE test_set SET cluster_attribute = NULL", "test set"),
    "a level": ("UPDATE comparison SET alpha = 0.5", "comparison"),
    "a request": ("UPDATE comparison SET request = replace(request, 'holm', 'none')", "comparison"),
    "a signature": ("UPDATE comparison SET signature = replace(signature, 'holm', 'none')", "comparison"),
    "a comparison that is gone": ("DELETE FROM comparison WHERE comparison_id = 1", "comparison"),
    "a test of all systems": ("UPDATE overall_result SET p_value = 0.001", "overall result"),
    "a study": ("UPDATE study SET result = replace(result, '0', '1')", "study"),
    "pseudonyms that change places": ("UPDATE team SET pseudonym = (SELECT other.pseudonym FROM team AS other WHERE "
                                      "other.team_id = 3 - team.team_id) WHERE team_id < 3", "pseudonym"),
    "a pseudonym that is a name": ("UPDATE system SET pseudonym = name WHERE system_id = 1", "pseudonym"),
    "an end of anonymity": ("UPDATE task SET anonymous_until = TIMESTAMP '2030-01-01'", "task"),
    "a blind phase": ("UPDATE task SET blind_until = TIMESTAMP '2030-01-01'", "task"),
    "a study that is gone": ("DELETE FROM study", "study"),
    "the files of a submission": ("UPDATE submission_source SET source_digest = (SELECT min(source_digest) FROM "
                                  "submission_source)", "submission"),
    "the gold that counts": ("UPDATE gold_revision SET digest = 'sha256:0'", "gold"),
    "a label": ("UPDATE label SET name = 'A' WHERE name = 'a'", "statistics"),
    "what a run read": ("UPDATE run SET inputs = '{}' WHERE run_id = 1", "run"),
    "what a run was asked for": ("UPDATE run SET parameters = '{}' WHERE run_id = 1", "log"),
    "an entry of the log": ("UPDATE event SET details = replace(details, 'primary', 'baseline')", "log"),
    "who did it": ("UPDATE event SET actor = 'mallory' WHERE event_id = 2", "log"),
    "an entry in the middle that is gone": ("DELETE FROM event WHERE event_id = 4", "log"),
    "two entries in another order": ("UPDATE event SET event_id = 9 - event_id WHERE event_id IN (4, 5)", "log"),
    "a run that is gone": ("DELETE FROM run WHERE run_id = 1", "run"),
    "the end of the log": ("DELETE FROM event WHERE event_id > 3", "log"),
    "an entry that was blanked": ("UPDATE event SET salt = NULL, subject = '', details = '{}' WHERE event_id = 2",
                                  "log"),
    "a run that was blanked": ("UPDATE run SET salt = NULL, parameters = '{}' WHERE run_id = 1", "log"),
}


@pytest.fixture
def copy(untouched, tmp_path):
    return shutil.copyfile(untouched, tmp_path / "altered.duckdb")


def alter(path, sql, *values):
    with duckdb.connect(str(path), config=CONFIG) as connection:
        assert connection.execute(sql, values).fetchone() != (0,)


RESULTS = {"pair", "standing", "overall result"}
SCORES = {"response", "scoring message", "statistics", "score", "replicate score"}
HIDES = {  # what cannot be derived again without something
    "gold": RESULTS | SCORES, "submission": RESULTS | SCORES, "metric": RESULTS, "test set": RESULTS, "log": {"run"},
    "comparison": RESULTS, "statistics": RESULTS, "run": RESULTS}


def together():
    """Alterations that are made in one database: of different things each, and none that keeps another from view."""
    found = []
    for what, (_, of) in SQL.items():
        hidden = {of} | HIDES.get(of, set()) | {hiding for hiding, things in HIDES.items() if of in things}
        fitting = next((group for group in found if not hidden & {SQL[other][1] for other in group}), None)
        if fitting is None:
            found.append(fitting := [])
        fitting.append(what)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("group", together(), ids=lambda group: group[0])
def test_what_is_altered_is_found_and_named(group, copy):
    for what in group:
        alter(copy, SQL[what][0])
    found = faults(copy)
    assert {SQL[what][1] for what in group} <= {fault.of for fault in found}, found
    assert all(fault.name and fault.message for fault in found)


@pytest.mark.parametrize("covered", [False, True], ids=["bytes", "bytes and digests"])
def test_another_gold_in_the_place_of_the_kept_one_is_found(covered, copy):
    with duckdb.connect(str(copy), config=CONFIG) as connection:
        (kept,) = connection.execute("SELECT source_digest FROM gold_source").fetchone()
        connection.execute("UPDATE source SET content = ? WHERE digest = ?", [zlib.compress(ANOTHER), kept])
        if covered:
            for table, column in (("source", "digest"), ("gold_source", "source_digest")):
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", [digest(ANOTHER), kept])
            connection.execute("UPDATE source SET n_bytes = ? WHERE digest = ?", [len(ANOTHER), digest(ANOTHER)])
    assert {"gold"} <= {fault.of for fault in faults(copy)} if covered else "source" in {
        fault.of for fault in faults(copy)}


def test_a_name_that_is_sql_is_a_name(copy, tmp_path):
    """A registry can come from anybody, and what is verified may be written to: the copy that it works on."""
    alter(copy, "UPDATE task SET slug = ?", f"x'; COPY (SELECT 1) TO '{tmp_path / 'written.csv'}'; --")
    assert {fault.kind for fault in faults(copy)} >= {"altered", "missing"}
    assert not (tmp_path / "written.csv").exists()


def test_studies_are_made_again_as_the_registry_stood(untouched, copy, registry):
    """One is found where its log entry agrees with it too; what happened to the task since then is of no account."""
    later = Path(untouched).parent / "task" / "systems" / "ann.tsv"
    registry("submit", "small", later, "--system", "new", "--db", copy)
    with duckdb.connect(str(copy), read_only=True) as connection:
        name = connection.execute("SELECT signature FROM study WHERE study_id = 2").fetchone()[0].rpartition("|")[2]
    whole, altered = VerificationResult(), VerificationResult()
    verify_studies(Database(copy), None, name, Execution(workers=1), whole, lambda kind: STUDIES[kind].load())
    assert (whole.faults, whole.notes, whole.counts) == ([], [], {"study": 1})
    alter(copy, "UPDATE study SET result = replace(result, '0.5', '0.25') WHERE study_id = 2")
    verify_studies(Database(copy), "small", name, Execution(workers=1), altered, lambda kind: STUDIES[kind].load())
    assert [(fault.kind, fault.of, fault.name) for fault in altered.faults] == [("altered", "study", f"effects {name}")]


def test_the_last_digits_may_be_others_where_others_computed_them(copy):
    """To the last bit where the platform and the versions are the same; else within 1e-9 of each number."""
    alter(copy, "UPDATE replicate_score SET value = value * (1 + 1e-12) WHERE scoring_id = 1")
    alter(copy, "UPDATE pair_result SET p_value = p_value * (1 - 1e-12) WHERE p_value < 1")
    alter(copy, "UPDATE standing SET score = score * (1 - 1e-6) WHERE comparison_id = 1 AND position = 0")
    with duckdb.connect(str(copy), read_only=True) as connection:
        name = connection.execute("SELECT signature FROM comparison WHERE comparison_id = 1").fetchone()[0]
    strict = {(fault.kind, fault.of) for fault in faults(copy, results=name)}
    assert {("altered", "replicate score"), ("altered", "pair"), ("altered", "standing")} <= strict
    alter(copy, "UPDATE run SET environment = replace(environment, '\"numpy\":\"', '\"numpy\":\"1.')")
    found = VerificationResult(faults(copy, results=name))
    kinds = {(fault.kind, fault.of) for fault in found.faults}
    assert {("rounded", "replicate score"), ("rounded", "pair"), ("altered", "standing")} <= kinds
    assert {fault.of for fault in found.without_rounding().faults} == {"standing", "log"}
    here = environment()["numpy"]
    (note, *_) = [note for note in found.without_rounding().notes if "replicate score" in note]
    assert f"computed with numpy 1.{here} (here {here})" in note
    assert "the same within a relative 1e-09" in note


@pytest.fixture
def forged(copy):
    """The registry with another kind in its log, and all hashes from there on made anew."""
    alter(copy, "UPDATE event SET details = replace(details, '\"primary\"', '\"baseline\"') WHERE event_id = 4")
    with Database(copy).writing() as connection:
        rows = connection.execute(models.event.select().order_by(models.event.c.event_id)).mappings().all()
        connection.execute(models.event.delete())
        made = ("event_id", "hash", "salt", "digest")
        append(connection, [{name: row[name] for name in row if name not in made} for row in rows])
    return copy


def test_a_log_that_was_written_anew_is_known_by_its_published_head(untouched, forged):
    with Database(untouched).reading() as connection:
        published = read_log_head(connection)[0].rows[0]["hash"]
    assert [faults(untouched, results="none", head=of) for of in (published, published[7:19])] == [[], []]
    assert "its hash does not match" not in str(faults(forged, results="none"))
    assert "the log was truncated or rewritten" in str(faults(forged, results="none", head=published))


def test_a_log_that_goes_on_has_its_published_head(untouched, copy, registry):
    with Database(untouched).reading() as connection:
        published = read_log_head(connection)[0].rows[0]["hash"]
    registry("compare", "--alpha", "0.2", "--db", copy)
    with Database(copy).reading() as connection:
        assert read_log_head(connection)[0].rows[0]["hash"] != published
    assert faults(copy, head=published) == []


def test_the_hash_of_an_entry_rests_on_all_of_it_and_on_what_comes_before():
    entry = {"event_id": 1, "run_id": 1, "at": "2026-01-01", "actor": None, "action": "a", "subject": "s",
             "details": "{}"}

    def hashed(before, event, of_run, salt="salt"):
        return link(before, event | {"digest": digest_of_words(salt, event)}, of_run)

    others = [hashed("x", entry, "r"), hashed(None, entry, "q"), hashed(None, entry, "r", "pepper"), *(
        hashed(None, entry | {name: "other"}, "r") for name in entry)]
    assert len({hashed(None, entry, "r"), *others}) == 1 + len(others)


def test_the_command_tells_what_it_found_and_ends_with_4(untouched, copy, registry):
    told = registry("verify", "--db", untouched)
    assert "no faults" in told.stderr
    assert not told.stdout
    alter(copy, SQL["a score"][0])
    found = registry("verify", "--db", copy, "--format", "json", exit_code=4)
    assert [(row["kind"], row["of"]) for row in found.json] == [("altered", "score")]
    assert found.json[0]["name"] == "small/test/bob/bob@1 by Accuracy"
    assert "0.9" in found.json[0]["message"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        whole, unnoticed = made(Path(scratch)), 0
        for what, (sql, of) in SQL.items():
            altered = shutil.copyfile(whole, Path(scratch) / "altered.duckdb")
            alter(altered, sql)
            told = [fault for fault in faults(altered) if fault.of == of]
            unnoticed += not told
            print(f"{what}: " + (f"{told[0].kind} {of} {told[0].name}: {told[0].message}" if told else "NOT FOUND"))
    print(f"{len(SQL)} kinds, {unnoticed} not found")
    sys.exit(unnoticed > 0)
