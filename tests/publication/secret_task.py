"""An anonymous task of ten teams, and a search for their names, which occur in no other text."""

import shutil
from pathlib import Path

from typer.testing import CliRunner

from registry.cli.app import app

TEAMS = ("Quillmark", "Brambleton", "Ferngully", "Wexcombe", "Thistledown", "Gorsefield", "Lavendry", "Oxenholme",
         "Junipero", "Hazelwick")
SYSTEMS = ("Zephyrine", "Vortigern", "Kestrelite", "Umbriel", "Paddockey", "Yarrowby", "Mistralia", "Drumlinne",
           "Fjordlike", "Nimbusque")
# Also an affiliation, a version, the person who gave the commands, and a prompt.
SECRETS = (*TEAMS, *SYSTEMS, "Affilarium", "Wurzelfach", "Gundelrebe", "Ottersweier")
ITEMS = {test_set: {f"{test_set}{n:02}": "abc"[n % 3] for n in range(13)} for test_set in ("test", "dev")}

MANIFEST = """manifest = 1
[task]
id = "small"
[[metric]]
id = "acc"
name = "Accuracy"
[significance]
seed = 1
[board]
anonymous = true
"""
TEST_SET = """[[test_set]]
name = "{test_set}"
gold = "{test_set}.tsv"
format = "labels"
options = {{ columns = ["item", "label"] }}
"""
SUBMIT = """[[submit]]
file = "{team}/{system}.{test_set}{prompt}.tsv"
team = "{team}"
system = "{system}"
test_set = "{test_set}"
version = "{version}"
kind = "{kind}"
"""
FACTS = """attributes = { affiliation = "Affilarium" }
description = "What Affilarium sends"
paper = "https://affilarium.example/paper"
code = "https://example.org/gundelrebe"
licence = "LicenseRef-Wurzelfach"
size = 7e9
cost = 0.5
"""


def hits(text):
    """Return the secrets whose first five letters occur in a text or in bytes."""
    if isinstance(text, str):
        text = text.encode()
    return {secret for secret in SECRETS if secret[:5].lower().encode() in text.lower()}


def write_task(folder):
    """Write the task: ten teams, the last with the answers of the first, and a baseline; return the manifest's path."""
    tables = [MANIFEST]
    for test_set, gold in ITEMS.items():
        tables.append(TEST_SET.format(test_set=test_set))
        write_labels(folder / f"{test_set}.tsv", gold)
        for n, (team, system) in enumerate([*zip(TEAMS, SYSTEMS, strict=True), ("organisers", "majority")]):
            is_baseline, has_prompts = n == 10, n == 6
            n_wrong = 11 if is_baseline else n % 9
            for prompt in (".Ottersweier", ".plain") if has_prompts else ("",):
                labels = {item: "abc"[("abc".index(label) + (m < n_wrong)) % 3]
                          for m, (item, label) in enumerate(gold.items())}
                write_labels(folder / team / f"{system}.{test_set}{prompt}.tsv", labels)
            tables.append(SUBMIT.format(
                test_set=test_set, team=team, system=system, prompt=".{prompt}" if has_prompts else "",
                version="Wurzelfach" if n == 3 else "1", kind="baseline" if is_baseline else "primary"))
            tables.append("" if is_baseline else FACTS)
    path = folder / "task.toml"
    path.write_text("\n".join(tables))
    return path


def write_labels(path, labels):
    """Write a file of labels by item."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{item}\t{label}\n" for item, label in labels.items()))


class Commands:
    """Runs commands on one registry in a folder of its own.

    Attributes:
        db: The registry.
        out: A folder for what the commands write.
        told: By the command: what it printed, and the names and contents of files in `out` that it wrote.
    """

    def __init__(self, folder):
        self.db, self.out, self.told = folder / "registry.duckdb", folder / "out", dict[str, bytes]()
        self.out.mkdir(parents=True)

    def __call__(self, *arguments, exit_code=0):
        """Run one command; return what it printed to stdout."""
        done = CliRunner().invoke(app, [*map(str, arguments), "--db", str(self.db)], catch_exceptions=False)
        assert done.exit_code == exit_code, (arguments, done.output)
        files = [path for path in sorted(self.out.rglob("*")) if path.is_file()]
        printed = done.output.replace(str(self.out), "")
        self.told[" ".join(map(str, arguments)).replace(str(self.out), "")] = printed.encode() + b"".join(
            str(path.relative_to(self.out)).encode() + path.read_bytes() for path in files)
        shutil.rmtree(self.out)
        self.out.mkdir()
        return done.stdout


def build_secret_registry(folder):
    """Build a registry of secrets with past boards, a study and a purged team; return its commands."""
    commands = Commands(folder)
    manifest = write_task(folder / "task")
    commands("run", manifest, "--actor", "Gundelrebe")
    file = Path(folder / "task" / TEAMS[0] / f"{SYSTEMS[0]}.test.tsv")
    submit = ("submit", "small", file, "--system", SYSTEMS[1], "--test-set", "test", "--version", "Wurzelfach2")
    commands(*submit, "--team", "Purgatorio", "--run")
    commands("purge", "small", "Purgatorio", "--reason", "asked for it", "--actor", "Gundelrebe")
    commands(*submit, "--team", TEAMS[1], "--actor", "Gundelrebe", "--run")
    commands("study", "correlation", "small")
    return commands
