"""A retrieval task from qrels and runs to its board, pairs and missed documents."""

import pytest

MANIFEST = """manifest = 1
[task]
id = "ad-hoc"
[[test_set]]
name = "test"
gold = "qrels"
format = "trec"
{options}
[submission]
missing = "worst"
[[metric]]
name = "AP"
[[metric]]
id = "ERR.2"
name = "ERR"
options = {{ cutoff = 2 }}
[significance]
seed = 1
[[submit]]
file = "{{system}}.run"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 1\n3 0 z 1\n")
    (tmp_path / "both.run").write_text("1 Q0 c 1 3 t\n1 Q0 a 2 2.5 t\n2 Q0 x 1 1 t\n2 Q0 a 2 0.5 t\n")
    (tmp_path / "one.run").write_text("1 Q0 b 1 9 t\n1 Q0 a 1 8 t\n4 Q0 q 1 1 t\n")

    def write(options=""):
        (tmp_path / "task.toml").write_text(MANIFEST.format(options=options))
        return tmp_path / "task.toml"

    return write


def test_from_files_to_boards_and_documents(registry, folder):
    """By hand, queries without results 0: AP (1 + 1/2 + 0)/3 and (1/4 + 0 + 0)/3."""
    board = {(r["metric"], r["system"]): r["score"] for r in registry(
        "run", folder("options = { unknown_items = 'ignore' }"), "--format", "json").json}
    err = 3 / 16 + 13 / 16 * 1 / 16 / 2, 1 / 16 / 2
    assert board == {
        ("AP", "both"): pytest.approx(0.5), ("AP", "one"): pytest.approx(0.25 / 3, rel=1e-7),
        ("ERR.2", "both"): pytest.approx(sum(err) / 3), ("ERR.2", "one"): pytest.approx(1 / 16 / 2 / 3)}
    assert registry("query", "SELECT item, answer FROM missed_answer ORDER BY ALL", "--format", "json").json == [
        {"item": "3", "answer": "z"}]
    assert registry("query", "SELECT region, answers, true_positives FROM regions('ad-hoc/test/both/both', "
                    "'ad-hoc/test/one/one') ORDER BY region", "--format", "json").json == [
        {"region": "D1", "answers": 3, "true_positives": 2}, {"region": "D2", "answers": 1, "true_positives": 0},
        {"region": "shared", "answers": 1, "true_positives": 1}]


def test_queries_without_judgments_are_refused_unless_they_are_to_be_ignored(registry, folder):
    assert "one.run:3: item '4': not in the gold" in registry("apply", folder(), exit_code=3).stderr
