"""Pull requests of strangers: what they add is checked, and nothing else of them is taken."""

import subprocess
import tarfile

import pytest
from typer import testing

from registry.cli.app import app
from registry.competitions import pull_request
from registry.competitions.pull_request import main


@pytest.fixture
def repository(task, tmp_path, monkeypatch):
    """A repository with the task, whose commands run in this process; `propose` judges what a branch of it changes."""
    def run(*arguments, folder):
        done = testing.CliRunner().invoke(app, list(arguments), catch_exceptions=False)
        return subprocess.CompletedProcess([], done.exit_code, done.stdout.replace(f"{folder}/", ""),
                                           done.stderr.replace(f"{folder}/", ""))

    monkeypatch.setattr(pull_request, "_run_registry", run)
    task.write()
    return Repository(task, tmp_path)


class Repository:
    def __init__(self, task, folder):
        self.at, self.folder = task.folder, folder
        self.git("init", "--quiet", "--initial-branch", "main")
        self.commit()
        self.base = self.git("rev-parse", "HEAD")

    def git(self, *arguments):
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *identity, *arguments], cwd=self.at, capture_output=True, text=True,
                              check=True).stdout.strip()

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")

    def propose(self, change, *options):
        """Judge what `change` does to a working tree of the base; gives the exit status and the comment."""
        self.git("checkout", "--quiet", "-B", "head", self.base)
        change(self.at)
        self.commit()
        head = self.git("rev-parse", "HEAD")
        self.git("checkout", "--quiet", "main")
        comment = self.folder / "comment.md"
        status = main(["--repository", str(self.at), "--base", self.base, "--head", head, "--comment", str(comment),
                       *options])
        return status, comment.read_text()


def answers(task, **changes):
    return "".join(f"{k}\t{changes.get(k, v)}\n" for k, v in task.gold.items())


def adding(name, content):
    def change(folder):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)

    return change


def test_a_good_one_gets_the_boards(repository, task):
    status, comment = repository.propose(adding("systems/new.tsv", answers(task)))
    assert status == 0
    assert comment.startswith("<!-- evalregistry -->\n**Accepted: 1 file.")
    assert "new" in comment
    assert "1.0000" in comment
    assert str(repository.folder) not in comment
    assert repository.propose(adding("README.md", "x")) == (0, "")


def test_the_base_is_unpacked_by_pythons_without_filters_of_archives(repository, task, monkeypatch):
    """Python 3.11.2, which Debian 12 has, knows none, and its `extractall` takes none."""
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    assert repository.propose(adding("systems/new.tsv", answers(task)))[0] == 0


def test_what_it_may_not_do_is_refused(repository, task):
    """Whatever else it changes takes no part: the manifest and the gold are those of the base."""
    good = answers(task)

    def refused(told, *changes, options=()):
        status, comment = repository.propose(lambda at: [change(at) for change in changes], *options)
        assert (status, told in comment) == (3, True), comment
        return comment

    new = adding("systems/new.tsv", good)
    refused("it has no answer", adding("systems/new.tsv", good[6:]))
    refused("gold.tsv: not a submission of task.toml", new, adding("gold.tsv", good.replace("yes", "no")))
    refused("task.toml: not a submission", new, adding("task.toml", "manifest = 2"))
    refused("numpy.py: not a submission", new, adding("numpy.py", "raise SystemExit('run')"))
    refused("systems/a.tsv: existing submissions cannot be changed; add another file", adding("systems/a.tsv", good))
    refused("systems/a.tsv: existing submissions cannot be changed", new, lambda at: (at / "systems/a.tsv").unlink())
    refused("a link or a repository", lambda at: (at / "systems/new.tsv").symlink_to("/etc/passwd"))
    refused("systems/a.tsv: a link or a repository", lambda at: [
        (at / "systems/a.tsv").unlink(), (at / "systems/a.tsv").symlink_to("../gold.tsv")], options=["--allow-changes"])
    script = "@all ```` <img src=x onerror=alert(1)> [x](javascript:1)"
    comment = refused(script, adding("systems/new.tsv", good.replace("i0", script)))
    assert comment.splitlines()[3] == "`````text", "a fence that what is quoted cannot close"
    assert comment.splitlines()[-1] == "`````"
    assert repository.propose(adding("systems/a.tsv", good), "--allow-changes")[0] == 0


def test_many_large_files_are_not_unfolded(repository, monkeypatch):
    """A stranger's object is pushed once, and may stand in a thousand files."""
    changes = [pull_request.Change(f"systems/{n}.tsv", "100644", "0" * 40, "A") for n in range(20)]
    git, written = pull_request._Git(repository.at), []
    monkeypatch.setattr(git, "list_changes", lambda *_: changes)
    monkeypatch.setattr(git, "get_size", lambda _: pull_request.MAX_BYTES)
    monkeypatch.setattr(git, "read", lambda blob: written.append(blob) or b"x")
    verdict = pull_request.judge(git, repository.base, repository.base, "task.toml")
    assert "systems/4.tsv: all files together exceed 1024 MiB; submit fewer" in verdict.comment
    assert len(written) == 4
    monkeypatch.setattr(pull_request, "MAX_FILES", 19)
    verdict = pull_request.judge(git, repository.base, repository.base, "task.toml")
    assert "20 files; at most 19 are allowed" in verdict.comment
    assert len(written) == 4


def test_commits_are_named_by_their_digests(repository, tmp_path):
    assert main(["--repository", str(repository.at), "--base", "main", f"--head={'--output=x'}", "--comment",
                 str(tmp_path / "c.md")]) == 3
    assert "is not a commit" in (tmp_path / "c.md").read_text()
