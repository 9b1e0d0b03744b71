"""`registry.evaluate`: its board is that of the command, and shows itself without trusting any name."""

import json
import math
import random

import pytest

import registry as package
from registry.direct.advice import name_arguments
from registry.direct.board import Board, Pairs
from registry.direct.task import TemporaryTask
from registry.errors import InputError, UnknownNameError
from registry.manifest.folder import TaskFolder
from registry.rendering.render import render
from registry.reports.boards import make_board_table
from tests.reports.boards import HOSTILE, leaderboard


def test_the_board_is_that_of_the_command(registry, task):
    """The same data in files, with the same seed: the same scores, decisions and sentences, in any unit."""
    task.significance = {"seed": 1, "unit": "cluster", "test": "bootstrap", "resamples": 1000}
    done = registry("run", task.write(), "--format", "json")
    pairs = registry("pairs", "--format", "json").json
    board = package.evaluate(task.gold, task.systems, "accuracy", clusters=task.documents, test="bootstrap",
                             resamples=1000)
    ours = json.loads(render([board._table], "json"))
    own = {"task", "metric", "signature", "team"}
    assert [{key: value for key, value in row.items() if key not in own} for row in ours] == [
        {key: value for key, value in row.items() if key not in own} for row in done.json]
    assert [(pair.a, pair.b, pair.difference, pair.p_value, pair.p_adjusted, pair.significant, pair.interval)
            for pair in board.pairs] == [
        (row["system_a"], row["system_b"], row["difference"], row["p_value"], row["p_adjusted"], row["significant"],
         None if row["ci_low"] is None else (row["ci_low"], row["ci_high"])) for row in pairs]
    assert (len(board), board.systems, board.best) == (3, ("a", "b", "c"), ("a", "b", "c"))
    assert board.scores == {"a": 5 / 6, "b": 3 / 6, "c": 3 / 6}
    told = name_arguments(done.stderr.replace("small/test, acc:", "evaluation/test, accuracy:")).splitlines()
    assert board.messages == tuple(line for line in told if line.startswith(("warning: ", "info: ")))
    assert board.messages
    written = board.to_task("kept")
    assert registry("run", written, "--db", "kept.duckdb", "--format", "json").json[0]["score"] == 5 / 6
    with pytest.raises(InputError, match="this file already exists with other content; remove it, or"):
        package.evaluate([1], {"a": [1]}).to_task("kept")
    turned = board.pairs["c", "a"]
    assert (turned.difference, turned.interval[0]) == (3 / 6 - 5 / 6, -board.pairs["a", "c"].interval[1])
    text = repr(board).splitlines()
    assert text[0] == "evaluation/test: accuracy"
    assert text[-1] == board.signature


def test_advice_names_options_that_help():
    gold = ["OFF", "NOT"] * 10
    lower = [label.lower() for label in gold]
    with pytest.raises(InputError, match=r"the same, add options=\{'fold_case': True\}, otherwise add options="):
        package.evaluate(gold, {"a": lower})
    assert package.evaluate(gold, {"a": lower}, options={"fold_case": True}).scores == {"a": 1.0}
    with pytest.raises(InputError, match=(
            r"if 'x' means a label of the gold, add options=\{'rename': \{'x': 'GOLD LABEL'\}\}, otherwise")):
        package.evaluate(gold, {"a": ["x", "y"] * 10})
    renamed = package.evaluate(gold, {"a": ["x", "NOT"] * 10}, options={"rename": {"x": "OFF"}})
    assert renamed.scores == {"a": 1.0}
    (remark,) = package.evaluate(gold, {"a": lower[:9] + gold[9:]}).messages
    assert remark.endswith("if upper and lower case mean the same, add options={'fold_case': True}")


