"""Folders of mt-metrics-eval: pairs, references, documents, and which of people's scores."""

import numpy as np
import pytest

SYSTEMS = ("AIRC", "Online-B", "refA")
RNG = np.random.default_rng(2)
HUMAN = RNG.integers(-25, 1, size=(3, 12)).astype(float)
METRICS = {"BLEU-refA": HUMAN + 20 * RNG.normal(size=HUMAN.shape), "COMET-refA": HUMAN + RNG.normal(size=HUMAN.shape)}


@pytest.fixture
def folder(tmp_path):
    """Scores of two language pairs; refA is the reference, which people judged and metrics did not."""
    root = tmp_path / "wmt23"
    for pair in ("en-de", "zh-en"):
        scores = {f"human-scores/{pair}.mqm.seg.score": HUMAN, f"human-scores/{pair}.mqm.sys.score": HUMAN[:, :1]}
        scores |= {f"metric-scores/{pair}/{name}.seg.score": values[:2] for name, values in METRICS.items()}
        texts = {name: "".join(f"{system}\t{score}\n" for system, row in zip(SYSTEMS, values, strict=False)
                               for score in row) for name, values in scores.items()}
        texts[f"references/{pair}.refA.txt"] = "text\n" * 12
        texts[f"documents/{pair}.docs"] = "".join(f"news\td{n // 3}\n" for n in range(12))
        for name, text in texts.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    return root


def test_pearson_and_the_study_are_those_of_the_scores(folder, registry):
    registry("import", "mt-metrics-eval", folder, "--task", "wmt", "--option", "pairs=en-de")
    registry("compare", "wmt", "--resamples", "100")
    gold = HUMAN[:2].ravel()
    expected = {name: pytest.approx(np.corrcoef(scores[:2].ravel(), gold)[0, 1]) for name, scores in METRICS.items()}
    assert {row["system"]: row["score"] for row in registry("board", "--format", "json").json} == expected
    rows = registry("study", "metrics", "wmt", "--format", "json").json
    assert {row["metric"]: row["pearson"] for row in rows} == expected
    told = registry("study", "metrics", "wmt", "--seed", "2", "--format", "table")
    assert "in random clusters" in told.stdout
    assert "with 4 clusters is 0.125; at least 6 clusters are needed" in told.stderr  # 2^-5 is the first below 5 %


def test_all_language_pairs_are_test_sets(folder, registry):
    registry("import", "mt-metrics-eval", folder, "--task", "wmt")
    sets = registry("query", "SELECT name, cluster_attribute FROM test_set ORDER BY name", "--format", "json").json
    assert sets == [{"name": name, "cluster_attribute": "document"} for name in ("en-de", "zh-en")]


def test_one_of_several_human_scores_is_chosen(folder, registry):
    (folder / "human-scores" / "en-de.da.seg.score").write_text(
        (folder / "human-scores" / "en-de.mqm.seg.score").read_text())
    refused = registry("import", "mt-metrics-eval", folder, "--task", "wmt", exit_code=3).stderr
    assert "en-de has 2 human scores: da, mqm; choose one with --option human=da" in refused
    registry("import", "mt-metrics-eval", folder, "--task", "wmt", "--option", "human=mqm")


@pytest.mark.parametrize(("options", "message"), [
    (("--option", "pairs=en-da"), "no language pair 'en-da'; did you mean 'en-de'?"),
    (("--option", "human=mqn"), "no human score of en-de 'mqn'; did you mean 'mqm'?")])
def test_unknown_names_are_refused(folder, registry, options, message):
    assert message in registry("import", "mt-metrics-eval", folder, "--task", "wmt", *options, exit_code=3).stderr


def test_the_folder_of_all_test_sets_is_refused(folder, registry):
    refused = registry("import", "mt-metrics-eval", folder.parent, "--task", "wmt", exit_code=3).stderr
    assert "no folder human-scores in this folder; name the folder of one test set" in refused
