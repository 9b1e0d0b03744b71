"""The registry that tests of `registry verify` alter."""

import shutil

import pytest

from tests.attacks.alterations import make_registry
from tests.conftest import alone


@pytest.fixture(scope="session")
def original(tmp_path_factory, scored_registries):
    """A registry with something in most tables; all processes of a test run share it."""
    path = scored_registries / "alterations.duckdb"
    with alone(path.with_suffix(".lock")):
        if not path.exists():
            make_registry(tmp_path_factory.mktemp("original")).replace(path)
    return path


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copyfile(original, tmp_path / "altered.duckdb")
