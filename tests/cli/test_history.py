"""`show`: how a number came about, from the files to the command, the program and the person."""

from pathlib import Path

import pytest

from registry.identity import digest
from registry.publication.publish import publish_temporarily
from registry.store.database import Database
from tests.evaluation.stored import query
from tests.label_tasks import LabelTask

GOLD = {f"i{n}": "ab"[n % 2] for n in range(12)}


@pytest.fixture
def shown(registry, tmp_path, once):
    """A task that two people worked on: one ran it, one submitted and compared again; gives what `show` tells."""
    def work():
        task = LabelTask(tmp_path / "task", GOLD, {"one": GOLD, "two": GOLD | {"i0": "b", "i2": "b"}})
        registry("run", task.write(), "--actor", "ada")
        late = tmp_path / "three.tsv"
        late.write_text("".join(f"{item}\ta\n" for item in GOLD))
        registry("submit", "small", late, "--system", "three", "--actor", "bo")
        registry("score", "--actor", "bo")
        registry("compare", "--actor", "bo")

    once(work)

    def show(name):
        found = registry("show", name, "--format", "json").json
        return {title: rows for section in found for title, rows in section.items()}

    return show


def test_a_signature_leads_to_files_settings_systems_and_commands(shown, registry, tmp_path):
    signature = registry("board", "--format", "json").json[0]["signature"]
    by_whole, by_id = shown(signature), shown(signature.rpartition("id:")[2])
    assert by_whole == by_id
    (gold,) = by_whole["gold"]
    assert (gold["file"], gold["digest"]) == ("gold.tsv", digest((tmp_path / "task" / "gold.tsv").read_bytes()))
    assert {row["setting"]: row["value"] for row in by_whole["asked for"]}["correction"] == "holm"
    assert [row["submission"] for row in by_whole["systems"]] == ["one/one@1", "two/two@1", "three/three@1"]
    assert [row["scored_by_run"] for row in by_whole["systems"]] == [1, 1, 3]
    assert {(row["run"], row["pairs"]) for row in by_whole["pairs by run"]} == {(1, 1), (4, 2)}
    assert {row["actor"] for row in by_whole["log"]} == {"bo"}
    assert {row["what"]: row["value"] for row in by_whole["run 4"]}["command"] == "compare"


def test_a_pair_of_a_signature_leads_to_its_result_and_what_that_rests_on(shown, registry):
    pair = registry("pairs", "--format", "json").json[1]
    a, b = pair["submission_a"], pair["submission_b"]
    found = shown(f"{pair['signature']}/{a}~{b}")
    for name in (f"{pair['signature'].rpartition('id:')[2]}/{pair['system_b']}~{pair['system_a']}",
                 f"{pair['signature'].rpartition('|')[2]}/{a}~{pair['system_b']}/{pair['system_b']}"):
        assert shown(name) == found
    result = {row["what"]: row["value"] for row in found["result"]}
    for key in ("score_a", "score_b", "difference", "p_value", "p_adjusted", "significant", "method", "n_discordant"):
        assert result[key] == str(pair[key])
    assert (result["system_a"], result["system_b"]) == (a, b)
    by_system = {row["submission"]: row["statistics"] for row in shown(pair["signature"])["systems"]}
    assert {row["submission"]: row["statistics"] for row in found["answers"]} == {a: by_system[a], b: by_system[b]}
    tested = {row["digest"] for row in query(registry, "SELECT digest FROM tested_statistics")}
    assert tested > {result["tested_statistics_a"], result["tested_statistics_b"]}
    assert {row["what"]: row["value"] for row in found["asked for"]}["n_pairs"] == "3"
    assert {row["what"]: row["value"] for row in found[f"run {result['tested_by_run']}"]}["command"] == "compare"
    assert found["gold"] == shown(pair["signature"])["gold"]
    told = registry("show", f"{pair['signature']}/{a}~nobody", exit_code=3).stderr
    assert "unknown pair of systems A~B" in told
    assert "three/three@1" in told


