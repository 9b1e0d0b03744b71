"""mt-metrics-eval's score files: what people judged is the gold of a task in which metrics take part."""

import shutil

import pytest
from scipy import stats

from registry.errors import InputError
from registry.readers import READERS, Document, Mtme
from tests.conftest import ROOT

SEED = ROOT / "tests" / "fuzz" / "seeds" / "mtme"
HUMAN = "A\t-5\nA\tNone\nA\t0\nB 0.5\nB -1\nB None\n"


def document(text, path="f"):
    return Document(path, text.encode())


def gold(text=HUMAN, documents=None, **options):
    files = {"gold": document(text), **({"attributes": document(documents, "docs")} if documents else {})}
    return [(i.key, i.gold, i.attributes, i.line) for i in Mtme.build(options).read_gold(files)]


def answers(text, **options):
    return [(a.key, a.value, a.line) for a in Mtme.build(options).read_answers(document(text))]


def test_segments_are_counted_within_their_system_and_what_nobody_judged_is_no_item():
    assert gold() == [("A 1", -5, {"system": "A", "segment": "1"}, 1), ("A 3", 0, {"system": "A", "segment": "3"}, 3),
                      ("B 1", 0.5, {"system": "B", "segment": "1"}, 4), ("B 2", -1, {"system": "B", "segment": "2"}, 5)]
    assert answers("B 1\nB 2e-1\n") == [("B 1", 1, 1), ("B 2", 0.2, 2)]


def test_segments_have_the_attributes_of_their_line_in_the_documents_file():
    attributes = [a for _, _, a, _ in gold(documents="news\td1\nnews\td1\nchat\td2\n")]
    assert attributes[1] == {"system": "A", "segment": "3", "domain": "chat", "document": "d2"}
    assert attributes[2] == {"system": "B", "segment": "1", "domain": "news", "document": "d1"}
    with pytest.raises(InputError, match="docs: the file has 2 lines, but the gold has 3"):
        gold(documents="news\td1\nnews\td1\n")


def test_other_levels():
    assert gold("A -5\nB None\n", level="sys") == [("A", -5, {"system": "A"}, 1)]
    assert gold("news A -5\nchat A 1\n", level="domain")[1] == ("chat A", 1, {"domain": "chat", "system": "A"}, 2)
    assert gold(level="doc")[1] == ("A 3", 0, {"system": "A", "position": "3"}, 3)


def test_systems_can_be_passed_over_as_references_are():
    assert [key for key, *_ in gold(exclude="A")] == ["B 1", "B 2"]
    assert answers("A 1\nB 2\nB 3\n", exclude="A") == [("B 1", 2, 2), ("B 2", 3, 3)]


@pytest.mark.parametrize(("text", "options", "line", "says"), [
    ("A 1\nA 2\nB 1\n", {}, 3, "system 'B' has 1 score, but other systems have 2; add the missing scores"),
    ("A 1\nA 2\n", {"length": 3}, 2, "system 'A' has 2 scores, but option 'length' is 3"),
    ("A 1\nB 1\nA 2\n", {}, 3, "the scores of system 'A' are not in consecutive lines"),
    ("A 1\nA\n", {}, 2, r"the line has 1 column; expected 2 \(SYSTEM SCORE\)"),
    ("news A 1\n", {}, 1, "the line has 3 columns; expected 2"),
    ("A 1\n", {"level": "domain"}, 1, r"the line has 2 columns; expected 3 \(DOMAIN SYSTEM SCORE\)"),
    ("A none\n", {}, 1, "the score is 'none'; expected a finite number, or None"),
    ("A nan\n", {}, 1, "the score is 'nan'"),
    ("A\u200b 1\n", {}, 1, "a control or invisible character"),
])
def test_wrong_files_are_refused_with_their_line(text, options, line, says):
    with pytest.raises(InputError, match=says) as caught:
        answers(text, **options)
    assert caught.value.line == line


def test_a_gold_without_any_score_is_none():
    with pytest.raises(InputError, match="the file has no score"):
        gold("A None\nB None\n")


@pytest.mark.parametrize(("options", "says"), [
    ({"attributes": ["domain", "system"]}, "option 'attributes' of mtme is domain, system; names must differ"),
    ({"length": 0}, "option 'length' of mtme is the number of scores"), ({"level": "sys", "length": 2}, "option "
                                                                                                        "'length' of "
                                                                                                        "mtme"),
])
def test_options_that_mean_nothing_are_refused(options, says):
    with pytest.raises(InputError, match=says):
        READERS["mtme"].build(options)


def test_scores_have_neither_references_nor_documents_of_systems():
    files = {"gold": document(HUMAN), "reference:B": document("x\n", "refs")}
    with pytest.raises(InputError, match="refs: tables of scores use neither references nor a source"):
        Mtme().read_gold(files)
    files = {"gold": document("A 1\n"), "attributes": document("news\td\n", "docs")}
    with pytest.raises(InputError, match="docs: attributes describe segments"):
        Mtme(level="sys").read_gold(files)


def read_by_hand(path):
    """What mt-metrics-eval's README says: the scores of each system in order, None where there is none."""
    found = {}
    for line in path.read_text().splitlines():
        system, score = line.split()
        found.setdefault(system, []).append(None if score == "None" else float(score))
    return found


@pytest.mark.slow
def test_a_metrics_task_scores_correlations_over_all_judged_segments(registry, tmp_path):
    """As mt-metrics-eval's `Correlation` without averaging: one vector of all systems' segments, None left out."""
    folder = tmp_path / "task"
    shutil.copytree(SEED, folder)
    board = registry("run", folder / "task.toml", "--format", "json").json
    human = read_by_hand(folder / "human-scores" / "en-de.mqm.seg.score")
    scores = {}
    for name in ("BLEU", "XCOMET"):
        metric = read_by_hand(folder / "metric-scores" / "en-de" / f"{name}-refA.seg.score")
        both = [(mine, theirs) for system in metric
                for mine, theirs in zip(metric[system], human[system], strict=True) if theirs is not None]
        scores["Pearson", name] = stats.pearsonr(*zip(*both, strict=True)).statistic
        scores["Kendall", name] = stats.kendalltau(*zip(*both, strict=True)).statistic
    found = {(row["metric"], row["system"]): row["score"] for row in board if row["test_set"] == "seg"}
    assert found.keys() == scores.keys()
    assert found == pytest.approx(scores, abs=1e-8)


def test_a_metric_that_lacks_a_judged_segment_is_refused(registry, tmp_path):
    folder = tmp_path / "task"
    shutil.copytree(SEED, folder)
    path = folder / "metric-scores" / "en-de" / "BLEU-refA.seg.score"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("AIRC")))
    told = registry("run", folder / "task.toml", exit_code=3).stderr
    assert "item 'AIRC 1': it has no score (10 of 36 items have this problem)" in told
