"""A participant's check: every problem of a file at once, with its place and likely cause, and without the gold."""

import json
import random

import pytest

from tests.cli.test_task_pack import lines
from tests.conftest import ROOT

SAMPLES = ROOT / "sample_data"
SUBMISSIONS = {"entities": "Aspen.aspen-s.conll", "stance": "Aspen.aspen-base.tsv", "translation": "harbour.txt",
               "relations": "I.jsonl"}


@pytest.fixture
def packed(registry, tmp_path):
    """Check a changed submission to a sample task against its pack; gives what is wrong with it."""
    def checked(name, change, *arguments):
        registry("task-pack", SAMPLES / name / "task.toml", "-o", tmp_path / "pack")
        path = tmp_path / SUBMISSIONS[name]
        text = (SAMPLES / name / "submissions" / SUBMISSIONS[name]).read_text()
        content = change("".join(sorted(text.splitlines(keepends=True))) if name == "stance" else text)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        problems = registry("check", path, "--task", tmp_path / "pack" / "task.toml", "--format", "json", *arguments,
                            exit_code=3).json
        assert {p["file"] for p in problems} == {str(path)}
        return problems

    return checked


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_every_sample_passes_against_its_pack(name, registry, tmp_path):
    files = sorted((SAMPLES / name / "submissions").iterdir())
    registry("task-pack", SAMPLES / name / "task.toml", "-o", tmp_path / "pack")
    done = registry("check", *files, "--task", tmp_path / "pack" / "task.toml", "--format", "json")
    assert (done.json, f"{len(files)} submissions checked" in done.stderr) == ([], True)


def test_a_problem_has_a_place_a_category_and_a_cause(packed, tmp_path):
    here = {"test_set": "test", "file": str(tmp_path / SUBMISSIONS["stance"]), "severity": "error"}
    assert packed("stance", lines(lambda rows: [*rows[:7], rows[7].replace("\t", " "), *rows[8:]])) == [
        {**here, "line": 8, "item": None, "category": "format", "cause": None,
         "message": "the line has 1 column; expected 2 (item, label) with the separator tab"},
        {**here, "line": None, "item": "d01-08", "category": "missing",
         "message": 'it has no answer; add the answer, or set missing = "worst" or missing = "drop" in the manifest',
         "cause": "the missing lines may be among the lines that could not be read"}]


def bioes(text):
    """Tags of the scheme iob2 as bioes writes them."""
    rows = text.split("\n")
    for n, row in enumerate(rows[:-1]):
        token, tab, tag = row.partition("\t")
        if tag[:2] in ("B-", "I-") and not rows[n + 1].endswith("\tI-" + tag[2:]):
            rows[n] = token + tab + {"B": "S", "I": "E"}[tag[0]] + tag[1:]
    return "\n".join(rows)


