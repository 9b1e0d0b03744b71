"""A competition bundle for Codabench: one zip file that makes the platform run a task.

Test sets become tasks of the competition, metrics become columns of its leaderboard. Test sets with the same deadline
are one phase, and a submission answers all test sets of a phase. The gold is only in the reference data, which the
platform gives only to the scoring program.

The bundle contains the wheels of the scoring program for CPython on Linux x86-64, the system of the platform's images.
They come from a folder, never from the network, so the same registry, options and folder give the same bytes.
"""

from __future__ import annotations

import json
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from email.parser import Parser
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version
from sqlalchemy import Connection, select

from registry import version
from registry.competitions import start as start_script
from registry.competitions.scoring_program import MANIFEST, SETTINGS, Settings
from registry.errors import InputError
from registry.evaluation.checking.task_pack import (
    describe_revealed,
    describe_unchecked,
    format_manifest,
    make_task_pack,
)
from registry.evaluation.resolve import ResolvedTask, resolve, resolve_stored
from registry.evaluation.scorers import describe_scorer
from registry.files import new_file
from registry.manifest import Manifest, TestSet, load_manifest, make_submit
from registry.manifest.folder import write_files
from registry.metrics import METEOR, Metric
from registry.readers import Reader
from registry.store import catalog, models, sources
from registry.store.catalog import GoldRevisionRow, TaskRow
from registry.store.log import now

