"""`registry import every-eval-ever`: records of Every Eval Ever, as its schemas (0.3.0) and its demonstration are.

`every_eval_ever_logs` was written by Every Eval Ever's own program, of the harness's logs in `lm_eval_logs` (`make.py`
there). Records of registries: test_eval_records_of_registries.py, and, read back, tests/releases/test_eval_records.py.
"""

import json
import shutil
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.importers import EveryEvalEver, LmEval
from tests.importers import scores
from tests.needs import need
from tests.scenarios.every_eval_ever import HERE, check_records, write_record

LOGS = Path("logs")
CONVERTED, HARNESS = (Path(__file__).parent / name for name in ("every_eval_ever_logs", "lm_eval_logs"))
RIGHT = {"i1": 1.0, "i2": 0.0, "i3": 0.5}


def write(model="acme/aspen", benchmark="arc", found=None, file="1", **more):
    return write_record(LOGS, model, benchmark, found or RIGHT, file=file, **more)


def change(file="1", *, record=None, sample=None):
    """Change a record, or every line of its samples, into what a function gives of it: for a line a list of lines."""
    path = LOGS / f"{file}.json"
    if record is not None:
        path.write_text(json.dumps(record(json.loads(path.read_text()))))
    if sample is not None:
        beside = LOGS / f"{file}_samples.jsonl"
        beside.write_text("".join(json.dumps(of) + "\n" for line in beside.read_text().splitlines()
                                  for of in sample(json.loads(line))))


def read(**options):
    return EveryEvalEver.build(options).read(LOGS)


def rows(folder, name):
    return [json.loads(line) for line in folder.files[name].splitlines()]


def results(record, *changes):
    """The record with as many results, each the first one with changes."""
    (one,) = record["evaluation_results"]
    return record | {"evaluation_results": [one | change for change in changes]}


def test_models_are_paired_by_sample_and_scores_are_those_of_the_records(registry):
    write()
    write("Tree Lab/birch", found={"i3": 0.5, "i1": 1.0, "i2": 1.0}, file="2")
    write(benchmark="mmlu", file="3")
    need("real data", there=HERE.is_dir())
    assert check_records(LOGS)[0] == 3
    registry("import", "every-eval-ever", "logs", "--task", "mine")
    assert scores(registry) == [
        ("arc.accuracy", "Tree Lab", "birch", pytest.approx(2.5 / 3, rel=1e-9)),
        ("arc.accuracy", "acme", "aspen", 0.5), ("mmlu.accuracy", "acme", "aspen", 0.5)]


def test_the_demonstration_is_read():
    need("real data", there=HERE.is_dir())
    folder = EveryEvalEver().read(HERE / "demo")
    assert rows(folder, "demo-source.demo_bench.accuracy/systems/demo-org_demo-model.jsonl") == [
        {"item": "demo_0001", "score": 1.0}]
    assert folder.notes == ("1 score differs from the mean of the samples; boards use the mean: "
                            "demo-org/demo-model on demo-source.demo_bench.accuracy: 1, not 0.75",)


def test_what_the_own_program_converts_has_the_scores_that_the_harness_s_logs_have():
    """Of the task `texts` its samples do not say which of three perplexities they are; a group has none."""
    folder = EveryEvalEver(metrics=("accuracy", "exact-match")).read(CONVERTED)
    logs = LmEval(metrics=("acc", "exact_match")).read(HARNESS)
    called = {"choice.acc": "choice.accuracy", "last.acc": "last.accuracy", **{
        f"sums.{name}.exact_match": f"sums_{name}.exact-match" for name in ("strict-match", "flexible-extract")}}
    for own, test_set in called.items():
        for model in ("aspen-7b", "birch-1b"):
            one, other = (sorted(row["score"] for row in rows(of, f"{name}/systems/acme_{model}.jsonl"))
                          for of, name in ((folder, test_set), (logs, own)))
            assert one == other
            assert len(one) > 2
    assert [note.partition(" samples")[0] for note in folder.notes] == ["2 scores have no"]
    assert "samples of 2 records are ignored" in EveryEvalEver(benchmarks=("texts", "choice"), better="higher").read(
        CONVERTED).notes[-1]


