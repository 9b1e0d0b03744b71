"""Word alignment: published AER, precision, recall and numbers of links; gold from 1, systems from 0."""

import re
from pathlib import Path

import pytest

MANIFEST = Path(__file__).parent / "wordalign.toml"
AWESOME = {"enfr": 4.07, "roen": 20.75}  # of awesome-align, in its own repository's table
ROW = re.compile(r"test\.(\w\w\w\w)(\.[\w-]+)?\.talp: ([\d.]+)% \(([\d.]+)%/([\d.]+)%/(\d+)\)")


@pytest.fixture
def run(scored, real_data):
    folder = real_data("wordalign")
    return folder, scored(MANIFEST, "--root", folder).json


def published(folder):
    """AER, precision, recall and links by test set and system, where there is an alignment."""
    found = {}
    for path in folder.glob("*-results.txt"):
        aligner = path.name.partition("-")[0]
        for test_set, way, *numbers in ROW.findall(path.read_text()):
            if (folder / "hypotheses" / f"{aligner}{way}.{test_set}.talp").exists():
                found[test_set, aligner + way] = [float(number) for number in numbers]
    return found


def test_published_scores(run, registry):
    """GIZA++'s to the decimal; fast_align's alignments are of another run, some links apart."""
    folder, rows = run
    scores = {(r["test_set"], r["system"], r["metric"]): 100 * r["score"] for r in rows}
    links = {(r["test_set"], r["system"]): r["links"] for r in registry("query", """
        SELECT test_set, system, sum(predicted) AS links FROM statistics_alignment
        JOIN ranked_submission USING (scoring_id) JOIN metric USING (metric_id)
        WHERE metric.name = 'AER' GROUP BY ALL""", "--format", "json").json}
    expected = published(folder)
    assert len(expected) == 20
    assert len(scores) == 66
    for (test_set, system), (aer, precision, recall, n) in expected.items():
        exact = system.startswith("giza")
        for metric, score in (("aer", aer), ("precision", precision), ("recall", recall)):
            found = scores[test_set, system, metric]
            assert found == pytest.approx(score, abs=0.0501 if exact else 0.15), (test_set, system, metric)
        assert links[test_set, system] == pytest.approx(n, abs=0 if exact else 5), (test_set, system)
    assert {test_set: round(scores[test_set, "awesome", "aer"], 2) for test_set in AWESOME} == AWESOME


def test_precision_is_that_of_the_responses_in_sql(run, registry):
    """A response is right if the gold has it, sure or possible."""
    scores = {(r["test_set"], r["system"]): r["score"] for r in run[1] if r["metric"] == "precision"}
    found = registry("query", """
        SELECT test_set, system, count_if(correct) / count(*) AS precision FROM item_response GROUP BY ALL""",
                     "--format", "json").json
    assert {(r["test_set"], r["system"]): r["precision"] for r in found} == pytest.approx(scores, rel=1e-12)


def test_the_lowest_error_rate_is_the_best(run):
    for test_set in AWESOME:
        board = [r for r in run[1] if (r["test_set"], r["metric"]) == (test_set, "aer")]
        assert [r["score"] for r in board] == sorted(r["score"] for r in board)
        assert (board[0]["system"], board[0]["rank"], board[0]["cluster"]) == ("awesome", 1, 1)
