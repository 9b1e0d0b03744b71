"""A shared task over its months: three golds, two withdrawals, a metric's upgrade, a purge, a late team.

`SharedTask` lives through it, a step at a time, and prints its boards after each. `python -m
tests.scenarios.shared_task` tells the story, and shows five numbers of the last board from end to end.
"""

import json
import re
import tempfile
from contextlib import chdir
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import comb, sqrt
from pathlib import Path

from typer.testing import CliRunner

from registry.cli.app import app

ITEMS = [f"i{n:02}" for n in range(12)]
GENRES = {item: "news" if n < 8 else "blog" for n, item in enumerate(ITEMS)}
GOLD = {item: "abc"[n % 3] for n, item in enumerate(ITEMS)}
TEAMS = {"tree": "elm"}  # of systems that are not called as their team
PURGED = "dogwood"
PRINTED = (("board", "--format", "md"), ("pairs", "--format", "json"))


def run(*arguments):
    """Run `registry ARGUMENTS`; a traceback in the command is one here."""
    done = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def unmarked(printed):
    """What is printed of the past, without the line that says so."""
    return re.sub(r"This is the state of the registry .*\n\n", "", printed)


def forgotten(printed):
    """What was printed of boards, with what is left of a purged team: its places, and who won of its pairs."""
    if not printed.startswith("["):
        kept = re.sub(r"In all (\d+) pairs, ", _without, printed) if PURGED in printed else printed
        return kept.replace(PURGED, "purged-1")
    pairs = [dict(pair) for pair in json.loads(printed.replace(PURGED, "purged-1"))]
    for pair in pairs:
        if "purged-1" in (pair["system_a"], pair["system_b"]):
            pair |= dict.fromkeys(("difference", "ci_low", "ci_high", "p_value", "p_adjusted", "log10_p"))
            pair |= {"n_discordant": 0, "messages": [{
                "code": "purged-team", "severity": "info", "parameters": {}, "text": "a team was purged"}]}
    return json.dumps(pairs, indent=2) + "\n"


def _without(said):
    """What is said of all pairs, of those that are left without one system."""
    pairs = comb(round((1 + sqrt(1 + 8 * int(said[1]))) / 2) - 1, 2)
    return f"In {'the only pair' if pairs == 1 else f'all {pairs} pairs'} without the purged team, "


def answers(wrong, gold=GOLD):
    """The gold's labels, but of every so many items another one."""
    return gold | {item: "abc"[(ord(gold[item]) - 96) % 3] for item in ITEMS[::wrong]}


@dataclass
class Step:
    """A step of the story: when it was done, and what was printed of the boards then, by the command."""

    what: str
    at: str
    printed: dict[tuple[str, ...], str]


