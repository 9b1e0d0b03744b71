"""The code of an earlier commit, to hold today's against."""

import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from tests.conftest import ROOT


@contextmanager
def code_of(commit: str) -> Iterator[dict[str, str]]:
    """The environment in which Python takes the package of a commit, for as long as it lies in a temporary folder."""
    archive = subprocess.run(["git", "archive", commit, "registry", "migrations", "sample_data", "docs"], cwd=ROOT,
                             capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield os.environ | {"PYTHONPATH": folder}
