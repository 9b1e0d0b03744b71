"""Small classification tasks, written as files."""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class LabelTask:
    """A classification task in a folder: `gold` and `systems` are label by item; `write` puts them on disk.

    `runs` are systems with several of them, each by its name.
    """

    folder: Path
    gold: dict = field(default_factory=dict)
    systems: dict = field(default_factory=dict)
    documents: dict = field(default_factory=dict)
    version: str = "1"
    significance: dict = field(default_factory=lambda: {"seed": 1})
    submission: dict = field(default_factory=dict)
    test_set: dict = field(default_factory=dict)
    extra: str = ""
    runs: dict = field(default_factory=dict)

    @property
    def manifest(self):
        return self.folder / "task.toml"

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        columns = ["item", "label"] + (["document"] if self.documents else [])
        rows = [(k, v, *([self.documents[k]] if self.documents else [])) for k, v in self.gold.items()]
        _lines(self.folder / "gold.tsv", rows)
        for name, labels in self.systems.items():
            _lines(self.folder / "systems" / f"{name}.tsv", labels.items())
        for name, named in self.runs.items():
            for run, labels in named.items():
                _lines(self.folder / "runs" / f"{name}.{run}.tsv", labels.items())
        test_set = {"name": "test", "gold": "gold.tsv", "format": "labels", "options": {"columns": columns},
                    **({"cluster": "document"} if self.documents else {}), **self.test_set}
        submission = {"options": {"columns": ["item", "label"]}, **self.submission}
        self.manifest.write_text("\n".join([
            "manifest = 1", "[task]", 'id = "small"', f'version = "{self.version}"', "[[test_set]]", _toml(test_set),
            "[submission]", _toml(submission), "[[metric]]", 'id = "acc"', 'name = "Accuracy"', "[significance]",
            _toml(self.significance), *(["[[submit]]", 'file = "systems/{system}.tsv"'] if self.systems else []),
            *(["[[submit]]", 'file = "runs/{system}.{run}.tsv"'] if self.runs else []), self.extra, ""]))
        return self.manifest


def second_test_set(gold, submit):
    """The tables of a test set `dev` of labels beside a task's own one; `submit` are the lines of its `[[submit]]`."""
    return (f'[[test_set]]\nname = "dev"\ngold = "{gold}"\nformat = "labels"\n'
            f'options = {{ columns = ["item", "label"] }}\n[[submit]]\n{submit}\ntest_set = "dev"\n')


def _lines(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


def _toml(table):
    def value(v):
        return "{ " + ", ".join(f"{k} = {value(w)}" for k, w in v.items()) + " }" if isinstance(v, dict) \
            else json.dumps(v)

    return "\n".join(f"{k} = {value(v)}" for k, v in table.items())
