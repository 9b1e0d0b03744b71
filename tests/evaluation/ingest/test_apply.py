"""Apply: idempotent, by content, and every change is journaled."""

import gzip

import pytest

from registry import provenance
from tests.evaluation.stored import events, query


def test_the_same_inputs_twice_change_nothing_not_even_a_run_row(task, registry, scored, tmp_path):
    scored(task)
    before = (tmp_path / "registry.duckdb").read_bytes()
    for command in ("run", "apply"):
        assert "nothing changed" in registry(command, task.manifest).stderr
    assert "0 scores computed" in registry("score").stderr
    assert "nothing changed" in registry("compare").stderr
    assert (tmp_path / "registry.duckdb").read_bytes() == before


@pytest.mark.parametrize("dirty", [True, False, None])
def test_who_changes_the_code_is_told_that_numbers_are_kept(task, registry, scored, monkeypatch, dirty):
    scored(task)
    monkeypatch.setattr(provenance, "code", lambda: provenance.Code("1", "2", dirty))
    assert ("use another --db to recompute them" in registry("run", task.manifest).stderr) == bool(dirty)


def test_another_form_of_the_same_content_is_the_same_content(task, registry, scored, tmp_path):
    """Other line order, CRLF and gzip: the file differs, what it says does not."""
    scored(task)
    board = registry("board", "--format", "json").json
    for path in [*task.folder.glob("systems/*.tsv"), task.folder / "gold.tsv"]:
        lines = path.read_bytes().splitlines()
        path.write_bytes(gzip.compress(b"".join(line + b"\r\n" for line in reversed(lines))))
    assert "3 unchanged" in registry("run", task.manifest).stderr
    assert registry("board", "--format", "json").json == board
    assert query(registry, "SELECT count(*) AS n FROM gold_revision") == [{"n": 1}]


def test_one_more_submission_is_one_more(task, registry, scored):
    c = task.systems.pop("c")
    scored(task)
    task.systems["c"] = c
    told = registry("run", task.write()).stderr
    assert "1 added, 2 unchanged" in told
    assert "scores: 1 computed, 2 already stored" in told
    assert "pairs: 1 tested, 2 already stored" in told  # c says what b says, so a against c is there too


def test_the_same_version_with_other_content_is_refused(task, registry, scored):
    scored(task, command="apply")
    task.systems["a"]["i0"] = "yes"
    before = query(registry, "SELECT count(*) AS n FROM event")
    refused = registry("apply", task.write(), exit_code=3).stderr
    assert "small/test/a/a@1 is already stored with different answers; to store this file, set another" in refused
    assert "a.tsv" in refused
    assert query(registry, "SELECT count(*) AS n FROM event") == before


def test_the_same_file_with_other_options_is_refused_with_all_remedies(task, registry, scored):
    task.systems["a"] = task.gold | {"i0": task.gold["i0"].upper()}
    scored(task, command="apply")
    task.submission = {"options": {"columns": ["item", "label"], "fold_case": True}}
    manifest = task.write()
    refused = registry("apply", manifest, exit_code=3).stderr
    assert "small/test/a/a@1 is already stored with different answers, because the registry read" in refused
    assert "restore the options, or set another version" in refused
    assert "in a new registry: registry run MANIFEST --db NEW.duckdb" in refused
    (row, *_) = registry("run", manifest, "--db", "new.duckdb", "--format", "json").json
    assert (row["system"], row["score"], row["submission"]) == ("a", 1, "a/a@1")


