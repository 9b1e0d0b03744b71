"""Submissions by pull request: check the new files, and write a comment with the new leaderboards.

A pull request is untrusted. Manifest, gold and all other files come from the base. From the head, this module reads
only new files that a `[[submit]]` of the base's manifest matches, as bytes from git's objects: it never checks out or
runs anything. The comment quotes messages in code blocks, in which Markdown, mentions and links have no effect.

Exit status: 0 accepted (or no submission), 3 refused, any other status: the check itself failed.
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

MARK = "<!-- evalregistry -->"  # identifies the comment that the action updates
MAX_COMMENT = 60_000  # characters; GitHub accepts 65,536
MAX_BYTES = 2**28  # of one submission
MAX_TOTAL_BYTES, MAX_FILES = 2**30, 1000  # small git objects may be large files, and occur many times
MAX_SECONDS = 1800  # of each command

_PLAIN_FILES = ("100644", "100755")


@dataclass(frozen=True)
class Change:
    """A file that a pull request changes.

    `mode` and `blob` identify its new content in git; `status` is `A` (added), `M` (modified), `D` (deleted) or `T`
    (type changed).
    """

    path: str
    mode: str
    blob: str
    status: str


@dataclass(frozen=True)
class Verdict:
    """The result of checking a pull request, with a comment for its author.

    The comment is empty if the pull request has no submission.
    """

    comment: str
    refused: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a pull request with submissions, and write a comment for its author.

    Returns:
        The exit status: 0, or 3 if the pull request is refused.
    """
    parser = argparse.ArgumentParser(prog="python -m registry.competitions.pull_request", description=__doc__)
    parser.add_argument("--repository", type=Path, default=Path(), help=(
        "a clone that contains both commits (default: the current folder)"))
    parser.add_argument("--base", required=True, help="the commit into which the pull request would be merged")
    parser.add_argument("--head", required=True, help="the commit of the pull request")
    parser.add_argument("--manifest", default="task.toml", help=(
        "the path of the task's manifest in the repository (default: task.toml)"))
    parser.add_argument("--allow-changes", action="store_true", help="allow changes of existing submissions")
    parser.add_argument("--comment", type=Path, required=True, help="the file for the comment")
    options = parser.parse_args(arguments)
    try:
        verdict = judge(_Git(options.repository), options.base, options.head, options.manifest,
                        allow_changes=options.allow_changes)
    except RegistryError as error:
        verdict = Verdict(_make_comment("This pull request cannot be checked.", str(error)), refused=True)
    options.comment.write_text(verdict.comment, "utf-8")
    print(verdict.comment or "the pull request changes no submission")
    return 3 if verdict.refused else 0


def judge(git: _Git, base: str, head: str, manifest: str, *, allow_changes: bool = False) -> Verdict:
    """Check the submissions that a pull request adds, and compute new leaderboards.

    Args:
        git: The repository.
        base: The commit into which the pull request would be merged.
        head: The commit of the pull request.
        manifest: The path of the task's manifest in the repository.
        allow_changes: True to allow changes of existing submissions.

    Raises:
        InputError: A commit does not exist, or the task of the base is invalid.
    """
    changes = git.list_changes(base, head)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        git.unpack(base, folder)
        task = folder / manifest
        old_paths = _list_submissions(task)
        candidates = [change for change in changes
                      if change.status == "A" or (allow_changes and folder / change.path in old_paths)]
        problems = [problem for change in candidates if (problem := _create_placeholder(change, folder))]
        new_paths = _list_submissions(task)
        submissions = [change for change in candidates if folder / change.path in new_paths]
        others = [change for change in changes if change not in submissions]
        if not submissions and not any(folder / change.path in old_paths for change in others):
            return Verdict("", refused=False)
        problems += [f"{change.path}: " + (
            "existing submissions cannot be changed; add another file" if folder / change.path in old_paths else
            f"not a submission of {manifest}; propose this change in another pull request") for change in others]
        if problems := problems or _write_submissions(git, submissions, folder):
            return Verdict(_make_comment("Refused: a pull request with a submission may add only its files.",
                                         "\n".join(problems)), refused=True)
        return _evaluate(task, [change.path for change in submissions], folder)


def _list_submissions(manifest: Path) -> set[Path]:
    task = resolve(load_manifest(manifest)[0], manifest)
    return {path for _, _, path, _ in match_files(task, refuse=lambda _: None)}


def _create_placeholder(change: Change, folder: Path) -> str | None:
    """Create an empty file in place of a file that a pull request adds.

    The program first finds out from the names of all files which files are submissions, before it reads any content.

    Args:
        change: The added file.
        folder: Folder with the files of the repository.

    Returns:
        The reason why the file is forbidden, such as a path outside the repository; None if it is allowed.
    """
    path = folder / change.path
    if not path.parent.resolve().is_relative_to(folder) or (path.exists() and not path.is_file()) or path.is_symlink():
        return f"{change.path}: outside the repository"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    except OSError as error:  # for example, the base has a file where the head has a folder
        return f"{change.path}: cannot write the file: {error.strerror}"
    if change.mode not in _PLAIN_FILES:
        return f"{change.path}: a link or a repository; submit the file itself"
    return None if change.path.isprintable() else f"{change.path!r}: the name has invisible characters; rename the file"