def test_metrics_of_one_record_are_put_together_and_epochs_are_runs():
    """A sample that ended in an error has no score, and no more has one of an unknown level."""
    write()
    levels = {"metric_id": "level", "lower_is_better": False, "score_type": "levels", "level_names": ["a"],
              "has_unknown_level": True}
    change(record=lambda of: results(of, {}, {"evaluation_result_id": "level", "metric_config": levels}),
           sample=lambda of: [
               of | {"metadata": {"epoch": "1"}},
               of | {"metadata": {"epoch": "2"}, "error": "timeout" if of["sample_id"] == "i3" else None},
               of | {"evaluation_result_id": "level", "evaluation": {
                   "score": -1 if of["sample_id"] == "i1" else 2, "is_correct": False}}])
    with pytest.raises(InputError, match=r"'acme/aspen' \(run 2\) has no score of 1 item of 3 in 'arc.accuracy', such "
                       "as 'i3'; add --option missing=drop"):
        read()
    folder = read(missing="drop")
    of_model = {name: [row["score"] for row in rows(folder, name)] for name in folder.files if "systems" in name}
    assert of_model == {
        "arc.accuracy/systems/acme_aspen/1.jsonl": [1.0, 0.0, 0.5],
        "arc.accuracy/systems/acme_aspen/2.jsonl": [1.0, 0.0], "arc.level/systems/acme_aspen.jsonl": [2.0, 2.0]}
    assert [of["name"] for of in read(metrics="level", missing="drop").tables["test_set"]] == ["arc.level"]
    with pytest.raises(InputError, match="no benchmark 'ark'; did you mean 'arc'"):
        read(benchmarks="ark")


def test_a_score_without_samples_is_told_and_alone_refused():
    write(samples=False, score=0.75)
    change(record=lambda of: results(of, {"score_details": {"score": 0.75, "uncertainty": {
        "confidence_interval": {"lower": 0.7, "upper": 0.8}}}}))
    told = "acme/aspen on arc.accuracy: 0.75 [0.7, 0.8]"
    with pytest.raises(InputError, match="no record has samples") as error:
        read()
    assert told in str(error.value)
    write("b", file="2")
    assert read().notes == (f"1 score has no samples, so tests are not possible: {told}",)


def test_copies_are_taken_once_and_what_contradicts_them_is_refused():
    write()
    write(file="2", retrieved_timestamp="1760000000")
    assert read().notes == ("1 record is a copy of another record; the copies are ignored",)
    write(file="2", score=0.6)
    with pytest.raises(InputError, match="differs from the one in"):
        read()
    write(file="2", time="1750000000.0", found=RIGHT | {"i1": 0.0})
    with pytest.raises(InputError, match="this is a second evaluation of 'acme/aspen' on 'arc'"):
        read()
    with pytest.raises(InputError, match="this record has the same time as"):
        read(repeated="latest")
    write(file="2", time="2025-06-15T16:53:21Z", found=RIGHT | {"i1": 0.0})  # 1,750,006,401 seconds
    latest = "arc.accuracy/systems/acme_aspen.jsonl"
    assert rows(read(repeated="latest"), latest)[0] == {"item": "i1", "score": 0.0}
    assert {name for name in read(repeated="runs").files if "systems" in name} == {
        f"arc.accuracy/systems/acme_aspen/{n}.jsonl" for n in (1, 2)}


def test_what_tells_scores_of_one_name_apart_is_in_the_names():
    write()
    source = {"dataset_name": "ai2_arc", "source_type": "hf_dataset", "hf_split": "test"}
    metric = {"metric_id": "pass_at_k", "lower_is_better": False}
    change(record=lambda of: results(of, *({"evaluation_result_id": f"k{k}", "metric_config": metric | {
        "metric_parameters": {"k": k}}} for k in (1, 5)), {"evaluation_result_id": "s", "source_data": source}),
        sample=lambda of: [of | {"evaluation_result_id": name} for name in ("k1", "k5", "s")])
    assert [of["name"] for of in read().tables["test_set"]] == [
        "arc.arc.pass_at_k.k-1", "arc.arc.pass_at_k.k-5", "arc.ai2_arc.test.accuracy"]
    change(record=lambda of: of | {"evaluation_results": of["evaluation_results"][:1] * 2})
    with pytest.raises(InputError, match=r"two scores of 'arc.pass_at_k.k-1', and nothing distinguishes them"):
        read()


def test_lower_scores_may_be_better_but_not_both():
    write()
    change(record=lambda of: results(of, {"metric_config": {"metric_name": "error", "lower_is_better": True}}))
    (metric,) = read().tables["metric"]
    assert metric["options"] == {"better": "lower"}
    write("b", file="2")
    change("2", record=lambda of: results(of, {"metric_config": {"metric_name": "error", "lower_is_better": False}}))
    with pytest.raises(InputError, match=r"higher scores of 'arc.error' are better here, but lower scores in other"):
        read()


