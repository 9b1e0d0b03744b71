"""What makes a score meaningless or surprising is said by check and run, and stands in JSON, on boards and pages."""

import json
import random
from pathlib import Path

import pytest

from registry.messages import Message
from tests.label_tasks import LabelTask

LABELS = ("favor", "against", "none")
ITEMS = [f"i{n:02}" for n in range(60)]
GOLD = {item: random.Random(item).choice(LABELS) for item in ITEMS}
SOUND = {item: random.Random(item + "?").choice([label, label, label, *LABELS]) for item, label in GOLD.items()}
COPIED = {item: random.Random(item + "!").choice([label, *LABELS]) for item, label in GOLD.items()}
AGAINST = list(SOUND.values()).count("against")


def named(labels, **names):
    return {item: names.get(label, label) for item, label in labels.items()}


@pytest.fixture
def stance(tmp_path):
    """A task of 60 items with a sound system, to which tests add an odd one."""
    return LabelTask(tmp_path / "task", dict(GOLD), {"sound": COPIED})


def test_submissions_of_labels(registry, stance):
    """The gold's labels renamed, and in another case; the gold itself; a copy."""
    odd = {
        "renamed": (named(SOUND, against="con"), "label",
                    f"{AGAINST} of 60 labels are unknown to the gold: 'con' ({AGAINST} times; did you mean the "
                    "gold's 'against'?)",
                    'set the submission\'s option rename = { con = "against" }'),
        "upper": (named(SOUND, against="Against"), "label",
                  f"{AGAINST} of 60 labels are unknown to the gold: 'Against' ({AGAINST} times; the gold has "
                  "'against')",
                  "set the submission's option fold_case = true"),
        "xgold": (GOLD, "gold", "has the gold's own answer for each of 60 items",
                  "check that the file is the output of a system"),
        "zcopy": (COPIED, "copy", "has the same answers as sound/sound@1, which is another system",
                  "check that this is the correct file")}
    stance.systems |= {name: labels for name, (labels, *_) in odd.items()}
    said_everywhere(registry, stance.write(), {name: told for name, (_, *told) in odd.items()})


def said_everywhere(registry, manifest, odd):
    """One remark on each odd system, said by every command: its category, the remark and the advice."""
    warned = {Path(row["file"]).stem: row for row in registry("check", manifest, "--format", "json").json}
    assert {name: (row["severity"], row["category"]) for name, row in warned.items()} == {
        name: ("warning", category) for name, (category, _, _) in odd.items()}
    ran = registry("run", manifest, "--format", "json")
    assert {row["system"]: [one["text"] for one in row["messages"]] for row in ran.json if row["messages"]} == {
        name: [remark] for name, (_, remark, _) in odd.items()}
    shown = {form: registry("board", "--format", form).stdout for form in ("table", "md", "latex", "csv")}
    kept = registry("query", "SELECT * FROM submission_message ORDER BY system", "--format", "json").json
    texts = [str(Message(row["code"], json.loads(row["parameters"]))) for row in kept]
    assert [(row["system"], row["category"], text) for row, text in zip(kept, texts, strict=True)] == [
        (name, category, remark) for name, (category, remark, _) in sorted(odd.items())]
    registry("page", kept[0]["task"], "-o", "page.html")
    page = Path("page.html").read_text("utf-8")
    for name, (_, remark, advice) in odd.items():
        assert warned[name]["message"].startswith(remark)
        assert advice in warned[name]["message"]
        assert f"warning: {warned[name]['file']}: {warned[name]['message']}" in ran.stderr
        footnote = f"{name}: {remark}."
        assert footnote in shown["table"].replace("&lt;", "<")
        assert footnote.replace("_", r"\_") in shown["md"].replace("&lt;", "<")
        assert remark[:20] in shown["latex"]
        code = next(row["code"] for row in kept if row["system"] == name)
        assert f",{code}," in shown["csv"]
        assert json.dumps(footnote, ensure_ascii=False)[1:-1] in page
    assert "nothing changed" in registry("run", manifest).stderr


def test_a_header_that_is_an_item_and_a_class_everywhere(registry, stance):
    stance.gold = {"id": "stance", **GOLD}
    stance.systems = {"a": {"id": "stance", **SOUND}, "b": {"id": "stance", **COPIED}}
    manifest = stance.write()
    told = "its first line ('id', 'stance') looks like a header, but counts as an item"
    check = registry("check", manifest).stderr
    remedy = 'if it is a header, set options = { header = true, item = "id", label = "stance" }, or remove the line'
    assert f"gold.tsv:1: {told}; {remedy}" in check
    assert check.count(told) == 3
    assert f"gold.tsv:1: {told}" in registry("run", manifest).stderr
    assert f"a, b: {told}." in registry("board", "--format", "table").stdout
    stance.test_set = {"options": {"header": True, "item": "id", "label": "stance"}}
    mended = registry("check", stance.write()).stderr
    assert "header" not in mended
    assert f"ok: test: {len(GOLD)} items" in mended


