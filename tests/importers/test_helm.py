"""`registry import helm`: runs of HELM.

`helm_logs` was written by HELM itself (crfm-helm 0.5.16; `make.py` there); where something is wrong with a run, it is
made here as HELM writes it.
"""

import gzip
import json
from pathlib import Path

import pytest

from tests.importers import scores

LOGS = Path(__file__).parent / "helm_logs"


def stat(name, *values, split="test"):
    """A `Stat` to which values were added, written without what is None; one without values has no mean."""
    written = {"name": {"name": name, "split": split}, "count": len(values), "sum": sum(values), "sum_squared": 0}
    return written | ({"mean": sum(values) / len(values)} if values else {})


def instance(item, *stats, trial=0, perturbation=None):
    written = {"instance_id": item, "train_trial_index": trial, "stats": list(stats)}
    return written | ({"perturbation": perturbation} if perturbation else {})


@pytest.fixture
def run(tmp_path):
    def write(name, model, instances):
        folder = tmp_path / "runs" / "suite" / name
        folder.mkdir(parents=True)
        (folder / "run_spec.json").write_text(json.dumps({"name": name, "adapter_spec": {"model": model}}, indent=2))
        path = folder / "per_instance_stats.json"
        path.write_text(json.dumps(instances, indent=2))
        return path

    return write


ARGUMENTS = ("import", "helm", "runs", "--option", "metrics=exact_match")


def of_helm(metric):
    """HELM's own means, as `scores` gives them: over trials, by split and, where instances are perturbed, how."""
    found = []
    for model in ("aspen", "birch"):
        for one in json.loads((LOGS / model / "stats.json").read_text()):
            name, perturbation = one["name"], one["name"].get("perturbation")
            if name["name"] == metric and (perturbation or {}).get("computed_on", "perturbed") == "perturbed":
                parts = ["sums_num_train_trials_2_data_augmentation_extra_space2", metric]
                parts += ["extra_space_num_spaces-2"] * (perturbation is not None)
                parts += [name["split"]] * (name["split"] != "test")
                found.append((".".join(parts), "toy", model, pytest.approx(one["mean"], rel=1e-9)))
    return sorted(found, key=lambda row: row[:3])


def test_every_scenario_metric_perturbation_and_split_is_a_test_set_with_the_scores_of_helm(registry):
    registry("import", "helm", LOGS, "--task", "mine", "--option", "metrics=exact_match")
    own = of_helm("exact_match")
    assert len(own) == 2 * 2 * 2
    assert scores(registry) == own
    assert [row["system"] for row in registry("run", "mine/task.toml", "--format", "json").json][:2] == [
        "aspen", "birch"]


def test_trials_are_runs_of_the_model(registry):
    registry("import", "helm", LOGS, "--task", "mine", "--option", "metrics=exact_match")
    found = registry("query", "SELECT DISTINCT replicate FROM item_score ORDER BY ALL", "--format", "json").json
    assert [row["replicate"] for row in found] == [0, 1]


def test_a_run_may_be_compressed(registry, tmp_path):
    for file in (LOGS / "aspen").iterdir():
        (tmp_path / "logs").mkdir(exist_ok=True)
        (tmp_path / "logs" / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    registry("import", "helm", "logs", "--option", "metrics=exact_match")
    assert scores(registry) == [row for row in of_helm("exact_match") if row[2] == "aspen"]


@pytest.mark.parametrize(("name", "scenario"), [
    ("boolq:model=acme_a", "boolq"), ("boolq:model=acme_a,data_augmentation=all", "boolq_data_augmentation_all"),
    ("boolq:only=x,model_deployment=acme_a,model=acme_a,k=5", "boolq_only_x_k_5"), ("boolq", "boolq")])
def test_the_model_is_no_part_of_the_scenario(registry, run, name, scenario):
    run(name, "acme/a", [instance("id1", stat("exact_match", 1))])
    registry(*ARGUMENTS)
    assert scores(registry)[0][0] == f"{scenario}.exact_match"


def test_an_instance_without_the_statistic_is_not_left_out_in_silence(registry, run):
    run("boolq:model=a", "a", [instance("id1", stat("exact_match", 1)), instance("id2", stat("exact_match"))])
    run("boolq:model=b", "b", [instance("id1", stat("exact_match", 0)), instance("id2", stat("exact_match", 1))])
    assert "per_instance_stats.json: 'a' has no score of 1 item of 2 in 'boolq.exact_match', such as 'id2'" in registry(
        *ARGUMENTS, exit_code=3).stderr
    registry(*ARGUMENTS, "--option", "missing=drop")
    assert [row["score"] for row in registry("run", "runs/task.toml", "--format", "json").json] == [1, 0]


RIGHT = instance("id1", stat("exact_match", 1))


@pytest.mark.parametrize(("instances", "says"), [
    ({}, "per_instance_stats.json: this is not a list of instances"),
    ([7], "per_instance_stats.json: no key 'instance_id'"),
    ([instance("id1", {"name": "exact_match"})], "no key 'name.name'"),
    ([instance("id1", stat("f1", 1))], "runs: no instance has the statistic 'exact_match'; known: f1"),
    ([instance("id1", stat("exact_match", float("inf")))], "the mean of 'exact_match' is inf; expected a finite"),
    ([RIGHT, RIGHT], "item 'id1 (exact_match, trial 0)': occurs twice"),
    ([instance("id1", stat("exact_match", 1), trial=True)], "'train_trial_index' is true"),
    ([instance("id\n1", stat("exact_match", 1))], "the name 'id\\n1' is empty, or has a control"),
])
def test_what_is_wrong_is_named(registry, run, instances, says):
    run("boolq:model=a", "a", instances)
    assert says in registry(*ARGUMENTS, exit_code=3).stderr


def test_the_run_itself_must_be_known_and_there_once(registry, run):
    path = run("boolq:model=a", "acme/a", [RIGHT])
    run("boolq:model=acme_a", "acme/a", [RIGHT])
    assert "this is a second run of 'acme/a' on 'boolq', after runs/suite/boolq:model=a/per_instance" in registry(
        *ARGUMENTS, exit_code=3).stderr
    path.with_name("run_spec.json").write_text("{\n{")
    assert "run_spec.json:2: not JSON" in registry(*ARGUMENTS, exit_code=3).stderr
    path.with_name("run_spec.json").unlink()
    assert "run_spec.json: cannot read the file" in registry(*ARGUMENTS, exit_code=3).stderr
    assert "helm needs the option 'metrics'" in registry("import", "helm", "runs", exit_code=3).stderr