ALWAYS = ("numpy", "pydantic", "threadpoolctl")  # imports of checking and scoring for every task
# pip downloads only wheels of the named platforms.
_DOWNLOAD_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
_PLATFORMS = [f"manylinux_2_{n}_x86_64" for n in range(28, 16, -1)] + [
    "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]


@dataclass(frozen=True)
class Wheel:
    """A Python package file (wheel) and the version of the package."""

    path: Path
    version: Version

    def requirements(self, python: str) -> list[Requirement]:
        """Return the packages that this package requires on Linux.

        Raises:
            InputError: The file is not a wheel.
        """
        try:
            with zipfile.ZipFile(self.path) as archive:
                (name,) = (n for n in archive.namelist() if n.count("/") == 1 and n.endswith(".dist-info/METADATA"))
                text = archive.read(name).decode()
            requirements = [Requirement(line) for line in Parser().parsestr(text, headersonly=True).get_all(
                "Requires-Dist", [])]
        except (OSError, ValueError, zipfile.BadZipFile, InvalidRequirement) as error:
            raise InputError(f"not a wheel: {error}", path=self.path) from None
        environment = _make_environment(python)
        return [requirement for requirement in requirements
                if requirement.marker is None or requirement.marker.evaluate(environment)]


def find_needed_wheels(folder: Path, metrics: Iterable[Metric], python: str) -> list[Path]:
    """Find the package files (wheels) that a competition's scoring program needs.

    The bundle contains these files, and the scoring program installs nothing else.

    Args:
        folder: Folder with wheels.
        metrics: Metrics that the scoring program computes.
        python: Python version of the scoring program, such as `3.12`.

    Raises:
        InputError: The folder or a wheel does not exist (the message has the command that downloads all wheels), or a
            metric requires more than wheels.
    """
    roots = _list_roots(metrics)
    fetch = (f"pip download --only-binary=:all: --python-version {python} "
             + "".join(f"--platform {platform} " for platform in _DOWNLOAD_PLATFORMS)
             + f"-d {folder} " + " ".join(f"'{root}'" for root in roots))
    if not folder.is_dir():
        raise InputError(f"the folder does not exist; `{fetch}` downloads the wheels", path=folder)
    available = _find_wheels(folder, python)
    chosen: dict[str, Wheel] = {}
    waiting = list(roots)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (wheel := chosen.get(name)) is None:
            matches = [wheel for wheel in available.get(name, ())
                       if requirement.specifier.contains(wheel.version, prereleases=True)]
            if not matches:
                raise InputError(f"no wheel of {requirement} for CPython {python} on Linux x86-64; `{fetch}` downloads "
                                 "all required wheels", path=folder)
            chosen[name] = wheel = max(matches, key=lambda match: match.version)
            waiting += wheel.requirements(python)
        if not requirement.specifier.contains(wheel.version, prereleases=True):
            raise InputError(f"{wheel.path.name} does not satisfy {requirement}; empty the folder, then run `{fetch}`",
                             path=folder)
    return sorted((wheel.path for wheel in chosen.values()), key=lambda path: path.name)


def _list_roots(metrics: Iterable[Metric]) -> list[Requirement]:
    """List the packages that the scoring program needs for some metrics.

    Packages that these packages require are not in the list.
    """
    names = set(ALWAYS)
    for metric in metrics:
        if isinstance(metric, METEOR):
            raise InputError(f"{metric!r} requires Java, which the image of a scoring program does not have; use "
                             "it only on the registry's leaderboards")
        names |= describe_scorer(metric).keys() - {"revision"}
    declared = _read_requirements()
    return [declared.get(name, Requirement(name)) for name in sorted(names)]


def _read_requirements() -> Mapping[str, Requirement]:
    """Return the packages that this program requires, by name.

    Conditions such as the operating system are left out.
    """
    try:
        lines = metadata.requires("evalregistry") or []
    except metadata.PackageNotFoundError:
        lines = []
    requirements: dict[str, Requirement] = {}
    for line in lines:
        name, specifier = (requirement := Requirement(line)).name, requirement.specifier
        requirements.setdefault(name, Requirement(f"{name}{specifier}"))
    return requirements


def _find_wheels(folder: Path, python: str) -> dict[str, list[Wheel]]:
    """Find the wheels (package files) in a folder that fit the platform, by package."""
    major, minor = (int(part) for part in python.split("."))
    supported = {*cpython_tags((major, minor), platforms=_PLATFORMS),
                 *compatible_tags((major, minor), f"cp{major}{minor}", _PLATFORMS)}
    wheels: dict[str, list[Wheel]] = {}
    for path in sorted(folder.glob("*.whl")):
        try:
            name, version, _, tags = parse_wheel_filename(path.name)
        except InvalidWheelFilename as error:
            raise InputError(f"not the name of a wheel: {error}", path=path) from None
        if tags & supported:
            wheels.setdefault(name, []).append(Wheel(path, version))
    return wheels


def _make_environment(python: str) -> dict[str, str]:
    """Describe the platform on which a competition scores submissions.

    Conditional requirements of packages are evaluated with this description.
    """
    return {"implementation_name": "cpython", "implementation_version": f"{python}.0", "os_name": "posix",
            "platform_machine": "x86_64", "platform_python_implementation": "CPython", "platform_release": "",
            "platform_system": "Linux", "platform_version": "", "python_full_version": f"{python}.0",
            "python_version": python, "sys_platform": "linux", "extra": ""}


def format_yaml(table: Mapping[str, Any]) -> str:
    """Format nested dictionaries and lists as YAML.

    Values are texts, numbers and truth values; keys must be plain words.

    >>> phases = [{"index": 0, "tasks": [0, 1]}, {"index": 1, "tasks": []}]
    >>> print(format_yaml({"title": "A: b", "phases": phases}), end="")
    title: "A: b"
    phases:
      - index: 0
        tasks:
          - 0
          - 1
      - index: 1
        tasks: []
    """
    return "".join(f"{line}\n" for line in _format_lines(table))


def _format_lines(value: Mapping[str, Any] | list[Any]) -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, Mapping) else ((None, element) for element in value):
        if isinstance(inner, Mapping | list) and inner:
            lines = list(_format_lines(inner))
            if key is None:
                yield f"- {lines[0]}"
                lines = lines[1:]
            else:
                yield f"{key}:"
            yield from (f"  {line}" for line in lines)
        else:
            yield f"- {_format_scalar(inner)}" if key is None else f"{key}: {_format_scalar(inner)}"


