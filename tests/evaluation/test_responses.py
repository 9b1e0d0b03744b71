"""Sets of answers through the registry: every answer and response is a row, with its score."""

import json

import pytest

GOLD = {"s1": ["x", "y"], "s2": [], "s3": ["z"]}
SYSTEMS = {
    "a": {"s1": [{"key": "x", "score": 0.9}, {"key": "w", "score": 0.1}], "s2": [], "s3": ["z"]},
    "b": {"s1": ["w"], "s2": [{"key": "x", "type": "T", "score": -1}], "s3": []},
}


@pytest.fixture
def manifest(tmp_path):
    for name, answers in {"gold": GOLD, **SYSTEMS}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(
            json.dumps({"item": key, "answers": value}) + "\n" for key, value in answers.items()))
    path = tmp_path / "task.toml"
    path.write_text("""
        manifest = 1
        [task]
        id = "sets"
        [[test_set]]
        name = "test"
        gold = "gold.jsonl"
        format = "responses"
        [[metric]]
        id = "f1"
        name = "SetF"
        [significance]
        seed = 1
        [[submit]]
        file = "a.jsonl"
        system = "a"
        [[submit]]
        file = "b.jsonl"
        system = "b"
        """)
    return path


def test_scores_answers_and_responses(manifest, registry):
    """System a: 2 of its 3 answers are right, of 3 in the gold: F = 2/3. System b: none of 2."""
    registry("run", manifest)
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
