"""Damaged logs of every kind: a named error or a task whose manifest and files can be read, never anything else."""

import json
import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import pytest

from registry.errors import InputError
from registry.evaluation.ingest.declared import expand_submissions
from registry.evaluation.resolve import resolve
from registry.importers import IMPORTERS
from registry.manifest import load_manifest
from registry.values import build
from tests.fuzz.mutations import mutated
from tests.importers import test_eval_arena, test_helm, test_inspect_log, test_lm_eval, test_mteb, test_swebench
from tests.scenarios.every_eval_ever import record_and_samples, record_of_registry

ROUNDS = 100


def jsonl(*entries):
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


def packed(content):
    """The log whose member holds all that can be wrong; the archive itself is whole."""
    return test_inspect_log.deflated({"header.json": test_inspect_log.header(), "summaries.json": content})


class Log(NamedTuple):
    """A log of which one file, `changed`, is damaged, before it is packed."""

    kind: str
    changed: str
    content: bytes
    pack: Callable[[bytes], bytes] = lambda content: content
    others: Mapping[str, bytes] = MappingProxyType({})
    options: Mapping[str, str] = MappingProxyType({})


SAMPLES, STATS, SPEC = "aspen/samples_arc_2027.jsonl", "run/per_instance_stats.json", "run/run_spec.json"
RESULTS = {"model_name": "acme/aspen", "higher_is_better": {"arc": {"acc": True}}, "results": {"arc": {"acc,none": 1}}}
OF_INSPECT = [test_inspect_log.sample(n, epoch, {"m": "C", "k": {"a": 1}}) for n in range(2) for epoch in (1, 2)]
REDUCTIONS = [{"scorer": "m", "reducer": "max", "samples": [{"sample_id": n, "value": 1.0} for n in range(2)]}]
RESULTS_OF_INSPECT = {"scores": [{"name": "m", "scorer": "m", "metrics": {"accuracy": {"value": 1.0}}}]}
MEMBERS = test_inspect_log.members(test_inspect_log.header(), OF_INSPECT)
INSTANCES = json.dumps([
    test_helm.instance(f"id{n}", test_helm.stat("em", 1), test_helm.stat("len", 7), trial=trial,
                       perturbation={"name": "typos", "prob": 0.1}) for n in range(2) for trial in range(2)],
    indent=2).encode()
