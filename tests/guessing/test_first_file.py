"""The file that is named first: the gold by its name, else perhaps a system's as the others are."""

import json
from dataclasses import replace
from statistics import mean

import pytest

from registry.at_once import at_once
from registry.errors import InputError
from registry.guessing.guess import Asked, QuestionError
from registry.guessing.made import made
from registry.parallel.execution import Execution
from registry.store.log import Journal

N = range(24)
SYSTEMS = ("alpha", "bravo", "charlie")


def written(folder, name, of_system):
    """A file for each system, in a folder of its own."""
    paths = [folder / system / name for system in SYSTEMS]
    for k, path in enumerate(paths):
        path.parent.mkdir()
        path.write_text("".join(of_system(k, n) for n in N))
    return paths


def answers(paths, asked):
    """Return the options that answer the question, and the systems that each of them leads to."""
    with pytest.raises(QuestionError) as caught:
        made(paths, asked)
    found = []
    for line in caught.value.excerpt.splitlines():
        words = line.strip().split("  ")[0].split()
        options = dict(word.split("=") for word in words if "=" in word)
        gold = words[words.index("--gold") + 1] if "--gold" in words else None
        assert gold in {None, str(paths[0])}
        found.append((options, systems(made(paths, Asked(options=options, gold=gold, missing=asked.missing)))))
    return found


def systems(found):
    """Return the names of the systems of a task."""
    return [submit["system"] for submit in found.folder.tables["submit"]]


@pytest.mark.parametrize("item", ["sys{n}-utt{m}", "{k},{m}"])
def test_decimals_below_no_header_may_be_scores_of_all(item, tmp_path):
    """VoiceMOS's answer.txt: nothing tells whether the first has people's ratings; a correlation does."""
    paths = written(tmp_path, "answer.txt", lambda k, n: f"{item.format(n=n, m=n % 5, k=n // 5)},{n / 8 + k / 16}\n")
    assert answers(paths, Asked()) == [
        ({"score": "score", "better": "higher"}, [*SYSTEMS]), ({"score": "score", "better": "lower"}, [*SYSTEMS]),
        ({"gold": "gold"}, [*SYSTEMS[1:]])]
    with pytest.raises(QuestionError, match="the first file would be the gold"):
        made(paths, Asked(metric="Pearson"))
    named = paths[0].rename(tmp_path / "gold.txt")
    assert systems(made([named, *paths[1:]], Asked(metric="Pearson"))) == [*SYSTEMS[1:]]


def test_truth_may_be_what_each_system_has_achieved(tmp_path):
    """IFEval's results: no file is a gold, and labels of the first would be compared with those of the others."""
    paths = written(tmp_path, "eval_results_strict.jsonl", lambda k, n: json.dumps({
        "follow_all_instructions": n % (3 + k) > 0, "instruction_id_list": ["a"], "prompt": f"Write {n} lines of text.",
        "response": f"{k} and {n}"}) + "\n")
    found = answers(paths, Asked())
    column = "follow_all_instructions"
    assert found[:2] == [({"score": column, "better": better}, [*SYSTEMS]) for better in ("higher", "lower")]
    assert ({"label": column}, [*SYSTEMS[1:]]) in found[2:]


def test_a_first_file_that_is_called_as_systems_are(tmp_path):
    """HANS's predictions, whose column is called gold_label in all files."""
    paths = [tmp_path / f"{name}_preds.txt" for name in SYSTEMS]
    for k, path in enumerate(paths):
        path.write_text("pairID,gold_label\n" + "".join(f"ex{n},{'yes' if (n + k) % 3 else 'no'}\n" for n in N))
    for asked in (Asked(), Asked("labels")):
        assert answers(paths, asked) == [({}, [*SYSTEMS[1:]])]


def test_values_by_item_in_json_may_be_scores_of_all(tmp_path):
    paths = [tmp_path / f"{name}.json" for name in SYSTEMS]
    for k, path in enumerate(paths):
        path.write_text(json.dumps({f"q{n}": int((n + k) % 3 > 0) for n in N}))
    assert answers(paths, Asked()) == [
        ({"score": "value", "better": "higher"}, [*SYSTEMS]), ({"score": "value", "better": "lower"}, [*SYSTEMS]),
        ({"label": "value"}, [*SYSTEMS[1:]])]


def test_objects_that_say_more_in_another_order(tmp_path):
    """MathVista's: keys in any order, some not in all files, what all have alike is of the items; two folders."""
    paths = [tmp_path / name / "output.json" for name in SYSTEMS[:2]]
    for k, path in enumerate(paths):
        path.parent.mkdir()
        of = {f"q{n}": {"image": f"i{n}.png", "width": n * 7, "right": (n + k) % 3 > 0, **({"error": ""} if k else {})}
              for n in N}
        path.write_text(json.dumps({q: dict(reversed(row.items())) if k else row for q, row in of.items()}))
    found = made(paths, Asked())
    assert "no gold: 2 files have scores in column 'right', each those of a system" in found.told
    assert [submit["system"] for submit in found.folder.tables["submit"]] == [*SYSTEMS[:2]]