@pytest.mark.parametrize(("name", "change", "category", "line", "item", "n", "cause"), [
    ("stance", lines(lambda rows: [row.replace("\t", ",") for row in rows]), "format", 1, None, 400,
     'the file can be read with separator = "comma", but the task has separator = "tab"'),
    ("stance", lines(lambda rows: [json.dumps(dict(zip(("item", "label"), row.split("\t"), strict=True)))
                                   for row in rows]), "format", 1, None, 400,
     'the file can be read with syntax = "jsonl", but the task has syntax = "delimited"'),
    ("stance", lambda text: text.replace("\t", ";"), "format", 1, None, 400,
     'the file can be read with separator = "semicolon", but the task has separator = "tab"'),
    ("entities", lambda text: text.replace("\t", "|"), "format", 2, None, 5730,
     "the file has '|' between its cells, but the task has separator = \"tab\""),
    ("relations", lambda text: "[" + text.strip().replace("\n", ",\n") + "]", "format", 1, None, 160,
     "the file is a single JSON value, but the task requires JSON Lines (one object in every line)"),
    ("relations", lambda text: json.dumps(json.loads(text.split("\n")[0]), indent=1), "format", 1, None, None,
     "the file is a single JSON value, but the task requires JSON Lines (one object in every line)"),
    ("stance", lines(lambda rows: ["item\tlabel", *rows]), "format", 1, "item", 1, None),
    ("stance", lines(lambda rows: rows[:-7]), "missing", None, "d40-04", 7,
     "of 400 items, the last 7 items are missing; the file seems to be truncated"),
    ("stance", lambda text: text + text, "duplicate", 401, "d01-01", 400,
     "the file contains its whole content more than once"),
    ("stance", lines(lambda rows: ["dev-" + rows[0], *rows]), "unknown", 1, "dev-d01-01", 1,
     "item names with 'dev' look like development data; check that the file is for this test set"),
    ("stance", lines(lambda rows: ["D01-01" + rows[0][6:], *rows[1:]]), "unknown", 1, "D01-01", 1,
     "item 'D01-01' differs from item 'd01-01' of the gold only in upper and lower case"),
    ("stance", lines(lambda rows: ["d1-01" + rows[0][6:], *rows[1:]]), "unknown", 1, "d1-01", 1,
     "item 'd1-01' differs from item 'd01-01' of the gold only in leading zeros"),
    ("stance", lambda text: ("\ufeff" + text).encode(), "encoding", 1, None, 1, None),
    ("stance", lambda text: text.encode("utf-16"), "encoding", 1, None, 1, None),
    ("stance", lambda text: text.encode() + b"d\xe9\tx\n" + "\u00e9\tx\n".encode(), "encoding", 401, None, 1,
     "mixed encodings: line 402 is UTF-8, and other lines are not"),
    ("stance", lambda text: text.encode() + b"d\xe9\tx\n", "encoding", 401, None, 1,
     "the whole file is in another encoding, such as Windows-1252"),
    ("stance", lambda text: text.replace("d01-03", "d01\0-03"), "encoding", 3, None, 1, None),
    ("entities", lambda text: text.replace("\tB-", "\tI-"), "tag", 2, None, None,
     'the file can be read with scheme = "iob1", but the task has scheme = "iob2"'),
    ("entities", bioes, "tag", 3, None, None,
     'the file can be read with scheme = "bioes", but the task has scheme = "iob2"'),
    ("entities", lambda text: bioes(text).replace("\tE-", "\tL-").replace("\tS-", "\tU-"), "tag", 3, None, None,
     'the file can be read with scheme = "bilou", but the task has scheme = "iob2"'),
    ("entities", lambda text: text.replace("\t", " "), "format", 2, None, None,
     'the file can be read with separator = "whitespace", but the task has separator = "tab"'),
    ("translation", lines(lambda rows: rows[:-3]), "missing", None, "118", 3,
     "of 120 items, the last 3 items are missing; the file seems to be truncated"),
    ("translation", lines(lambda rows: [*rows, "and more"]), "order", 121, None, 1, None),
    ("relations", lines(lambda rows: [rows[0], "{" * 9, *rows[2:]]), "format", 2, None, 1, None),
])
def test_problems_and_their_likely_causes(packed, name, change, category, line, item, n, cause):
    found = [p for p in packed(name, change, "--max-errors", "0") if p["category"] == category]
    assert (found[0]["line"], found[0]["item"], found[0]["cause"]) == (line, item, cause)
    assert n is None or len(found) == n


NUMBERED = "".join(f"w{n}\t{'B-A' if n % 3 else 'O'}\nv{n % 7}\tO\n\n" for n in range(60))


@pytest.fixture
def numbered(registry, tmp_path):
    """Check changed blocks of tagged text whose sentences have no names; gives causes of what is wrong with them."""
    (tmp_path / "gold.conll").write_text(NUMBERED)
    (tmp_path / "task.toml").write_text(
        'manifest = 1\n[task]\nid = "t"\n[[test_set]]\nname = "test"\ngold = "gold.conll"\nformat = "bio"\n'
        'options = { scheme = "iob2" }\n[[metric]]\nname = "SpanF"\n')
    registry("task-pack", "task.toml", "-o", "pack")

    def checked(change):
        (tmp_path / "new.conll").write_text("\n\n".join(change(NUMBERED.rstrip("\n").split("\n\n"))) + "\n")
        problems = registry("check", "new.conll", "--task", "pack/task.toml", "--max-errors", 0, "--format", "json",
                            exit_code=3).json
        return {(p["category"], p["cause"]) for p in problems}

    return checked


def test_sentences_that_are_shifted_or_shuffled(numbered):
    def shuffled(blocks):
        random.Random(1).shuffle(blocks)
        return blocks

    for left_out, shifted in (
            (20, "from item '21' on, 39 texts belong to the item 1 place later; perhaps 1 line is missing above"),
            (0, "from item '1' on, 59 texts belong to the item 1 place later; perhaps 1 line is missing at the start")):
        assert numbered(lambda blocks, n=left_out: blocks[:n] + blocks[n + 1:]) == {
            (category, shifted) for category in ("text", "missing")}
    ((category, cause),) = numbered(shuffled)
    assert category == "text"
    assert cause.endswith(" texts belong to other items; the lines seem to be shuffled")


def test_items_counted_from_0(registry, task):
    task.gold = {str(n): "yes" for n in range(1, 7)}
    task.systems, task.documents = {"a": {str(n): "no" for n in range(6)}}, {}
    problems = registry("check", task.write(), "--format", "json", exit_code=3).json
    assert {(p["category"], p["item"], p["cause"]) for p in problems} == {
        (category, item, "the file counts items from 0, the task from 1") for category, item in (
            ("unknown", "0"), ("missing", "6"))}


