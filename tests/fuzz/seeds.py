"""What is mutated: the gold files and submissions of the sample tasks, of seeds/ and of the real data that is there.

A seed of a new format is a small task in seeds/FOLDER/task.toml; whatever is in sample_data or has a manifest in
tests/real_data is one already.
"""

from dataclasses import dataclass

from registry.evaluation.ingest.declared import expand_submissions
from registry.evaluation.resolve import resolve
from registry.items import Item
from registry.manifest import load_manifest
from registry.readers import Document, Reader
from tests.conftest import REAL_DATA, ROOT

LARGEST = 2**15  # of longer files the beginning is taken, so that there are many trials
SUBMISSIONS = 3  # of each task


@dataclass(frozen=True)
class Seed:
    """One file of a task; `role` is what it is to the gold, empty for a submission, which is held against `items`."""

    task: str
    reader: Reader
    role: str
    documents: dict[str, Document]
    items: list[Item]

    @property
    def content(self):
        """The bytes to mutate."""
        return self.documents[self.role].content

    def read(self, document):
        """Read a mutated file in place of this one."""
        if not self.role:
            return list(self.reader.read_answers(document))
        return self.reader.read_gold({**self.documents, self.role: document})


def seeds(*, real, largest=LARGEST):
    """All seeds by the name of their reader; those of the real data too, if asked for. `largest` is of a file."""
    found = {}
    folders = [*(ROOT / "sample_data").iterdir(), *(ROOT / "tests" / "fuzz" / "seeds").glob("*")]
    tasks = [(folder / "task.toml", folder) for folder in sorted(folders) if (folder / "task.toml").exists()]
    if real:
        tasks += [(manifest, REAL_DATA / manifest.stem) for manifest in sorted(
            (ROOT / "tests" / "real_data").glob("*.toml")) if (REAL_DATA / manifest.stem).is_dir()]
    for manifest, folder in tasks:
        for seed in _of_task(manifest, folder, largest):
            found.setdefault(seed.reader.name, []).append(seed)
    return found


def _of_task(manifest, folder, largest):
    task = resolve(load_manifest(manifest)[0], manifest, folder)
    items = {}
    for test_set in task.manifest.test_set:
        reader, name = task.readers[test_set.name], f"{task.manifest.task.id}/{test_set.name}"
        whole = task.gold_documents(test_set)
        lines = min(document.content.count(b"\n", 0, largest) for document in whole.values())
        documents = {role: _beginning(document, lines) for role, document in whole.items()}
        items[test_set.name] = reader.read_gold(whole)
        for role in documents:
            yield Seed(name, reader, role, documents, items[test_set.name])
    of_reader = {}
    for one in expand_submissions(task):
        if of_reader.setdefault(one.reader, SUBMISSIONS) > 0:
            of_reader[one.reader] -= 1
            document = one.documents[0]
            lines = document.content.count(b"\n", 0, largest)
            yield Seed(f"{task.manifest.task.id}/{one.name}", one.reader, "", {"": _beginning(document, lines)},
                       items[one.test_set.name])


def _beginning(document, lines):
    return Document(document.path, b"".join(document.content.splitlines(keepends=True)[:lines + 1]))