def test_a_figure_shows_the_board_s_intervals(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib")
    board = package.evaluate(None, {"a": range(8), "b": [2] * 8})
    assert 'width="252pt"' in board.plot(path=tmp_path / "scores.svg", width="ieee", font_size=9)._repr_svg_()
    assert [of.ci_low is not None for of in board._board.standings] == [True, False], "of b nothing varies"
    assert (tmp_path / "scores.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(InputError, match="did you mean 'scores'"):
        board.plot("score")


def test_methods_are_a_paragraph_with_references():
    methods = package.evaluate(["x"] * 20, {"a": ["x"] * 20, "b": ["x"] * 10 + ["y"] * 10}).methods()
    assert str(methods).startswith(
        "The 2 systems are scored by accuracy (Manning, Raghavan and Schütze 2008) on the 20 items of the test set. "
        "The difference is tested two-sided by a paired permutation test over items (Noreen 1989; Yeh 2000), with an")
    assert methods.references[-1].key == "yeh-2000-accurate"
    assert methods.to_bibtex().count("\n@") == len(methods.references) - 1 == methods.to_latex().count("\n% @") - 1


def of(names):
    task = TemporaryTask(TaskFolder({}, {}, {}), {f"{name}/{name}": name for name in names})
    return Board(leaderboard(list(names)), task, ["warning: <b>"])


def test_no_name_is_taken_for_markup_or_steers_a_terminal():
    board = of(HOSTILE)
    for shown in (board, board.pairs):
        html = shown._repr_html_()
        assert "<script>" not in html
        assert "<img" not in html
        assert "\u202e" not in html + repr(shown)
        assert "\x1b" not in html + repr(shown)
        assert html.count("<tr>") == 1 + len(shown)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in board._repr_html_()


def test_pairs_are_found_by_number_and_by_names():
    pairs = of("abc").pairs
    assert [(pair.a, pair.b) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pairs[0], *pairs[1:]] == [*pairs]
    assert (pairs["a", "c"], pairs["c", "a"].swap()) == (pairs[1], pairs[1])
    with pytest.raises(UnknownNameError, match="unknown system 'x'"):
        pairs["a", "x"]
    with pytest.raises(InputError, match="a system cannot be compared with itself"):
        pairs["a", "a"]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_have_what_is_known_of_each_row(name):
    pytest.importorskip(name, reason=name)
    board = of("abc")
    frame = getattr(board, f"to_{name}")()
    assert type(frame).__module__.startswith(name)
    assert list(frame["system"]) == ["a", "b", "c"]
    assert {*frame.columns} == {*make_board_table(board._board).keys}
    assert list(frame.columns)[:4] == ["system", "score", "ci_low", "ci_high"]
    pairs = getattr(Pairs(board._board, board.systems), f"to_{name}")()
    assert list(pairs["p_adjusted"]) == [0.04] * 3
    assert list(pairs.columns)[:8] == [
        "system_a", "system_b", "difference", "ci_low", "ci_high", "p_value", "p_adjusted", "significant"]
    for table in (frame, pairs):
        columns = list(table.columns)
        varying = [key for key in columns if len({*map(repr, table[key])}) > 1]
        assert columns.index("signature") > max(map(columns.index, varying))


def test_a_gate_is_that_of_the_command(registry, task):
    items = [f"i{n:03}" for n in range(100)]
    task.documents, task.gold = {}, dict.fromkeys(items, "x")
    task.systems = {name: {item: "y" if n in wrong else "x" for n, item in enumerate(items)}
                    for name, wrong in {"old": range(20), "new": range(3, 23), "first": range(10)}.items()}
    registry("run", task.write())
    gate = registry("gate", "old", "new", "--margin", "0.1", "--reference", "first", "--format", "json",
                    exit_code=None).json
    board = package.evaluate(task.gold, task.systems, "accuracy")
    result = board.gate("old", "new", margin=0.1, reference="first")
    own = {"metric"}
    assert [{key: value for key, value in row.items() if key not in own} for row in result.criteria] == [
        {key: row[key] for key in result.criteria[0] if key not in own} for row in gate["criteria"]]
    assert result.verdict == gate["verdict"] == "undecided"
    assert result.sentences[0].startswith("undecided: the data do not show whether new is worse than")
    assert repr(result).startswith("evaluation: new instead of old")
    assert len(result.to_pandas()) == 2
    assert board.gate("new", "first", superior=True).verdict == "pass"
    with pytest.raises(UnknownNameError, match="unknown system 'newest'"):
        board.gate("old", "newest", margin=0.1)
    with pytest.raises(InputError, match=r"^margin -1: expected a number above 0"):
        board.gate("old", "new", margin=-1)
    with pytest.raises(InputError, match=r"scores of accuracy are from 0 to 1, so 2 points of 100 are 0.02"):
        board.gate("old", "new", margin=2)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_items_have_the_scores_of_single_items(name):
    pytest.importorskip(name, reason=name)
    gold = {"i1": "x", "i2": "y", "i3": "x"}
    board = package.evaluate(gold, {"lab/a": {"i1": "x", "i2": "x", "i3": "x"}, ("b", 1): gold,
                                    ("b", 2): dict.fromkeys(gold, "x")})
    frame = getattr(board.items, f"to_{name}")()
    assert list(zip(*(frame[column].to_list() for column in ("item", "system", "score")), strict=True)) == [
        ("i1", "lab/a", 1.0), ("i1", "b", 1.0), ("i1", "b", 1.0), ("i2", "lab/a", 0.0), ("i2", "b", 1.0),
        ("i2", "b", 0.0), ("i3", "lab/a", 1.0), ("i3", "b", 1.0), ("i3", "b", 1.0)]
    assert frame["run"].to_list() == [0, 0, 1] * 3


def test_logarithms_of_p_values_are_finite_if_these_underflow():
    """The exact sign test of 2000 wins in 2000 discordant items has p = 2 / 2**2000."""
    (pair,) = package.evaluate(["a", "b"] * 2000, {"x": ["a", "b"] * 2000, "y": ["a"] * 4000}).pairs
    assert pair.p_value == 0
    assert pair.log10_p == pytest.approx(-1999 * math.log10(2), rel=1e-12)


def test_ties_of_rankings_are_counted_as_in_files(registry, tmp_path):
    """Documents with equal scores: same scores, and the same warning, as a run with these ranks in a file."""
    rng = random.Random(1)
    gold = {f"q{n}": {f"d{k}": rng.randrange(3) for k in range(9)} for n in range(6)}
    systems = {name: {query: {document: rng.choice([0.5, 1.0]) for document in rng.sample(list(documents), 9)}
                      for query, documents in gold.items()} for name in "ab"}
    (tmp_path / "qrels.txt").write_text("".join(
        f"{query} 0 {document} {grade}\n" for query, grades in gold.items() for document, grade in grades.items()))
    for name, queries in systems.items():
        (tmp_path / f"{name}.run").write_text("".join(
            f"{query} Q0 {document} {rank} {score} {name}\n" for query, scores in queries.items() for rank, (
                document, score) in enumerate(sorted(scores.items(), key=lambda entry: -entry[1]), 1)))
    files = [tmp_path / f"{name}.run" for name in "ab"]
    done = registry("quick", "--gold", tmp_path / "qrels.txt", *files, "--metric", "nDCG@5", "--format", "json")
    board = package.evaluate(gold, systems, metric="nDCG@5")
    assert board.scores == {row["system"]: row["score"] for row in done.json}
    warnings = [line.partition(": neighbouring")[2] for line in done.stderr.splitlines() if "neighbouring" in line]
    assert [message.partition(": neighbouring")[2] for message in board.messages] == warnings
    assert len(warnings) == 2