def test_items_of_another_test_set(registry, task, tmp_path):
    task.systems = {}
    task.extra = ('[[test_set]]\nname = "dev"\ngold = "dev.tsv"\nformat = "labels"\n'
                  'options = { columns = ["item", "label"] }\ncluster = "document"\n').replace(
                      'cluster = "document"\n', "")
    task.write()
    (task.folder / "dev.tsv").write_text("x1\tyes\nx2\tno\n")
    registry("task-pack", task.manifest, "-o", "pack")
    problems = registry("check", task.folder / "dev.tsv", "--task", "pack/task.toml", "--test-set", "test", "--format",
                        "json", exit_code=3).json
    assert [p["cause"] for p in problems[:2]] == 2 * [
        "this file seems to be for test set 'dev'"]
    registry("check", task.folder / "dev.tsv", "--task", "pack/task.toml", "--test-set", "dev")


def test_a_list_ends_at_max_errors_and_says_what_is_left_out(registry, task):
    task.systems = {"a": {"x": "no"}}
    told = registry("check", task.write(), "--max-errors", "2", exit_code=3).stderr.splitlines()
    assert told[0].endswith("a.tsv: 7 errors: 6 missing, 1 unknown")
    assert [line.split(":")[0] for line in told[1:]] == ["error", "error", "not listed"]
    assert told[-1] == "not listed: 5 more problems; --max-errors 0 lists all"
    assert len(registry("check", task.manifest, "--max-errors", "0", "--format", "json", exit_code=3).json) == 7


def test_what_is_let_pass_is_a_warning(registry, task):
    (task.folder / "systems").mkdir(parents=True)
    task.submission = {"missing": "worst"}
    path = task.write().parent / "systems" / "a.tsv"
    path.write_bytes(b"i0\tyes\r\ni1\tno\r\n")
    found = registry("check", path, "--task", task.manifest, "--format", "json").json
    assert [(p["severity"], p["category"], p["message"]) for p in found] == [
        ("warning", "encoding", "all of 2 lines end with CR LF (Windows), which is interpreted as LF"),
        ("warning", "missing", "4 of 6 items have no answer and count as wrong")]
    assert "warning: " in registry("check", path, "--task", task.manifest).stderr


def test_options_of_a_submission_can_be_given(registry, task):
    path = task.write().parent / "mine.csv"
    path.write_text("".join(f"{key},yes\n" for key in task.gold))
    registry("check", path, "--task", task.manifest, exit_code=3)
    registry("check", path, "--task", task.manifest, "--option", "separator=comma")


def test_submissions_need_a_task(registry, task):
    task.write()
    path = task.folder / "systems" / "a.tsv"
    assert "name the task's manifest: --task MANIFEST" in registry("check", path, exit_code=3).stderr
    assert "name the task's manifest: --task" in registry("check", path, path, exit_code=3).stderr


def two_test_sets(tmp_path, format_, options, files):
    """A task of two test sets `a` and `b`, with a pack; gives how to check a file as one of `a`."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    sets = "".join(f'[[test_set]]\nname = "{name}"\ngold = "{name}.txt"\nformat = "{format_}"\noptions = {options}\n'
                   for name in "ab")
    metric = {"labels": "Accuracy", "lines": "BLEU", "bio": "SpanF"}[format_]
    (tmp_path / "task.toml").write_text(f'manifest = 1\n[task]\nid = "t"\n{sets}[[metric]]\nname = "{metric}"\n')
    return ("check", tmp_path / "b.txt", "--task", tmp_path / "task.toml", "--test-set", "a", "--format", "json")


@pytest.mark.parametrize(("format_", "options", "a", "b"), [
    ("labels", "{}", "x1\tyes\nx2\tno\n", "y1\tyes\ny2\tno\ny3\tno\n"),
    ("labels", "{}", "x1\tyes\nx2\tno\nx3\tno\n", "x1\tyes\nx2\tno\n"),
    ("lines", "{}", "one\ntwo\nthree\n", "four\nfive\n"),
    ("bio", '{ scheme = "iob2" }', "Ada\tB-P\nran\tO\n\nhe\tO\n", "Bob\tB-P\nsat\tO\n\nit\tO\n"),
])
def test_a_file_of_another_test_set_is_told_as_such(registry, tmp_path, format_, options, a, b):
    problems = registry(*two_test_sets(tmp_path, format_, options, {"a.txt": a, "b.txt": b}), exit_code=3).json
    assert {p["cause"] for p in problems} == {"this file seems to be for test set 'b'"}
