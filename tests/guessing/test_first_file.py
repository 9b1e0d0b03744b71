"""The file that is named first: the gold by its name, else perhaps a system's as the others are."""

import json

import pytest

from registry.guessing.guess import Asked, QuestionError
from registry.guessing.made import made

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
    """The options that answer the question, and which systems each of them leads to."""
    with pytest.raises(QuestionError) as caught:
        made(paths, asked)
    said = [dict(word.split("=") for word in line.split("  ")[1].split() if "=" in word)
            for line in caught.value.excerpt.splitlines()]
    return [(one, [submit["system"] for submit in made(paths, Asked(options=one)).folder.tables["submit"]])
            for one in said]


@pytest.mark.parametrize("item", ["sys{n}-utt{m}", "{k},{m}"])
def test_decimals_below_no_header_may_be_scores_of_all(item, tmp_path):
    """VoiceMOS's answer.txt: nothing tells whether the first has people's ratings; a correlation does."""
    paths = written(tmp_path, "answer.txt", lambda k, n: f"{item.format(n=n, m=n % 5, k=n // 5)},{n / 8 + k / 16}\n")
    assert answers(paths, Asked()) == [
        ({"score": "score", "better": "higher"}, [*SYSTEMS]), ({"score": "score", "better": "lower"}, [*SYSTEMS]),
        ({"gold": "gold"}, [*SYSTEMS[1:]])]
    told = made(paths, Asked(metric="Pearson")).told
    assert f"{paths[0]} is taken for the gold, as the first file" in told
    named = paths[0].rename(tmp_path / "gold.txt")
    assert not [line for line in made([named, *paths[1:]], Asked()).told if "as the first file" in line]


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
    with pytest.raises(QuestionError, match="nothing tells that it is meant") as caught:
        made(paths, Asked())
    assert "--as labels" in caught.value.excerpt
    assert made(paths, Asked("labels")).told[-2].endswith("is taken for the gold, as the first file")


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
