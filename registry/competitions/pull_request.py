"""Submissions by pull request: what one adds is checked, and the new boards are put into a comment.

A pull request is a stranger's. Manifest, gold and everything else are those of the base. Of the head only files are
read that are new and that a `[[submit]]` of the base's manifest names, as bytes out of git's objects: nothing of it is
checked out or run. What the comment quotes of it stands in blocks of code, in which Markdown, mentions and links are
inert.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from registry.errors import InputError, RegistryError, counted
from registry.evaluation.ingest.declared import match_files
from registry.evaluation.resolve import resolve
from registry.manifest import is_active, load_manifest

MARK = "<!-- evalregistry -->"  # by which an earlier comment is found again
LONGEST = 60_000  # characters of a comment; GitHub takes 65,536
LARGEST = 2**28  # bytes of one submission
ALL, MOST = 2**30, 1000  # bytes and files of all: objects of a few KiB may unfold to many, and be there many times
SECONDS = 1800  # for the comparison

_PLAIN_FILES = ("100644", "100755")


@dataclass(frozen=True)
class Change:
    """A file that a pull request changes: its mode and its object in the head, and `A`, `M`, `D` or `T` as in git."""

    path: str
    mode: str
    blob: str
    status: str


@dataclass(frozen=True)
class Verdict:
    """What becomes of a pull request: the comment, empty where it has no submission, and whether it is refused."""

    comment: str
    refused: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a pull request and write the comment; returns 3 if it is refused."""
    parser = argparse.ArgumentParser(prog="python -m registry.competitions.pull_request", description=__doc__)
    parser.add_argument("--repository", type=Path, default=Path(), help="the clone, with base and head")
    parser.add_argument("--base", required=True, help="the commit that it is to be merged into")
    parser.add_argument("--head", required=True, help="the commit of the pull request")
    parser.add_argument("--manifest", default="task.toml", help="of the task, in the repository")
    parser.add_argument("--allow-changes", action="store_true", help="let submissions be replaced that are there")
    parser.add_argument("--comment", type=Path, required=True, help="the file to write the comment into")
    given = parser.parse_args(arguments)
    try:
        verdict = judge(_Git(given.repository), given.base, given.head, given.manifest,
                        allow_changes=given.allow_changes)
    except RegistryError as error:
        verdict = Verdict(_make_comment("This pull request cannot be checked.", str(error)), refused=True)
    given.comment.write_text(verdict.comment, "utf-8")
    print(verdict.comment or "no submission is changed")
    return 3 if verdict.refused else 0


def judge(git: _Git, base: str, head: str, manifest: str, *, allow_changes: bool = False) -> Verdict:
    """Check the files that a pull request adds, and update the boards.

    Args:
        git: The repository.
        base: The commit that it is to be merged into.
        head: Its own.
        manifest: The task's manifest in the repository.
        allow_changes: Whether submissions that are there may be replaced.

    Raises:
        InputError: A commit is not there, or the base's own task is wrong.
    """
    changes = git.list_changes(base, head)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        git.unpack(base, folder)
        task = folder / manifest
        before = _list_submissions(task)
        wanted = [of for of in changes if of.status == "A" or (allow_changes and folder / of.path in before)]
        problems = [problem for of in wanted if (problem := _reserve(of, folder))]
        submissions = _list_submissions(task)
        given = [of for of in wanted if folder / of.path in submissions]
        others = [of for of in changes if of not in given]
        if not given and not any(folder / of.path in before for of in others):
            return Verdict("", refused=False)
        problems += [f"{of.path}: " + (
            "a submission that is there already is not changed; add another file" if folder / of.path in before else
            f"no submission by {manifest}; propose such changes by themselves") for of in others]
        if problems := problems or _write_submissions(git, given, folder):
            return Verdict(_make_comment("Refused: a submission adds files of its own only.", "\n".join(problems)),
                           refused=True)
        return _evaluate(task, [of.path for of in given], folder)


def _list_submissions(manifest: Path) -> set[Path]:
    task = resolve(load_manifest(manifest)[0], manifest)
    return {path for _, _, path, _ in match_files(task, refuse=lambda _: None)}


def _reserve(of: Change, folder: Path) -> str | None:
    """Make an empty file for a file of the head; returns a reason if it may not exist."""
    path = folder / of.path
    if not path.parent.resolve().is_relative_to(folder) or (path.exists() and not path.is_file()) or path.is_symlink():
        return f"{of.path}: leads out of the repository"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    except OSError as error:  # a folder in the place of a file of the base
        return f"{of.path}: cannot stand there: {error.strerror}"
    if of.mode not in _PLAIN_FILES:
        return f"{of.path}: a link or a repository; submit the file itself"
    return None if of.path.isprintable() else f"{of.path!r}: the name is no printable text"


