"""A short run; docs/trust.md has the figures of the whole."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.thorough
@pytest.mark.slow
def test_all_that_is_submitted_at_once_is_stored_once():
    """In a process of its own, since it forks."""
    short = ["--submitters", "3", "--each", "1", "--readers", "1", "--wait", "600"]
    ended = subprocess.run([sys.executable, "-m", "tests.load", *short], cwd=ROOT, capture_output=True, text=True,
                           check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "9 submissions by 3 processes" in ended.stdout
