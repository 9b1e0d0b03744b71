"""`registry import eval-arena`: JSON Lines as crux-eval/eval-arena has them in `data/`."""

import json

import pytest

from registry.errors import InputError
from registry.importers import IMPORTERS
from tests.importers import scores
from tests.interchange.against_scipy import p_values


def line(model, example, pass1, benchmark="humaneval+", **more):
    return {"benchmark_id": benchmark, "model": model, "example_id": f"HumanEval/{example}", "pass1": pass1, **more}


def write(path, *lines):
    path.write_text("".join(json.dumps(of) + "\n" for of in lines))


def test_shares_of_right_answers_are_graded_scores_of_examples(registry, tmp_path):
    """Shares that were rounded are those of whole numbers again, so that equal ones are equal."""
    right = {"aspen-7b+cot": [7, 10, 2, 9, 1, 6], "birch": [3, 10, 1, 4, 1, 0]}
    write(tmp_path / "a.jsonl", *(line("aspen-7b+cot", n, of / 12, count=12, correct=of, hyperparams="T0.8")
                                  for n, of in enumerate(right["aspen-7b+cot"])),
          *(line("birch", n, round(of / 12, 4), N=12) for n, of in enumerate(right["birch"])),
          *(line(model, 1, int(model == "birch"), "humaneval") for model in right))
    told = registry("import", "eval-arena", "a.jsonl", "--task", "e").stderr
    assert "Is one system better than another over all 2 test sets? `registry study macro-average e" in told
    assert [row[::3] for row in scores(registry)] == [
        ("humaneval", 0), ("humaneval", 1), ("humanevalplus", pytest.approx(35 / 72)),
        ("humanevalplus", pytest.approx(19 / 72))]
    registry("compare", "e")
    pair = next(of for of in registry("pairs", "e", "--format", "json").json if of["test_set"] == "humanevalplus")
    assert (pair["n_units"], pair["n_discordant"]) == (6, 4)  # 10 of 12 is 0.8333, and 1 of 12 is 0.0833
    own = [{n: of / 12 for n, of in enumerate(of_model)} for of_model in right.values()]
    assert pair["p_value"] == pytest.approx(p_values(*own)["permutation"], rel=1e-9)


@pytest.mark.parametrize(("wrong", "says"), [
    ({"pass1": 1.5}, "1: 'pass1' is 1.5; expected a share from 0 to 1"),
    ({"pass1": "1"}, "1: 'pass1' is '1'; expected a number"),
    ({"pass1": 10**400}, "1: 'pass1' is "),
    ({"pass1": 0.3, "count": 2}, "1 of 2 answers are correct, but 'pass1' is 0.3"),
    ({"count": 2, "correct": 3}, "3 of 2 answers are correct"),
    ({"count": 0}, "'count' is 0; expected the number of answers"),
    ({"model": ["x"]}, "'model' is [\"x\"]; expected text or a whole number"),
    ({"example_id": "\x1b[2J"}, "control or invisible character"),
    ({"example_id": "HumanEval/2"}, "2: item 'HumanEval/2 (humaneval+, a)': occurs twice, first in line 1"),
    ({"benchmark_id": None}, "'benchmark_id' is null"),
])
def test_what_is_wrong_is_named_with_its_line(tmp_path, wrong, says):
    write(tmp_path / "a.jsonl", line("a", 1, 1) | wrong, line("a", 2, 0))
    with pytest.raises(InputError) as refused:
        IMPORTERS["eval-arena"]().read(tmp_path)
    assert says in str(refused.value)
    assert "a.jsonl" in str(refused.value)


def test_examples_that_a_model_lacks_are_refused_or_left_out_for_all(tmp_path):
    write(tmp_path / "a.jsonl", line("a", 1, 1), line("a", 2, 1), line("a", 3, 0), line("b", 1, 1),
          line("b", 2, float("nan")), line("b", 3, 0))
    with pytest.raises(InputError, match="'b' has no score of 1 item of 3 in 'humaneval"):
        IMPORTERS["eval-arena"]().read(tmp_path)
    task = IMPORTERS["eval-arena"](missing="drop").read(tmp_path)
    assert len(task.files["humanevalplus/systems/b.jsonl"].splitlines()) == 2
    with pytest.raises(InputError, match="no benchmark 'x'"):
        IMPORTERS["eval-arena"](benchmarks=("x",)).read(tmp_path)
