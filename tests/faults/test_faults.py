"""Short forms of `python -m tests.faults`, which makes 500 kills, 1,000 flips and 30 sizes of disks."""

import subprocess
import sys
from datetime import datetime, timedelta

import pytest

from registry.store import log
from tests.conftest import ROOT


@pytest.mark.thorough
@pytest.mark.slow
def test_kills_and_flips_lose_nothing():
    """In a process of its own, since it forks: two commands are killed, some bits flipped.

    More bits are in tests/store/test_backup.py.
    """
    command = [sys.executable, "-m", "tests.faults", "--only", "compare", "purge", "backup", "--kills", "3",
               "--flips", "3", "--cuts", "3", "--sizes", "0"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "; 0 with failures" in ended.stdout
    assert ended.stdout.count("0 wrong, 0 crashed") == 2


class Backwards(datetime):
    """A clock that goes back by an hour whenever it is asked."""

    asked = 0

    @classmethod
    def now(cls, tz=None):
        cls.asked += 1
        return datetime(2027, 3, 1, tzinfo=tz) - timedelta(hours=cls.asked)


def test_a_clock_that_goes_back_changes_no_order(registry, task, monkeypatch):
    """What came last is what was written last: boards, versions of submissions, the log and its head."""
    monkeypatch.setattr(log, "datetime", Backwards)
    registry("run", task.write())
    first = registry("board", "--format", "json").json[0]["signature"]
    again = task.folder / "again.tsv"
    again.write_text("".join(f"{item}\t{label}\n" for item, label in task.gold.items()))
    registry("submit", "small", again, "--system", "b", "--version", "0")
    registry("score")
    registry("compare")
    second = registry("board", "--format", "json").json
    assert "b/b@0" in {row["submission"] for row in second}
    shown = {title: rows for section in registry("show", "small/test/a/a", "--format", "json").json
             for title, rows in section.items()}
    assert [row["signature"] for row in shown["boards"]] == [first, second[0]["signature"]]
    times = [row["created_at"] for row in shown["boards"]]
    assert times == sorted(times, reverse=True)
    assert registry("diff", "--format", "json").json[0]["before"] == first
    assert "no faults" in registry("verify").stderr