SCORED = {f"T{n}": (n * 37 % 101) / 101 for n in N}  # of each topic, by the first system


def write_scores(folder, header, lacking=()):
    """Write a file of topics and scores for each system; the last one lacks some topics. Return the scores, paths."""
    scores = {name: {topic: round((score + k / 7) % 1, 3) for topic, score in SCORED.items()
                     if k < len(SYSTEMS) - 1 or topic not in lacking} for k, name in enumerate(SYSTEMS)}
    paths = [folder / f"{name}.tsv" for name in SYSTEMS]
    for path, of_system in zip(paths, scores.values(), strict=True):
        path.write_text(header + "".join(f"{topic}\t{score}\n" for topic, score in of_system.items()))
    return scores, paths


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("lacking", [(), ("T5", "T9")])
@pytest.mark.parametrize(("header", "is_asked"), [
    ("topic\tap\n", False), ("query\tndcg\n", False), ("topic\tscore\n", True), ("segment\tvalue\n", True),
    ("", True)])
def test_scores_of_each_system_need_no_gold(tmp_path, header, is_asked, lacking, is_folder):
    """The board has the mean of all systems, over the items that all have; the first file is no gold."""
    scores, paths = write_scores(tmp_path, header, lacking)
    given = [tmp_path] if is_folder else paths
    if lacking:
        with pytest.raises(InputError, match=r"item 'T5': there is no score of it \(one of 2 such"):
            made(given, Asked())
    asked = Asked(missing="drop" if lacking else "reject")
    if is_asked:
        column = header.split("\t")[-1].strip() or "score"
        found = answers(given, asked) if is_folder else answers(paths, asked)[:-1]
        assert found == [({"score": column, "better": better}, [*SYSTEMS]) for better in ("higher", "lower")]
        assert is_folder or answers(paths, asked)[-1][1] == [*SYSTEMS[1:]]
        asked = replace(asked, options=found[0][0])
    boards = at_once(made(given, asked).folder, "quick", Journal("quick", {}), Execution(), lambda _: None).boards
    assert {standing.system.split("/")[0]: standing.score for standing in boards[0].standings} == {
        name: pytest.approx(mean(score for topic, score in of.items() if topic not in lacking))
        for name, of in scores.items()}


UNNAMED = {  # the first file and the others: of all formats that have a gold
    "labels by key": lambda k: "".join(f"x{n}\t{'yes' if (n + k) % 3 else 'no'}\n" for n in N),
    "labels on lines": lambda k: "".join(f"{'yes' if (n + k) % 3 else 'no'}\n" for n in N),
    "tags": lambda k: "".join(f"w{n} {'B-PER' if (n + k) % 3 else 'O'}\n" + "\n" * (n % 4 == 3) for n in N),
    "text": lambda k: "".join(f"the {n} of them is {'near' if (n + k) % 3 else 'far'} to here\n" for n in N),
    "columns that only the first file has": lambda k: ("id,text,label\n" if k == 0 else "id,label\n") + "".join(
        f"x{n},{'' if k else f'word {n} of all,'}{'yes' if (n + k) % 3 else 'no'}\n" for n in N),
}


@pytest.mark.parametrize("name", UNNAMED)
def test_a_file_is_the_gold_only_if_it_is_named(tmp_path, name):
    paths = [tmp_path / system for system in ("corpus", *SYSTEMS[1:])]
    for k, path in enumerate(paths):
        path.write_text(UNNAMED[name](k))
    with pytest.raises(QuestionError, match="neither its name nor an option says that it is") as caught:
        made(paths, Asked())
    assert caught.value.excerpt.startswith(f"  --gold {paths[0]}  ")
    for given in (paths, paths[1:], [*paths[1:], paths[0]]):  # the gold may be in any place, or none
        assert systems(made(given, Asked(gold=str(paths[0])))) == [*SYSTEMS[1:]]
    assert systems(made([tmp_path], Asked(gold=str(paths[0])))) == sorted(SYSTEMS[1:])
    named = paths[0].rename(tmp_path / "reference")
    assert systems(made([named, *paths[1:]], Asked())) == [*SYSTEMS[1:]]


def test_a_gold_in_a_file_of_the_same_name_has_to_be_named_too(tmp_path):
    """Systems would be called the same, which is no reason to take the first file for the gold."""
    paths = [tmp_path / name for name in ("out.txt", "out.tsv", "other.tsv")]
    for k, path in enumerate(paths):
        path.write_text(UNNAMED["labels by key"](k))
    with pytest.raises(QuestionError, match="neither its name nor an option"):
        made(paths, Asked())
