"""A short run of the rounds; `make durability` makes 500 of them."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
def test_no_committed_row_is_lost_and_no_file_removed():
    """In a process of its own, since it forks."""
    command = [sys.executable, "-m", "tests.durability", "--rounds", "3", "--seed", "5"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout == "3 rounds, 0 with failures (seed 5)\n"
