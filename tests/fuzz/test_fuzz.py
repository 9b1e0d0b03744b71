"""A short run of the fuzzer: an `InputError` with a line or a correct parse, and nothing else, ever."""

import gzip
from dataclasses import replace
from functools import cache

import pytest

from registry.errors import InputError
from registry.readers import READERS, Document
from tests.fuzz.seeds import LARGEST, seeds
from tests.fuzz.trial import read_in_bounds, trial

TRIALS = 60


@cache
def known():
    """Of the sample tasks, whose files are cut to a quarter of what `make fuzz` takes: a trial lasts as much less."""
    return seeds(real=False, largest=LARGEST // 4)


@pytest.mark.thorough
@pytest.mark.parametrize("reader", READERS)
def test_mutated_files_are_read_or_refused(reader):
    assert reader in known(), "add a small task of this format as tests/fuzz/seeds/FOLDER/task.toml"
    for n in range(TRIALS):
        told = trial(known()[reader][n % len(known()[reader])], f"suite/{reader}/{n}")
        assert told is None, f"trial {n}: {told}"


@pytest.mark.parametrize("reader", READERS)
def test_skipped_lines_count_and_nothing_else_of_them_does(reader):
    """Whatever they are, for gold and submissions of all formats of text; what is read is the same, further down."""
    for one in known()[reader]:
        if not one.reader.is_text or one.role == "attributes":
            continue
        told = []
        more = one.reader.skip + 2
        for skip, reads in ((0, one), (2, replace(one, reader=replace(one.reader, skip=more), documents={
                role: Document("other", b"\xff\n{\n" * (role != "attributes") + plain(document.content))
                for role, document in one.documents.items()}))):
            entries = reads.read(reads.documents[reads.role])
            told.append([replace(entry, line=entry.line - skip) for entry in entries])
        assert told[0] == told[1]
        with pytest.raises(InputError, match=f"option 'skip' ignores the first {more} lines, and no other line "
                                             "follows"):
            reads.read(Document("f", b"x\ny"))


def plain(content):
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


@pytest.mark.thorough
def test_no_file_takes_more_than_ten_times_its_size_of_memory():
    """Of the sample tasks and the real ones: the gold, and a submission of each task."""
    files = {(one.task.split("/")[0], one.role): one for of_reader in seeds(real=True, largest=None).values()
             for one in of_reader}
    for one in files.values():
        entries, error = read_in_bounds(one, one.documents[one.role])
        assert error is None, error
        assert entries
