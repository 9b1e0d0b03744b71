"""`registry import mteb`: results as embeddings-benchmark/results publishes them."""

import json

import pytest

from registry.errors import InputError
from registry.importers import IMPORTERS
from tests.importers import scores

REVISION = "13f00a0e36500c80ce12870ea513846a066004af"


def results(task, **splits):
    """A task's results: splits with the subsets' main scores, in English but for those called after a language."""
    return {"dataset_revision": "1", "mteb_version": "1.12.75", "task_name": task, "evaluation_time": 9.5, "scores": {
        split: [{"hf_subset": subset, "languages": [f"{subset if len(subset) == 3 else 'eng'}-Latn"],
                 "main_score": score, "accuracy": score} for subset, score in subsets.items()]
        for split, subsets in splits.items()}}


@pytest.fixture
def write(tmp_path):
    def write(model, *tasks, revision=REVISION, **meta):
        folder = tmp_path / "results" / model / revision
        folder.mkdir(parents=True)
        for task in tasks:
            (folder / f"{task['task_name']}.json").write_text(json.dumps(task, indent=2))
        if meta:
            (folder / "model_meta.json").write_text(json.dumps(meta))
        return folder

    return write


def test_tasks_are_items_with_the_mean_of_their_subsets(registry, write):
    write("acme__aspen__large", results("STS22", test={"eng": 0.5, "deu": 0.7}, train={"eng": 1}),
          results("Banking77", test={"default": 0.9}), results("Dev", validation={"default": 0.3}),
          name="acme/aspen", revision=REVISION, n_parameters=7)
    folder = write("birch", results("STS22", test={"eng": 0.4, "deu": 0.4}),
                   results("Banking77", test={"default": 0.5}), results("Dev", validation={"default": 0.6}))
    (folder / "STS22_predictions.json").write_text("{}")
    told = registry("import", "mteb", "results", "--task", "m").stderr
    assert "The items are whole tasks, because MTEB stores no scores of single items" in told
    assert scores(registry) == [("mteb", "acme", "aspen", pytest.approx((0.6 + 0.9 + 0.3) / 3)),
                                ("mteb", "birch", "birch", pytest.approx((0.4 + 0.5 + 0.6) / 3))]
    registry("import", "mteb", "results", "--task", "de", "--option", "languages=deu", "--option", "tasks=STS22")
    assert [row[3] for row in scores(registry, "WHERE task = 'de'")] == [0.7, 0.4]


def test_several_revisions_of_a_model_are_refused_or_kept_apart(write):
    for revision in ("aaaaaaaa", "bbbbbbbb"):
        write("acme__aspen", results("STS22", test={"eng": 0.5}), revision=revision)
    with pytest.raises(InputError, match=r"STS22.json: this is a second result of 'acme/aspen' on 'STS22', "
                                         r".* revisions=apart"):
        IMPORTERS["mteb"]().read(write("acme__birch").parents[1])
    task = IMPORTERS["mteb"](revisions="apart").read(write("acme__fir").parents[1])
    assert [submit["system"] for submit in task.tables["submit"]] == ["aspen.aaaaaaa", "aspen.bbbbbbb"]


@pytest.mark.parametrize(("content", "says"), [
    ("{", "STS22.json:1: not JSON"),
    ("[" * 100_000, "nested too deeply"),
    ("[]", "no key 'task_name'"),
    (json.dumps(results("STS22", test={"eng": "high"})), "'main_score' is 'high'; expected a number"),
    (json.dumps(results("STS22", test={"eng": 10**400})), "expected a number"),
    (json.dumps({"task_name": "STS22", "scores": {"test": {"eng": 1}}}), "'scores.test' is not a list of subsets"),
    (json.dumps({"task_name": "STS22", "scores": {"test": [{"main_score": 1}]}}), "no key 'languages'"),
    (json.dumps(results("STS22", test={"eng": None})), "no task has a score"),
    (json.dumps(results("STS\n22", test={"eng": 1})), "control or invisible character"),
])
def test_what_is_wrong_is_named_with_its_file(write, content, says):
    (write("acme__aspen") / "STS22.json").write_text(content)
    with pytest.raises(InputError) as refused:
        IMPORTERS["mteb"]().read(write("acme__birch").parents[1])
    assert says in str(refused.value)


@pytest.mark.parametrize(("one", "other", "lacking"), [
    ({"test": {"en": 0.9, "de": 0.5}}, {"test": {"en": 0.9}},
     "'birch' has no result of 'T', split 'test', subset 'de'"),
    ({"test": {"en": 0.9}}, {"test": {"en": 0.9, "fi": 0.5}},
     "'aspen' has no result of 'T', split 'test', subset 'fi'"),
    ({"validation": {"en": 0.3}, "cat": {"en": 0.1}}, {"validation": {"en": 0.3}}, "split 'cat', subset 'en'"),
    ({"test": {"en": 0.2}}, {"dev": {"en": 0.9}}, "'birch' has no result of 'T', split 'test'")])
def test_means_of_other_splits_or_subsets_are_not_compared(registry, write, one, other, lacking):
    """Models with the same scores where both were run had .50 and .56."""
    write("aspen", results("T", **one), results("U", test={"en": 0.5}))
    write("birch", results("T", **other), results("U", test={"en": 0.5}))
    told = registry("import", "mteb", "results", exit_code=3).stderr
    assert lacking in told
    assert "choose parts that all models have with --option splits=... or languages=..." in told
    registry("import", "mteb", "results", "--option", "tasks=U", "--dry-run")
