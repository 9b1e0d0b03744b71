"""Files of systems, found in the files, folders and patterns that a user names, and the names of systems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from registry.errors import InputError, counted, listed, suggest
from registry.importers.base import find_files
from registry.manifest.naming import make_name
from registry.manifest.patterns import CAPTURES, FACTORS, assign_names, find_matches, list_captures
from registry.quick.plan import QuestionError, option

GOLD_NAME = re.compile(r"(?<![a-z])(gold|truth|references?|ref|keys?|qrels?|labels|solution|test)(?![a-z])", re.I)
_FEW_VALUES, _MOST_PATTERNS = 3, 6  # of a part of paths; in a message
_NO_OUTPUT = (".md", ".py", ".toml", ".xml", ".html", ".pdf", ".duckdb", ".lock", ".sh", ".rst", ".log")
_SAID = ("preds?|predictions?|outputs?|results?|hyps?|hypothes[ei]s|answers?|responses?|generations?|submit|"
         "submissions?|scores?|samples")  # words that say what a file is, not whose
_SAID_LAST = re.compile(rf"[_-]({_SAID})$", re.I)
_SAID_FIRST = re.compile(rf"^({_SAID})[_-](?!\d+$)", re.I)
_RUN = re.compile(r"(.*?)[._/-]?(?:seed|run|fold)[._-]?([0-9]+)", re.I)
_ENDINGS = frozenset((
    ".bio", ".conll", ".conllu", ".csv", ".gz", ".hyp", ".iob", ".json", ".jsonl", ".key", ".labels", ".ndjson",
    ".out", ".parquet", ".pred", ".predictions", ".preds", ".res", ".run", ".tags", ".talp", ".trec", ".tsv", ".txt"))


class NamedFile(NamedTuple):
    """File with the name of its system.

    Attributes:
        name: The name, which no other file of the test set has.
        path: The file.
        names: If a pattern matches the file, the names that its path contains, such as `system` and `version`.
    """

    name: str
    path: Path
    names: Mapping[str, str] = MappingProxyType({})

    @property
    def test_set(self) -> str:
        """Name of the test set; empty if it is not in the path of the file."""
        return self.names.get("test_set", "")


class Files(NamedTuple):
    """Files of systems, and notes for the user about files that were left out."""

    systems: list[NamedFile]
    notes: tuple[str, ...] = ()


class Runs(NamedTuple):
    """Runs of one system, each in its own file.

    Attributes:
        name: The name of the system without the number of the run, such as `bert`.
        systems: The name of each run's file without its ending, by the number of the run, such as {"1": "bert.seed1"}.
    """

    name: str
    systems: dict[str, str]


def find_systems(paths: Sequence[Path], gold: Path | None, is_gold: Callable[[Path], bool]) -> Files:
    """Find the files of systems in the paths that a user names.

    A path is a file, a folder, or a pattern such as `{team}/{run}.tsv`. A folder has one file per system, or one folder
    per system.

    Args:
        paths: The paths.
        gold: The gold file, or the pattern of gold files; None if the user names none.
        is_gold: Function that returns True for a gold file that is not a system, too.

    Raises:
        InputError: No file is found, two systems have the same name, or a pattern is invalid.
        QuestionError: It is unclear which files of a folder are the systems.
    """
    named: list[NamedFile] = []
    plain: list[Path] = []
    notes: list[str] = []
    if (gold is None or is_pattern(gold)) and (folders := _find_benchmark_folders(paths)):
        named += [entry for entry in folders if not is_gold(entry.path)]
        notes += ["each folder is a system, and each file in it is a test set"]
        paths = []
    names = _name_patterns([path for path in paths if is_pattern(path)])
    for path in paths:
        if is_pattern(path):
            files, ambiguous = _match_pattern(path, names.get(path, ""))
            systems = [entry for entry in files if not is_gold(entry.path)]
            named += [entry for entry in systems if entry.names]
            plain += [entry.path for entry in systems if not entry.names]
            notes += ambiguous
            notes += [f"{entry.path} is the gold and has no answers of {entry.name!r}" for entry in files
                      if entry not in systems and not GOLD_NAME.search(entry.name)]
        elif path.is_dir():
            listed_files, left_out = _list_folder(path, gold)
            plain += [entry for entry in listed_files if not is_gold(entry)]
            notes += left_out
        else:
            plain.append(path)
    named = [NamedFile(name, path) for name, path in zip(name_systems(plain), plain, strict=True)] + named
    notes += dict.fromkeys(note for entry in named for note in _describe_renamed(entry))
    seen: dict[tuple[str, str], Path] = {}
    for entry in named:
        first = seen.setdefault((entry.name, entry.test_set), entry.path)
        if first is not entry.path:
            raise InputError(f"this system would get the name {entry.name!r}, like {first}; rename one of the two "
                             "files",
                             path=entry.path, category="duplicate")
    if not named:
        raise InputError("there is no file of a system; name the systems' files or their folder", path=paths[0])
    return Files(named, tuple(notes))


def _describe_renamed(named: NamedFile) -> Iterator[str]:
    """Yield a sentence for each name that `make_name` changed."""
    for name in named.names.values() or (named.name,):
        original = re.search(re.escape(name).replace("_", "[_@]"), str(named.path))
        if original is not None and original[0] != name:
            yield f"{original[0]!r} is called {name!r}, because names have no @"


def find_golds(pattern: Path) -> dict[str, Path]:
    """Find the gold files of test sets by a pattern: `gold/{benchmark}.tsv`.

    Raises:
        InputError: The pattern has no `{benchmark}`, or two files have the same test set.
    """
    if assign_names(dict.fromkeys(list_captures(str(pattern)), "")).keys() != {"test_set"}:
        raise InputError("--gold is a pattern without {benchmark}, or with other names in braces; name a file, or a "
                         "pattern such as 'gold/{benchmark}.jsonl'", path=pattern)
    golds: dict[str, Path] = {}
    for entry in _match_pattern(pattern)[0]:
        if (first := golds.setdefault(entry.test_set, entry.path)) is not entry.path:
            raise InputError(f"the test set {entry.test_set!r} has two gold files, this one and {first}; name one of "
                             "them", path=entry.path)
    return golds


def is_pattern(path: Path) -> bool:
    """Return True if a path is a pattern with names in braces or `*`, not a file."""
    return bool(list_captures(str(path)) or "*" in str(path)) and not path.exists()


def _find_benchmark_folders(paths: Sequence[Path]) -> list[NamedFile]:
    """Return the files of folders that are systems with a file for each test set.

    The result is empty unless all paths are folders without subfolders, and some two or more names of files are in two
    folders. The names of folders and files are those of systems and test sets.
    """
    if len(paths) < 2 or not all(path.is_dir() and _has_files(path) for path in paths):
        return []
    files = {path: _outputs(path) for path in paths}
    counts = Counter(file.name for folder_files in files.values() for file in folder_files)
    if sum(n > 1 for n in counts.values()) < 2:
        return []
    return [_name_file(file, {"system": path.resolve().name, "test_set": _bare(file)})
            for path, folder_files in files.items() for file in folder_files]


def _name_patterns(patterns: Sequence[Path]) -> dict[Path, str]:
    """Name the systems of patterns that differ only outside of braces, such as `a/{benchmark}` and `b/{benchmark}`.

    The result is empty if there are not several such patterns, or if one of them has the name of a system in braces.
    """
    captures = [assign_names(dict.fromkeys(list_captures(str(pattern)), "")) for pattern in patterns]
    if len(patterns) < 2 or any(names.keys() != {"test_set"} for names in captures):
        return {}
    names = [re.sub(r"[-_.]*\{[^}]*\}[-_.]*", "", name) for name in name_systems(patterns)]
    return dict(zip(patterns, names, strict=True)) if len({*names}) == len(names) and all(names) else {}


def _match_pattern(pattern: Path, system: str = "") -> tuple[list[NamedFile], list[str]]:
    """Find the files that match a pattern such as `{team}/{run}.tsv`.

    The pattern has the same form as in manifests. `system` names the system if the pattern does not.

    Returns:
        The files, and notes about paths that can be divided into names in several ways.

    Raises:
        InputError: The pattern has an unknown name in braces, or no file matches.
    """
    if unknown := next((name for name in list_captures(str(pattern)) if name not in CAPTURES), None):
        raise InputError(f"unknown name {{{unknown}}}; {suggest(unknown, CAPTURES)}; write * for a part of the path "
                         "that names nothing", path=pattern)
    root = Path(pattern.anchor or ".")
    matches = [match for match in find_matches(root, [*pattern.relative_to(pattern.anchor).parts])
               if (root / match.path).is_file()]
    if not matches:
        raise InputError("no file matches this pattern", path=pattern)
    given = {"system": system} if system else {}
    files = [_name_file(root / match.path, given | assign_names(match.captures)) for match in matches]
    divided = [match for match in matches if match.is_ambiguous]
    return files, [f"{counted(len(divided), 'path')} can be divided into names in several ways: {divided[0].path} has "
                   + ", ".join(f"{name} {value!r}" for name, value in divided[0].captures.items())] if divided else []


def _name_file(path: Path, names: Mapping[str, str]) -> NamedFile:
    names = {name: make_name(value) for name, value in names.items()}
    system = names.setdefault("system", "system") if names else ""
    if names.get("team") == system:  # the usual name of a team
        del names["team"]
    name = "/".join(filter(None, (names.get("team"), system)))
    name += f"@{names['version']}" if "version" in names else ""
    levels = [f"{factor}{names[factor]}" for factor in FACTORS if factor in names]
    return NamedFile(".".join([name, *levels]), path, names)


def _list_folder(folder: Path, gold: Path | None) -> tuple[list[Path], list[str]]:
    """Find the files of systems in a folder or its subfolders.

    Args:
        folder: The folder.
        gold: The gold file; None if the user does not name one.

    Returns:
        One file per system, and notes about files that were left out.

    Raises:
        QuestionError: It is unclear which files are systems, or which file is the gold.
        InputError: The folder contains a task with a manifest.
    """
    if (folder / "task.toml").is_file() and gold is None:
        raise InputError(f"this folder has a manifest; run `registry run {folder / 'task.toml'}`", path=folder)
    files = find_files(folder, _is_visible, "file", deep=False) if _has_files(folder) else []
    folders = [team for team in _folders(folder) if any(True for leaf in _leaves(team) for _ in _outputs(leaf))]
    if not folders:
        systems = [path for path in files if path.suffix not in _NO_OUTPUT]
        if not systems and (patterns := _suggest_patterns(folder)):
            raise QuestionError("the files are in deeper folders. Name them with a pattern, such as:", patterns,
                                str(folder))
        if twins := _find_twins(systems):
            first, second = twins
            raise QuestionError(f"{first.name} and {second.name} differ only in their endings. Name the files of one "
                                "ending with a pattern:", {f"'{folder}/{{system}}{path.suffix}'": "" for path in twins},
                                str(folder))
        left_out = [path.name for path in (*files, *_folders(folder)) if path not in systems]
        if not systems and files:
            raise QuestionError(f"the folder has no file of a system: {listed(left_out, 5)} have other endings. If "
                                "these are systems' files, name them with a pattern:",
                                {f"'{folder}/{{system}}{files[0].suffix}'": ""}, str(folder))
        return systems, [f"not read in {folder}: {listed(left_out, 5)}"] if left_out else []
    if gold is None and any(GOLD_NAME.search(path.name) for path in (*folders, *files)):
        likely = next(path for path in (*files, *folders) if GOLD_NAME.search(path.name))
        golds = [likely] if likely.is_file() else _outputs(likely)
        rest = [path for path in (*folders, *files) if path != likely]
        if golds and rest:
            raise QuestionError("which file is the gold? Name the gold, and the systems' files or folder:",
                                {f"{option('--gold', str(golds[0]))} {rest[0]}": ""}, str(folder))
    notes = [f"not read in {folder}: {listed([path.name for path in files], 5)}"] if files else []
    return _choose_team_files(folder, folders, gold, notes)


def _choose_team_files(folder: Path, teams: Sequence[Path], gold: Path | None,
                       notes: list[str]) -> tuple[list[Path], list[str]]:
    leaves = [leaf for team in teams for leaf in _leaves(team)]
    files = {leaf: _outputs(leaf) for leaf in leaves}
    if all(len(paths) == 1 for paths in files.values()):
        return [path for paths in files.values() for path in paths], [*notes, *_describe_deeper_files(leaves)]
    shared = sorted(set.intersection(*({path.name for path in paths} for paths in files.values())))
    candidates = [name for name in shared if gold is not None and Path(name).suffix == gold.suffix] or shared
    if len(candidates) == 1:
        unread = sorted({path.name for paths in files.values() for path in paths} - {*candidates})
        return [leaf / candidates[0] for leaf in leaves], [
            *notes, *([f"not read in the folders of {folder}: {listed(unread, 5)}"] if unread else []),
            *_describe_deeper_files(leaves)]
    leaf, paths = next((leaf, paths) for leaf, paths in files.items() if len(paths) != 1)
    pattern = f"{folder}/" + ("{model}/" if leaf.parent == folder else "{team}/{system}/")
    patterns = {f"'{pattern}{name}'": "this file of each folder"
                for name in (candidates or [path.name for path in paths])[:5]}
    if len({path.suffix for leaf_paths in files.values() for path in leaf_paths}) == 1:
        one_set = {f"'{folder}/{{team}}/{{system}}{paths[0].suffix}'": "each file is a system"} if (
            leaf.parent == folder) else {}
        patterns = one_set | patterns
        if gold is None:
            patterns = {f"'{pattern}{{benchmark}}{paths[0].suffix}'": "each file is a benchmark"} | patterns
    raise QuestionError(f"{leaf} has {counted(len(paths), 'file')}; expected one file in each folder. If each file is "
                        "a document, join the files in the same order (cat FOLDER/* > FILE). Otherwise name a pattern:",
                        patterns, str(folder))


def _describe_deeper_files(leaves: Sequence[Path]) -> list[str]:
    """Return a note about files in subfolders of folders that have a system's file; [] if there are none."""
    files = [path for leaf in leaves for folder in _folders(leaf) for path in folder.rglob("*") if path.is_file()]
    return [f"not read: {counted(len(files), 'file')} in deeper folders, such as {min(files)}; name such files with a "
            f"pattern: '{leaves[0].parent}/{{system}}/{min(files).relative_to(leaves[0])}'"] if files and min(
                files).is_relative_to(leaves[0]) else []


