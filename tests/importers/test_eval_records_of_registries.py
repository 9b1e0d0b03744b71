"""`registry import every-eval-ever` of records that say to be a registry's: what is wrong with them is named."""

import json
import shutil
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.importers import EveryEvalEver
from tests.scenarios.every_eval_ever import record_of_registry

LOGS = Path("logs")
SAMPLE = "logs/1_samples.jsonl"


@pytest.mark.parametrize(("says", "task", "submission", "metadata"), [
    ("test_set.0.cluster", {"test_sets": [{"name": "arc", "cluster": 7}]}, {}, {}),
    ("does not belong to the task of this record", {"test_sets": [{"name": "../arc"}]}, {}, {}),
    ("unknown metric 'Spam'", {"metrics": [{"id": "accuracy", "name": "Spam"}]}, {}, {}),
    ("'arc.accuracy' is not a score of this task", {"metrics": [{"id": "../a", "name": "SpanF"}]}, {}, {}),
    ("unknown test 'sine'", {"significance": {"test": "sine"}}, {}, {}),
    ("significance.nonsense", {"significance": {"test": "sign", "nonsense": 1}}, {}, {}),
    ("'board' is null", {"board": None}, {}, {}),
    ("'title' is 7", {"title": 7}, {}, {}),
    ("submit.0.attributes.size", {}, {"attributes": {"size": None}}, {}),
    ("submit.0.system", {}, {"system": "../../x"}, {}),
    ("'factors' does not name the factors that distinguish", {}, {"factors": [{"run": "../1"}, {"run": "2"}]}, {}),
    ("'factors' does not name the factors that distinguish", {},
     {"factors": [{"nonsense": "1"}, {"nonsense": "2"}]}, {}),
    ("is not a list of 3 values", {}, {}, {"statistics": "[1, 2]"}),
    ("not a finite number", {}, {}, {"statistics": f"[1, 2, 1{'0' * 400}]"}),
    ("not a finite number", {}, {}, {"statistics": "[1, 2, NaN]"}),
    ("nested too deeply", {}, {}, {"statistics": "[" * 100_000}),
    ("'attributes' is not an object whose values are text", {}, {}, {"attributes": '{"document": 1}'}),
    ("'attributes' has half of a character", {}, {}, {"attributes": r'{"document": "\ud800"}'}),
])
def test_what_is_wrong_with_a_registry_s_records_is_named(says, task, submission, metadata):
    record, samples = record_of_registry(task, submission)
    LOGS.mkdir()
    (LOGS / "1.json").write_text(json.dumps(record))
    (LOGS / "1_samples.jsonl").write_text("".join(json.dumps(
        of | {"metadata": of["metadata"] | metadata}) + "\n" for of in samples))
    with pytest.raises(InputError) as error:
        EveryEvalEver().read(LOGS)
    assert says in str(error.value)
    assert str(error.value).startswith("logs/1")


def test_the_samples_of_a_registry_s_record_name_its_items():
    record, samples = record_of_registry()
    LOGS.mkdir()
    (LOGS / "1.json").write_text(json.dumps(record))
    Path(SAMPLE).write_text("\xa0")
    with pytest.raises(InputError, match=r"logs/1\.json.* no sample has the score 'arc\.accuracy', so the items"):
        EveryEvalEver().read(LOGS)
    Path(SAMPLE).write_text(json.dumps(samples[0] | {"sample_id": "\ud800"}))
    with pytest.raises(InputError, match="'sample_id' has half of a character"):
        EveryEvalEver().read(LOGS)


def test_the_records_of_two_exports_are_not_one_task():
    LOGS.mkdir()
    for n in (1, 2):
        record, samples = record_of_registry({"significance": {"test": "permutation", "seed": 1, "alpha": None}})
        record["evaluation_id"] += str(n)
        (LOGS / f"{n}.json").write_text(json.dumps(record))
        (LOGS / f"{n}_samples.jsonl").write_text("".join(json.dumps(
            of | {"evaluation_id": record["evaluation_id"]}) + "\n" for of in samples))
    with pytest.raises(InputError, match=r"this is a second record of acme/aspen@2, after logs/1.json; import"):
        EveryEvalEver().read(LOGS)
    shutil.move(LOGS / "1.json", "1.json")
    folder = EveryEvalEver().read(LOGS)
    assert folder.tables["significance"] == {"test": "permutation", "seed": 1}
    assert folder.tables["metric"] == [{"id": "accuracy", "name": "Recorded", "primary": True, "options": {
        "of": "SpanF(type=none, beta=1)", "columns": [f"accuracy:{of}" for of in (
            "true_positives", "predicted", "gold")]}}]
    (submit,) = folder.tables["submit"]
    assert submit == {"file": "arc/systems/1-aspen/{run}.jsonl", "team": "acme", "system": "aspen", "version": "2",
                      "test_set": "arc", "missing": "reject", "kind": "baseline", "attributes": {"size": 7.5}}