def _format_scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return "".join(c if c.isprintable() else _escape(c) for c in json.dumps(value, ensure_ascii=False))


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


MAX_KEY = 36  # characters of a column's key and title in the platform's database
TIME_LIMIT = 1200  # seconds for scoring a submission


@dataclass(frozen=True)
class Phase:
    """A period of a competition, in which participants submit to some test sets.

    `end` is None if the period has no end.
    """

    start: datetime
    end: datetime | None
    test_sets: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the phase: the names of its test sets, joined by commas."""
        return ", ".join(self.test_sets)


def make_phases(manifest: Manifest, start: datetime) -> list[Phase]:
    """Divide a competition into phases that end at the deadlines of its test sets.

    Test sets with the same deadline share a phase. The first phase begins at `start`.

    Raises:
        InputError: The first deadline is not after the start.
    """
    deadlines = {test_set.name: manifest.deadline(test_set.name) for test_set in manifest.test_set}
    phases: list[Phase] = []
    for end in [*sorted({deadline for deadline in deadlines.values() if deadline is not None}), None]:
        test_sets = tuple(name for name, deadline in deadlines.items() if deadline == end)
        if not test_sets:
            continue
        begin = (phases[-1].end or start) + timedelta(seconds=1) if phases else start
        if end is not None and end <= begin:
            raise InputError(f"the deadline of test set {test_sets[0]} is {_format_moment(end)} UTC, before the start "
                             f"of its phase ({_format_moment(begin)}); give an earlier --start")
        phases.append(Phase(begin, end, test_sets))
    return phases


def make_competition(task: ResolvedTask, phases: Sequence[Phase], python: str, *, hidden: bool) -> dict[str, Any]:
    """Return the content of competition.yaml, which declares a competition.

    Args:
        task: The task.
        phases: The phases of the competition.
        python: The Python version of the scoring program.
        hidden: True if participants see no scores.

    Raises:
        InputError: A metric's id is too long for a column.
    """
    manifest = task.manifest
    names = [test_set.name for test_set in manifest.test_set]
    return {
        "version": 2,
        "title": (manifest.task.title or manifest.task.id)[:256],
        "description": manifest.task.description,
        "image": "logo.png",
        "terms": "terms.md",
        "docker_image": f"python:{python}-slim",
        "registration_auto_approve": False,
        "make_programs_available": False,
        "make_input_data_available": False,
        "enable_detailed_results": True,
        "show_detailed_results_in_submission_panel": True,
        "show_detailed_results_in_leaderboard": False,
        "pages": [{"title": title, "file": f"pages/{title.lower()}.md"}
                  for title in ("Overview", "Evaluation", "Data")],
        "tasks": [{
            "index": n, "name": name, "description": f"Test set {name} of {manifest.task.id}",
            "reference_data": f"reference_data/{name}/", "scoring_program": "scoring_program/",
        } for n, name in enumerate(names)],
        "phases": [_make_phase(n, phase, names, manifest, hidden=hidden) for n, phase in enumerate(phases)],
        "leaderboards": [{
            "title": "Results", "key": "results", "submission_rule": "Force_Last", "hidden": hidden,
            "columns": list(_make_columns(task))}],
    }


def _make_phase(n: int, phase: Phase, names: Sequence[str], manifest: Manifest, *, hidden: bool) -> dict[str, Any]:
    limits = manifest.submission
    return {
        "index": n, "name": phase.name, "description": f"Submissions to {phase.name}",
        "start": _format_moment(phase.start),
        **({} if phase.end is None else {"end": _format_moment(phase.end)}),
        "max_submissions": limits.limit or 0, "max_submissions_per_day": limits.limit_per_day or 0,  # 0: any number
        "execution_time_limit": TIME_LIMIT, "auto_migrate_to_this_phase": False,
        "hide_output": False, "hide_score_output": hidden, "accepts_only_result_submissions": True,
        "starting_kit": f"starting_kit/{n}/", "tasks": [names.index(name) for name in phase.test_sets]}


def _make_columns(task: ResolvedTask) -> Iterator[dict[str, Any]]:
    """Yield the columns of the competition's leaderboard, the primary metric first.

    The platform sorts by the first column.
    """
    primary, declared = task.manifest.primary.id, {metric.id: metric for metric in task.manifest.metric}
    for n, name in enumerate(sorted(task.metrics, key=lambda name: name != primary)):
        if len(name) > MAX_KEY:
            raise InputError(f"metric {name!r}: the id is longer than the {MAX_KEY} characters that the platform "
                             "allows; choose a shorter id")
        sorting = "asc" if task.metrics[name].better == "lower" else "desc"
        metric, decimals = task.metrics[name], declared[name].decimals
        yield {"title": (declared[name].title or name)[:MAX_KEY], "key": name, "index": n, "sorting": sorting,
               "precision": metric.decimals if decimals is None else decimals, "hidden": False}


def make_pages(task: ResolvedTask, phases: Sequence[Phase], *, hidden: bool) -> Mapping[str, str]:
    """Make the web pages of the competition.

    Returns:
        Markdown, by the path of the page.
    """
    about, manifest = task.manifest.task, task.manifest
    facts = [("Organisers", ", ".join(about.organisers)), ("Contact", about.contact), ("Page", about.url),
             ("Cite", about.citation)]
    overview = [f"# {_escape_markup(about.title or about.id)}", _escape_markup(about.description),
                "\n".join(f"- {name}: {_escape_markup(fact)}" for name, fact in facts if fact)]
    metrics = "\n".join(f"- `{name}`: `{metric!r}`, {metric.better} is better"
                        for name, metric in task.metrics.items())
    visibility = "Scores are hidden from participants." if hidden else (
        f"The leaderboard shows the last submission of each participant, by `{manifest.primary.id}`.")
    evaluation = ["# Evaluation", metrics, manifest.submission.missing.describe_for_participants(), visibility,
                  "This platform orders submissions only by their scores. The organisers' results show which "
                  "differences are significant, and which ranks the data supports."]
    periods = "\n".join(f"- {_escape_markup(phase.name)}: from {_format_moment(phase.start)} UTC"
                      + (f" until {_format_moment(phase.end)} UTC" if phase.end else "") for phase in phases)
    data = ["# Data and submissions", periods, _describe_submission(phases),
            "The starting kit lists the items to answer. Use it to check a file before you submit it:",
            "    pip install evalregistry\n    registry check FILE --task starting_kit/task.toml"]
    return {f"pages/{name}.md": "\n\n".join(filter(None, parts)) + "\n" for name, parts in (
        ("overview", overview), ("evaluation", evaluation), ("data", data))}


def make_terms(task: ResolvedTask) -> str:
    """Return default terms of participation, with the limits and licence of the task."""
    about, limits = task.manifest.task, task.manifest.submission
    parts = ["# Terms", "The organisers check, score and store submissions, and may publish the scores.",
            f"The data is licensed under {about.licence}." if about.licence else "",
            f"A participant may submit {limits.limit} times in a phase." if limits.limit else "",
            f"A participant may submit {limits.limit_per_day} times a day." if limits.limit_per_day else ""]
    return "\n\n".join(filter(None, parts)) + "\n"


def _describe_submission(phases: Sequence[Phase]) -> str:
    test_sets = next((phase.test_sets for phase in phases if len(phase.test_sets) > 1), None)
    if test_sets is None:
        return "Submit a zip file with one file: the system's output."
    return ("Submit a zip file with one file per test set of the phase, named after the test set, with any extension: "
            + ", ".join(f"`{name}.txt`" for name in test_sets) + ".")


def _escape_markup(text: str | None) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|&])", r"\\\1", " ".join((text or "").split()))


def _format_moment(moment: datetime) -> str:
    """Format a time as UTC text, because the platform drops the time of YAML dates."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