def _find_twins(files: Sequence[Path]) -> tuple[Path, Path] | None:
    """Find two files whose names differ only in their endings."""
    stems: dict[str, Path] = {}
    for path in files:
        if (first := stems.setdefault(path.stem, path)) is not path:
            return first, path
    return None


def _suggest_patterns(folder: Path) -> dict[str, str]:
    """Return patterns of the files in deep subfolders, with the benchmarks that each pattern finds."""
    rows: dict[tuple[int, str], list[tuple[str, ...]]] = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and path.suffix not in _NO_OUTPUT and all(map(_is_visible, parts)):
            rows.setdefault((len(parts), path.suffix), []).append((*parts[:-1], path.name.removesuffix(path.suffix)))
    patterns: dict[str, str] = {}
    for (_, suffix), paths in sorted(rows.items(), key=lambda item: -len(item[1])):
        patterns |= {f"'{folder}/{pattern}{suffix}'": names for pattern, names in _vary_paths(paths).items()}
    return dict(list(patterns.items())[:_MOST_PATTERNS])


def _vary_paths(paths: Sequence[tuple[str, ...]]) -> dict[str, str]:
    """Return patterns of paths that have the same number of parts.

    The first part in which paths differ is the system. Another such part is the benchmark; if there are several, there
    is a pattern for each choice. Parts that depend on another one are `*`.
    """
    columns = [list(column) for column in zip(*paths, strict=True)]
    system, *others = [n for n, column in enumerate(columns) if len({*column}) > 1] or [len(columns) - 1]
    free: list[int] = []
    for n in others:
        if not any(_determines(columns[m], columns[n]) for m in (system, *free)):
            free.append(n)
    choices = [[column[0]] for column in columns]
    for n in others:
        values = sorted({*columns[n]})
        choices[n] = values if n in free and len(values) <= _FEW_VALUES else ["*"]
    choices[system] = ["{system}"]
    if not free:
        return {"/".join(parts): "" for parts in product(*choices)}
    return {"/".join((*parts[:n], "{benchmark}", *parts[n + 1:])): f"benchmarks {listed(sorted({*columns[n]}), 3)}"
            for n in free for parts in product(*choices)}


