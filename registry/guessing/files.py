"""The files that a user points at: the gold's and the systems', and what the systems are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from registry.errors import InputError, counted
from registry.guessing.guess import Given
from registry.importers.base import find_files
from registry.readers import Document

_GOLD = re.compile(r"(?<![a-z])(gold|golds|truth|reference|references|ref|refs|key|keys|qrels?|labels)(?![a-z])", re.I)
_ASKED_OF = re.compile(r"(?<![a-z])(test|dev|val|valid|solutions?|answers?|annotations?)(?![a-z])", re.I)
_TOGETHER = "cat FOLDER/* > FILE"
_SYSTEMS = ("submissions", "systems", "runs", "predictions", "preds", "outputs", "hypotheses", "system-outputs", "hyps",
            "res")
_OTHER = (".md", ".py", ".toml", ".xml", ".html", ".pdf", ".duckdb", ".lock", ".sh", ".rst")
_SAID = re.compile(r"[_-](pred|preds|prediction|predictions|outputs?|results?|hyps?|answers|submission)$", re.I)
_ENDS = frozenset((
    ".bio", ".conll", ".conllu", ".csv", ".gz", ".hyp", ".iob", ".json", ".jsonl", ".key", ".labels", ".ndjson",
    ".out", ".parquet", ".pred", ".predictions", ".preds", ".res", ".run", ".tags", ".talp", ".trec", ".tsv", ".txt"))


class Files(NamedTuple):
    """The gold's file and the systems' ones; without these the gold's file holds all.

    `told` says what was chosen; `named` are all files as systems', the first one too, if no name says it is the gold.
    `no_gold` is the error where none can be the gold, unless all have scores. `is_gold_named` is false if only its
    first place suggests that a file is the gold.
    """

    gold: Document
    systems: list[Given]
    told: tuple[str, ...] = ()
    named: Sequence[Given] | None = None
    no_gold: InputError | None = None
    is_gold_named: bool = True


def files(paths: Sequence[Path], named_gold: Path | None = None) -> Files:
    """Load the gold, which is the first path, and the systems; one folder may hold all of them.

    Args:
        paths: The gold and the systems, or one folder or file that holds all.
        named_gold: The gold's file, if the user has named it; it is a system too only if `paths` begin with it twice.

    Raises:
        InputError: A file cannot be read, two systems are called the same, or nothing tells which file is the gold.
    """
    first, *others = paths
    told: tuple[str, ...] = ()
    no_gold: InputError | None = None
    if named_gold is not None:
        first, others = named_gold, _without_gold(paths, named_gold)
    elif first.is_dir() and not others:
        try:
            first, others, told = _in_folder(first)
        except _NoGoldError as error:
            first, *others = error.files
            no_gold, told = error, error.told
    elif first.is_dir():
        raise _is_folder(first, others)
    chosen: list[Path] = []
    for path in others:
        within, of_within = _of_systems(path, first) if path.is_dir() else ([path], ())
        chosen += [one for one in within if named_gold is None or one == path or not _is_same(one, named_gold)]
        told += of_within
    gold = Document.load(first)
    systems = [Given(name, Document.load(path)) for name, path in zip(system_names(chosen), chosen, strict=True)]
    is_gold_named = named_gold is not None or (bool(told) and told[0].startswith("the gold is ")) or not chosen or (
        first in chosen or _is_called_gold(first, chosen))
    named = None if named_gold is not None else (
        _as_systems(first, chosen) if no_gold is None else system_names([first, *chosen]))
    return Files(gold, systems, told, None if named is None else [Given(name, document) for name, document in zip(
        named, (gold, *(system.document for system in systems)), strict=True)], no_gold, is_gold_named)


def _is_same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()


def _without_gold(paths: Sequence[Path], gold: Path) -> list[Path]:
    """Return the systems' paths: all but the gold, which is a system as well if it is named first and again later."""
    if _is_same(paths[0], gold):
        return list(paths[1:])
    return [path for path in paths if not _is_same(path, gold)]