Files = dict[str, bytes]

_COMMAND = "command: python3 -I -B /app/program/score.py /app/input /app/output\n"
_PACKAGE_SUFFIXES = {".py", ".sql", ".toml", ".html", ".js", ".css", ".json", ".txt", ".typed"}
_KIT = """\
The items to answer. To check a file before you submit it:

    pip install evalregistry=={version}
    registry check FILE --task task.toml
"""


@dataclass(frozen=True)
class BundleSettings:
    """Settings of a bundle: a zip file that creates a competition on Codabench.

    Attributes:
        wheels: The folder of the package files (wheels) for the scoring program.
        python: The Python version of the scoring program, such as `3.12`.
        start: The start of the first phase; None: the day when the task was stored.
        terms: The terms of participation in Markdown; None: default terms from the manifest.
    """

    wheels: Path
    python: str
    start: datetime | None = None
    terms: str | None = None


def write_bundle(connection: Connection, row: TaskRow, settings: BundleSettings, output: Path) -> list[str]:
    """Write a zip file that creates a competition for a task on Codabench.

    Args:
        connection: Connection to the registry.
        row: The task.
        settings: Settings of the zip file.
        output: Path of the zip file, which must not exist.

    Returns:
        Notes for the organisers.

    Raises:
        InputError: The platform cannot run the task, a wheel is missing, or the file already exists.
    """
    task = resolve_stored(row.manifest, row.slug)
    if task.manifest.significance.runs == "random":
        raise InputError("runs = \"random\" requires several files per system, but a submission on the platform has "
                         "one; upload scores of `registry export TASK codabench --submission` instead")
    for test_set in task.manifest.test_set:
        for reader in (task.readers[test_set.name], _find_reader(task, test_set)):
            if getattr(reader, "syntax", None) == "parquet":
                raise InputError(f"test set {test_set.name} is a Parquet file, which a scoring program cannot read; "
                                 "convert it to TSV or JSON Lines")
    wheels = find_needed_wheels(settings.wheels, task.metrics.values(), settings.python)
    created, blind = connection.execute(select(models.task.c.created_at, models.task.c.blind_until).where(
        models.task.c.task_id == row.task_id)).one()
    hidden = blind is not None and blind > now()
    phases = make_phases(task.manifest, settings.start or datetime.combine(created.date(), time(), UTC))
    files: Files = {
        "competition.yaml": format_yaml(make_competition(task, phases, settings.python, hidden=hidden)).encode(),
        "terms.md": (settings.terms or make_terms(task)).encode(),
        "logo.png": draw_logo(),
        **{name: text.encode() for name, text in make_pages(task, phases, hidden=hidden).items()},
        **_collect_program(wheels, settings.python),
    }
    gold = {test_set.name: _collect_gold(connection, row, test_set) for test_set in task.manifest.test_set}
    notes = [note for test_set in task.manifest.test_set
             for note in _warn_about_readers(connection, row, task, test_set)]
    for n, phase in enumerate(phases):
        for name in phase.test_sets:
            reference = _make_task_files(task, gold, [name])
            reference[SETTINGS] = Settings(name, phase.test_sets, hidden).format().encode()
            files |= {f"reference_data/{name}/{path}": content for path, content in reference.items()}
        kit, kit_notes = _make_starting_kit(_make_task_files(task, gold, phase.test_sets))
        files |= {f"starting_kit/{n}/{path}": content for path, content in kit.items()}
        notes += kit_notes
    with new_file(output) as unfinished:
        write_zip(unfinished, files)
    return list(dict.fromkeys(notes))


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a reproducible zip file, whose bytes depend only on the given files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            compression = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name], compression)