@dataclass
class SharedTask:
    """The task in a folder; `live` does all steps, and each can be done alone, in their order."""

    folder: Path
    printed: tuple[tuple[str, ...], ...] = PRINTED
    steps: list[Step] = field(default_factory=list)
    version: int = 1
    title: str = "Labels"
    average: str = "macro"
    facets: str = 'facets = ["genre"]'
    metrics: str = ""
    more: str = ""
    gold: dict[str, str] = field(default_factory=GOLD.copy)
    withdrawn: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    teams: list[str] = field(default_factory=lambda: ["most", "aspen", "birch", PURGED])
    story = ("opens", "is_joined", "corrects_the_gold", "loses_a_team", "upgrades_its_metric", "forgets_a_team",
             "takes_a_late_team", "corrects_the_gold_again", "loses_another_team")

    @property
    def db(self):
        """The registry's file."""
        return self.folder / "registry.duckdb"

    def live(self):
        """Go through the whole story."""
        for step in self.story:
            getattr(self, step)()
        return self

    def opens(self):
        """An organiser opens the task with a baseline and three systems."""
        self._systems(most=GOLD | dict.fromkeys(ITEMS, "a"), aspen=answers(7), birch=answers(3), dogwood=answers(6))
        self._step("the task opens", "run", self._manifest())

    def is_joined(self):
        """A team submits two systems by itself."""
        for team, system, wrong in (("cedar", "one", 5), ("cedar", "two", 4)):
            self._submit(team, system, answers(wrong))
        self._step("cedar joins", "run", self._manifest())

    def corrects_the_gold(self):
        """An annotation was wrong."""
        self.gold["i00"], self.version = "b", 2
        self._step("the gold is corrected", "run", self._manifest())

    def loses_a_team(self):
        """Birch asks to be taken off; there are no boards of genres any more, and ranks are shown by clusters."""
        self.facets = ""
        self.withdrawn.append("birch")
        self.more = '[board]\nranks = "cluster"\n'
        self._step("birch withdraws", "run", self._manifest())

    def upgrades_its_metric(self):
        """The metric takes all classes together, the title says so, and accuracy stands beside it."""
        self.metrics = '[[metric]]\nid = "accuracy"\nname = "Accuracy"'
        self.average, self.title = "micro", "Labels, all together"
        self._step("the metric is upgraded", "run", self._manifest())

    def forgets_a_team(self):
        """Dogwood asks to be forgotten; its place stays until the next comparison."""
        self.teams.remove(PURGED)
        (self.folder / "systems" / f"{PURGED}.tsv").unlink()
        self._step("dogwood is purged", "purge", "labels", PURGED, "--reason", "asked by mail")

    def takes_a_late_team(self):
        """Elm comes after the deadline."""
        self._systems(tree=answers(11))
        self.late.append("tree")
        self.teams.append("tree")
        self._step("elm comes late", "run", self._manifest())

    def corrects_the_gold_again(self):
        """Two more annotations were wrong."""
        self.gold |= {"i05": "a", "i10": "a"}
        self.version = 3
        self._step("the gold is corrected again", "run", self._manifest())

    def loses_another_team(self):
        """Aspen asks to be taken off too."""
        self.withdrawn.append("aspen")
        self._step("aspen withdraws", "run", self._manifest())

    def explain(self):
        """What `registry show` tells of five numbers of the last board, sections by title for each."""
        pairs = json.loads(run("pairs", "--metric", "f1", "--format", "json", "--db", self.db).stdout)
        signature = pairs[0]["signature"]
        asked = {"the rank of tree": signature, "the p-value of tree and two": f"{signature}/elm/tree~cedar/two",
                 "the score of two": "labels/test/cedar/two", "the star of tree": "labels/test/elm/tree@1",
                 "why birch is not there": "labels/test/birch/birch"}
        return {number: {title: rows for section in json.loads(
            run("show", name, "--format", "json", "--db", self.db).stdout) for title, rows in section.items()}
            for number, name in asked.items()}

    def _step(self, what, *command):
        run(*command, "--db", self.db, "--actor", "ada")
        printed = {of: run(*of, "--db", self.db).stdout for of in self.printed}
        self.steps.append(Step(what, datetime.now(UTC).isoformat(), printed))

    def _submit(self, team, system, labels, *options):
        file = self.folder / f"{team}-{system}.tsv"
        file.write_text("".join(f"{item}\t{label}\n" for item, label in labels.items()))
        run("submit", "labels", file, "--team", team, "--system", system, "--db", self.db, "--actor", team, *options)

    def _systems(self, **systems):
        (self.folder / "systems").mkdir(parents=True, exist_ok=True)
        for name, labels in systems.items():
            (self.folder / "systems" / f"{name}.tsv").write_text(
                "".join(f"{item}\t{label}\n" for item, label in labels.items()))

    def _manifest(self):
        (self.folder / "gold.tsv").write_text(
            "".join(f"{item}\t{label}\t{GENRES[item]}\n" for item, label in self.gold.items()))
        manifest = self.folder / "task.toml"
        submits = "".join(f'[[submit]]\nfile = "systems/{name}.tsv"\nsystem = "{name}"\n'
                          f'kind = "{"baseline" if name == "most" else "primary"}"\n'
                          f"withdrawn = {str(name in self.withdrawn).lower()}\n"
                          f"late = {str(name in self.late).lower()}\nteam = \"{TEAMS.get(name, name)}\"\n"
                          for name in self.teams)
        manifest.write_text(f"""manifest = 1
[task]
id = "labels"
title = "{self.title}"
version = "{self.version}"
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "labels"
options = {{ columns = ["item", "label", "genre"] }}
{self.facets}
[submission]
options = {{ columns = ["item", "label"] }}
[[metric]]
id = "f1"
name = "LabelF"
options = {{ average = "{self.average}" }}
primary = true
{self.metrics}
[significance]
resamples = 1000
seed = 1
{self.more}
{submits}""")
        return manifest


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
        lived = SharedTask(Path(scratch) / "task").live()
        for step in lived.steps:
            past = {of: run(*of, "--at", step.at, "--db", lived.db).stdout for of in lived.printed}
            same = [of for of in lived.printed if unmarked(past[of]) == forgotten(step.printed[of])]
            print(f"{step.at}: {step.what}: {len(same)} of {len(past)} outputs are printed as they were"
                  + ", but for the purged team" * any(PURGED in printed for printed in step.printed.values()))
        for number, sections in lived.explain().items():
            print(f"\n{number}")
            for title, rows in sections.items():
                print(f"  {title}", *rows, sep="\n    ")
