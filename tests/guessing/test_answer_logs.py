"""Logs of systems, which repeat the gold beside each system's own answer: settings are never taken for labels."""

import json
import re
from statistics import mean

import pytest

from registry.errors import InputError
from registry.guessing.guess import Asked
from registry.guessing.made import made

N = range(24)
GOLD = ["ABCD"[n * 7 % 4] for n in N]
SUMS = [f"# {2 * n + 2}" for n in N]
SYSTEMS = {"aspen": 3, "birch": 4, "cedar": 5}  # every so many answers are wrong


def write_logs(folder, rows, suffix):
    """Write a file for each system, of a system's rows; return the paths."""
    paths = []
    for k, every in enumerate(SYSTEMS.values()):
        found = [{"id": f"q{n}", "question": f"What is {n} plus {n + 2}?", **rows(n, every, k)} for n in N]
        text = json.dumps(found) if suffix == "json" else "".join(json.dumps(row) + "\n" for row in found)
        if suffix == "csv":
            text = "".join(",".join(map(str, row)) + "\n" for row in (found[0], *(row.values() for row in found)))
        paths.append(folder / f"{list(SYSTEMS)[k]}.{suffix}")
        paths[-1].write_text(text)
    return paths


def write_text(n, every):
    return f"The sum is {2 * n + 2 + (n % every == 0)} I think"


LOGS = {  # what each row has beside its name, and which columns the message names
    "settings, an output in a list": (lambda n, every, _: {
        "model_input": "n/a", "output": [write_text(n, every)], "answer": SUMS[n],
        "configs": {"repetition_penalty": 1.0, "temperature": 0.0, "top_p": 1.0}}, "json", "answer", "output"),
    "settings": (lambda n, every, _: {"answer": SUMS[n], "output": write_text(n, every), "repetition_penalty": 1.0,
                                      "temperature": 0.0, "top_p": 1.0}, "csv", "answer", "output"),
    "two settings": (lambda n, every, _: {"answer": SUMS[n], "output": write_text(n, every), "temperature": 0.0,
                                          "top_p": 1.0}, "csv", "answer", "output"),
    "flags that vary": (lambda n, every, k: {
        "answer": SUMS[n], "output": write_text(n, every), "truncated": 0, "cached": int(n == 3 * k),
        "retried": int(n == 4 + k)}, "csv", "answer", "output"),
    "settings that differ between systems": (lambda n, every, k: {
        "target": SUMS[n], "completion": write_text(n, every), "seed": k, "greedy": k % 2, "cached": int(n == k)},
        "jsonl", "target", "completion"),
    "true and false": (lambda n, every, k: {
        "expected": SUMS[n], "model_response": write_text(n, every), "flagged": n % 5 == k, "stopped": n % 7 > k,
        "is_cached": n == k}, "jsonl", "expected", "model_response"),
}


@pytest.mark.parametrize("is_gold_said", [False, True])
@pytest.mark.parametrize("name", LOGS)
def test_settings_and_flags_are_no_labels(name, is_gold_said, tmp_path):
    rows, suffix, gold, output = LOGS[name]
    paths = write_logs(tmp_path, rows, suffix)
    for given in (paths, [tmp_path]):
        with pytest.raises(InputError) as caught:
            made(given, Asked(gold=str(paths[0]) if is_gold_said else None))
        assert f"repeat the gold in column {gold!r} and have the systems' answers in column {output!r}" in str(
            caught.value)
        assert re.search(f"a file of the items' names and {gold!r}, and one of names and {output!r}", str(caught.value))


def test_settings_beside_labels_of_a_gold_file(tmp_path):
    """The gold's file has other columns of 0 and 1 as the systems' do; the answers are in another one."""
    def rows(n, every, k):
        return {"label": GOLD[n], "prediction": GOLD[n] if n % every else "D", "cached": int(n == k), "retried": 0,
                "truncated": int(n == 2)}

    paths = write_logs(tmp_path, rows, "csv")
    gold = tmp_path / "gold.csv"
    gold.write_text("id,label,cached,retried,truncated\n" + "".join(
        f"q{n},{GOLD[n]},{int(n == 9)},0,{n % 2}\n" for n in N))
    found = made([gold, *paths], Asked()).folder
    assert found.tables["test_set"][0]["format"] == "labels"
    assert [one["options"]["label"] for one in found.tables["submit"] if "options" in one] or (
        found.tables["submission"]["options"]["label"] == "prediction")
    assert {one["system"] for one in found.tables["submit"]} == SYSTEMS.keys()


def test_labels_of_logs_have_every_system_on_the_board(tmp_path, registry):
    """The first file is the gold and a system; by its name alone the board would be of the others."""
    def rows(n, every, _):
        return {"answer": GOLD[n], "output": GOLD[n] if n % every else "D", "temperature": 0.0, "top_p": 1.0,
                "penalty": 1.0}

    paths = write_logs(tmp_path, rows, "csv")
    with pytest.raises(InputError, match="each is a system's: name the first one twice"):
        made(paths, Asked())
    board = registry("quick", paths[0], *paths, "--format", "json").json
    assert {row["system"]: row["score"] for row in board} == {
        name: pytest.approx(mean(n % every > 0 or GOLD[n] == "D" for n in N)) for name, every in SYSTEMS.items()}


@pytest.mark.parametrize("gold", ["gold", "human_score"])
def test_numbers_of_logs_are_compared_with_the_gold(gold, tmp_path):
    def rows(n, every, k):
        return {gold: n * 7 % 24 / 8, "prediction": (n * 7 + k + n % every) % 24 / 8, "top_p": 1.0, "penalty": 0.5}

    paths = write_logs(tmp_path, rows, "csv")
    found = made([paths[0], *paths], Asked()).folder.tables
    assert found["test_set"][0]["options"].get("gold", "gold") == gold
    assert {one["system"] for one in found["submit"]} == SYSTEMS.keys()
    assert "prediction" in str(found["submission"]) + str(found["submit"])


def test_scores_in_logs_need_no_gold(tmp_path):
    """A column that is called as a measure is one, whatever stands beside; another one if the user says so."""
    def rows(n, every, k):
        return {"answer": SUMS[n], "output": write_text(n, every), "exact_match": int(n % every > 0),
                "helpful": int(n % 5 > k), "temperature": 0.0, "top_p": 1.0}

    paths = write_logs(tmp_path, rows, "csv")
    said = Asked(options={"score": "helpful", "better": "higher"})
    for asked, column in ((Asked(), "exact_match"), (said, "helpful")):
        found = made(paths, asked)
        assert f"no gold: 3 files have scores in column {column!r}, each those of a system" in found.told