def draw_logo() -> bytes:
    """Draw the logo that the platform requires, three bars, as a PNG file."""
    side, bars = 240, ((30, 90), (95, 150), (160, 200))
    rows = b"".join(b"\0" + b"".join(
        b"\x1f\x5f\xa8" if any(left <= x < left + 50 and y >= side - 20 - high for left, high in bars) and y < side - 20
        else b"\xff\xff\xff" for x in range(side)) for y in range(side))
    chunks = ((b"IHDR", struct.pack(">2I5B", side, side, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9)),
              (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks)


def _collect_program(wheels: Sequence[Path], python: str) -> Files:
    """Collect the files of the scoring program: start script, this package, wheels."""
    folder = Path(version.__file__).parent
    code = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")
            if path.suffix in _PACKAGE_SUFFIXES and path.is_file()}
    files = {f"registry/{name}": path.read_bytes() for name, path in code.items() if not name.startswith("migrations/")}
    files |= {f"wheels/{path.name}": path.read_bytes() for path in wheels}
    files |= {"score.py": Path(start_script.__file__).read_bytes(), "python.txt": f"{python}\n".encode(),
              "metadata.yaml": _COMMAND.encode()}
    return {f"scoring_program/{name}": content for name, content in files.items()}


def _find_reader(task: ResolvedTask, test_set: TestSet) -> Reader:
    return task.submission_reader(test_set, make_submit(file="submission", system="submission"))


