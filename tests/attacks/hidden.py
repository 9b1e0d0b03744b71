"""A registry that hides names and scores which occur nowhere else, and a search for them."""

import random
import re

from typer.testing import CliRunner

from registry.cli.app import app

TEAMS = ("Quorvath", "Brindlemoss", "Xanthopel", "Wolfersham")
SYSTEMS = ("Zyphronel", "Marvelstoke", "Kirrawind", "Ostrander")
NAMES = (*TEAMS, *SYSTEMS, "Vellichor", "Gundrymane")  # also an affiliation and the person who gave the commands
N_ITEMS = 13
_DIGITS = 8  # of a number that the search compares

_ANONYMOUS = """manifest = 1
[task]
id = "masked"
[[metric]]
name = "Accuracy"
[significance]
seed = 1
[board]
anonymous = true
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "labels"
options = { columns = ["item", "label"] }
"""
_EMBARGOED = """manifest = 1
[task]
id = "sealed"
[[metric]]
name = "Mean"
[significance]
seed = 1
[[test_set]]
name = "test"
gold = "scores.csv"
format = "scores"
options = { separator = "comma" }
[submission]
options = { separator = "comma" }
"""


def item_scores():
    """The scores of all items by embargoed system: eight decimal places, which no other number has."""
    generator = random.Random(51)
    return {f"system{n}": [generator.randrange(10**7, 10**8) for _ in range(N_ITEMS)] for n in range(4)}


def _write(folder):
    folder.mkdir()
    scores = item_scores()
    rows = [",".join(["item", *scores]), *(",".join([f"i{n}", *(f"0.{values[n]}" for values in scores.values())])
                                           for n in range(N_ITEMS))]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n")
    (folder / "sealed.toml").write_text(_EMBARGOED + "".join(
        f'[[submit]]\nfile = "scores.csv"\nsystem = "{name}"\noptions = {{ score = "{name}" }}\n' for name in scores))
    items = [f"i{n}" for n in range(5)]
    (folder / "gold.tsv").write_text("".join(f"{item}\ta\n" for item in items))
    tables = [_ANONYMOUS]
    for n, (team, system) in enumerate(zip(TEAMS, SYSTEMS, strict=True)):
        (folder / f"{system}.tsv").write_text("".join(f"{item}\t{'ab'[m < n]}\n" for m, item in enumerate(items)))
        tables.append(f'[[submit]]\nfile = "{system}.tsv"\nteam = "{team}"\nsystem = "{system}"\n'
                      f'attributes = {{ affiliation = "Vellichor" }}\n')
    (folder / "masked.toml").write_text("".join(tables))


def build(folder):
    """Write a registry whose first task is embargoed and whose second is anonymous; return its path."""
    db = folder / "registry.duckdb"
    _write(folder / "tasks")
    masked = folder / "tasks" / "masked.toml"
    # The embargoed rows are the first of their tables, so an error that prints a row prints one of these.
    for command in (("run", folder / "tasks" / "sealed.toml"), ("run", masked),
                    ("hide", "sealed", "--scores", "--until", "2999-12-01T12:00:00Z")):
        actor = "Gundrymane" if command[-1] == masked else "the organisers"
        done = CliRunner().invoke(app, [*map(str, command), "--actor", actor, "--db", str(db)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    return db


def digits(number):
    """The first digits of a number, without its point: they occur in decimal, percent and scientific notation."""
    return f"{abs(number):.16e}".replace(".", "")[:_DIGITS]


class Secrets:
    """All hidden names and numbers.

    Args:
        more: Numbers that only the registry computes, such as p-values; those with few digits are left out.
    """

    def __init__(self, more=()):
        means = [sum(values) / N_ITEMS / 10**8 for values in item_scores().values()]
        numbers = [value for values in item_scores().values() for value in values] + means
        numbers += [a - b for a in means for b in means if a > b]
        numbers += [number for number in more if number and len(f"{abs(number):.15g}".strip("0.")) >= _DIGITS]
        self.numbers = sorted({digits(number) for number in numbers})
        self._names = re.compile("|".join(name[:5] for name in NAMES), re.IGNORECASE)
        self._numbers = re.compile("|".join(self.numbers))

    def found(self, text):
        """The hidden names (their first five letters) and numbers (their first digits) in a text."""
        return {*self._names.findall(text), *self._numbers.findall(text.replace(".", ""))}
