"""A folder of plain text files with a segment per line, as sacrebleu takes them: references, a source, and systems."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from registry.errors import InputError
from registry.importers.base import Importer, title
from registry.importers.files import find_files
from registry.importers.scored import distinct_slugs, system_and_team
from registry.manifest.folder import TaskFolder
from registry.readers import Document


class Plain(Importer):
    """Plain text: every file of a folder that is neither reference nor source is a system's output.

    The options that name files take patterns, in which `*` is any text and `?` any character.

    Attributes:
        references: Which files are references; the first by name is the gold.
        source: Which file is the source.
        documents: Which file names the document of every segment, one per line; documents are then clusters.
        system: What systems' files are called, with `{system}` for the system's name; files called otherwise are
            passed over. An end `.txt` or `.gz` of the file's name is not looked at.
        missing: Blank lines of systems: `reject` the file, or count them as the empty text as sacrebleu does (`worst`).
    """

    name = "plain"

    references: tuple[str, ...] = ("ref*", "*.ref*")
    source: tuple[str, ...] = ("src*", "source*", "*.src*")
    documents: tuple[str, ...] = ()
    system: str = "{system}"
    missing: Literal["reject", "worst"] = "reject"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.system.count("{system}") != 1:
            raise InputError(f"option 'system' of plain is {self.system!r}; it must have one {{system}} for the name")

    def read(self, path: Path) -> TaskFolder:
        """Declare references, source and systems, with BLEU and chrF."""
        if not path.is_dir():
            raise InputError("not a folder; name the one of the references and systems", path=path)
        files = find_files(path, lambda name: not name.startswith("."), "file", deep=False)
        roles = {role: [file for file in files if any(fnmatchcase(file.name, pattern) for pattern in patterns)]
                 for role, patterns in (("reference", self.references), ("source", self.source),
                                        ("documents", self.documents))}
        if not roles["reference"]:
            raise InputError(f"no reference: no file is called {' or '.join(self.references)}; name it with the option "
                             "'references'", path=path)
        for role in ("source", "documents"):
            if len(roles[role]) > 1:
                raise InputError(f"called as a {role} file, as {roles[role][0].name} is; name it with an option",
                                 path=roles[role][1])
        given = [file for role in roles.values() for file in role]
        if twice := next((file for file in given if given.count(file) > 1), None):
            raise InputError("named by two options; reference, source and documents are different files", path=twice)
        systems = self._systems([file for file in files if file not in given])
        if not systems:
            raise InputError(f"no file of a system called {self.system}", path=path)
        return self._imported(path, roles, systems)

    def _systems(self, files: Iterable[Path]) -> dict[str, Path]:
        before, _, after = self.system.partition("{system}")
        found: dict[str, Path] = {}
        for file in files:
            stem = file.name.removesuffix(".gz").removesuffix(".txt")
            if not (stem.startswith(before) and stem.endswith(after) and len(stem) > len(before) + len(after)):
                continue
            name = stem[len(before):len(stem) - len(after)]
            if (first := found.setdefault(name, file)) is not file:
                raise InputError(f"a second file of the system {name!r}, as {first.name} is; keep one", path=file,
                                 category="duplicate")
        return found

    def _imported(self, path: Path, roles: dict[str, list[Path]], systems: dict[str, Path]) -> TaskFolder:
        contents: dict[str, bytes] = {}
        digests: dict[str, str] = {}
        copies: dict[str, str] = {}

        def taken(file: Path, name: str) -> str:
            document = Document.load(file, path)
            contents[name], digests[document.name], copies[name] = document.content, document.digest, document.path
            return name

        gold, *others = (taken(file, f"references/{n}.txt") for n, file in enumerate(roles["reference"], 1))
        references = [{"name": f"reference{n}", "path": name} for n, name in enumerate(others, 2)]
        test_set: dict[str, Any] = {"name": "test", "gold": gold, "format": "lines"}
        if references:
            test_set["references"] = references
        for file in roles["source"]:
            test_set["source"] = taken(file, "source.txt")
        for file in roles["documents"]:
            test_set |= {"attributes": taken(file, "documents.txt"), "cluster": "document"}
        options = {"references": ["gold", *(reference["name"] for reference in references)]}
        slugs = distinct_slugs(systems, path)
        return TaskFolder({
            "task": {"title": title(path)},
            "test_set": [test_set],
            "submission": {"missing": self.missing},
            "metric": [{"id": "bleu", "name": "BLEU", "options": options, "primary": True},
                       {"id": "chrf", "name": "chrF", "options": options}],
            "significance": {"test": "bootstrap"},
            "submit": [{"file": taken(file, f"systems/{slugs[name]}.txt"), **system_and_team(name)}
                       for name, file in systems.items()],
        }, contents, digests, copies=copies)
