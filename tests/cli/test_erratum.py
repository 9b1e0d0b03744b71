"""`registry diff` where the gold was corrected: the items, what they did to systems, and the draft of an erratum."""

import re

import pytest

from tests.label_tasks import LabelTask

GOLD = {f"i{n}": "ab"[n % 2] for n in range(8)}
OTHER = {"a": "b", "b": "a"}
WRONG = {item: OTHER[label] for item, label in GOLD.items()}


@pytest.fixture
def corrected(registry, scored, tmp_path):
    """one is right of all, two|x of i6 and i7; then i0 is corrected to what two|x said."""
    two = WRONG | {item: GOLD[item] for item in ("i6", "i7")}
    task = LabelTask(tmp_path / "task", GOLD, {"one": GOLD, "two|x": two})
    scored(task)
    task.gold = GOLD | {"i0": WRONG["i0"]}
    task.version = "2"
    registry("run", task.write())
    return task


def test_items_and_the_systems_that_they_changed(registry, corrected):
    (found,) = registry("diff", "--format", "json").json
    assert found["correction"] == {
        "n_before": 8, "n_after": 8, "items": [{"item": "i0", "before": "a", "after": "b", "on_board": True}],
        "systems": [{"system": name, "n_items": 1, "most": ["i0"]} for name in ("one/one", "two|x/two|x")]}
    assert re.search(r"i0 +a +b\n", registry("diff").stdout)
    registry("compare", "--alpha", "0.01")
    assert "the gold of no leaderboard differs between the two states" in registry(
        "diff", "--format", "erratum", exit_code=4).stderr


def test_the_erratum_says_what_was_corrected_and_which_conclusions_changed(registry, corrected):
    """6 of 6 discordant items favoured one, p = 2/2^6; then 5 of 6, p = 2(1 + 6)/2^6."""
    text = registry("diff", "--format", "erratum").stdout
    assert "(version 1 of the task, now 2)" in text
    assert "1 item of 8 has another gold annotation." in text
    assert "| i0 | a | b |\n" in text
    assert "| 1 (1-1) | 1 (1-2) | one | 1.0000 | 0.8750 | the corrected item |" in text
    assert r"| 2 (2-2) | 2 (1-2) | two\|x | 0.2500 | 0.3750 | the corrected item |" in text
    assert "No system has another rank." in text
    assert (r"- one was significantly better than two\|x (adjusted p = 0.0312), and no longer is (adjusted p = "
            "0.2188).") in text
    assert "In addition to the gold" not in text
    assert [line[:8] for line in text.splitlines() if "|id:" in line] == ["Before: ", "Now: `ac"]


def test_every_board_of_a_facet_counts_its_own_items(registry, scored, tmp_path):
    """i0 and i5 are corrected, and i7 goes from document d1 to d2: of d0 one item changed, of d1 two, of d2 one.

    two|x changes on the items that a facet loses or gets, and on those whose gold changes.
    """
    two = WRONG | {item: GOLD[item] for item in ("i6", "i7")}
    documents = {item: "d0" if n < 4 else "d1" if n < 8 else "d2" for n, item in enumerate(GOLD | {"i8": "a"})}
    task = LabelTask(tmp_path / "task", GOLD | {"i8": "a"}, {"one": GOLD | {"i8": "a"}, "two|x": two | {"i8": "b"}},
                     documents=documents, test_set={"facets": ["document"]})
    scored(task)
    task.gold |= {item: WRONG[item] for item in ("i0", "i5")}
    task.documents = documents | {"i7": "d2"}
    task.version = "2"
    registry("run", task.write())
    found = {of["facet"]: of["correction"] for of in registry("diff", "--format", "json").json}
    on_board = {facet: [item["item"] for item in of["items"] if item["on_board"]] for facet, of in found.items()}
    assert on_board == {None: ["i0", "i5", "i7"], "document=d0": ["i0"], "document=d1": ["i5", "i7"],
                        "document=d2": ["i7"]}
    changed = {facet: {of["system"]: (of["n_items"], set(of["most"])) for of in one["systems"]}
               for facet, one in found.items()}
    assert changed["document=d0"] == dict.fromkeys(("one/one", "two|x/two|x"), (1, {"i0"}))
    assert changed["document=d1"] == dict.fromkeys(("one/one", "two|x/two|x"), (2, {"i5", "i7"}))
    assert changed["document=d2"] == dict.fromkeys(("one/one", "two|x/two|x"), (1, {"i7"}))
    text = registry("diff", "--format", "erratum").stdout
    assert "3 items of 9 have another gold annotation." in text
    parts = re.split("^## ", text, flags=re.MULTILINE)
    d0, d1 = (next(part for part in parts if part.startswith(f"small/test, document={name}")) for name in ("d0", "d1"))
    assert "Of the 3 corrected items 1 is in document=d0." in d0
    assert "Of the 3 corrected items 2 are in document=d1." in d1
    assert "the corrected item" in d0
    assert "all 2 corrected items" in d1


def test_a_new_system_is_no_doing_of_the_gold(registry, scored, tmp_path):
    """mid comes between the two that were there: low's rank and the family change by that, and no more does.

    top and low differ in 6 items before and after, p = 2/2^6, the least of three then, times 3 by Holm.
    """
    gold = GOLD | {"i8": "a", "i9": "a"}
    right = gold | {item: OTHER[gold[item]] for item in ("i8",)}
    low = right | {item: OTHER[gold[item]] for item in list(GOLD)[:6]}
    task = LabelTask(tmp_path / "task", gold, {"top": right, "low": low})
    scored(task)
    task.systems["mid"] = right | {item: OTHER[gold[item]] for item in ("i0", "i1")}
    task.gold, task.version = gold | {"i9": "b"}, "2"
    registry("run", task.write())
    text = registry("diff", "--format", "erratum").stdout
    assert "| 2 (2-2) | 3 (1-3) | low |" in text
    assert "None of the systems that are on both boards has another rank among these. 1 system is new." in text
    assert "Of 1 pair on both boards, 1 has another decision:" in text
    assert ("and no longer is (adjusted p = 0.0938). Its raw p = 0.0312 did not change, but the family grew from "
            "1 pair to 3.") in text
