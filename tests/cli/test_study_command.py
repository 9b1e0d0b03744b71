"""A study's command is made of its fields: adding a study takes a class and a line in `STUDIES`."""

import re
import sys
from types import ModuleType
from typing import ClassVar, Literal

import pytest
from typer.testing import CliRunner

from registry.cli import app
from registry.cli.commands import STUDY, LazyCommand
from registry.cli.study import group
from registry.studies import STUDIES, StudyEntry
from registry.studies.study import BoardStudy, Finding, option, parse_sizes


class Toy(BoardStudy):
    """The scores of all systems.

    More of it.
    """

    name: ClassVar[str] = "toy"
    title: ClassVar[str] = "What are the scores?"
    citation: ClassVar[str] = "-"
    settings: ClassVar = ("alpha",)
    times: int = option(1, "How often.", minimum=1)
    how: Literal["once", "twice"] = option("once", "In which way.")
    systems: tuple[str, ...] = option((), "Of whom.", name="system", metavar="NAME")
    sizes: tuple[int, ...] = option((5, 10), "Of what size.", parse=parse_sizes, default_text="5,10")
    better_on: str | None = option(None, "Where.")

    def run(self, case):
        rows = [{"system": member.system, "score": float(score) * self.times}
                for member, score in zip(case.board.members, case.board.scores, strict=True)]
        return Finding({"scores": rows}, [f"{self!r} at {case.request.significance.alpha:g}."])


@pytest.fixture
def toy(monkeypatch, task, scored):
    """Asks the study of a small task."""
    module = ModuleType("registry.studies.toys")
    module.Toy = Toy
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(STUDIES, "toy", StudyEntry("toys", "Toy", "Say what scores there are."))
    scored(task)
    monkeypatch.setitem(group.commands, "toy", LazyCommand(STUDY, "Say what scores there are."))
    return lambda *arguments: CliRunner().invoke(app, ["study", *(str(one) for one in arguments)])


def test_a_list_of_commands_has_the_summary_alone(toy):
    assert re.search("toy +Say what scores there are.", toy("--help").stdout)


def test_fields_are_options(toy):
    told = toy("toy", "--help").stdout
    assert "Say what scores there are." in told
    assert "More of it." in told
    for option_ in ("--times", "--how", "<once|twice>", "--system NAME", "--sizes", "5,10", "--better-on", "--metric",
                    "--alpha", "--show", "--dry-run"):
        assert option_ in told
    for other in ("--seed", "--plot", "--figure"):
        assert other not in told


def test_options_make_the_study(toy, registry):
    done = toy("toy", "small", "--times", 2, "--how", "twice", "--system", "a", "--system", "b", "--sizes", "1:3:1",
               "--alpha", 0.1, "--format", "table")
    assert done.exit_code == 0
    assert "toy(times=2, how=twice, systems=[a, b], sizes=[1, 2, 3]) at 0.1." in done.stdout
    (kept,) = registry("query", "SELECT study FROM study", "--format", "json").json
    assert kept["study"] == "toy(times=2, how=twice, systems=[a, b], sizes=[1, 2, 3])"
    assert "toy at 0.05." in toy("toy", "small", "--format", "table").stdout


@pytest.mark.parametrize(("options", "exit_code"), [
    (("--times", 0), 2), (("--how", "thrice"), 2), (("--sizes", "3,2"), 3), (("--show", "other"), 3),
    (("--seed", 1), 2)])
def test_what_is_no_option_is_refused(toy, options, exit_code):
    assert toy("toy", "small", *options).exit_code == exit_code
