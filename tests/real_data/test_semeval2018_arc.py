"""SemEval-2018 task 12: the official accuracies, p-values and clusters of 22 systems.

Sources: `official-scores.csv` and `official-p-values.csv` of the task's organisers (approximate randomization,
two-sided, 10,000 shuffles).
"""

import csv
import itertools
import math
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

MANIFEST = Path(__file__).with_suffix("").parent / "semeval2018-arc.toml"


@pytest.fixture
def data(real_data):
    return real_data("semeval2018-arc")


@pytest.fixture
def answers(data):
    """Label by item, of the gold and of every system, read here anew."""
    def labels(path):
        lines = (line.split() for line in path.read_text().splitlines() if not line.startswith("#"))
        return {line[0]: line[1] for line in lines if line}

    with (data / "systems.csv").open() as file:
        names = {row["submission"]: row["system"] for row in csv.DictReader(file)}
    systems = {name: labels(data / "submissions" / f"{key}.txt") for key, name in names.items()}
    systems["Random baseline"] = systems.pop("Random bsl.")
    return labels(data / "truth.txt"), systems


@pytest.fixture
def run(scored, data):
    return scored(MANIFEST, "--root", data)


def official(data, name):
    with (data / name).open() as file:
        return list(csv.DictReader(file))


def test_accuracies(run, data):
    expected = {row["system"]: float(row["accuracy"]) for row in official(data, "official-scores.csv")}
    assert {row["system"]: round(row["score"], 3) for row in run.json} == expected
    assert len(expected) == 22


def test_p_values_are_exact_and_agree_with_the_official_ones(run, registry, data, answers):
    gold, systems = answers
    rows = {frozenset((r["system_a"], r["system_b"])): r for r in registry("pairs", "--format", "json").json}
    assert len(rows) == 231
    largest = 0.0
    for row in official(data, "official-p-values.csv"):
        a, b = row["system_a"], row["system_b"]
        only_a = sum(systems[a][k] == v != systems[b][k] for k, v in gold.items())
        only_b = sum(systems[b][k] == v != systems[a][k] for k, v in gold.items())
        exact = stats.binomtest(only_a, only_a + only_b).pvalue
        found = rows[frozenset((a, b))]["p_value"]
        assert found == pytest.approx(exact, rel=1e-12)
        published = float(row["p_value"])
        expected = (1e4 * found + 1) / 10001
        assert abs(published - expected) <= 4 * math.sqrt(found * (1 - found) / 1e4) + 1.5e-4
        largest = max(largest, abs(published - found))
    assert largest == pytest.approx(0.0128, abs=5e-5)


def test_contingencies_add_up_to_the_accuracies_and_give_the_p_values_of_mcnemar(run, registry):
    scores = {row["system"]: row["score"] for row in run.json}
    rows = registry("query", "SELECT * FROM pair_contingency", "--format", "json").json
    assert len(rows) == 462
    p_values = {}
    for row in rows:
        counts = [row[name] for name in ("both_correct", "only_a_correct", "only_b_correct", "both_incorrect")]
        assert sum(counts) == 444
        assert scores[row["system_a"]] == pytest.approx((counts[0] + counts[1]) / 444, rel=1e-15)
        p_values[row["system_a"], row["system_b"]] = stats.binomtest(
            counts[1], counts[1] + counts[2]).pvalue if counts[1] + counts[2] else 1
    registry("compare", "--test", "mcnemar")
    pairs = registry("pairs", "--format", "json").json
    assert len(pairs) == 231
    for row in pairs:
        assert row["p_value"] == pytest.approx(p_values[row["system_a"], row["system_b"]], rel=1e-12)


@pytest.mark.parametrize(("correction", "significant"), [("holm", 33), ("none", 82)])
def test_gist_is_alone_in_the_first_cluster(run, registry, correction, significant):
    board = registry("compare", "--correction", correction, "--format", "json").json
    assert sum(row["significant"] for row in registry("pairs", "--format", "json").json) == significant
    assert board == registry("board", "--format", "json").json
    assert [row["system"] for row in board if row["cluster"] == 1] == ["GIST"]
    assert [(row["kind"], row["rank"]) for row in board if row["system"] == "Random baseline"] == [("baseline", 18)]


def test_the_22nd_system_adds_its_own_pairs_bit_for_bit(registry, scored, data, tmp_path):
    text = MANIFEST.read_text()
    chosen = random.Random(22).choice([s for s in text.split("[[submit]]")[1:] if "withdrawn" not in s])
    (tmp_path / "fewer.toml").write_text(text.replace("[[submit]]" + chosen, ""))
    registry("run", tmp_path / "fewer.toml", "--root", data, "--db", "added.duckdb")
    assert "pairs: 21 tested, 210 already stored" in registry(
        "run", MANIFEST, "--root", data, "--db", "added.duckdb").stderr
    scored(MANIFEST, "--root", data, db="anew.duckdb")
    assert registry("pairs", "--db", "added.duckdb").stdout == registry("pairs", "--db", "anew.duckdb").stdout


def test_the_withdrawn_system_is_kept_but_not_shown(run, registry):
    listed = registry("list", "submissions", "--format", "json").json
    assert [row["system"] for row in listed if row["withdrawn"]] == ["rgtjf"]
    assert len(listed) == 23
    assert "rgtjf" not in [row["system"] for row in run.json]


def test_shuffled_lines_change_nothing(registry, scored, data, tmp_path):
    scored(MANIFEST, "--root", data, db="straight.duckdb")
    rng = random.Random(3)
    shutil.copytree(data, tmp_path / "shuffled", copy_function=shutil.copyfile)
    (tmp_path / "shuffled").chmod(0o755)
    for path in [tmp_path / "shuffled" / "truth.txt", *(tmp_path / "shuffled" / "submissions").glob("*.txt")]:
        lines = path.read_text().splitlines()
        rng.shuffle(lines)
        path.unlink()
        path.write_text("\r\n".join(lines))
    registry("run", MANIFEST, "--root", tmp_path / "shuffled", "--db", "shuffled.duckdb")
    for command in ("board", "pairs"):
        shuffled, straight = (registry(command, "--db", f"{name}.duckdb").stdout for name in ("shuffled", "straight"))
        assert shuffled == straight


def test_the_threshold_is_that_of_normal_p_values(registry, data, answers):
    """Berg-Kirkpatrick's rule on z-tests of the discordant items, here anew; some pairs may fall on the other side."""
    gold, systems = answers
    right = {name: [labels[key] == label for key, label in gold.items()] for name, labels in systems.items()}
    borderline = []
    for one, other in itertools.combinations(right.values(), 2):
        differences = [a - b for a, b in zip(one, other, strict=True)]
        gain = abs(sum(differences)) / len(gold)
        error = math.sqrt((sum(map(abs, differences)) / len(gold) - gain**2) / len(gold))
        if gain and 0.04 < stats.norm.sf(gain / error) < 0.06:
            borderline.append(gain)
    registry("apply", MANIFEST, "--root", data)
    registry("score")
    row = registry("study", "threshold", "semeval2018-arc", "--by", "kind", "--format", "json").json[0]
    assert row["pairs"] == 230  # two of 22 systems are level
    assert abs(row["borderline"] - len(borderline)) <= 2
    assert row["threshold"] == pytest.approx(np.quantile(borderline, 0.95), abs=1 / len(gold))
    assert row["fitted"] == pytest.approx(row["threshold"], abs=1 / len(gold))