def _write_submissions(git: _Git, given: Sequence[Change], folder: Path) -> list[str]:
    """Write the head's submissions into reserved files; returns faults."""
    if len(given) > MOST:
        return [f"{len(given):,} files; {MOST:,} are the most"]
    problems, left = [], ALL
    for of in given:
        size = git.get_size(of.blob)
        left -= size
        if size > LARGEST:
            problems.append(f"{of.path}: {size >> 20} MiB; {LARGEST >> 20} MiB are the most")
        elif left < 0:
            return [*problems, f"{of.path}: with it all files have more than {ALL >> 20} MiB; submit fewer at once"]
        else:
            (folder / of.path).write_bytes(git.read(of.blob))
    return problems


def _evaluate(manifest: Path, paths: Sequence[str], folder: Path) -> Verdict:
    """Check the files; if they are valid and the task has its gold, run it."""
    listed = "\n".join(paths)
    task = load_manifest(manifest)[0]
    checked = _run_registry("check", *(str(folder / path) for path in paths), "--task", str(manifest), "--quiet",
                            folder=folder)
    if checked.returncode:
        return Verdict(_make_comment("Refused: the check found what is wrong.", checked.stderr), refused=True)
    # In a blind phase warnings tell how good a submission is.
    is_blind = is_active(task.board.hidden) or task.board.release == "ladder"
    accepted = listed if is_blind else f"{listed}\n{checked.stderr}"
    if any(test_set.gold is None for test_set in task.test_set):
        return Verdict(_make_comment(f"Accepted: {counted(len(paths), 'file')}.", accepted), refused=False)
    with tempfile.TemporaryDirectory() as elsewhere:
        run = _run_registry("run", str(manifest), "--db", str(Path(elsewhere) / "registry.duckdb"), "--format", "table",
                            "--quiet", "--public", folder=folder)
    if run.returncode:
        return Verdict(_make_comment("Refused: the task does not run with it.", run.stderr), refused=True)
    told = _make_comment(f"Accepted: {counted(len(paths), 'file')}. The boards with it:", run.stdout)
    return Verdict(told + "\n" + _quote(accepted), refused=False)


# environment variables; the last four are those of Windows
_PASSED = ("PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE")


def _run_registry(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the registry; its output names no folder of this machine."""
    environment = {name: value for name, value in os.environ.items() if name in _PASSED}
    try:
        done = subprocess.run(  # noqa: S603 (this program, with paths as arguments)
            [sys.executable, "-I", "-m", "registry", *arguments], capture_output=True, encoding="utf-8", check=False,
            timeout=SECONDS, cwd=folder, env={**environment, "COLUMNS": "140"})
    except subprocess.TimeoutExpired:
        raise InputError(f"takes more than {SECONDS // 60} minutes; the organisers have to look at it") from None
    for stream in ("stdout", "stderr"):
        setattr(done, stream, getattr(done, stream).replace(f"{folder}{os.sep}", ""))
    return done


def _make_comment(heading: str, told: str) -> str:
    return f"{MARK}\n**{heading}**\n\n{_quote(told)}"


def _quote(told: str) -> str:
    text = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in told).strip("\n")
    if len(text) > LONGEST // 2:
        text = text[:LONGEST // 2] + "\n... the rest is in the log of the check"
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}\n"


class _Git:
    """Objects of a repository, read without its working tree, hooks or filters."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository

    def list_changes(self, base: str, head: str) -> list[Change]:
        """List changes of the head since it left the base."""
        common = self._run("merge-base", self._find_commit(base), self._find_commit(head)).decode().strip()
        told = self._run("diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", common,
                         self._find_commit(head)).decode("utf-8", "backslashreplace").split("\0")
        found = []
        for about, path in zip(told[::2], told[1::2], strict=False):
            _, mode, _, blob, status = about.removeprefix(":").split(" ")
            if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
                raise InputError(f"{path!r} leads out of the repository")
            found.append(Change(path, mode, blob, status[0]))
        return found

    def unpack(self, commit: str, folder: Path) -> None:
        """Write the files of the base."""
        content = self._run("archive", "--format=tar", self._find_commit(commit))
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            # Python before 3.11.4, as Debian 12 has it, knows no filters.
            archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            archive.extractall(folder)  # noqa: S202

    def get_size(self, blob: str) -> int:
        """Return the bytes of an object."""
        return int(self._run("cat-file", "-s", blob))

    def read(self, blob: str) -> bytes:
        """Return an object."""
        return self._run("cat-file", "blob", blob)

    def _find_commit(self, name: str) -> str:
        if not re.fullmatch("[0-9a-f]{40}([0-9a-f]{24})?", name):
            raise InputError(f"{name!r} is no commit: give its whole digest")
        return name

    def _run(self, *arguments: str) -> bytes:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(self._repository), *arguments], capture_output=True, check=False)  # noqa: S607
        if done.returncode:
            raise InputError(f"git {arguments[0]} failed: {done.stderr.decode(errors='replace').strip()[:300]}")
        return done.stdout


if __name__ == "__main__":
    sys.exit(main())