def _is_folder(gold: Path, others: Sequence[Path]) -> InputError:
    """Say what is wrong with a folder as the gold, which may have a file for each document, as systems' folders do."""
    names = {path.name for path in _visible(gold)}
    folders = [within for path in others if path.is_dir() for within in (path, *path.glob("*"), *path.glob("*/*"))
               if within.is_dir()]
    same = next((path for path in folders if len(names & {one.name for one in path.iterdir()}) > 1), None)
    return InputError("is a folder; name the gold's file first, then the systems' ones" + (
        f". Where it has a file for each document, as {same} does, put them together, and each system's in the same "
        f"order: {_TOGETHER}; lines that hang on their document need its name in a column (of spans: item, start, end, "
        "type)" if same is not None else ""), path=gold)


def _is_called_gold(first: Path, others: Sequence[Path]) -> bool:
    """Whether a file's name, or its folder's, which not all files share, is one of a gold."""
    named = [*([] if {first.stem} == {path.stem for path in others} else [first.stem]),
             *([] if first.parent in {path.parent for path in others} else [first.parent.name])]
    return any(pattern.search(name) for name in named for pattern in (_GOLD, _ASKED_OF))


def _as_systems(first: Path, others: Sequence[Path]) -> list[str] | None:
    """What all files would be called as systems'; None where the first is there again, or called as a gold is."""
    if not others or first in others or _is_called_gold(first, others):
        return None
    try:
        return system_names([first, *others])
    except InputError:
        return None


class _NoGoldError(InputError):
    """No file of a folder is called as a gold is; `files` are all of them, and `told` what is said of their choice."""

    def __init__(self, message: str, folder: Path, files: Sequence[Path], told: tuple[str, ...]) -> None:
        super().__init__(message, path=folder)
        self.files = files
        self.told = told


def _of_systems(folder: Path, gold: Path) -> tuple[list[Path], tuple[str, ...]]:
    """The systems' files of a folder, or the one file of each folder in it, and what is told of the choice."""
    if not _has_files(folder) and (teams := _folders(folder)):
        return _of_teams(folder, teams, gold.suffix)
    others = _visible(folder)
    systems = _plain(others)
    passed = [path.name for path in (*others, *_folders(folder)) if path not in systems]
    return systems, (f"passed over in {folder}: {', '.join(passed)}",) if passed else ()


def _of_teams(folder: Path, teams: Sequence[Path], ending: str = "") -> tuple[list[Path], tuple[str, ...]]:
    """The one file of each team's folder, or of each folder in these, and what is told of the choice.

    Of several the one is meant that all folders have and that alone ends as the gold does.
    """
    leaves = [leaf for team in teams for leaf in ([team] if _has_files(team) else _folders(team) or [team])]
    found = [(leaf, _plain(_visible(leaf))) for leaf in leaves]
    told = f"a system for each folder of {folder}, with one file"
    if (of := next(((leaf, own) for leaf, own in found if len(own) != 1), None)) is None:
        return [path for _, own in found for path in own], (told,)
    shared = sorted(set.intersection(*({path.name for path in own} for _, own in found)))
    meant = [name for name in shared if Path(name).suffix == ending]
    if len(meant) != 1:
        way = f"{folder}/*/" + ("*/" if of[0].parent != folder else "")
        ways = " or ".join(f"registry quick GOLD {way}{name}" for name in (meant or shared)[:3] or ["FILE"])
        raise InputError(f"{counted(len(of[1]), 'file')} in it, where one is expected in each folder of "
                         f"{folder}; name those that are meant: {ways}. Where they are of "
                         f"a document each, put them together, as the gold's: {_TOGETHER}", path=of[0])
    passed = sorted({path.name for _, own in found for path in own} - {meant[0]})
    return [leaf / meant[0] for leaf in leaves], (
        f"{told}, {meant[0]}, which alone ends as the gold does; passed over: {', '.join(passed)}",)


def _has_files(folder: Path) -> bool:
    return any(path.is_file() for path in folder.iterdir())


def _plain(found: Sequence[Path]) -> list[Path]:
    return [path for path in found if path.suffix not in _OTHER]


def _visible(folder: Path) -> list[Path]:
    return find_files(folder, lambda name: not name.startswith("."), "file", deep=False)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _golds(folder: Path) -> list[Path]:
    """The files that may be the gold: by their names, or the files of a folder that is called as a gold is."""
    found = _files(folder)
    return sorted(path for path in found if _GOLD.search(path.stem)) or sorted(
        path for path in found if re.search(r"(?<![a-z])test(?![a-z])", path.stem, re.I)) or [
        path for within in _folders(folder) if _GOLD.search(within.name) for path in _plain(_visible(within))]


