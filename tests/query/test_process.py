"""Limits of the processes that `registry serve` forks for queries; `tests/cli/test_query.py` has those of `query`."""

import pytest

from registry.errors import RegistryError
from registry.query.request import Query, QueryRequest
from registry.query.waiting_process import WaitingProcess

# One value of 1.5 GB: DuckDB itself makes it under a limit of 160 MB, because it does not count a single text.
LARGE = "SELECT length(repeat('x', 1500000000))"
ENDLESS = "SELECT max(len(list_transform(range(5000000), lambda x: list_sum(range(100000)))))"


@pytest.mark.slow
@pytest.mark.parametrize(("sql", "seconds", "message"), [
    (LARGE, 60, "the query needs more memory than its limit; increase --max-memory"),
    (ENDLESS, 1, "the query was stopped after 1 s; increase --timeout")])
def test_a_forked_process_ends_at_its_limits(tmp_path, empty_registry, sql, seconds, message):
    path = tmp_path / "r.duckdb"
    path.write_bytes(empty_registry)
    written = bytearray()
    with pytest.raises(RegistryError) as caught:
        WaitingProcess().ask(QueryRequest(path, Query(sql, {}), "csv", 200_000_000), seconds, written.extend)
    assert (str(caught.value), caught.value.exit_code, written) == (message, 1, b"")
