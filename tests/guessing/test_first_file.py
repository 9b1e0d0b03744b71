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