RUN_SPEC = b'{"name": "boolq:model=a", "adapter_spec": {"model": "acme/a"}}'
RECORD, LINES = record_and_samples("acme/aspen", "arc", {"i1": 1.0, "i2": 0.25})
OF_REGISTRY, COUNTED = record_of_registry()
LOGS = {
    "every-eval-ever": Log("every-eval-ever", "1.json", json.dumps(RECORD, indent=1).encode(), others={
        "1_samples.jsonl": jsonl(*LINES)}),
    "every-eval-ever samples": Log("every-eval-ever", "1_samples.jsonl", jsonl(*LINES), others={
        "1.json": json.dumps(RECORD).encode()}),
    "every-eval-ever task": Log("every-eval-ever", "1.json", json.dumps(OF_REGISTRY, indent=1).encode(), others={
        "1_samples.jsonl": jsonl(*COUNTED)}),
    "every-eval-ever statistics": Log("every-eval-ever", "1_samples.jsonl", jsonl(*COUNTED), others={
        "1.json": json.dumps(OF_REGISTRY).encode()}),
    "lm-eval": Log("lm-eval", SAMPLES, jsonl(*(test_lm_eval.sample(n, {"acc": n % 2, "f": 0.5}) for n in range(3)))),
    "lm-eval perplexity": Log("lm-eval", SAMPLES, jsonl(*(
        test_lm_eval.sample(n, {"word_perplexity": [-7.5 * n - 1, n + 1]}) for n in range(3))), others={
            "aspen/results_2027.json": b'{"results": {"arc": {"word_perplexity,none": 70.10541234668786}}}'},
        options={"metrics": "word_perplexity"}),
    "lm-eval results": Log("lm-eval", "aspen/results_2027.json", json.dumps(RESULTS).encode(), others={
        SAMPLES: jsonl(test_lm_eval.sample(0, {"acc": 1.0}))}),
    "inspect": Log("inspect", "1.eval", json.dumps(OF_INSPECT, indent=2).encode(), packed),
    "inspect archive": Log("inspect", "1.eval", test_inspect_log.deflated(MEMBERS)),
    "inspect zstandard": Log("inspect", "1.eval", test_inspect_log.zstandard_zip(MEMBERS)),
    "helm": Log("helm", STATS, INSTANCES, others={SPEC: RUN_SPEC}, options={"metrics": "em"}),
    "long": Log("long", "table.csv", b"".join(
        b"q%d,d%d,%s,%d,0.%d\n" % (n, n // 2, system, run, (n + run) % 10)
        for n in range(4) for system in (b"acme/aspen", b"birch") for run in (1, 2)), options={
            "columns": ["item", "doc", "model", "seed", "acc"], "system": "model", "run": "seed", "score": "acc",
            "attributes": "doc"}),
    "long JSON": Log("long", "table.json", json.dumps([
        {"doc": {"id": f"q{n}"}, "model": system, "of": "arc", "results": [n % 2]}
        for n in range(3) for system in ("aspen", "birch")], indent=1).encode(), options={
            "syntax": "json", "item": "doc.id", "system": "model", "test_set": "of", "score": "results.0"}),
    "wide runs": Log("wide", "table.csv", b"q,a.1,a.2,b.1,b.2\n" + b"".join(
        b"q%d,1,0,%d,0.5\n" % (n, n % 2) for n in range(4)), options={"item": "q", "runs": "{system}.{run}"}),
    "helm run": Log("helm", SPEC, RUN_SPEC, others={STATS: INSTANCES}, options={"metrics": "em"}),
    "swe-bench": Log("swe-bench", "a.r.json", json.dumps(test_swebench.report([0], [1], [2], [3], [4]),
                                                        indent=4).encode()),
    "swe-bench results": Log("swe-bench", "a/results/results.json", json.dumps(
        {"no_generation": ["x__x-1"], "no_logs": ["x__x-2"], "resolved": ["x__x-3"]}, indent=4).encode(),
        others={"all.txt": b"x__x-1\nx__x-2\nx__x-3\nx__x-4\n"}, options={"instances": "all.txt"}),
    "swe-bench metadata": Log("swe-bench", "20250101_a/metadata.yaml", b"info:\n  name: Aspen\n  site: [a, b]\ntags:\n"
                              b"  org: acme\n  model: &m\n    - x\n  os_model: false\n", others={
                                  "20250101_a/per_instance_details.json": b'{"x__x-1": {"resolved": true}}'}),
    "inspect json": Log("inspect", "2027-03-01T00-00-00_t_x.json", json.dumps(
        test_inspect_log.header() | {"samples": OF_INSPECT, "reductions": REDUCTIONS, "results": RESULTS_OF_INSPECT},
        indent=2).encode(), options={"reducer": "max"}),
    "lm-eval group": Log("lm-eval", "aspen/results_2027.json", json.dumps(RESULTS | {
        "groups": {"g": {"acc,none": 1}}, "group_subtasks": {"g": ["h"], "h": ["arc"]}}).encode(), others={
            SAMPLES: jsonl(test_lm_eval.sample(0, {"acc": 1.0}))}, options={"group": "g"}),
    "eval-arena": Log("eval-arena", "a.jsonl", jsonl(*(
        test_eval_arena.line(model, n, 0.5, count=2, correct=1) for model in "ab" for n in range(3)))),
    "mteb": Log("mteb", "acme__aspen/r/STS.json", json.dumps(
        test_mteb.results("STS", test={"eng": 0.5, "deu": 0.25}), indent=2).encode(), others={
            "acme__aspen/r/model_meta.json": b'{"name": "acme/aspen"}'}),
    "mteb model": Log("mteb", "acme__aspen/r/model_meta.json", b'{"name": "acme/aspen", "revision": "r"}', others={
        "acme__aspen/r/STS.json": json.dumps(test_mteb.results("STS", test={"eng": 0.5})).encode()}),
    "swe-bench details": Log("swe-bench", "a/per_instance_details.json", json.dumps(
        {f"x__x-{n}": {"cost": n / 7, "resolved": n == 1} for n in range(3)}, indent=4).encode()),
}


def put(log, path):
    """Write what lies beside the damaged file."""
    for file in (*log.others, log.changed):
        (path / file).parent.mkdir(parents=True, exist_ok=True)
    for file, content in log.others.items():
        (path / file).write_bytes(content)


def trial(log, path, folder, seed=None):
    """Damage the log at a path, import it into a folder, and read all of that: the refusal's text, or None.

    Every answer that is read must be one to an item. Without a seed the log is whole.
    """
    content = log.content if seed is None else mutated(log.content, random.Random(seed))
    (path / log.changed).write_bytes(log.pack(content))
    try:
        of_one_file = log.kind in ("long", "wide")
        imported = build("importer", IMPORTERS, log.kind, log.options).read(path / log.changed if of_one_file else path)
        with imported.write(folder, "t") as manifest:
            task = resolve(load_manifest(manifest)[0], manifest)
            for one in expand_submissions(task):
                gold = task.readers[one.test_set.name].read_gold(task.gold_documents(one.test_set))
                answers = [answer for document in one.documents for answer in one.read_answers(document)]
                assert {answer.key for answer in answers} <= {item.key for item in gold}
    except InputError as error:
        return str(error)
    return None


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOGS)
def test_a_damaged_log_is_read_or_refused(name, tmp_path):
    put(log := LOGS[name], tmp_path / "out")
    assert trial(log, tmp_path / "out", tmp_path / "whole") is None
    told = [trial(log, tmp_path / "out", tmp_path / str(n), f"{log.kind} {log.changed} {n}") for n in range(1, ROUNDS)]
    refusals = [of for of in told if of is not None]
    assert refusals
    assert max(map(len, refusals)) < 2500
