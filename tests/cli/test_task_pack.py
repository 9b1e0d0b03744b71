"""Task packs: what participants check with tells nothing of the answers."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT

SAMPLES = ROOT / "sample_data"


def lines(change):
    """A change of the text's lines."""
    return lambda text: "\n".join(change(text.split("\n")[:-1])) + "\n"


def shifted_tags(text):
    """Every span with another type and at another place, in the same tokens."""
    return "\n".join(line if "\t" not in line else line.partition("\t")[0] + "\tB-other" for line in text.split("\n"))


@pytest.mark.parametrize(("name", "gold", "change"), [
    ("entities", "gold.conll", shifted_tags),
    ("stance", "gold.tsv", lambda text: "item\tlabel\tdocument\n" + "\n".join(
        row.split("\t")[0] + "\tagainst\td99" for row in sorted(text.split("\n")[1:-1], key=lambda row: row[::-1]))),
    ("translation", "reference.A.txt", lambda text: text.upper().replace(" ", " and ")),
    ("relations", "gold.jsonl", lambda text: "\n".join(
        json.dumps(json.loads(row) | {"answers": ["x"]}) for row in reversed(text.split("\n")[:-1]))),
])
def test_no_answer_has_an_influence_on_the_pack(name, gold, change, registry, tmp_path):
    """The same items with other answers, in another order where items have names, give the same pack."""
    shutil.copytree(SAMPLES / name, tmp_path / name)
    registry("task-pack", tmp_path / name / "task.toml", "-o", "before")
    path = tmp_path / name / gold
    path.write_text(change(path.read_text()))
    registry("task-pack", tmp_path / name / "task.toml", "-o", "after")
    before, after = ({f.name: f.read_bytes() for f in (tmp_path / pack).iterdir()} for pack in ("before", "after"))
    assert len(before) == 2
    assert before == after


def test_attributes_are_in_the_pack_on_request(registry, task, tmp_path):
    manifest = task.write()
    registry("task-pack", manifest, "-o", "pack", "--attribute", "document")
    assert [json.loads(line) for line in Path("pack/test.items.jsonl").read_text().splitlines()] == [
        {"item": f"i{n}", "attributes": {"document": f"d{n // 2}"}} for n in range(6)]
    (tmp_path / "a.tsv").write_text("".join(f"i{n}\tyes\n" for n in range(6)))
    registry("check", tmp_path / "a.tsv", "--task", "pack/task.toml")
    refused = registry("task-pack", manifest, "-o", "other", "--attribute", "label", exit_code=3).stderr
    assert "unknown attribute of items 'label'" in refused


def test_a_pack_that_tells_labels_is_warned_of(registry, task):
    assert "warning" not in registry("task-pack", task.write(), "-o", "pack").stderr
    task.documents = {}
    task.test_set = {"options": {"columns": ["item", "label"], "labels": ["yes", "no"]}}
    task.extra = "[[metric]]\nid = 'f1'\nname = 'LabelF'\noptions = { labels = ['no'] }\n"
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('name = "Accuracy"', 'name = "Accuracy"\nprimary = true'))
    told = registry("task-pack", manifest, "-o", "telling").stderr
    assert "warning: the pack reveals the labels yes, no named by test set 'test'\n" in told
    assert "warning: the pack reveals the label no named by metric 'f1'\n" in told


def test_a_pack_without_labels_says_what_it_cannot_tell(registry, task):
    """Of letter case, for instance: the gold's labels are not in it."""
    info = "info: test set 'test': this pack cannot find labels that the gold does not have"
    task.documents = {}
    assert info in registry("task-pack", task.write(), "-o", "pack").stderr
    task.test_set = {"options": {"columns": ["item", "label"], "labels": ["yes", "no"]}}
    assert info not in registry("task-pack", task.write(), "-o", "telling").stderr


def test_an_existing_file_is_not_overwritten(registry, tmp_path):
    pack = ("task-pack", SAMPLES / "stance" / "task.toml", "-o", "pack")
    assert "written" in registry(*pack).stderr
    assert "nothing changed" in registry(*pack).stderr
    (tmp_path / "pack" / "task.toml").write_text("mine")
    assert "task.toml: exists with other content" in registry(*pack, exit_code=3).stderr
    assert (tmp_path / "pack" / "task.toml").read_text() == "mine"


def test_a_pack_is_for_checking_only(registry, tmp_path):
    registry("task-pack", SAMPLES / "stance" / "task.toml", "-o", "pack")
    assert "ok: test: 400 items; 0 submissions" in registry("check", "pack/task.toml").stderr
    for command in ("run", "apply", "task-pack"):
        extra = ("-o", "again") if command == "task-pack" else ()
        told = registry(command, "pack/task.toml", *extra, exit_code=3).stderr
        assert "test_set[0]: a task pack has a list of items and no gold" in told


@pytest.mark.parametrize(("line", "says"), [
    ('{"item": "i0", "label": "x"}', "items.jsonl:1: unknown key 'label'"),
    ('{"text": "x"}', ":1: the key 'item' is missing"),
    ('{"item": "i0"}\n{"item": "i0"}', ":2: item 'i0': occurs twice"), ("", "the file is empty"),
])
def test_item_lists_are_read_as_strictly_as_gold(registry, task, tmp_path, line, says):
    task.systems = {}
    registry("task-pack", task.write(), "-o", "pack")
    (tmp_path / "pack" / "test.items.jsonl").write_text(line + "\n")
    assert says in registry("check", "pack/task.toml", exit_code=3).stderr
