"""Writes the runs beside it: HELM's own `helm-run`, with a scenario of sums and models that know some of them.

    pip install crfm-helm==0.5.16      # in an environment of its own; torch is not needed, nor a network
    python make.py

Every run has two trials, two splits, and a perturbation of the questions. The files that HELM writes beside these
(`scenario.json`, `scenario_state.json`) hold the questions and answers; no score is read from them, so they are left
out, and the folders, which HELM calls after the runs, have names that every file system takes.
"""

import hashlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from helm.benchmark.adaptation.common_adapter_specs import get_generation_adapter_spec
from helm.benchmark.metrics.evaluate_reference_metrics import exact_match
from helm.benchmark.metrics.metric import Metric, MetricName, MetricSpec
from helm.benchmark.metrics.statistic import Stat
from helm.benchmark.run_spec import RunSpec, run_spec_function
from helm.benchmark.scenarios.scenario import (
    CORRECT_TAG,
    TEST_SPLIT,
    TRAIN_SPLIT,
    VALID_SPLIT,
    Input,
    Instance,
    Output,
    Reference,
    Scenario,
    ScenarioSpec,
)
from helm.clients.simple_client import SimpleClient

QUESTIONS = {TRAIN_SPLIT: [(1, 1), (2, 5), (3, 4)], TEST_SPLIT: [(2, 3), (10, 7), (12, 30)], VALID_SPLIT: [(5, 5)]}
SKILLS = {"aspen": 0.7, "birch": 0.4}
MODELS = "models:\n" + "".join(
    f"  - {{name: toy/{name}, display_name: {name}, description: toy, creator_organization_name: Toy, access: open, "
    "release_date: 2026-01-01, tags: [TEXT_MODEL_TAG, FULL_FUNCTIONALITY_TEXT_MODEL_TAG]}\n" for name in SKILLS)
DEPLOYMENTS = "model_deployments:\n" + "".join(
    f"  - {{name: toy/{name}, model_name: toy/{name}, tokenizer_name: simple/tokenizer1, max_sequence_length: 2048, "
    "client_spec: {class_name: make.Toy}}\n" for name in SKILLS)


class Sums(Scenario):
    """Questions after sums."""

    name, description, tags = "sums", "Sums of two numbers.", ()

    def get_instances(self, output_path):
        """Give the questions of all splits."""
        return [Instance(Input(text=f"What is {a} plus {b}?"), [Reference(Output(text=str(a + b)), tags=[CORRECT_TAG])],
                         split=split) for split, pairs in QUESTIONS.items() for a, b in pairs]


class Right(Metric):
    """HELM's exact match without the many statistics of cost that its own metrics add."""

    def evaluate_generation(self, adapter_spec, request_state, metric_service, eval_cache_path):
        """Compare the answer with the reference."""
        answer = request_state.result.completions[0].text.strip()
        right = exact_match(request_state.instance.references[0].output.text, answer)
        return [Stat(MetricName("exact_match")).add(right), Stat(MetricName("num_output_tokens")).add(len(answer))]


class Toy(SimpleClient):
    """A model whose answer depends on its name and the prompt alone."""

    def invoke_model(self, raw_request):
        """Add the last two numbers."""
        a, b = map(int, re.findall(r"\d+", raw_request["prompt"])[-2:])
        draw = hashlib.sha256((raw_request["engine"] + raw_request["prompt"]).encode()).digest()[0] / 256
        return {"completions": [f"{a + b}" if draw < SKILLS[raw_request["engine"]] else f"about {a + b}"]}


@run_spec_function("sums")
def sums() -> RunSpec:
    """Declare the run."""
    return RunSpec("sums", ScenarioSpec("make.Sums"), get_generation_adapter_spec(
        instructions="Add.", input_noun="Question", output_noun="Answer", max_train_instances=1, max_tokens=5),
        [MetricSpec("make.Right")], groups=[])


def main():
    """Run HELM's own command line."""
    from helm.benchmark.run import main as helm_run

    here = Path(__file__).parent.absolute()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("prod_env").mkdir()
        Path("prod_env/model_metadata.yaml").write_text(MODELS)
        Path("prod_env/model_deployments.yaml").write_text(DEPLOYMENTS)
        sys.argv = ["helm-run", "--suite", "v1", "--max-eval-instances", "10", "-n", "1", "--run-entries", *(
            f"sums:num_train_trials=2,data_augmentation=extra_space,model=toy/{name}" for name in SKILLS)]
        helm_run()
        for name in SKILLS:
            (run,) = Path("benchmark_output/runs/v1").glob(f"sums*{name}")
            (here / name).mkdir(exist_ok=True)
            for file in ("per_instance_stats.json", "run_spec.json", "stats.json"):
                shutil.copy(run / file, here / name / file)


if __name__ == "__main__":
    sys.modules["make"] = sys.modules["__main__"]  # HELM imports what the specifications name
    main()