def _write_submissions(git: _Git, submissions: Sequence[Change], folder: Path) -> list[str]:
    if len(submissions) > MAX_FILES:
        return [f"{len(submissions):,} files; at most {MAX_FILES:,} are allowed"]
    problems, bytes_left = [], MAX_TOTAL_BYTES
    for change in submissions:
        size = git.get_size(change.blob)
        bytes_left -= size
        if size > MAX_BYTES:
            problems.append(f"{change.path}: {size >> 20} MiB; at most {MAX_BYTES >> 20} MiB are allowed")
        elif bytes_left < 0:
            return [*problems, f"{change.path}: all files together exceed {MAX_TOTAL_BYTES >> 20} MiB; submit fewer"]
        else:
            (folder / change.path).write_bytes(git.read(change.blob))
    return problems


def _evaluate(manifest: Path, paths: Sequence[str], folder: Path) -> Verdict:
    task = load_manifest(manifest)[0]
    checked = _run_registry("check", *(str(folder / path) for path in paths), "--task", str(manifest), "--quiet",
                            folder=folder)
    if checked.returncode:
        return Verdict(_make_comment("Refused: the check found problems.", checked.stderr), refused=True)
    # While scores are hidden, a comment must not show warnings, which depend on scores.
    is_blind = is_active(task.board.hidden) or task.board.release == "ladder"
    accepted = "\n".join(paths if is_blind else [*paths, checked.stderr])
    if any(test_set.gold is None for test_set in task.test_set):
        return Verdict(_make_comment(f"Accepted: {counted(len(paths), 'file')}.", accepted), refused=False)
    with tempfile.TemporaryDirectory() as database_folder:
        database = Path(database_folder) / "registry.duckdb"
        run = _run_registry("run", str(manifest), "--db", str(database), "--format", "table", "--quiet", "--public",
                            folder=folder)
    if run.returncode:
        return Verdict(_make_comment("Refused: the evaluation failed with this submission.", run.stderr), refused=True)
    comment = _make_comment(f"Accepted: {counted(len(paths), 'file')}. The new leaderboards:", run.stdout)
    return Verdict(comment + "\n" + _format_code_block(accepted), refused=False)


# environment variables of the commands; the last four are for Windows
_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE")


def _run_registry(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of this program, such as `check`, in another process.

    The path of the temporary folder is removed from the output.
    """
    environment = {name: value for name, value in os.environ.items() if name in _ENVIRONMENT}
    try:
        process = subprocess.run(  # noqa: S603 (this program, with paths as arguments)
            [sys.executable, "-I", "-m", "registry", *arguments], capture_output=True, encoding="utf-8", check=False,
            timeout=MAX_SECONDS, cwd=folder, env={**environment, "COLUMNS": "140"})
    except subprocess.TimeoutExpired:
        raise InputError(f"`registry {arguments[0]}` took more than {MAX_SECONDS // 60} minutes; ask the organisers"
                         ) from None
    for stream in ("stdout", "stderr"):
        setattr(process, stream, getattr(process, stream).replace(f"{folder}{os.sep}", ""))
    return process


def _make_comment(heading: str, output: str) -> str:
    return f"{MARK}\n**{heading}**\n\n{_format_code_block(output)}"


def _format_code_block(output: str) -> str:
    """Format an untrusted text as a Markdown code block, which the text cannot close."""
    text = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in output)
    text = text.strip("\n")
    if len(text) > MAX_COMMENT // 2:
        text = text[:MAX_COMMENT // 2] + "\n... the rest is in the log of the check"
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}\n"


class _Git:
    """Access to a git repository that runs no code from the repository.

    It reads stored content only, and uses no working tree, hooks or filters.
    """

    def __init__(self, repository: Path) -> None:
        self._repository = repository

    def list_changes(self, base: str, head: str) -> list[Change]:
        """List the files that commit `head` changes since it branched off from `base`."""
        common = self._run("merge-base", self._find_commit(base), self._find_commit(head)).decode().strip()
        fields = self._run("diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", common,
                           self._find_commit(head)).decode("utf-8", "backslashreplace").split("\0")
        changes = []
        for metadata, path in zip(fields[::2], fields[1::2], strict=False):
            _, mode, _, blob, status = metadata.removeprefix(":").split(" ")
            if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
                raise InputError(f"{path!r} is outside the repository")
            changes.append(Change(path, mode, blob, status[0]))
        return changes

    def unpack(self, commit: str, folder: Path) -> None:
        """Write all files of a commit into a folder."""
        content = self._run("archive", "--format=tar", self._find_commit(commit))
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            # Python before 3.11.4 (as in Debian 12) has no filters.
            archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            archive.extractall(folder)  # noqa: S202

    def get_size(self, blob: str) -> int:
        """Return the size of a file in git in bytes; `blob` is the hash of its content."""
        return int(self._run("cat-file", "-s", blob))

    def read(self, blob: str) -> bytes:
        """Return the content of a file in git; `blob` is the hash of its content."""
        return self._run("cat-file", "blob", blob)

    def _find_commit(self, name: str) -> str:
        if not re.fullmatch("[0-9a-f]{40}([0-9a-f]{24})?", name):
            raise InputError(f"{name!r} is not a commit; give its full digest")
        return name

    def _run(self, *arguments: str) -> bytes:
        process = subprocess.run(  # noqa: S603
            ["git", "-C", str(self._repository), *arguments], capture_output=True, check=False)  # noqa: S607
        if process.returncode:
            raise InputError(f"git {arguments[0]} failed: {process.stderr.decode(errors='replace').strip()[:300]}")
        return process.stdout


if __name__ == "__main__":
    sys.exit(main())
