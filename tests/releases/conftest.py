"""One registry and its releases, for all tests that only read them."""

import pytest

from registry.releases.writing import write_release
from tests.releases.released import made, release


@pytest.fixture(scope="package")
def registry_of_all(tmp_path_factory):
    """Clusters, facets, runs, labels by class, remarks and a test of all systems."""
    return made(tmp_path_factory.mktemp("registry"))


@pytest.fixture(scope="package")
def whole(registry_of_all, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "small"
    write_release(registry_of_all, "small", path, sources=True)
    return path


@pytest.fixture(scope="package")
def held(tmp_path_factory):
    """A release of the same task whose manifest withholds the gold."""
    folder = tmp_path_factory.mktemp("held")
    release(made(folder, gold=False), folder / "small")
    return folder / "small"
