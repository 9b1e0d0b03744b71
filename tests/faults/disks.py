"""Disks that are full or read-only, as small file systems in memory: who may mount one (root) can run this."""

import shutil
import subprocess
from contextlib import contextmanager

from tests.durability.commands import Command
from tests.faults.kills import CASES
from tests.faults.prepared import content, remove

READING = (("board",), ("pairs",), ("verify", "--quiet"), ("show", "--head"))


@contextmanager
def disk(folder, n_bytes):
    """A file system of that many bytes at `folder`."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def full(folder, bases, sizes):
    """Run every command on disks that leave so many bytes free; gives of each which, its status, what went wrong."""
    for name, case in CASES.items():
        base = bases / f"{case.base}.duckdb"
        before = content(base)
        for free in sizes:
            with disk(folder / "disk", base.stat().st_size + free) as place:
                db = shutil.copyfile(base, place / "r.duckdb")
                status, told = _run(folder, _arguments(case, bases, place), db)
                for path in place.glob("r.duckdb*"):  # the log belongs to it
                    shutil.copyfile(path, folder / path.name)
                wrong = [] if status in (0, 1) and "Traceback" not in told else [f"ended with {status}: {told}"]
                if status and "full" not in told and "No space" not in told:
                    wrong.append(f"does not say that the disk is full: {told}")
                if status and content(folder / "r.duckdb") != before and "all is committed" not in told:
                    wrong.append(f"what was there has changed, and is not said to have: {told}")
                known = {"r.duckdb", "r.duckdb.wal", case.writes}
                if left := {path.name for path in place.iterdir()} - known:
                    wrong.append(f"left behind: {sorted(left)}")
                if status and (again := _run(folder, _arguments(case, bases, folder), folder / "r.duckdb"))[0]:
                    wrong.append(f"cannot be done on a disk with room: {again[1]}")
                if case.writes is not None:
                    remove(folder / case.writes)
                for path in folder.glob("r.*duckdb*"):
                    path.unlink()
            yield name, free, status, wrong


def read_only(folder, bases):
    """Run every command on a disk that is read-only; gives of each which, its status, and what went wrong."""
    with disk(folder / "disk", 64 * 2**20) as place:
        for base in ("scored", "submitted", "rescored"):
            shutil.copyfile(bases / f"{base}.duckdb", place / f"{base}.duckdb")
        before = {path.name: path.read_bytes() for path in place.iterdir()}
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        for arguments in READING:
            status, told = _run(folder, arguments, place / "scored.duckdb")
            yield " ".join(arguments), status, [told] if status else []
        for name, case in CASES.items():
            status, told = _run(folder, _arguments(case, bases, place),
                                place / f"{case.base}.duckdb")
            wrong = [] if status == 1 and ("read-only" in told or "Read-only" in told) else [f"{status}: {told}"]
            if {path.name: path.read_bytes() for path in place.iterdir()} != before:
                wrong.append("the disk has changed")
            yield name, status, wrong


def _arguments(case, bases, folder):
    return [of.format(bases=bases, folder=folder) for of in case.arguments]


def _run(folder, arguments, db):
    command = Command([*arguments, "--db", db])
    command.start(folder)
    status, told = command.wait(), command.told.read_text()
    command.told.unlink()
    return status, told