def test_a_header_in_the_submission_alone(registry, stance):
    stance.systems["a"] = {"id": "stance", **SOUND}
    told = registry("check", stance.write(), exit_code=3).stderr
    assert ("a.tsv:1: item 'id': not in the gold, and its line looks like a header; set options = { header = true, "
            "item") in told
    assert told.count("error") == 1


def test_a_header_in_the_gold_alone(registry, stance):
    stance.gold = {"id": "stance", **GOLD}
    told = registry("run", stance.write(), exit_code=3).stderr
    assert "item 'id': it has no answer; the gold's first line looks like a header: set options = {" in told


@pytest.mark.parametrize("first", [("i000", "favor"), ("i000", "neutral"), ("text", "favor")])
def test_first_lines_that_are_no_headers(registry, stance, first):
    """A label that others have; an item like all others; both."""
    stance.gold = dict([first, *GOLD.items()])
    stance.systems = {"a": dict([first, *COPIED.items()])}
    assert "header" not in registry("check", stance.write()).stderr


NER = [("per", "loc", "org", "loc")[n % 4] for n in range(40)]


def bio(types):
    return "\n".join(f"x{n}\tB-{type_}\ny{n}\tO\n" for n, type_ in enumerate(types))


@pytest.fixture
def entities(tmp_path):
    """A task of spans; gives the manifest for the types that systems give."""
    def written(**systems):
        (tmp_path / "gold.conll").write_text(bio(NER))
        for name, types in systems.items():
            (tmp_path / f"{name}.out").write_text(bio(types))
        (tmp_path / "task.toml").write_text(
            'manifest = 1\n[task]\nid = "t"\n[[test_set]]\nname = "test"\ngold = "gold.conll"\nformat = "bio"\n'
            'options = { scheme = "iob2" }\n[[metric]]\nname = "SpanF"\n[significance]\nseed = 1\n'
            '[[submit]]\nfile = "{system}.out"\n')
        return tmp_path / "task.toml"

    return written


WRONG = ["org", *NER[1:]]


def test_a_type_of_spans_that_is_called_otherwise(registry, entities):
    odd = ["person" if type_ == "per" else type_ for type_ in ["loc", *NER[1:]]]
    said_everywhere(registry, entities(sound=WRONG, zodd=odd), {"zodd": (
        "label", "9 of 40 types are unknown to the gold: 'person' (9 times; did you mean the gold's 'per'?)",
        'rename = { person = "per" }')})


@pytest.mark.parametrize(("option", "change"), [
    ('rename = { person = "per", place = "loc" }', {"per": "person", "loc": "place"}.get),
    ("fold_case = true", lambda type_: type_.upper()),
    ('fold_case = true, rename = { PERSON = "per" }', lambda type_: {"per": "PERSON"}.get(type_, type_.title())),
])
def test_a_declared_mapping_gives_the_score_of_the_gold_s_names(registry, entities, option, change):
    manifest = entities(a=WRONG, b=[change(type_) or type_ for type_ in WRONG])
    with manifest.open("a") as file:
        file.write(f"options = {{ {option} }}\n")
    a, b = registry("run", manifest, "--format", "json").json
    assert a["score"] == b["score"] == 39 / 40
    assert (*a["messages"], *b["messages"])[0]["code"] == "copied-answers"


def test_no_type_in_common_is_refused_unless_it_is_meant(registry, entities):
    registry("apply", entities(sound=WRONG))
    manifest = entities(sound=WRONG, zodd=[type_.upper() for type_ in NER])
    for command in (["check", manifest], ["run", manifest], ["submit", "t", "zodd.out", "--system", "zodd"]):
        told = registry(*command, exit_code=3).stderr
        assert "zodd.out: none of its types occurs in the gold, which has 'loc', 'org', 'per': " in told
        assert ('set the submission\'s option fold_case = true, otherwise set unknown = "accept", and they count as '
                "wrong") in told
    registry("submit", "t", "zodd.out", "--system", "zodd", "--option", 'unknown="accept"')
    (row,) = [row for row in registry("run", entities(sound=WRONG), "--format", "json").json if row["system"] == "zodd"]
    (remark,) = row["messages"]
    assert (row["score"], remark["code"], remark["parameters"]["gold"]) == (0, "unknown-names", "'loc', 'org', 'per'")
    assert remark["text"].startswith("none of its types occurs in the gold, which has 'loc', 'org', 'per': ")


def test_a_submission_without_a_type_is_accepted(registry, entities, tmp_path):
    manifest = entities(sound=WRONG)
    (tmp_path / "none.out").write_text(bio(NER).replace("B-per", "O").replace("B-loc", "O").replace("B-org", "O"))
    assert "unknown" not in registry("apply", manifest).stderr