def test_what_was_edited_in_a_signature_is_told(shown, registry):
    """Someone who prints n:120 for n:12 is told so, and shown what the number rests on all the same."""
    signature = registry("board", "--format", "json").json[0]["signature"]
    for edited, said in ((signature.replace("n:12|", "n:120|"), "n_items is 120, but 12 is stored"),
                         (signature.replace("corr:holm/3", "corr:none/3"), "correction is none, but holm"),
                         (signature.replace("|n:12|", "|"), "no field 'n'")):
        assert edited != signature
        done = registry("show", edited, "--format", "json", exit_code=4)
        assert said in done.stderr
        assert list(done.json[0]) == ["in the given line, not as stored"]
        assert done.json[1:] == registry("show", signature, "--format", "json").json


def test_a_run_leads_to_what_it_read_and_logged(shown, tmp_path):
    found = shown("run:1")
    assert {row["file"]: row["digest"] for row in found["read"]}["systems/two.tsv"] == digest(
        (tmp_path / "task" / "systems" / "two.tsv").read_bytes())
    assert {row["actor"] for row in found["log"]} == {"ada"}
    assert "duckdb" in {row["what"] for row in found["environment"]}


@pytest.mark.parametrize("name", ["small/test/three/three", "small/test/three/three@1"])
def test_a_submission_leads_to_its_file_scores_and_boards(shown, name, tmp_path):
    found = shown(name)
    assert found["files"][0]["digest"] == digest((tmp_path / "three.tsv").read_bytes())
    assert [(row["metric"], row["score"], row["run"]) for row in found["scores"]] == [("Accuracy", 0.5, 3)]
    assert [(row["rank"], row["score"]) for row in found["boards"]] == [(3, 0.5)]
    assert [(row["action"], row["actor"]) for row in found["log"]] == [("submission-added", "bo")]


def test_the_head_stands_for_the_whole_log(shown, registry):
    (before,) = registry("show", "--head", "--format", "json").json[0]["head of the log"]
    assert before["hash"].startswith("sha256:")
    assert before["hash"] in registry("show", "--head").stdout
    registry("compare", "--alpha", "0.1")
    (after,) = registry("show", "--head", "--format", "json").json[0]["head of the log"]
    assert after["entry"] > before["entry"]
    assert after["hash"] != before["hash"]
    note = "only a published log head can show that the log was truncated or rewritten"
    assert note in registry("verify", "--results", "none").stderr
    assert note not in registry("verify", "--results", "none", "--head", before["hash"]).stderr


@pytest.mark.parametrize("name", [
    "run:99", "run:x", "run:99999999999", "id:00000000", "%", "small/test/three/tree", "", "id:"])
def test_what_is_not_there_is_said_with_what_may_be_meant(shown, registry, name):
    told = registry("show", name, exit_code=3).stderr
    assert "unknown signature, pair, run or submission" in told
    assert "small/test/three/three" in told


def test_a_name_or_the_head_is_asked_for(shown, registry):
    for arguments in ([], ["run:1", "--head"]):
        assert "name what to show" in registry("show", *arguments, exit_code=3).stderr


def test_a_run_tells_what_it_says_of_itself_unless_names_are_hidden(registry):
    Path("qrels").write_text("q1 0 d1 1\n")
    Path("run").write_text("# ir_metadata.start\n# actor:\n#   team: \\x1b[31mMine\n# ir_metadata.end\n"
                           "q1 Q0 d1 1 0.5 mine\n")
    Path("task.toml").write_text('''manifest = 1
task.id = "t"
metric = [{ name = "P", options = { cutoff = 1 } }]
test_set = [{ name = "test", gold = "qrels", format = "trec" }]
submit = [{ file = "run", system = "ours" }]
''')
    registry("apply", "task.toml")
    section = registry("show", "t/test/ours/ours", "--format", "json").json[-1]
    assert section == {"ir_metadata": [{"version": "1", "run": 1, "line": line} for line in (
        "actor:", "  team: \\x1b[31mMine")]}
    assert "team: " in registry("show", "t/test/ours/ours@1").stdout
    registry("hide", "t")
    with publish_temporarily(Database(Path("registry.duckdb"))) as public:
        (hidden,) = registry("list", "submissions", "--format", "json", "--db", public.path).json
    told = registry("show", f"t/test/{hidden['team']}/{hidden['system']}", "--format", "json", "--public").json
    assert "submission" in told[0]
    assert "ir_metadata" not in str(told)
    assert "Mine" in registry("show", "t/test/ours/ours").stdout
