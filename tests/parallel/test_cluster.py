"""A dask scheduler and its workers, each a process of its own, over TLS: the same bits, whoever dies."""

from functools import partial

import numpy as np
import pytest

from registry import provenance
from registry.errors import InputError, RegistryError
from registry.evaluation.scoring import score as scoring
from registry.parallel import execution
from registry.parallel.execution import Cluster, Execution
from registry.significance import Bootstrap, Permutation, Settings
from registry.significance.resampling.draws import BLOCK
from tests.dask_processes import OPENSSL, dask_processes, slowly
from tests.significance.matrices import matrix
from tests.significance.test_conformance import drawn_results, fresh

dask = pytest.importorskip("dask", reason="a cluster needs the extra dask")
pytest.importorskip("distributed", reason="a cluster needs the extra dask")
pytestmark = pytest.mark.slow

SCORES = "SELECT system, metric, item, score FROM item_score ORDER BY ALL"


@pytest.fixture(scope="module")
def processes():
    """A scheduler; its certificates are those of this process too."""
    with (dask_processes("tls" if OPENSSL else "tcp") as running,
          dask.config.set({name.replace("__", "."): value for name, value in running.certificates.items()})):
        yield running


@pytest.fixture
def two(processes):
    """The scheduler with two workers."""
    if processes.scheduler.poll() is not None:
        processes.begin()
    processes.start(2 - len(processes.workers))
    with Cluster(processes.address) as cluster:
        cluster.client.wait_for_workers(2, timeout=60)
        yield cluster


def test_no_bit_changes(two):
    """Draws of every test; progress is told of every block."""
    done = []
    expected = drawn_results(fresh(), Execution(workers=1))
    found = drawn_results(fresh(), Execution(cluster=two, progress=lambda *how_far: done.append(how_far)))
    assert found == expected
    blocks = -(-1500 // BLOCK)
    told = [how_far for how_far in done if how_far[0] == "blocks of draws"]
    assert told[:blocks + 1] == [("blocks of draws", n, blocks) for n in range(blocks + 1)]


def test_exact_tails_are_computed_by_workers(two, monkeypatch):
    monkeypatch.setattr(execution, "_map_in_threads", None)
    right = np.random.default_rng(3).integers(0, 9, (60, 4))
    ideal = matrix(np.stack([right, np.full_like(right, 9)], axis=-1))
    for test, of, method in ((Permutation(), fresh(), "exact"), (Bootstrap(), ideal, "ideal")):
        found = test.run(of, [(0, 1), (2, 1), (0, 3)], Settings(execution=Execution(cluster=two)))
        monkeypatch.undo()
        here = test.run(of, [(0, 1), (2, 1), (0, 3)], Settings())
        assert repr(list(found)) == repr(list(here))  # by repr: nan is not equal to itself
        assert {result.method for result in found} == {method}


@pytest.mark.thorough
def test_submissions_are_scored_by_workers(two, task, registry, monkeypatch):
    registry("run", task.write(), "--db", "here.duckdb", "--workers", "1")
    monkeypatch.setattr(scoring, "MIN_SHARED_BYTES", 0)
    monkeypatch.setattr(scoring, "_reads_columns", lambda *_: False)
    monkeypatch.setattr(scoring, "compute_statistics", None)
    assert "3 computed" in registry("run", task.manifest, "--db", "there.duckdb", "--dask", two.address).stderr
    here, there = (registry("query", SCORES, "--db", f"{where}.duckdb").stdout for where in ("here", "there"))
    assert here == there


def test_workers_with_other_software_are_refused(two, monkeypatch):
    monkeypatch.setattr(provenance, "_COMPUTE", ("numpy",))
    provenance.computing_versions.cache_clear()
    try:
        with pytest.raises(InputError, match=r"has .*scipy .* \(here missing\); install the same"):
            _ = Cluster(two.address).client
    finally:
        provenance.computing_versions.cache_clear()


def test_workers_without_the_program_are_refused(two, processes):
    (processes.folder / "bare.py").write_text("import sys; sys.modules['registry'] = None\n")
    processes.start(1, "--preload", "bare.py")
    two.client.wait_for_workers(3, timeout=60)
    try:
        with pytest.raises(InputError, match=r"has no evalregistry, or another version of it: .*registry"):
            list(Execution(cluster=two).map(abs, range(3)))
    finally:
        processes.kill(1)


@pytest.mark.thorough
def test_whoever_dies_results_are_the_same_and_nothing_hangs(two, processes):
    """One of two workers, whose tasks the other does; then that one, when another has come and taken part."""
    results, workers = [], set()
    mapped = Execution(cluster=two).map(partial(slowly, np.ones(9)), range(200))
    for result, worker in mapped:
        results.append(result)
        workers.add(worker)
        if len(results) == 50:
            processes.kill(1)
            processes.start(1)
            two.client.wait_for_workers(2, timeout=60)
        if len(results) == 150:
            processes.kill(1)
    assert results == [9 * n for n in range(200)]
    assert len(workers) == 3
    two.patience = 0.5
    mapped = Execution(cluster=two).map(partial(slowly, np.ones(9)), range(100))
    next(mapped)
    processes.kill(1)
    with pytest.raises(RegistryError, match="or all workers that held the work are gone"):
        list(mapped)
    with pytest.raises(InputError, match="has no worker; start some: dask worker"):
        _ = Cluster(processes.address, patience=0.5).client
    processes.scheduler.kill()
    with pytest.raises(RegistryError, match="does not answer any more"):
        list(Execution(cluster=two).map(partial(slowly, np.ones(9)), range(100)))
