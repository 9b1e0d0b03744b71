"""`registry import helm`: runs of HELM, as its Runner writes them (crfm-helm 0.5.16)."""

import json

import pytest

from tests.importers import scores


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


def test_a_scenario_is_a_test_set_and_a_model_a_system(registry, run):
    for model, right in (("openai/gpt-x", (1, 0)), ("acme/aspen", (1, 1))):
        run(f"mmlu:subject=anatomy,method=joint,model={model.replace('/', '_')}", model, [
            instance("id1", stat("exact_match", right[0]), stat("num_output_tokens", 7)),
            instance("id2", stat("exact_match", right[1])), instance("id1", stat("inference_runtime", 0.5))])
    registry(*ARGUMENTS)
    assert scores(registry) == [("mmlu_subject_anatomy_method_joint.exact_match", "acme", "aspen", 1),
                                ("mmlu_subject_anatomy_method_joint.exact_match", "openai", "gpt-x", 0.5)]
    assert [row["system"] for row in registry("run", "runs/task.toml", "--format", "json").json] == ["aspen", "gpt-x"]


@pytest.mark.parametrize(("name", "scenario"), [
    ("boolq:model=acme_a", "boolq"), ("boolq:model=acme_a,data_augmentation=all", "boolq_data_augmentation_all"),
    ("boolq:only=x,model_deployment=acme_a,model=acme_a,k=5", "boolq_only_x_k_5"), ("boolq", "boolq")])
def test_the_model_is_no_part_of_the_scenario(registry, run, name, scenario):
    run(name, "acme/a", [instance("id1", stat("exact_match", 1))])
    registry(*ARGUMENTS)
    assert scores(registry)[0][0] == f"{scenario}.exact_match"


def test_perturbed_instances_and_other_splits_are_test_sets_of_their_own(registry, run):
    typos = {"name": "typos", "robustness": True, "fairness": False, "computed_on": "perturbed", "seed": 0, "prob": 0.1}
    run("boolq:model=a", "a", [
        instance("id1", stat("exact_match", 1)), instance("id1", stat("exact_match", 0), perturbation=typos),
        instance("id2", stat("exact_match", 1, split="valid"))])
    registry(*ARGUMENTS)
    assert scores(registry) == [("boolq.exact_match", "a", "a", 1), ("boolq.exact_match.typos_prob-0.1", "a", "a", 0),
                                ("boolq.exact_match.valid", "a", "a", 1)]


def test_trials_are_runs(registry, run):
    run("boolq:model=a", "a", [instance(item, stat("exact_match", value), trial=trial)
                               for trial, values in enumerate([(1, 0), (1, 1), (0, 0)])
                               for item, value in zip(("id1", "id2"), values, strict=True)])
    registry(*ARGUMENTS)
    found = registry("query", "SELECT replicate, avg(score) FROM item_score GROUP BY ALL ORDER BY ALL", "--format",
                     "json").json
    assert [tuple(row.values()) for row in found] == [(0, 0.5), (1, 1), (2, 0)]


def test_an_instance_without_the_statistic_is_not_left_out_in_silence(registry, run):
    run("boolq:model=a", "a", [instance("id1", stat("exact_match", 1)), instance("id2", stat("exact_match"))])
    run("boolq:model=b", "b", [instance("id1", stat("exact_match", 0)), instance("id2", stat("exact_match", 1))])
    assert "per_instance_stats.json: 'a' has no score of 1 item of 2 in 'boolq.exact_match', such as 'id2'" in registry(
        *ARGUMENTS, exit_code=3).stderr
    registry(*ARGUMENTS, "--option", "missing=drop")
    assert [row["score"] for row in registry("run", "runs/task.toml", "--format", "json").json] == [1, 0]


RIGHT = instance("id1", stat("exact_match", 1))


@pytest.mark.parametrize(("instances", "says"), [
    ({}, "per_instance_stats.json: not a list of instances"),
    ([7], "per_instance_stats.json: no key 'instance_id'"),
    ([instance("id1", {"name": "exact_match"})], "no key 'name.name'"),
    ([instance("id1", stat("f1", 1))], "runs: no instance has the statistic 'exact_match'; known: f1"),
    ([instance("id1", stat("exact_match", float("inf")))], "the mean of 'exact_match' is inf; expected a finite"),
    ([RIGHT, RIGHT], "item 'id1 (exact_match, trial 0)': stands twice"),
    ([instance("id1", stat("exact_match", 1), trial=True)], "'train_trial_index' is true"),
    ([instance("id\n1", stat("exact_match", 1))], "the name 'id\\n1' is empty or has a control"),
])
def test_what_is_wrong_is_named(registry, run, instances, says):
    run("boolq:model=a", "a", instances)
    assert says in registry(*ARGUMENTS, exit_code=3).stderr


def test_the_run_itself_must_be_known_and_there_once(registry, run):
    path = run("boolq:model=a", "acme/a", [RIGHT])
    run("boolq:model=acme_a", "acme/a", [RIGHT])
    assert "a run of 'acme/a' on 'boolq', as runs/suite/boolq:model=a/per_instance_stats.json is; keep one" in registry(
        *ARGUMENTS, exit_code=3).stderr
    path.with_name("run_spec.json").write_text("{\n{")
    assert "run_spec.json:2: not JSON" in registry(*ARGUMENTS, exit_code=3).stderr
    path.with_name("run_spec.json").unlink()
    assert "run_spec.json: cannot read the file" in registry(*ARGUMENTS, exit_code=3).stderr
    assert "helm needs the option 'metrics'" in registry("import", "helm", "runs", exit_code=3).stderr