def _determines(given: Sequence[str], other: Sequence[str]) -> bool:
    return len({*zip(given, other, strict=True)}) == len({*given})


def _is_visible(name: str) -> bool:
    return not name.startswith(".")


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and _is_visible(path.name))


def _leaves(team: Path) -> list[Path]:
    return [team] if _has_files(team) else _folders(team)


def _has_files(folder: Path) -> bool:
    return any(path.is_file() and _is_visible(path.name) for path in folder.iterdir())


def _outputs(folder: Path) -> list[Path]:
    return [path for path in (find_files(folder, _is_visible, "file", deep=False) if _has_files(folder) else [])
            if path.suffix not in _NO_OUTPUT]


def name_systems(paths: Sequence[Path]) -> list[str]:
    """Derive the names of systems from their file names.

    A name is the part in which the file names differ, without words such as `predictions_` that all have at their start
    or end.

    >>> name_systems([Path("en.hyp.aspen-s.txt"), Path("en.hyp.birch.txt")]), name_systems([Path("out/a.conll.gz")])
    (['aspen-s', 'birch'], ['a'])
    >>> name_systems([Path("aspen/run.txt"), Path("birch/run.txt")])
    ['aspen', 'birch']
    >>> name_systems([Path("aspen_preds.txt"), Path("birch-7b_preds.txt")]), name_systems([Path("a_preds.txt")])
    (['aspen', 'birch-7b'], ['a_preds'])
    >>> name_systems([Path("predictions_bert-base.tsv"), Path("predictions_bert-large.tsv")])
    ['bert-base', 'bert-large']
    """
    parts = [_bare(path).split(".") for path in paths]
    if len({tuple(part) for part in parts}) < len(parts):
        parts = [[*path.parent.parts, ".".join(part)] for path, part in zip(paths, parts, strict=True)]
    for side in (0, -1):
        while len(parts) > 1 and min(map(len, parts)) > 1 and len({part[side] for part in parts}) == 1:
            for part in parts:
                part.pop(side)
    names = [make_name(".".join(part)) or "system" for part in parts]
    for expression in (_SAID_FIRST, _SAID_LAST) if len(names) > 1 else ():
        said = {match[0] if (match := expression.search(name)) else "" for name in names}
        if len(said) == 1:
            names = [expression.sub("", name) for name in names]
    return names


def _bare(path: Path) -> str:
    name = path.name
    while Path(name).suffix in _ENDINGS:
        name = Path(name).stem
    return name


def find_runs(names: Sequence[str]) -> list[Runs]:
    """Group names such as `bert.seed1` and `bert.seed2` into runs of one system.

    The names must differ only in a number after `seed`, `run` or `fold`. Systems with a single file are left out.
    """
    runs: dict[str, dict[str, str]] = {}
    for name in names:
        if (run := _RUN.fullmatch(name)) is not None and run[1]:
            runs.setdefault(run[1], {})[run[2]] = name
    return [Runs(name, files) for name, files in runs.items() if len(files) > 1]
