"""Writes the logs beside it: two runs of the LM Evaluation Harness itself, with models that need no weights.

    pip install lm_eval==0.4.13        # in an environment of its own; neither torch nor a network is needed
    python make.py

The tasks cover what a sample can say: numbers whose mean is the score (`acc`, `exact_match`), a log-probability with a
length (`word_perplexity`) or without (`perplexity`), and what is no number (`brier_score`). What a model says depends
on its name and the prompt alone.
"""

import functools
import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

CHOICES = [("What colour is the sky?", ["blue", "a deep green"], 0),
           ("How many legs has a spider?", ["six", "eight"], 1),
           ("Which is a fruit?", ["an apple", "granite"], 0), ("What is frozen water?", ["steam", "ice"], 1)]
SUMS = [(2, 3), (10, 7), (12, 30)]
TEXTS = ["The cat sat on the mat.", "It rained all day long, and nobody went out.", "Zürich liegt am See."]
LAST = [("She opened the", " door"), ("He drank a cup of", " tea"), ("Birds can", " fly")]
ROWS = {
    "choice": [{"question": question, "choices": choices, "answer": answer} for question, choices, answer in CHOICES],
    "sums": [{"question": f"What is {a} + {b}?", "answer": str(a + b)} for a, b in SUMS],
    "texts": [{"page": text} for text in TEXTS],
    "last": [{"context": context, "last": last} for context, last in LAST],
}
TASKS = {
    "choice": """
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: choices
doc_to_target: answer
metric_list: [{metric: acc}, {metric: acc_norm}, {metric: brier_score}]
""",
    "sums": """
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: answer
repeats: 2
generation_kwargs: {until: ["."], do_sample: true}
filter_list:
  - name: strict-match
    filter: [{function: regex, regex_pattern: "^It is (\\\\d+)$"}, {function: take_first}]
  - name: flexible-extract
    filter: [{function: regex, group_select: -1, regex_pattern: "(\\\\d+)"}, {function: take_first}]
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
""",
    "texts": """
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{page}}"
metric_list: [{metric: word_perplexity}, {metric: byte_perplexity}, {metric: bits_per_byte}]
""",
    "last": """
output_type: loglikelihood
doc_to_text: "{{context}}"
doc_to_target: "{{last}}"
metric_list: [{metric: acc}, {metric: perplexity}]
""",
}
GROUP = "group: toy\ntask: [choice, last]\naggregate_metric_list: [{metric: acc, weight_by_size: true}]\n"


def draw(*parts):
    """A number from 0 to 1 that depends on all parts."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:4], "big") / 2**32


def declare(folder):
    """Write the tasks and their data."""
    for name, task in TASKS.items():
        data = folder / f"{name}.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in ROWS[name]))
        (folder / f"{name}.yaml").write_text(
            f"task: {name}\ndataset_path: json\ndataset_kwargs: {{data_files: {{test: {data.name}}}}}\n"
            f"test_split: test\nmetadata: {{version: 1}}{task}")
    (folder / "group.yaml").write_text(GROUP)


def register():
    """Make the harness know the models."""
    from lm_eval.api.model import LM
    from lm_eval.api.registry import register_model

    @register_model("toy")
    class Toy(LM):
        def __init__(self, pretrained, skill, **_):
            super().__init__()
            self.name, self.skill = pretrained, skill

        def loglikelihood(self, requests, **_):
            return [(-len(r.args[1]) * (0.4 + draw(self.name, *r.args)), draw(self.name, *r.args) < self.skill)
                    for r in requests]

        def loglikelihood_rolling(self, requests, **_):
            return [-len(r.args[0]) * (0.5 + draw(self.name, *r.args)) for r in requests]

        def generate_until(self, requests, **_):
            def answer(n, a, b):
                total = a + b + (draw(self.name, n, a) > self.skill)
                return f"It is {total}" if draw(self.name, n) < 0.6 else f"{a} + {b} = {total}"

            return [answer(n, *map(int, re.findall(r"\d+", r.args[0]))) for n, r in enumerate(requests)]


def main():
    """Run the harness's own command line for each model."""
    here = Path(__file__).parent.absolute()
    import lm_eval

    lm_eval.simple_evaluate = functools.partial(lm_eval.simple_evaluate, bootstrap_iters=0)  # no standard errors
    from lm_eval.__main__ import cli_evaluate

    register()
    with tempfile.TemporaryDirectory() as folder:
        declare(Path(folder))
        os.chdir(folder)
        for model, skill in (("acme/aspen-7b", 0.8), ("acme/birch-1b", 0.5)):
            sys.argv = ["lm_eval", "--model", "toy", "--model_args", f"pretrained={model},skill={skill}",
                        "--include_path", ".", "--tasks", "toy,sums,texts", "--output_path", str(here),
                        "--log_samples"]
            cli_evaluate()


if __name__ == "__main__":
    main()
