"""Sets of answers through the registry: every answer and response is a row, with its score."""

import hashlib
import json
import random

import pytest
from scipy import stats

GOLD = {"s1": ["x", "y"], "s2": [], "s3": ["z"]}
SYSTEMS = {
    "a": {"s1": [{"key": "x", "score": 0.9}, {"key": "w", "score": 0.1}], "s2": [], "s3": ["z"]},
    "b": {"s1": ["w"], "s2": [{"key": "x", "type": "T", "score": -1}], "s3": []},
}


def write(folder, systems, *, gold=GOLD, metric="SetF", options="{}", significance=""):
    """A task of answer sets; the manifest's path."""
    for name, answers in {"gold": gold, **systems}.items():
        (folder / f"{name}.jsonl").write_text("".join(
            json.dumps({"item": key, "answers": value}) + "\n" for key, value in answers.items()))
    path = folder / "task.toml"
    path.write_text(f"""
        manifest = 1
        [task]
        id = "sets"
        [[test_set]]
        name = "test"
        gold = "gold.jsonl"
        format = "responses"
        [[metric]]
        id = "m"
        name = "{metric}"
        options = {options}
        [significance]
        seed = 1
        {significance}
        """ + "".join(f'[[submit]]\nfile = "{name}.jsonl"\nsystem = "{name}"\n' for name in systems))
    return path


@pytest.fixture
def manifest(tmp_path):
    return write(tmp_path, SYSTEMS)


def test_scores_answers_and_responses(manifest, registry, scored):
    """System a: 2 of its 3 answers are right, of 3 in the gold: F = 2/3. System b: none of 2."""
    scored(manifest)
    board = registry("board", "--format", "json").json
    assert [(row["system"], row["score"]) for row in board] == [("a", pytest.approx(2 / 3)), ("b", 0)]
    responses = registry("query", "SELECT system, item, answer, type, correct, score FROM item_response "
                         "ORDER BY system, item, answer", "--format", "json").json
    assert [tuple(row.values()) for row in responses] == [
        ("a", "s1", "w", "", False, 0.1), ("a", "s1", "x", "", True, 0.9), ("a", "s3", "z", "", True, None),
        ("b", "s1", "w", "", False, None), ("b", "s2", "x", "T", False, -1)]
    answers = registry("query", "SELECT item.key AS item, answer.key, type, in_gold FROM answer JOIN item USING "
                       "(item_id) ORDER BY ALL", "--format", "json").json
    assert [tuple(row.values()) for row in answers] == [
        ("s1", "w", "", False), ("s1", "x", "", True), ("s1", "y", "", True), ("s2", "x", "T", False),
        ("s3", "z", "", True)]
    assert "nothing changed" in registry("run", manifest).stderr


def ranked(n_items, seed):
    """Three systems that score four candidates of every item at random, of which the gold has some."""
    rng = random.Random(seed)
    items = {f"s{n}": [f"c{m}" for m in range(4)] for n in range(n_items)}
    gold = {item: [key for key in keys if rng.random() < 0.4] for item, keys in items.items()}

    def scores(skill):
        return {item: [{"key": key, "score": round(skill * (key in gold[item]) + rng.gauss(0, 1), 1)} for key in keys]
                for item, keys in items.items()}

    return gold, {name: scores(skill) for name, skill in (("a", 1.5), ("b", 0.5), ("c", 0.2))}


def accepted(system, options, order):
    """The acceptance set of a system, the plain way."""
    scored = [((item, answer["key"], ""), answer["score"]) for item, answers in system.items() for answer in answers]
    if "threshold" in options:
        return {name for name, score in scored if score >= options["threshold"]}
    scored.sort(key=lambda entry: (-entry[1], order(entry[0])))
    return {name for name, _ in scored[:options["best"]]}


@pytest.mark.parametrize(("options", "written"), [
    ({"best": 30}, "{ best = 30, seed = 5 }"), ({"threshold": 0.4}, "{ threshold = 0.4 }")])
def test_fisher_counts_the_responses_that_only_one_of_two_systems_accepts(tmp_path, registry, options, written):
    """D1 and D2 (Evert 2004, section 3.3) of acceptance sets where items have several candidates, tested by scipy."""
    gold, systems = ranked(30, seed=2)
    told = registry("run", write(tmp_path, systems, gold=gold, metric="SetP", options=written,
                                 significance='test = "fisher"')).stderr
    assert ("warning: sets/test, m: p-values of Fisher's test are approximate, because several candidates share an "
            "item") in told
    sets = {name: accepted(system, options, lambda name: hashlib.md5(f"5/{'/'.join(name)}".encode()).digest())
            for name, system in systems.items()}
    found = registry("pairs", "--format", "json").json
    assert {row["unit"] for row in found} == {"response"}
    for row in found:
        a, b = sets[row["system_a"]], sets[row["system_b"]]
        regions = [[sum(key in gold[item] for item, key, _ in only), len(only)] for only in (a - b, b - a)]
        expected = stats.fisher_exact([[right, n - right] for right, n in regions]).pvalue
        assert row["p_value"] == pytest.approx(expected, rel=1e-10)
        assert (row["n_units"], row["n_discordant"]) == (len(a | b), len(a ^ b))
    told = registry("compare", "--correction", "shaffer", "--dry-run").stderr
    assert "but fisher tests hypotheses without this property" in told