def test_a_new_version_takes_the_place_of_the_old_one(task, registry, scored):
    scored(task)
    (task.folder / "better.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    registry("submit", "small", task.folder / "better.tsv", "--system", "b", "--version", "2")
    assert "submissions or gold have changed" in registry("board").stderr
    registry("score")
    registry("compare")
    board = registry("board", "--format", "json").json
    assert [row["submission"] for row in board] == ["b/b@2", "a/a@1", "c/c@1"]
    assert len(registry("list", "submissions", "--format", "json").json) == 4


def test_withdrawing_takes_a_submission_off_the_board(task, registry):
    task.extra = '[[submit]]\nfile = "late.tsv"\nsystem = "d"\n'
    task.write()
    (task.folder / "late.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    registry("run", task.manifest)
    assert registry("board", "--format", "json").json[0]["system"] == "d"
    task.extra += "withdrawn = true\n"
    assert "1 changed, 3 unchanged" in registry("run", task.write()).stderr
    assert "d" not in [row["system"] for row in registry("board", "--format", "json").json]
    assert "submission-changed" in events(registry)


def test_changed_gold_needs_a_new_version_and_scores_everything_anew(task, registry, scored, tmp_path):
    scored(task)
    (task.folder / "extra.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    registry("submit", "small", task.folder / "extra.tsv", "--system", "d")  # not in the manifest
    (task.folder / "extra.tsv").unlink()
    task.gold["i0"] = "yes"
    assert "task.version is still '1'" in registry("run", task.write(), exit_code=4).stderr
    assert registry("board", "--format", "json").json[0]["score"] == 5 / 6
    task.version = "2"
    told = registry("run", task.write()).stderr
    assert "small: gold of test changed; submissions: 4 joined with the changed gold\n" in told
    assert "scores: 4 computed" in told
    scores = {row["system"]: row["score"] for row in registry("board", "--format", "json").json}
    assert scores == {"a": 4 / 6, "b": 2 / 6, "c": 2 / 6, "d": 5 / 6}
    assert [row["revision"] for row in query(registry, "SELECT revision FROM gold_revision")] == [1, 2]


def test_the_version_counts_from_the_last_apply(task, registry):
    for version in ("1", "2"):
        task.version = version
        registry("apply", task.write())
    task.gold["i0"] = "yes"
    assert "task.version is still '2'" in registry("apply", task.write(), exit_code=4).stderr


@pytest.mark.parametrize(("before", "after", "down"), [("10", "9", True), ("9", "10", False), ("1.2.0", "1.10", False)])
def test_a_version_that_goes_down_is_told(task, registry, scored, before, after, down):
    task.version = before
    scored(task, command="apply")
    task.version = after
    told = registry("apply", task.write()).stderr
    assert (f"task.version goes down, from '{before}' to '{after}'" in told) == down


def test_a_new_track_of_submit_is_told_with_those_that_are_known(task, registry):
    task.extra = '[[submit]]\nfile = "d.tsv"\nsystem = "d"\ntrack = "closed"\n'
    task.submission = {"track": "open"}
    task.write()
    (task.folder / "d.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    registry("apply", task.manifest)
    submit = ("submit", "small", task.folder / "d.tsv", "--system", "e", "--track")
    told = registry(*submit, "opne").stderr
    assert "warning: track 'opne' is new to small; did you mean 'open'? Known: closed, open" in told
    for track in ("open", "closed"):
        assert "is new" not in registry(*submit, track).stderr


@pytest.fixture
def tagged(tmp_path):
    """Two test sets of one sentence each, news with a person and chat with a place; the metric is of `type`."""
    def write(type_):
        for name, tag in (("news", "B-person"), ("chat", "B-place")):
            (tmp_path / f"{name}.conll").write_text(f"Ada\t{tag}\n")
        sets = "".join(f'[[test_set]]\nname = "{name}"\ngold = "{name}.conll"\nformat = "bio"\n'
                       'options = { scheme = "iob2" }\n' for name in ("news", "chat"))
        (tmp_path / "task.toml").write_text(
            f'manifest = 1\n[task]\nid = "tagged"\n{sets}[[metric]]\nid = "f"\nname = "SpanF"\n'
            f'options = {{ type = "{type_}" }}\n[significance]\nseed = 1\n')
        return tmp_path / "task.toml"

    return write


def test_a_type_that_no_gold_has_is_refused(tagged, registry, tmp_path):
    for command in ("check", "apply"):
        told = registry(command, tagged("persn"), exit_code=3).stderr
        assert "task.toml: metric[0]: the gold has no span of type 'persn'; did you mean 'person'?" in told
        assert "Known: person, place" in told
    assert not list(tmp_path.glob("[!.]*.duckdb"))
    registry("apply", tagged("person"))
    assert "no span of type 'persn'" in registry("apply", tagged("persn"), exit_code=3).stderr


def test_a_type_that_one_gold_lacks_is_warned_of(tagged, registry):
    for command in ("check", "apply"):
        told = registry(command, tagged("person")).stderr
        assert "warning: f: the gold of test set 'chat' has no span of type 'person'; known: place" in told
    assert "warning" not in registry("apply", tagged("person")).stderr


def test_a_submission_that_does_not_fit_new_gold_takes_no_part(task, registry, scored):
    """One that came by `submit` cannot answer an item that the gold gained: it must not stand in the way."""
    scored(task)
    (task.folder / "extra.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    registry("submit", "small", task.folder / "extra.tsv", "--system", "d")
    task.version = "2"
    task.gold["i6"], task.documents["i6"] = "no", "d3"
    task.submission = {"missing": "worst"}
    told = registry("run", task.write()).stderr
    assert "test/d/d@1 does not fit the new gold and does not take part" in told
    assert "i6" in told
    assert [r["system"] for r in registry("board", "--format", "json").json] == ["a", "b", "c"]


def test_the_latest_version_is_ranked_whatever_the_order_of_the_tables(task, registry):
    for name in ("v10", "v9"):
        (task.folder / f"{name}.tsv").parent.mkdir(exist_ok=True)
    task.extra = '[[submit]]\nfile = "d-{version}.tsv"\nsystem = "d"\n'
    task.write()
    for version, label in (("9", "no"), ("10", "yes")):
        (task.folder / f"d-{version}.tsv").write_text("".join(f"{k}\t{label}\n" for k in task.gold))
    registry("run", task.manifest)
    assert "d/d@10" in [r["submission"] for r in registry("board", "--format", "json").json]


def test_a_submission_that_left_the_manifest_is_told_of(task, registry, scored):
    scored(task)
    (task.folder / "systems" / "c.tsv").unlink()
    told = registry("run", task.manifest).stderr
    assert "info: test/c/c@1 takes part although this manifest does not declare it" in told
    assert "nothing changed" in told


def test_submit_reads_with_options_of_its_own(task, registry, scored):
    import json

    scored(task)
    path = task.folder / "d.jsonl"
    path.write_text("".join(json.dumps({"item": k, "label": v}) + "\n" for k, v in list(task.gold.items())[1:]))
    assert 'set syntax = "jsonl"' in registry("submit", "small", path, "--system", "d", exit_code=3).stderr
    registry("submit", "small", path, "--system", "d", "--option", "syntax=jsonl", "--missing", "worst")
    registry("score")
    registry("compare")
    assert {r["system"]: r["score"] for r in registry("board", "--format", "json").json}["d"] == 5 / 6


def test_gold_can_go_back(task, registry, scored):
    scored(task)
    before = registry("board", "--format", "json").json
    task.gold["i0"], task.version = "yes", "2"
    registry("run", task.write())
    task.gold["i0"], task.version = "no", "3"
    told = registry("run", task.write()).stderr
    assert "scores:" not in told
    keys = ("rank", "score", "submission")
    assert [[r[k] for k in keys] for r in registry("board", "--format", "json").json] == [
        [r[k] for k in keys] for r in before]


@pytest.mark.parametrize(("policy", "expected"), [("worst", {"a": 5 / 6, "b": 3 / 6, "c": 2 / 6}),
                                                  ("drop", {"a": 4 / 5, "b": 2 / 5, "c": 2 / 5})])
def test_missing_items_are_counted_and_handled_as_declared(task, registry, policy, expected):
    """System c lacks i0, which a and b get right: it is wrong, or left out for all three."""
    task.significance["unit"] = "item"  # so that the units are the items that are left
    del task.systems["c"]["i0"]
    assert "item 'i0': it has no answer" in registry("run", task.write(), exit_code=3).stderr
    task.submission = {"missing": policy}
    told = registry("run", task.write()).stderr
    assert f"1 of 6 items has no answer and {'counts as wrong' if policy == 'worst' else 'is left out'}" in told
    assert {r["system"]: r["score"] for r in registry("board", "--format", "json").json} == expected
    assert {r["n_units"] for r in registry("pairs", "--format", "json").json} == {5 if policy == "drop" else 6}


def test_a_changed_policy_scores_anew(task, registry):
    del task.systems["c"]["i0"]
    for policy, score in (("worst", 2 / 6), ("drop", 2 / 5), ("worst", 2 / 6)):
        task.submission = {"missing": policy}
        registry("run", task.write())
        assert registry("board", "--format", "json").json[-1]["score"] == score


def test_a_seed_that_nobody_gave_is_drawn_once_and_shown(task, registry):
    task.significance = {"correction": "none"}
    told = registry("run", task.write()).stderr
    (listed,) = registry("list", "tasks", "--format", "json").json
    assert f"drew {listed['seed']}" in told
    task.systems.pop("c")
    registry("run", task.write())
    assert registry("list", "tasks", "--format", "json").json[0]["seed"] == listed["seed"]
    task.significance = {"seed": 0}
    registry("run", task.write())
    assert registry("list", "tasks", "--format", "json").json[0]["seed"] == 0


def test_everything_that_was_read_is_kept_and_every_run_is_journaled(task, registry, scored):
    scored(task)
    kept = {row["name"].rpartition("/")[2] for row in query(registry, "SELECT name FROM source")}
    assert kept == {"task.toml", "gold.tsv", "a.tsv", "b.tsv"}  # c.tsv has the same bytes as b.tsv
    assert len(query(registry, "SELECT * FROM submission_source JOIN source ON digest = source_digest")) == 3
    (run,) = query(registry, "SELECT * FROM run")
    assert run["command"] == "run"
    assert run["started_at"] <= run["ended_at"]
    assert '"numpy"' in run["environment"]
    assert run["inputs"].count("sha256:") == 5
    assert events(registry) == ["task", "gold", *["submission-added"] * 3, "score", "compare"]
    assert query(registry, "SELECT DISTINCT run_id FROM pair_result UNION SELECT run_id FROM comparison") == [
        {"run_id": run["run_id"]}]


def test_responses_name_what_each_system_said(task, registry, scored):
    scored(task)
    said = query(registry, "SELECT item, answer, correct FROM item_response WHERE system = 'a' ORDER BY item")
    assert [(r["item"], r["answer"], r["correct"]) for r in said] == [
        (k, v, v == task.gold[k]) for k, v in sorted(task.systems["a"].items())]
    only_a = query(registry, "SELECT item FROM discordant_answer WHERE system_a = 'a' AND system_b = 'b' AND correct "
                             "ORDER BY item")
    expected = [k for k in task.gold if task.systems["a"][k] == task.gold[k] != task.systems["b"][k]]
    assert [r["item"] for r in only_a] == sorted(expected)


def test_a_dry_run_says_what_would_happen_and_writes_nothing(task, registry, tmp_path):
    told = registry("run", task.write(), "--dry-run", "--format", "json")
    assert "3 added" in told.stderr
    assert "dry run: nothing was written" in told.stderr
    assert [row["rank"] for row in told.json] == [1, 2, 2]
    assert not list(tmp_path.glob("[!.]*.duckdb*"))
    registry("run", task.manifest)
    before = (tmp_path / "registry.duckdb").read_bytes()
    (task.folder / "d.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in task.gold.items()))
    for command in (["submit", "small", task.folder / "d.tsv", "--system", "d"], ["compare", "--alpha", "0.01"]):
        assert "dry run: nothing was written" in registry(*command, "--dry-run").stderr
    assert (tmp_path / "registry.duckdb").read_bytes() == before
