"""CoNLL 2018, Old French: all eight official columns of 25 systems, and each sentence's share in them."""

import csv
from functools import cache

import numpy as np
import pytest
from udtools import udeval

from registry.metrics import METRICS
from registry.readers import Conllu, Document
from tests.conftest import ROOT

# Other sentences than the gold's; lemmas that are empty; the best; nearly nothing right.
SOME = ("ArmParser", "NLP-Cube", "UDPipe-Future", "HUJI")


@pytest.mark.slow
def test_official_scores(conll2018, registry):
    with (conll2018 / "official-scores.csv").open() as file:
        official = {(row["system"], metric): float(score) for row in csv.DictReader(file)
                    for metric, score in row.items() if metric != "system"}
    scores = registry("query", "SELECT system, metric, score FROM submission_score", "--format", "json").json
    assert len(scores) == len(official) == 200
    assert {(row["system"], row["metric"]): 100 * row["score"] for row in scores} == pytest.approx(official, abs=6e-5)
    arcs = registry("query", """
        SELECT system, 200 * count_if(correct) / (count(*) + (SELECT count(*) FROM answer WHERE in_gold)) AS las
        FROM item_response GROUP BY system""", "--format", "json").json
    assert {row["system"]: row["las"] for row in arcs} == pytest.approx(
        {system: score for (system, metric), score in official.items() if metric == "LAS"}, abs=6e-5)


READER = Conllu(empty_columns="underscore")


def loaded(path):
    """A file as the official program has it."""
    with path.open() as file:
        return udeval.load_conllu(file, file.name, {})


@cache
def gold(path):
    """The gold as the official program has it, and its items."""
    return loaded(path), READER.read_gold({"gold": Document.load(path)})


@pytest.mark.parametrize("system", SOME)
def test_statistics_add_up_to_the_official_counts(real_data, system):
    folder = real_data("conll2018-fro_srcmf")
    path = folder / "submissions" / f"{system}.conllu"
    official_gold, items = gold(folder / "gold.conllu")
    official = udeval.evaluate(official_gold, loaded(path))
    answers = READER.assign(items, READER.read_answers(Document.load(path)), str(path))
    assert len(items) == 1927
    for name in ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "UAS", "LAS", "CLAS", "MLAS",
                 "BLEX"):
        sums = np.sum(METRICS[name]().corpus_statistics(items, answers), axis=0)
        expected = official[name]
        assert sums.tolist() == [expected.correct, expected.system_total, expected.gold_total], name


def las_by_text(registry):
    """LAS of every system in every text and in the other texts, from its correct arcs."""
    sums = registry("query", """
        WITH text AS (SELECT item_id, value FROM item_attribute WHERE name = 'document'),
            gold AS (SELECT value, count(*) AS n FROM answer JOIN text USING (item_id) WHERE in_gold GROUP BY value)
        SELECT system, text.value, 2 * count_if(correct) AS correct, count(*) + any_value(gold.n) AS n
        FROM item_response JOIN text USING (item_id) JOIN gold ON gold.value = text.value GROUP BY ALL""",
                    "--format", "json").json
    by_text = {(row["system"], row["value"]): np.array([row["correct"], row["n"]]) for row in sums}
    total = {system: sum(part for (name, _), part in by_text.items() if name == system) for system, _ in by_text}
    return {(system, text): [np.divide(*part), np.divide(*(total[system] - part))]
            for (system, text), part in by_text.items()}


def test_differences_in_texts_are_those_of_the_page(conll2018, registry):
    """docs/studies.md: one text differs from the rest for one pair, and none for another."""
    las, page = las_by_text(registry), (ROOT / "docs" / "studies.md").read_text()
    tables = {pair: registry("study", "facets", "conll2018-fro", "--attribute", "document", "--system", pair[0],
                             "--system", pair[1], "--format", "json").json
              for pair in (("TurkuNLP-18", "LeisureX"), ("HIT-SCIR-18", "LATTICE-18"))}
    for (a, b), rows in tables.items():
        for row in rows:
            assert [row["in_facet"], row["in_rest"]] == pytest.approx(
                np.subtract(las[a, row["value"]], las[b, row["value"]]), abs=1e-9)
    for row in tables["TurkuNLP-18", "LeisureX"]:
        numbers = [f"{row[key]:.4f}" for key in ("in_facet", "in_rest", "facet_minus_rest")]
        interval = f"{row['low']:.4f} to {row['high']:.4f}"
        cells = [row["value"], str(row["units"]), *numbers, interval, f"{row['p_adjusted']:.4f}"]
        assert f"| {' | '.join(cells)} |" in page
        assert (row["p_adjusted"] <= 0.05) == (row["value"] == "Graal_1225_prose")
    rows = {row["value"]: row for row in tables["HIT-SCIR-18", "LATTICE-18"]}
    assert all(row["p_adjusted"] > 0.9 for row in rows.values())
    assert f"{rows.pop('Lapidaire_mid12_prose')['p_better']:.2f}" == "0.11"
    assert f"{max(row['p_better'] for row in rows.values()):.3f}" == "0.010"