def _warn_about_readers(connection: Connection, row: TaskRow, task: ResolvedTask, test_set: TestSet) -> Iterator[str]:
    """Warn if stored submissions were read with other options than the competition's."""
    reader = repr(_find_reader(task, test_set))
    readers = [submission.reader for submission in catalog.submissions(connection, row.task_id)
               if submission.test_set == test_set.name]
    if n_others := sum(other != reader for other in readers):
        yield (f"warning: {n_others} of {len(readers)} submissions to test set {test_set.name} have their own reader "
               "options; the competition reads all submissions with the options of [submission]")


def _collect_gold(connection: Connection, row: TaskRow, test_set: TestSet) -> Files:
    stored = next(stored for stored in catalog.test_sets(connection, row.task_id) if stored.name == test_set.name)
    revision = catalog.get(connection, GoldRevisionRow, gold_revision_id=stored.gold_revision_id)
    digests = catalog.gold_sources(connection, revision.gold_revision_id, revision.reader)
    return {role: sources.fetch(connection, digest) for role, digest in digests.items()}


def _make_task_files(task: ResolvedTask, gold: Mapping[str, Files], names: Sequence[str]) -> Files:
    """Return the files of a task with only some test sets: a manifest and gold files.

    Args:
        task: The task.
        gold: For each test set: its gold files, by role such as `gold` or `reference:B`.
        names: Names of the test sets to include.
    """
    files: Files = {}
    test_sets = []
    for test_set in task.manifest.test_set:
        if test_set.name not in names:
            continue
        paths = {role: f"gold/{test_set.name}/{role.replace(':', '.')}" for role in gold[test_set.name]}
        files |= {path: gold[test_set.name][role] for role, path in paths.items()}
        table = test_set.model_dump(mode="json", exclude_defaults=True, exclude={"references", "deadline"})
        table |= {role: path for role, path in paths.items() if not role.startswith("reference:")}
        if test_set.references:
            table["references"] = [{"name": reference.name, "path": paths[f"reference:{reference.name}"]}
                                   for reference in test_set.references]
        test_sets.append(table)
    manifest = task.manifest.model_copy(update={"task": task.manifest.task.model_copy(update={"deadline": None})})
    return {MANIFEST: format_manifest(manifest, test_sets).encode(), **files}


def _make_starting_kit(files: Mapping[str, bytes]) -> tuple[Files, list[str]]:
    """Make the files with which participants can check their submissions.

    Args:
        files: Manifest and gold files.

    Returns:
        The files, and notes for the organisers.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), files)
        manifest = Path(folder) / MANIFEST
        task = resolve(load_manifest(manifest)[0], manifest)
        pack = {name: text.encode() for name, text in make_task_pack(task).items()}
    notes = [*(f"warning: {text}" for text in describe_revealed(task)),
             *(f"info: {text}" for text in describe_unchecked(task))]
    return {**pack, "README.md": _KIT.format(version=version.__version__).encode()}, notes
