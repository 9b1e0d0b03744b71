"""Boards that go out as records of Every Eval Ever and come back: all records validate, and all numbers are the same.

`python -m tests.scenarios.every_eval_ever [TASK...]` does so with the sample tasks and the real ones, reads 2,000
records of 200 models on 10 benchmarks, and prints a table. Each record is held against the schemas of Every Eval Ever
itself (0.3.0), which lie with the real data.
"""

import json
import sys
import tempfile
import time
from contextlib import chdir
from functools import cache
from hashlib import sha256
from pathlib import Path

import jsonschema
import numpy as np
from typer.testing import CliRunner

from registry.cli.app import app
from tests.conftest import REAL_DATA, ROOT

HERE = REAL_DATA / "interchange" / "every_eval_ever"
MADE = ("metric_name", "signature", "messages")  # the metric of recorded statistics, their gold, what files looked like
REAL = {"semeval2018-arc": "semeval2018-arc", "wnut17": "wnut17", "wmt22-cs-en": "wmt22-cs-en", "krennppv": "krennppv",
        "conll2018-fro_srcmf": "conll2018-fro", "wordalign": "wordalign", "wordsim-rg": "wordsim"}


@cache
def schema(name):
    return jsonschema.Draft7Validator(json.loads((HERE / name).read_text()))


def run(*arguments):
    """Run `registry ARGUMENTS`; whatever it cannot do is an error here."""
    done = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def check_records(folder, most=None):
    """Hold all records against the schemas, and (`most` lines of) their samples; give how many there are of each."""
    records = sorted(folder.rglob("*.json"))
    n_samples = 0
    for path in records:
        record = json.loads(path.read_text("utf-8"), parse_constant=refused)
        schema("eval.schema.json").validate(record)
        if (told := record.get("detailed_evaluation_results")) is None:
            continue
        content = (folder / told["file_path"]).read_bytes()
        lines = content.splitlines()
        assert (sha256(content).hexdigest(), len(lines)) == (told["checksum"], told["total_rows"])
        n_samples += len(lines)
        for line in lines[:most]:
            sample = json.loads(line, parse_constant=refused)
            schema("instance_level_eval.schema.json").validate(sample)
            assert sample["evaluation_id"] == record["evaluation_id"]
            assert sample["model_id"] == record["model_info"]["id"]
    return len(records), n_samples


def refused(constant):
    raise AssertionError(f"{constant} is not JSON")


def printed(task, db):
    """The boards and their pairs, without what names the metric that reads recorded statistics."""
    found = [json.loads(run(command, task, "--format", "json", "--db", db).stdout) for command in ("board", "pairs")]
    return [[{key: value for key, value in row.items() if key not in MADE} for row in rows] for rows in found]


def there_and_back(task, db, most=None):
    """Write the records of a task and read them into another registry; give their number, and the boards of both."""
    run("export", task, "every-eval-ever", "-o", "records", "--db", db)
    written = check_records(Path("records"), most)
    run("import", "every-eval-ever", "records", "--task", task, "--to", "back", "--db", "back.duckdb")
    run("compare", task, "--db", "back.duckdb")
    return written, printed(task, db), printed(task, "back.duckdb")


def write_synthetic(folder, models=200, benchmarks=10, items=100, seed=1):
    """Records as others write them: of every model on every benchmark, with a line for each item."""
    draws = np.random.default_rng(seed)
    for m in range(models):
        for b in range(benchmarks):
            right = (draws.random(items) < 0.3 + 0.5 * m / models).tolist()
            write_record(folder, f"org{m % 20}/model-{m}", f"bench{b}", {
                f"item{n}": float(one) for n, one in enumerate(right)}, file=f"{m:03}-{b}")


