"""Writes the reports beside it: by SWE-bench's own grading and reporting, from test logs that are made up here.

    pip install --no-deps swebench==5.0.2      # and what it imports, in an environment of its own; no docker is needed
    python make.py

Every way for an instance to end occurs: all tests pass, an old or a new one fails, the patch does not apply, is empty
or was never submitted, the evaluation is killed, leaves no log, or an empty or broken one.
"""

import json
import os
import tempfile
from pathlib import Path

from swebench.harness.constants import (
    APPLY_PATCH_FAIL,
    END_TEST_OUTPUT,
    LOG_REPORT,
    LOG_TEST_OUTPUT,
    RUN_EVALUATION_LOG_DIR,
    START_TEST_OUTPUT,
)
from swebench.harness.grading import get_eval_report
from swebench.harness.reporting import make_run_report
from swebench.types import TestSpec

INSTANCES = [f"{repository}-{n}" for repository, numbers in (
    ("astropy__astropy", (101, 102, 103)), ("django__django", (201, 202, 203)), ("pallets__flask", (301, 302)))
    for n in numbers]
RESULTS = {"passed": "PASSED t.py::new\nPASSED t.py::old\n", "unsolved": "FAILED t.py::new\nPASSED t.py::old\n",
           "broke": "PASSED t.py::new\nFAILED t.py::old\n", "killed": "Killed\n"}
REPORTS = {"empty report": "", "broken report": "{"}
MODELS = {
    "acme/aspen-1.5": ["passed", "passed", "unsolved", "passed", "empty patch", "not applied", "no log", "passed"],
    "birch": ["passed", "broke", "killed", "passed", "passed", "empty report", "broken report", "not submitted"],
}


def evaluate(folder, prediction, end):
    """Leave in the folder what an evaluation of the prediction leaves that ends so."""
    if end in ("empty patch", "no log"):
        return
    folder.mkdir(parents=True)
    report = REPORTS.get(end)
    if report is None:
        log = folder / LOG_TEST_OUTPUT
        log.write_text(APPLY_PATCH_FAIL if end == "not applied" else
                       f"{START_TEST_OUTPUT}\n{RESULTS[end]}{END_TEST_OUTPUT}\n")
        tests = TestSpec(prediction["instance_id"], "", [], "", "", ["t.py::new"], ["t.py::old"], "parse_log_pytest",
                         "pass_and_fail")
        report = json.dumps(get_eval_report(tests, prediction, str(log), include_tests_status=True))
    (folder / LOG_REPORT).write_text(report)


def main():
    """Evaluate and report every model."""
    here = Path(__file__).parent.absolute()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for model, ends in MODELS.items():
            predictions = {
                instance: {"instance_id": instance, "model_name_or_path": model,
                           "model_patch": "" if end == "empty patch" else "diff"}
                for instance, end in zip(INSTANCES, ends, strict=True) if end != "not submitted"}
            for end, (instance, prediction) in zip(ends, predictions.items(), strict=False):
                evaluate(RUN_EVALUATION_LOG_DIR / "r1" / model.replace("/", "__") / instance, prediction, end)
            make_run_report(predictions, [{"instance_id": name} for name in INSTANCES], "r1", report_dir=here)


if __name__ == "__main__":
    main()