def test_open_vocabularies_are_not_told_of(registry, stance):
    """Of 60 exact answers to questions 40 stand once: 30 that the gold never gives are to be expected."""
    stance.gold = {item: f"answer {min(n, 40)}" for n, item in enumerate(ITEMS)}
    stance.systems = {"a": {item: f"answer {n if n % 2 else n + 100}" for n, item in enumerate(ITEMS)}}
    assert "unknown" not in registry("check", stance.write()).stderr


def test_a_task_pack_checks_declared_labels_only(registry, stance):
    stance.systems = {"zodd": named(SOUND, against="con", favor="pro", none="nil")}
    for declared in (False, True):
        if declared:
            stance.test_set = {"options": {"columns": ["item", "label"], "labels": list(LABELS)}}
        manifest = stance.write()
        registry("task-pack", manifest, "-o", f"pack{declared}")
        told = registry("check", stance.folder / "systems" / "zodd.tsv", "--task", f"pack{declared}/task.toml",
                        exit_code=3 * declared).stderr
        assert ("is not a declared label" in told) == declared


def test_renaming_to_declared_labels(registry, stance):
    stance.test_set = {"options": {"columns": ["item", "label"], "labels": list(LABELS)}}
    stance.systems = {"a": named(SOUND, against="CON", favor="Favor")}
    stance.submission = {"options": {"rename": {"CON": "against"}, "fold_case": True}}
    assert "ok" in registry("check", stance.write()).stderr


def test_the_answers_of_another_system_that_came_later(registry, scored, stance):
    """The footnote is about who takes part: it goes when the other one is withdrawn."""
    scored(stance)
    copy = stance.folder / "copy.tsv"
    copy.write_text("".join(f"{item}\t{label}\n" for item, label in reversed(COPIED.items())))
    told = registry("submit", "small", copy, "--system", "late").stderr
    assert f"{copy}: has the same answers as sound/sound@1, which is another system" in told
    assert "late: has the same answers as sound/sound@1" in registry("run", stance.write(), "--format", "table").stdout
    stance.systems["other"] = SOUND
    stance.extra = '[[submit]]\nfile = "systems/sound.tsv"\nsystem = "sound"\nwithdrawn = true'
    assert "same answers" not in registry("run", stance.write(), "--format", "table").stdout


def test_remarks_follow_the_gold(registry, scored, stance):
    stance.systems["zodd"] = named(SOUND, against="con")
    scored(stance)
    stance.gold, stance.version = named(GOLD, against="con"), "2"
    registry("run", stance.write())
    rows = {row["system"]: row["messages"] for row in registry("board", "--format", "json").json}
    assert rows["zodd"] == []
    assert "'against'" in rows["sound"][0]["text"]


def test_what_is_kept_names_no_file(registry, scored, stance):
    stance.systems["zodd"] = {item: "con" if label == "none" else label for item, label in list(SOUND.items())[:-1]}
    stance.submission = {"missing": "worst"}
    scored(stance)
    kept = registry("query", "SELECT code, parameters FROM scoring_message", "--format", "json").json
    assert len(kept) == 2
    assert not any("/" in row["parameters"] for row in kept)


@pytest.mark.parametrize("blank", ["", " ", "\u2003"])
def test_a_blank_label_is_one_error(registry, stance, blank):
    stance.systems["zodd"] = SOUND | {"i07": blank}
    stance.write()
    (problem,) = registry("check", stance.manifest, "--format", "json", exit_code=3).json
    assert (problem["line"], problem["item"], problem["category"]) == (8, "i07", "format")
    assert 'blank = "missing"' in problem["message"]


@pytest.mark.parametrize(("missing", "n_right"), [("worst", 60), ("drop", 59)])
def test_blank_labels_as_abstentions(registry, stance, missing, n_right):
    stance.systems = {"zodd": SOUND | {"i07": " "}}
    stance.submission = {"missing": missing, "options": {"columns": ["item", "label"], "blank": "missing"}}
    (row,) = registry("run", stance.write(), "--format", "json").json
    right = sum(SOUND[item] == GOLD[item] for item in ITEMS if item != "i07")
    assert row["score"] == right / n_right
    assert row["messages"][0]["text"].startswith("1 of 60 items has no answer")


def test_a_blank_label_is_missing_where_nothing_may_be(registry, stance):
    stance.systems = {"zodd": SOUND | {"i07": " "}}
    stance.submission = {"options": {"columns": ["item", "label"], "blank": "missing"}}
    (problem,) = registry("check", stance.write(), "--format", "json", exit_code=3).json
    assert (problem["item"], problem["category"]) == ("i07", "missing")