def write_record(folder, model, benchmark, scores, *, file, samples=True, **more):
    """Write a record as `record_and_samples` gives it."""
    record, lines = record_and_samples(model, benchmark, scores, **more)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{file}.json").write_text(json.dumps(record))
    if samples:
        (folder / f"{file}_samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def record_and_samples(model, benchmark, scores, *, score=None, time="1750000000", **more):
    """A record of a model's scores by item, and its samples, as the schemas want them."""
    name = f"{benchmark}/{model.replace('/', '_')}/{time}"
    record = {
        "schema_version": "0.3.0", "evaluation_id": name, "evaluation_timestamp": time, "retrieved_timestamp": time,
        "source_metadata": {"source_type": "evaluation_run", "source_organization_name": "somebody",
                            "evaluator_relationship": "third_party"},
        "eval_library": {"name": "other", "version": "1"},
        "model_info": {"name": model.rpartition("/")[2], "id": model, "additional_details": {
            "deployment_type": "unknown", "model_availability": "unknown"}},
        "evaluation_results": [{
            "evaluation_result_id": f"{benchmark}.accuracy", "evaluation_name": benchmark,
            "source_data": {"dataset_name": benchmark, "source_type": "other"},
            "metric_config": {"metric_id": "accuracy", "lower_is_better": False},
            "score_details": {"score": sum(scores.values()) / len(scores) if score is None else score}}], **more}
    return record, [{
        "schema_version": "0.3.0", "evaluation_id": name, "model_id": model, "evaluation_name": benchmark,
        "evaluation_result_id": f"{benchmark}.accuracy", "sample_id": item, "interaction_type": "single_turn",
        "input": {"raw": f"What is {item}?", "reference": [item]}, "output": {"raw": ["an answer"]},
        "answer_attribution": [], "evaluation": {"score": one, "is_correct": one == 1}}
        for item, one in scores.items()]


def record_of_registry(task=(), submission=()):
    """A record as a registry writes it, of two runs on two items, and its samples; with changes of what it says."""
    record, samples = record_and_samples("acme/aspen", "arc", {"i1": 1.0, "i2": 0.25})
    declared = {
        "id": "t", "title": "T", "version": "1", "test_sets": [{"name": "arc", "cluster": "document", "facets": []}],
        "metrics": [{"id": "accuracy", "name": "SpanF(beta=1)", "primary": True}],
        "significance": {"test": "permutation", "seed": 1}, "board": {"ranks": "range"}}
    submitted = {"team": "acme", "system": "aspen", "version": "2", "kind": "baseline", "attributes": {"size": 7.5}}
    details = {"task": json.dumps(declared | dict(task)), "test_set": "arc", "layout": "statistics",
               "submission": json.dumps(submitted | dict(submission))}
    return record | {"eval_library": {"name": "evalregistry", "version": "1", "additional_details": details}}, [
        of | {"metadata": {"statistics": "[1, 2, 3]", "attributes": '{"document": "d1"}', "run": str(n)}}
        for of in samples for n in (1, 2)]


def tasks():
    """The manifests of all tasks, and the options by which they find their files."""
    found = {path.parent.name: (path, ()) for path in sorted((ROOT / "sample_data").glob("*/task.toml"))}
    return found | {task: (ROOT / "tests" / "real_data" / f"{data}.toml", ("--root", REAL_DATA / data))
                    for data, task in REAL.items()}


def tell(task, manifest, options):
    """Run a task, write its records, read them, and say in a line whether all is the same."""
    run("run", manifest, *options, "--db", "own.duckdb")
    start = time.process_time()
    (records, samples), before, after = there_and_back(task, "own.duckdb")
    boards, pairs = before
    unlike = sorted({key for rows, others in zip(before, after, strict=True)
                     for row, other in zip(rows, others, strict=True) for key in row if row[key] != other[key]})
    print(f"{task:16} {records:7} {samples:9} {len(boards):9} {len(pairs):6}  {', '.join(unlike) or 'the same':20} "
          f"{time.process_time() - start:6.0f} s", flush=True)
    return bool(unlike)


def by_hand(chosen):
    print(f"{'task':16} {'records':>7} {'samples':>9} {'standings':>9} {'pairs':>6}  read back")
    wrong = False
    for task, (manifest, options) in tasks().items():
        if not chosen or task in chosen:
            with tempfile.TemporaryDirectory() as folder, chdir(folder):
                wrong |= tell(task, manifest, options)
    if not chosen or "synthetic" in chosen:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            write_synthetic(Path("records"))
            start, cpu = time.monotonic(), time.process_time()
            run("import", "every-eval-ever", "records", "--task", "many")
            print(f"200 models on 10 benchmarks of 100 items: read and scored in {time.monotonic() - start:.0f} s, "
                  f"{time.process_time() - cpu:.0f} s of processor time")
    return wrong


if __name__ == "__main__":
    sys.exit(by_hand(sys.argv[1:]))
