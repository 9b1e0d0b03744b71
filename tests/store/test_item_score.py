"""The view item_score against the programs and definitions that its families come from."""

import pytest
import sacrebleu
from sacrebleu.metrics import CHRF
from sqlalchemy import text

from registry.store.database import Database
from tests.conftest import ROOT

FOLDER = ROOT / "sample_data" / "translation"


@pytest.fixture(scope="module")
def texts():
    """The references and a system's segments; of the latter some are cut short, down to one word."""
    systems = (FOLDER / "submissions" / "pocket.txt").read_text().splitlines()
    short = [" ".join(line.split()[:1 + n % 6]) if n % 3 == 0 else line for n, line in enumerate(systems)]
    short[0] = "untranslatable"
    return [(FOLDER / f"reference.{name}.txt").read_text().splitlines() for name in "AB"], short


@pytest.fixture
def scores(registry, texts, tmp_path):
    (references, segments), folder = texts, tmp_path / "t"
    folder.mkdir()
    for name, lines in zip(("A", "B", "s"), (*references, segments), strict=True):
        (folder / f"{name}.txt").write_text("".join(line + "\n" for line in lines))
    (folder / "task.toml").write_text(
        'manifest = 1\n[task]\nid = "t"\n[[test_set]]\nname = "test"\ngold = "A.txt"\nformat = "lines"\n'
        'options = { check_order = false }\nreferences = [{ name = "B", path = "B.txt" }]\n' + "".join(
            f'[[metric]]\nid = "{name}"\nname = "{name}"\noptions = {{ references = ["gold", "B"] }}\n'
            for name in ("BLEU", "chrF", "TER")) + '[[submit]]\nfile = "s.txt"\nsystem = "s"\n')
    registry("run", folder / "task.toml")
    with Database("registry.duckdb").reading() as connection:
        def of(metric):
            return connection.execute(text(
                "SELECT score FROM item_score WHERE metric = :m ORDER BY item_id"), {"m": metric}).scalars().all()

        return {metric: of(metric) for metric in ("BLEU", "chrF", "TER")}


def test_segments_have_the_scores_that_sacrebleu_gives_them(scores, texts):
    """Its sentence BLEU takes the orders that a segment has and smooths exponentially, as the view does."""
    references, segments = texts
    grouped = list(zip(segments, *references, strict=True))
    peers = {"BLEU": sacrebleu.sentence_bleu, "TER": sacrebleu.sentence_ter, "chrF": CHRF().sentence_score}
    for metric, peer in peers.items():
        scale = 100 if metric == "TER" else 1  # errors per word here
        expected = [peer(segment, list(golds)).score for segment, *golds in grouped]
        assert [scale * score for score in scores[metric]] == pytest.approx(expected, rel=1e-12), metric
        assert len({round(score, 6) for score in expected}) > 50


def test_spans_have_the_f1_of_their_item(registry, scored):
    """Birch's birch-crf has of sentence d01-04 one span of two right, and one wrong."""
    scored(ROOT / "sample_data" / "entities" / "task.toml")
    found = registry("query", """
        SELECT sum(2 * true_positives) / sum(predicted + gold) AS f1, count(*) AS n,
            count_if(item_score.score IS NULL) = count_if(predicted + gold = 0) AS undefined,
            bool_and(item_score.score IS NULL OR item_score.score * (predicted + gold) = 2 * true_positives) AS same
        FROM item_score JOIN statistics_prf USING (scoring_id, metric_id, replicate, item_id)
        WHERE system = 'aspen-xl'""", "--format", "json").json
    (row,) = found
    assert (row["n"], row["undefined"], row["same"]) == (600, True, True)
    assert round(row["f1"], 4) == 0.9592  # as on the board