def _in_folder(folder: Path) -> tuple[Path, list[Path], tuple[str, ...]]:
    """The gold of a folder by its name, and the systems in a folder within, or beside it."""
    if (folder / "task.toml").is_file():
        raise InputError("there is a manifest here, task.toml: `registry run` takes it", path=folder)
    golds, named = _golds(folder), "by its name"
    within = [folder / name for name in _SYSTEMS if (folder / name).is_dir()]
    others = [path for path in _folders(folder) if path not in {gold.parent for gold in golds}]
    beside = _plain(_files(folder))
    if not golds and others and len(beside) == 1:
        golds, named = beside, "as the only file beside folders"
    if len(golds) != 1 or len(within) > 1:
        which = "several files may be the gold" if len(golds) > 1 else (
            "several folders may hold the systems" if golds else "no file is called as a gold is")
        message = (f"{which}; name the gold (--gold FILE) and then the systems' files or folder, or say --as KIND "
                   "where these are another program's results (`registry list importers`). If each system's file "
                   "repeats the gold in a column, name one of them as the gold, and then all")
        systems: list[Path] = []
        told: tuple[str, ...] = ()
        if not golds and not within:
            systems, told = (_plain(_visible(folder)), ()) if _has_files(folder) else _of_teams(folder, others)
        if (whole := next((of for of in _folders(folder) if _GOLD.search(of.name) and len(_plain(_visible(of))) > 1),
                          None)) is not None:
            message += f". Where {whole} has a file for each document, put them together, as each system's: {_TOGETHER}"
        raise _NoGoldError(message, folder, systems, told) if len(systems) > 1 else InputError(message, path=folder)
    beside = [path for path in beside if path != golds[0]]
    if not within and len(others) == 1 and not beside:
        within = others
    of, = within or [folder]
    systems, told = (_of_systems(of, golds[0]) if within or beside or not others
                     else _of_teams(of, others, golds[0].suffix))
    systems = [path for path in systems if path != golds[0]]
    chosen = f"the gold is {golds[0].relative_to(folder)}, {named}; systems are the other files of {of}"
    return golds[0], systems, (chosen, *told)


def system_names(paths: Sequence[Path]) -> list[str]:
    """What systems are called: what tells their files apart, without what all of them have, be it `_predictions`.

    >>> system_names([Path("en.hyp.aspen-s.txt"), Path("en.hyp.birch.txt")]), system_names([Path("out/a.conll.gz")])
    (['aspen-s', 'birch'], ['a'])
    >>> system_names([Path("aspen/run.txt"), Path("birch/run.txt")])
    ['aspen', 'birch']
    >>> system_names([Path("aspen_preds.txt"), Path("birch-7b_preds.txt")]), system_names([Path("a_preds.txt")])
    (['aspen', 'birch-7b'], ['a_preds'])

    Raises:
        InputError: Two would be called the same.
    """
    parts = [_bare(path).split(".") for path in paths]
    if len({tuple(part) for part in parts}) < len(parts):
        parts = [[*path.parent.parts, ".".join(part)] for path, part in zip(paths, parts, strict=True)]
    for side in (0, -1):
        while len(parts) > 1 and min(map(len, parts)) > 1 and len({part[side] for part in parts}) == 1:
            for part in parts:
                part.pop(side)
    names = [re.sub(r"[/@\\]", "_", ".".join(part)).strip() or "system" for part in parts]
    ends = {end[0] if (end := _SAID.search(name)) and end.start() else "" for name in names}
    if len(names) > 1 == len(ends):  # one that all have says only what the files are
        names = [name.removesuffix(*ends) for name in names]
    for n, name in enumerate(names):
        if (first := names.index(name)) < n:
            raise InputError(f"would be called {name!r}, as {paths[first]} is; give the files names that tell them "
                             "apart", path=paths[n], category="duplicate")
    return names


def _bare(path: Path) -> str:
    name = path.name
    while Path(name).suffix in _ENDS:
        name = Path(name).stem
    return name
