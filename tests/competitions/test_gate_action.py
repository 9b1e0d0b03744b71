"""The steps of the gate's GitHub action, in a clean clone of a repository with result files."""

import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.needs import need
from tests.scenarios.github import GH, git, read_outputs, take_steps

INCORRECT = {"old": range(20), "same": range(2, 22), "bad": range(60)}


class Repository:
    """A clean clone of a repository with result files, in which the action runs."""

    def __init__(self, folder):
        self.folder, self.programs, author = folder, folder / "bin", folder / "author"
        for system, incorrect in INCORRECT.items():
            (author / "results" / system).mkdir(parents=True)
            (author / "results" / system / "sums.tsv").write_text(
                "id\tcorrect\n" + "".join(f"q{n}\t{int(n not in incorrect)}\n" for n in range(200)))
        git(author, "init", "--quiet", "--initial-branch", "main")
        git(author, "add", "--all")
        git(author, "commit", "--quiet", "--message", "results")
        git(folder, "clone", "--quiet", author, "workspace")
        self.programs.mkdir()
        (self.programs / "gh").write_text(GH)
        (self.programs / "gh").chmod(0o755)

    def take(self, candidate, number="7", **inputs):
        """Run the action on a candidate; return the last process, the summary, the comment and the calls of `gh`."""
        for name in ("summary.md", "output", "gh.log", "gh.log.body"):
            (self.folder / name).unlink(missing_ok=True)
        done = take_steps(
            ROOT / "gate" / "action.yml", self.folder,
            {"github.action_path": ROOT / "gate", "github.event.pull_request.number": number},
            {"base": "old", "candidate": candidate, **inputs}, Path(sys.executable).parent, self.programs,
            install=False)
        return done, *read_outputs(self.folder)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """The repository after a run that stores the results; other runs use the same database."""
    need("bash")
    need("git")
    repository = Repository(tmp_path_factory.mktemp("gate"))
    done, summary, *_ = repository.take(
        "same", margin="0.05", results="results/{model}/{benchmark}.tsv", db="gate.duckdb",
        **{"quick-options": "--score correct --option better=higher"})
    assert done.returncode == 0, done
    assert "pass: same is not worse" in summary
    return repository


@pytest.mark.parametrize(("candidate", "inputs", "verdict", "exit_code"), [
    ("same", {"margin": "0.05"}, "pass", 0), ("bad", {"margin": "0.05"}, "fail", 4),
    ("same", {"margin": "0.001"}, "undecided", 6), ("same", {"superior": "true", "undecided": "pass"}, "undecided", 0)])
def test_the_verdict_is_commented_and_is_the_exit_status(candidate, inputs, verdict, exit_code, repository):
    done, summary, body, calls = repository.take(candidate, db="gate.duckdb", **inputs)
    assert done.returncode == exit_code, done
    assert summary == body
    assert f"\n{verdict}: " in body
    assert f"| {verdict} |" in body
    assert "POST repos/x/y/issues/7/comments" in calls
    assert "secret" not in calls


def test_a_push_has_a_summary_and_no_comment(repository):
    done, summary, body, calls = repository.take("same", number="", margin="0.05", db="gate.duckdb")
    assert done.returncode == 0, done
    assert "pass: same is not worse" in summary
    assert (body, calls) == ("", "")


def test_errors_are_no_verdict(repository):
    done, summary, body, _ = repository.take("absent", margin="0.05", db="gate.duckdb")
    assert done.returncode not in (0, 4, 6)
    assert "unknown system 'absent'" in done.stderr
    assert "::error::the gate itself failed" in done.stdout
    assert (summary, body) == ("", "")