def test_fisher_of_the_n_best_is_that_of_the_ranking(tmp_path, registry):
    gold, systems = ranked(30, seed=3)
    registry("run", write(tmp_path, systems, gold=gold, metric="SetP", options="{ best = 40 }",
                          significance='test = "fisher"'))
    board = {(row["system_a"], row["system_b"]): row["p_value"] for row in registry("pairs", "--format", "json").json}
    study = registry("ranking", "sets", "--grid", "40", "--show", "tests", "--format", "json").json
    for row in study:
        pair = row["system_a"], row["system_b"]
        assert row["p_value"] == pytest.approx(board[pair if pair in board else pair[::-1]], rel=1e-10)


@pytest.mark.parametrize("metric", ["SetP", "SetR", "SetF"])
def test_responses_are_shuffled_as_the_metric_accepts_them(tmp_path, registry, metric):
    """The same answers as if the system had given only those that it accepts."""
    gold, systems = ranked(20, seed=4)
    registry("run", write(tmp_path, systems, gold=gold, metric=metric, options="{ threshold = 0.5 }",
                          significance='test = "response-permutation"'))
    kept = {name: {item: [answer for answer in answers if answer["score"] >= 0.5] for item, answers in system.items()}
            for name, system in systems.items()}
    (tmp_path / "kept").mkdir()
    registry("run", write(tmp_path / "kept", kept, gold=gold, metric=metric,
                          significance='test = "response-permutation"'), "--db", "kept.duckdb")
    assert [row["p_value"] for row in registry("pairs", "--format", "json").json] == [
        row["p_value"] for row in registry("pairs", "--db", "kept.duckdb", "--format", "json").json]


def test_fisher_refuses_one_answer_to_every_item(tmp_path, registry):
    """Both items are answered once by each system: McNemar's table is what they have."""
    task = write(tmp_path, {"a": {"s": ["x"], "t": ["y"]}, "b": {"s": ["y"], "t": ["x"]}},
                 gold={"s": ["x"], "t": ["y"]}, metric="SetP")
    registry("run", task)
    refused = registry("compare", "--test", "fisher", exit_code=3).stderr
    assert "sets/test, m: every system gives one answer to every item" in refused
    assert "use --test mcnemar" in refused
    registry("compare", "--test", "mcnemar")
    (row,) = registry("pairs", "--format", "json").json
    assert row["test"] == "mcnemar"
    assert 'fisher does not support items as units; set unit = "response"' in registry(
        "compare", "--test", "fisher", "--unit", "item", exit_code=3).stderr


def test_what_is_not_counted_by_response_is_refused(task, registry, scored):
    scored(task)
    assert "small/test, acc: Accuracy does not score single answers, so they cannot be the units" in registry(
        "compare", "--test", "fisher", "--unit", "response", exit_code=3).stderr  # written out: it declares documents


LACKING = ("item 's3': answer 'z' has no score, which SetF(best=2) needs; add the score, or remove the options "
           "threshold and best of the metric")


@pytest.mark.parametrize("command", ["check", "run"])
def test_answers_without_the_scores_that_a_metric_needs_are_refused(tmp_path, registry, command):
    """Before anything of the system is kept, so that the mended file can come as the same version."""
    task = write(tmp_path, SYSTEMS, options="{ best = 2 }")
    assert f"a.jsonl:3: {LACKING}" in registry(command, task, exit_code=3).stderr
    scored = {name: {item: [{"score": 0, **(answer if isinstance(answer, dict) else {"key": answer})}
                            for answer in answers] for item, answers in system.items()}
              for name, system in SYSTEMS.items()}
    registry("run", write(tmp_path, scored, options="{ best = 2 }"))


def test_a_system_without_the_scores_of_a_later_metric_is_named(tmp_path, manifest, registry, scored):
    scored(manifest)
    told = registry("run", write(tmp_path, SYSTEMS, options="{ best = 2 }"), exit_code=3).stderr
    assert f"sets/test/a/a@1: {LACKING}" in told


def test_types_that_there_are_are_named_also_the_empty_one(tmp_path, registry):
    gold = {"s1": ["x", {"key": "y", "type": "T"}]}
    task = write(tmp_path, {}, gold=gold, options='{ type = "S" }')
    assert "the gold has no answer of type 'S'; known: '', T" in registry("check", task, exit_code=3).stderr
