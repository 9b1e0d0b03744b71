"""The GitHub action and the hooks of pre-commit, tried in a clean clone of this repository.

    python -m tests.scenarios.github

takes the steps of `action.yml` one after the other as a runner would, in an environment of its own (packages come from
PyPI), on pull requests to a made-up repository; `gh` is a script that writes down what it is asked. Then pre-commit
installs the hooks from the clone and runs them.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import yaml

from tests.conftest import ROOT
from tests.label_tasks import LabelTask

GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$GH_LOG"
for word in "$@"; do case $word in body=@*) cp "${word#body=@}" "$GH_LOG.body" ;; esac; done
"""


def run(*arguments, exit_code=0, **options):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == exit_code, (arguments, done.stdout[-3000:], done.stderr[-3000:])
    return done


def git(at, *arguments):
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false",
                "-c", "protocol.file.allow=always")
    return run("git", *identity, *arguments, cwd=at).stdout.strip()


class Runner:
    """A runner of GitHub: the action in a clean clone, and a repository that pull requests are made to."""

    def __init__(self, folder):
        self.folder = folder
        self.action = folder / "action"
        git(folder, "clone", "--quiet", ROOT, self.action)
        venv.create(folder / "python", with_pip=True)
        (folder / "bin").mkdir()
        (folder / "bin" / "gh").write_text(GH)
        (folder / "bin" / "gh").chmod(0o755)
        self.task = LabelTask(folder / "author", {f"i{n}": "yes" if n % 2 else "no" for n in range(6)}, {"old": {}})
        self.task.systems["old"] = self.task.gold | {"i5": "no"}
        self.author = self.task.write().parent
        git(self.author, "init", "--quiet", "--initial-branch", "main")
        self.base = self.commit("base")
        git(folder, "clone", "--quiet", "--bare", self.author, folder / "origin.git")
        self.number = 0

    def commit(self, message):
        git(self.author, "add", "--all")
        git(self.author, "commit", "--quiet", "--message", message)
        return git(self.author, "rev-parse", "HEAD")

    def answers(self, **changes):
        return "".join(f"{k}\t{changes.get(k, v)}\n" for k, v in self.task.gold.items())

    def pull_request(self, change, inputs=None):
        """Take the action's steps; gives the exit status, the job's summary and what was commented."""
        self.number += 1
        git(self.author, "checkout", "--quiet", "-B", "head", self.base)
        change(self.author)
        head = self.commit("head")
        git(self.author, "push", "--quiet", self.folder / "origin.git", f"HEAD:refs/pull/{self.number}/head")
        at = self.folder / f"job{self.number}"
        at.mkdir()
        git(at, "clone", "--quiet", "--depth", "1", f"file://{self.folder / 'origin.git'}", "workspace")
        told = yaml.safe_load((self.action / "action.yml").read_text())
        values = {
            "github.action_path": self.action, "github.event.pull_request.number": self.number,
            "github.event.pull_request.base.sha": self.base, "github.event.pull_request.head.sha": head,
            "github.repository": "x/y", "github.token": "secret",
            **{f"inputs.{name}": (inputs or {}).get(name, of["default"]) for name, of in told["inputs"].items()}}
        environment = {
            "PATH": f"{self.folder / 'python' / 'bin'}:{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(at), "RUNNER_TEMP": str(at), "GITHUB_STEP_SUMMARY": str(at / "summary.md"),
            "GITHUB_OUTPUT": str(at / "output"), "GH_LOG": str(at / "gh.log"),
            **{name: os.environ[name] for name in os.environ if name.startswith("PIP_") or name.endswith("_proxy")}}
        for step in told["runs"]["steps"]:
            if "uses" in step or (step["name"].startswith("Install") and self.number > 1):
                continue
            assert step["shell"] == "bash"
            assert "${{" not in step["run"], "what a stranger says is never part of a script"
            given = {name: self.filled(value, values) for name, value in step.get("env", {}).items()}
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                                  cwd=at / "workspace", env=environment | given, capture_output=True, text=True,
                                  check=False)
            if (at / "output").exists():
                output = dict(line.split("=", 1) for line in (at / "output").read_text().splitlines())
                values |= {f"steps.judge.outputs.{name}": value for name, value in output.items()}
            if done.returncode:
                break
        summary, body = at / "summary.md", at / "gh.log.body"
        assert not (at / "workspace" / "systems" / "new.tsv").exists(), "nothing of the head is checked out"
        return (done, summary.read_text() if summary.exists() else "", body.read_text() if body.exists() else "",
                (at / "gh.log").read_text() if (at / "gh.log").exists() else "")

    @staticmethod
    def filled(value, values):
        return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: str(values[found[1]]), str(value))


def check_action(runner):
    def adds(name, content):
        return lambda at: (at / name).write_text(content)

    done, summary, body, asked = runner.pull_request(adds("systems/new.tsv", runner.answers()))
    assert done.returncode == 0, done
    assert summary == body
    assert "Accepted: 1 file" in body
    assert "1.0000" in body
    assert "POST repos/x/y/issues/1/comments" in asked
    assert "secret" not in asked
    print(f"accepted, commented:\n{body}")
    done, _, body, _ = runner.pull_request(adds("systems/new.tsv", runner.answers(i0="yes")[:-7]))
    assert done.returncode == 1
    assert "::error::the submission is refused" in done.stdout
    print(f"refused, commented:\n{body}")
    done, _, body, _ = runner.pull_request(lambda at: [
        (at / "systems" / "new.tsv").write_text(runner.answers()),
        (at / "gold.tsv").write_text(runner.answers(i0="yes")),
        (at / "pip.py").write_text("raise SystemExit('run')"), (at / "registry").mkdir(),
        (at / "registry" / "__init__.py").write_text("raise SystemExit('run')")])
    assert done.returncode == 1
    assert "gold.tsv: no submission by task.toml" in body
    done, _, body, _ = runner.pull_request(lambda at: (at / "systems" / "new.tsv").symlink_to("/etc/passwd"))
    assert "a link or a repository" in body
    assert "root" not in body
    done, summary, body, _ = runner.pull_request(adds("README.md", "x"))
    assert (done.returncode, summary, body) == (0, "", "")
    print("what changes gold or code, and links, are refused; what concerns no submission is left alone")


def check_hooks(runner):
    folder = runner.folder
    run(folder / "python" / "bin" / "python", "-m", "pip", "install", "--quiet", "pre-commit")
    at = folder / "committing"
    shutil.copytree(runner.author, at)
    git(at, "checkout", "--quiet", "main")
    rev = git(runner.action, "rev-parse", "HEAD")
    (at / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{
        "repo": str(runner.action), "rev": rev, "hooks": [
            {"id": "registry-check"}, {"id": "registry-check-submission", "files": "^systems/"}]}]}))
    environment = os.environ | {"PRE_COMMIT_HOME": str(folder / "hooks")}
    command = [folder / "python" / "bin" / "pre-commit", "run", "--all-files", "--verbose"]
    git(at, "add", "--all")
    print(run(*command, cwd=at, env=environment).stdout)
    (at / "systems" / "bad.tsv").write_text("i0\tyes\n")
    git(at, "add", "--all")
    done = run(*command, cwd=at, env=environment, exit_code=1)
    assert done.stdout.count("it has no answer") >= 2
    print("both hooks refuse a file that lacks items")


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder).resolve())
        check_action(runner)
        check_hooks(runner)


if __name__ == "__main__":
    sys.exit(main())
