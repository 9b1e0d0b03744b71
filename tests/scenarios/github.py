"""The GitHub actions and the hooks of pre-commit, tried in a clean clone of this repository.

    python -m tests.scenarios.github

takes the steps of `action.yml` and `gate/action.yml` one after the other as a runner would, in an environment of its
own (packages come from PyPI), on pull requests to a made-up repository; `gh` is a script that writes down what it is
asked. Then pre-commit installs the hooks from the clone and runs them.
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
        """Take the action's steps; gives the last process, the job's summary, the comment and the calls of `gh`."""
        self.number += 1
        git(self.author, "checkout", "--quiet", "-B", "head", self.base)
        change(self.author)
        head = self.commit("head")
        git(self.author, "push", "--quiet", self.folder / "origin.git", f"HEAD:refs/pull/{self.number}/head")
        at = self.folder / f"job{self.number}"
        at.mkdir()
        git(at, "clone", "--quiet", "--depth", "1", f"file://{self.folder / 'origin.git'}", "workspace")
        values = {
            "github.action_path": self.action, "github.event.pull_request.number": self.number,
            "github.event.pull_request.base.sha": self.base, "github.event.pull_request.head.sha": head}
        done = take_steps(self.action / "action.yml", at, values, inputs or {}, self.folder / "python" / "bin",
                          self.folder / "bin", install=self.number == 1)
        assert not (at / "workspace" / "systems" / "new.tsv").exists(), "nothing of the head is checked out"
        return done, *read_outputs(at)


def take_steps(action, at, values, inputs, *programs, install):
    """Run the steps of an action; return the last process. `workspace` in the folder `at` is the checkout."""
    told = yaml.safe_load(action.read_text())
    values = {"github.repository": "x/y", "github.token": "secret", **values, **{
        f"inputs.{name}": inputs.get(name, given.get("default")) for name, given in told["inputs"].items()}}
    environment = {
        "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
        "HOME": str(at), "RUNNER_TEMP": str(at), "GITHUB_STEP_SUMMARY": str(at / "summary.md"),
        "GITHUB_OUTPUT": str(at / "output"), "GH_LOG": str(at / "gh.log"),
        **{name: os.environ[name] for name in os.environ if name.startswith("PIP_") or name.endswith("_proxy")}}
    for step in told["runs"]["steps"]:
        if "uses" in step or (step["name"].startswith("Install") and not install):
            continue
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "what a stranger says is never part of a script"
        given = {name: fill(value, values) for name, value in step.get("env", {}).items()}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                              cwd=at / "workspace", env=environment | given, capture_output=True, text=True,
                              check=False)
        if (at / "output").exists():
            output = dict(line.split("=", 1) for line in (at / "output").read_text().splitlines())
            values |= {f"steps.judge.outputs.{name}": value for name, value in output.items()}
        if done.returncode:
            break
    return done


def fill(text, values):
    return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda match: str(values[match[1]]), str(text))


def read_outputs(at):
    """Return the job's summary, the comment, and the calls of `gh`; empty if there is none."""
    return tuple((at / name).read_text() if (at / name).exists() else ""
                 for name in ("summary.md", "gh.log.body", "gh.log"))


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


def check_gate(runner):
    results = runner.author / "results"
    git(runner.author, "checkout", "--quiet", "main")
    for system, wrong in (("old", 20), ("new", 22)):
        (results / system).mkdir(parents=True)
        (results / system / "sums.tsv").write_text(
            "id\tcorrect\n" + "".join(f"q{n}\t{int(n >= wrong)}\n" for n in range(200)))
    runner.commit("results")
    at = runner.folder / "gate"
    at.mkdir()
    git(at, "clone", "--quiet", runner.author, "workspace")
    done = take_steps(
        runner.action / "gate" / "action.yml", at,
        {"github.action_path": runner.action / "gate", "github.event.pull_request.number": 7},
        {"base": "old", "candidate": "new", "margin": "0.05", "results": "results/{model}/{benchmark}.tsv",
         "quick-options": "--score correct --option better=higher"},
        runner.folder / "python" / "bin", runner.folder / "bin", install=True)
    summary, body, _ = read_outputs(at)
    assert done.returncode == 0, done
    assert summary == body
    assert "pass: new is not worse by more than 0.05 than old" in body
    print(f"the gate passes, commented:\n{body}")


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
        check_gate(runner)
        check_hooks(runner)


if __name__ == "__main__":
    sys.exit(main())