def test_other_inputs_are_told_and_other_references_refused():
    write()
    write("b", file="2")
    change("2", sample=lambda of: [of | {"input": of["input"] | {"raw": "<s>" + of["input"]["raw"]}}])
    assert "3 samples have different inputs or prompts for different models" in read().notes[0]
    change("2", sample=lambda of: [of | {"input": {"raw": "", "reference": ["another"]}}])
    with pytest.raises(InputError, match=r"the reference differs from the one in logs/1_samples.jsonl, so this is not"):
        read()


SAMPLE = "logs/1_samples.jsonl"


@pytest.mark.parametrize(("says", "record", "sample"), [
    ("logs/1.json: no key 'evaluation_id'", lambda of: {}, None),
    ("logs/1.json: no key 'evaluation_id'", lambda of: [of], None),
    ("'evaluation_results' is 7", lambda of: of | {"evaluation_results": 7}, None),
    ("no key 'metric_config'", lambda of: of | {"evaluation_results": [{}]}, None),
    ("not a finite number", lambda of: results(of, {"score_details": {"score": 10**400}}), None),
    ("not a finite number", lambda of: results(of, {"score_details": {"score": float("nan")}}), None),
    ("'metric_id' of a result is not text", lambda of: results(
        of, {"metric_config": {"metric_id": 1, "lower_is_better": False}}), None),
    ("3 lines, but 2 in the record", lambda of: of | {
        "detailed_evaluation_results": {"file_path": "data/1_samples.jsonl", "total_rows": 2}}, None),
    ("the md5 of the file is", lambda of: of | {"detailed_evaluation_results": {
        "file_path": "data/a/b/1_samples.jsonl", "hash_algorithm": "md5", "checksum": "00"}}, None),
    (f"{SAMPLE}:1: item 'i1': 'model_id' is 'other'", None, lambda of: [of | {"model_id": "other"}]),
    (f"{SAMPLE}:1: item 'i1': 'evaluation_id' is 'other'", None, lambda of: [of | {"evaluation_id": "other"}]),
    (f"{SAMPLE}:2: item 'i1': occurs twice, first in line 1", None, lambda of: [of, of]),
    (f"{SAMPLE}:1: item 'i1': 'evaluation.score' is not a finite number", None, lambda of: [
        of | {"evaluation": {"score": 10**400, "is_correct": True}}]),
    (f"{SAMPLE}:1: not JSON: NaN is not JSON", None, lambda of: [
        of | {"evaluation": {"score": float("nan"), "is_correct": True}}]),
    ("'evaluation.score' is \"1\"; expected a number", None, lambda of: [of | {"evaluation": {"score": "1"}}]),
    (f"{SAMPLE}:1: 'metadata' has a value that is not text", None, lambda of: [of | {"metadata": {"epoch": 1}}]),
    (f"{SAMPLE}:1: no key 'input'", None, lambda of: [{key: of[key] for key in of if key != "input"}]),
    (f"{SAMPLE}:1: the name 'i\\x00i1' is empty, or has a control", None, lambda of: [
        of | {"sample_id": "i\0" + of["sample_id"]}]),
    (f"{SAMPLE}:1: the line is not a JSON object", None, lambda of: [[of]]),
])
def test_what_is_wrong_is_named(says, record, sample):
    write()
    change(record=record, sample=sample)
    with pytest.raises(InputError) as error:
        read()
    assert says in str(error.value)


def test_samples_that_may_belong_to_several_scores_are_passed_over():
    write()
    change(record=lambda of: results(of, {}, {"metric_config": {"metric_id": "f1", "lower_is_better": False}}),
           sample=lambda of: [{key: of[key] for key in of if key != "evaluation_result_id"}])
    with pytest.raises(InputError, match=r"no record has samples .* that name their score"):
        read()
    write("b", file="2")
    told = read().notes
    assert told[0].startswith("2 scores have no samples")
    assert told[1] == ("the samples of 1 record are ignored, because the record has several scores and the samples "
                       "have no 'evaluation_result_id': logs/1.json")


def test_samples_lie_beside_their_record():
    write()
    change(record=lambda of: of | {"detailed_evaluation_results": {"file_path": "../../outside_samples.jsonl"}})
    shutil.move(SAMPLE, "outside_samples.jsonl")
    with pytest.raises(InputError, match="no record has samples"):
        read()
    Path(SAMPLE).symlink_to(Path("outside_samples.jsonl").resolve())
    with pytest.raises(InputError, match="this link points to a file outside the folder"):
        read()
