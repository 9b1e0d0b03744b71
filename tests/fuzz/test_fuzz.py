"""A short run of the fuzzer: an `InputError` with a line or a correct parse, and nothing else, ever."""

import pytest

from registry.readers import READERS
from tests.fuzz.seeds import seeds
from tests.fuzz.trial import read_in_bounds, trial

KNOWN = seeds(real=False)
TRIALS = 60


@pytest.mark.parametrize("reader", READERS)
def test_mutated_files_are_read_or_refused(reader):
    assert reader in KNOWN, "add a small task of this format as tests/fuzz/seeds/FOLDER/task.toml"
    for n in range(TRIALS):
        told = trial(KNOWN[reader][n % len(KNOWN[reader])], f"suite/{reader}/{n}")
        assert told is None, f"trial {n}: {told}"


def test_no_file_takes_more_than_ten_times_its_size_of_memory():
    """Of the sample tasks and the real ones: the gold, and a submission of each task."""
    files = {(one.task.split("/")[0], one.role): one for of_reader in seeds(real=True, largest=None).values()
             for one in of_reader}
    for one in files.values():
        entries, error = read_in_bounds(one, one.documents[one.role])
        assert error is None, error
        assert entries
