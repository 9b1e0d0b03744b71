"""One mutated file through its reader, and what must hold of it."""

import gzip
import random
import re
import signal
import traceback
import tracemalloc
from contextlib import contextmanager

from registry.columns import JoinedColumns, as_columns
from registry.errors import InputError
from registry.evaluation.ingest.fit import Policies, find_disagreements, join
from registry.evaluation.ingest.problems import Diagnosis
from registry.identity import canonical_json
from registry.missing import MissingPolicy
from registry.readers import Document, Problems
from tests.fuzz.mutations import mutated

SECONDS = 20  # of processor time, for a file of some 32 KiB
# bytes of memory, anyway, and by the size of all files that are read together, or by their lines where they are shorter
# than 30 bytes (70 in the gold): each is an object, maybe with a set, and in the gold with attributes
TIMES, PER_LINE, PER_GOLD_LINE, BESIDES = 10, 300, 700, 2**18
TIMES_WIDE = 17  # with a character beyond U+FFFF, which makes four bytes of each in a line and in its copies

# what is wrong with a whole file has no line
_OF_FILES = re.compile(r"the file (is empty|has no |has \d+ \w+, but the gold has |decompresses to)|no |"
                       r"the gzip file is damaged|option 'skip' ignores|unknown (reference|system) ", re.DOTALL)


class Failure(AssertionError):
    """Something that must hold of every file does not."""


def trial(seed, name):
    """Mutate a seed as `name` decides, read it in all ways, and say what failed, or None."""
    content = mutated(seed.content, random.Random(name))
    try:
        with at_most(SECONDS):
            examine(seed, content)
    except Exception:
        return traceback.format_exc(limit=-4)
    return None


def examine(seed, content):
    """Hold what a reader makes of a file against what must hold.

    Raises:
        Failure: Something does not.
    """
    document = Document("f", content)
    entries, error = read_in_bounds(seed, document, PER_GOLD_LINE if seed.role else PER_LINE)
    lines = content.count(b"\n") + 1
    if error is not None:
        _check_error(error, lines)
    problems = Problems(20)
    collected, fatal = _read(seed, document.collect(problems))
    found = problems.found + ([] if fatal is None else [fatal])
    if (str(error) if error else None) != (str(found[0]) if found else None):
        raise Failure(f"raised: {error}; collected: {found[:1]}")
    if error is None:
        _check_entries(seed, content, entries)
        if collected != entries:
            raise Failure("collecting problems reads other answers")
    if not seed.role:
        _diagnose(seed, document, problems, collected)
        if error is None:
            _assign(seed, document, lines)


def read_in_bounds(seed, document, per_line=0):
    """Read a file in place of the seed's, and give its entries and the error, one of which is None.

    Raises:
        Failure: It takes more memory than it may.
    """
    tracemalloc.start()
    try:
        found = _read(seed, document)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    together = [document.content, *(other.content for role, other in seed.documents.items() if role != seed.role)]
    marks = (b"\n", b",") if getattr(seed.reader, "syntax", "") == "json" else (b"\n",)  # entries may share a line
    size, lines = sum(map(len, together)), sum(content.count(mark) + 1 for content in together for mark in marks)
    times = TIMES_WIDE if any(max(content, default=0) >= 0xF0 for content in together) else TIMES
    if (most := max(times * size, per_line * lines) + BESIDES) < peak:
        raise Failure(f"{peak} bytes of memory for {size} bytes in {lines} lines; {most} may be")
    return found


def _read(seed, document):
    try:
        return seed.read(document), None
    except InputError as error:
        return None, error


def _check_error(error, lines):
    of_another = error.path != "f"  # the other files of the gold no longer go with this one
    if error.line is None and error.item is None and not _OF_FILES.match(error.message) and not of_another:
        raise Failure(f"an error without a line: {error}")
    if error.line is not None and not 1 <= error.line <= lines and not of_another:
        raise Failure(f"line {error.line} of {lines}: {error}")


def _check_entries(seed, content, entries):
    """A parse is correct as far as that can be told: values are what stores and digests take, forms do not matter."""
    for entry in entries:
        value = entry.value if not seed.role else entry.gold
        if not isinstance(entry.key, str) or not entry.key:
            raise Failure(f"a key is {entry.key!r}")
        canonical_json([entry.key, seed.reader.content(value)]).encode()
        answers = [answer[:2] for answer in seed.reader.answer_set(value)]
        if len(set(answers)) < len(answers):
            raise Failure(f"item {entry.key!r} has an answer twice")
    forms = [gzip.compress(content, 1)]
    if b"\r" not in content and not content.startswith(b"\x1f\x8b"):
        forms.append(content.replace(b"\n", b"\r\n"))
    for form in forms:
        if _read(seed, Document("f", form))[0] != entries:
            raise Failure("with gzip or CR LF it reads otherwise")


def _assign(seed, document, lines):
    """Bring the answers to the gold's items, which are all theirs then, or say why that cannot be."""
    try:
        assigned = seed.reader.assign(seed.items, seed.reader.read_answers(document), "f")
    except InputError as error:
        _check_error(error, lines)
    else:
        columns = as_columns(assigned)
        joined = JoinedColumns.match_items(columns, seed.items)
        list(find_disagreements(seed.items, columns, joined, seed.reader, Policies(MissingPolicy.WORST), "f"))


def _diagnose(seed, document, problems, answers):
    """Do what a check does with the file, whose `answers` are None if it cannot be read to its end."""
    if answers is not None:
        try:
            join(seed.items, answers, seed.reader, Policies(MissingPolicy.REJECT), document.collect(problems))
        except InputError as error:
            problems.end(error)
    diagnosis = Diagnosis(document, seed.reader, answers or [], {"test": seed.items}, "test", problems.counts)
    for error in problems.found:
        diagnosis.cause(error)


@contextmanager
def at_most(seconds):
    def ended(*_):
        raise Failure(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
