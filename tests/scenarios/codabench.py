"""Bundles of the sample tasks as Codabench's worker would run them: in an empty environment, without network.

    python -m tests.scenarios.codabench WHEELS

WHEELS is a folder with the wheels that `registry export` asks for (and sacrebleu's). Every submission of every sample
task has to get the scores of the board, to the last bit; and what is wrong or hostile has to be refused in words.
"""

import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from pathlib import Path

from registry.store import sources
from registry.store.database import Database
from tests.competitions.checker import problems_of
from tests.competitions.test_download import filled
from tests.conftest import ROOT
from tests.label_tasks import LabelTask

TASKS = ("stance", "entities", "relations", "translation", "answers")
REGISTRY = [sys.executable, "-m", "registry"]


def run(*arguments, **options):
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False, **options)


def unpacked_as_the_worker_does(archive: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        opened.extractall(folder)


def zipped(files: dict[str, bytes | tuple[str, int]]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            if isinstance(content, tuple):  # a link to the first
                entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
                content = content[0].encode()
            archive.writestr(entry, content)
    return held.getvalue()


class Worker:
    """The platform's worker: a bundle, and an environment that has nothing but Python."""

    def __init__(self, bundle: Path, folder: Path, python: Path) -> None:
        self.folder, self.python = folder, python
        self.bundle = folder / "bundle"
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(self.bundle)

    def score(self, test_set: str, archive: bytes, then=lambda submitted: None):
        """Run the scoring program on a submission; gives what it did, the scores and the page."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.bundle / "reference_data" / test_set, work / "input" / "ref")
        shutil.copytree(self.bundle / "scoring_program", work / "program", symlinks=True)
        (work / "input" / "res").mkdir()
        (work / "output").mkdir()
        unpacked_as_the_worker_does(archive, work / "input" / "res")
        (work / "input" / "res" / "metadata").write_text("exitCode: 0\n")  # the worker's own
        then(work / "input" / "res")
        command = (work / "program" / "metadata.yaml").read_text().removeprefix("command: ").split()
        places = {"/app/program/score.py": work / "program" / "score.py", "/app/input": work / "input",
                  "/app/output": work / "output", "python3": self.python}
        done = run("unshare", "-rn", *(places.get(word, word) for word in command), cwd=work / "program",
                   env={"PATH": os.environ["PATH"]})
        scores, page = work / "output" / "scores.json", work / "output" / "detailed_results.html"
        return done, json.loads(scores.read_text()) if scores.exists() else None, (
            page.read_text() if page.exists() else "")


def check_sample_task(name: str, wheels: Path, folder: Path, python: Path) -> None:
    manifest, db, bundle = ROOT / "sample_data" / name / "task.toml", folder / "r.duckdb", folder / f"{name}.zip"
    done = run(*REGISTRY, "run", manifest, "--db", db)
    assert done.returncode == 0, done.stderr
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    made = run(*REGISTRY, "export", name, "codabench-bundle", "-o", bundle, "--wheels", wheels, "--python", version,
               "--db", db)
    assert made.returncode == 0, made.stderr
    assert problems_of(bundle) == [], problems_of(bundle)
    with Database(db).reading() as connection:
        of_board = connection.exec_driver_sql(
            "SELECT test_set, submission, metric, score FROM submission_score WHERE task = ?", (name,)).all()
        files = [(row.test_set, row.name, sources.fetch(connection, row.source_digest))
                 for row in connection.exec_driver_sql(
            "SELECT s.test_set, s.name, f.source_digest FROM ranked_submission s JOIN submission_source f USING "
            "(submission_id) WHERE s.task = ?", (name,))]
    worker, n = Worker(bundle, folder, python), 0
    for test_set, submission, content in files:
        wanted = {row.metric: row.score for row in of_board if (row.test_set, row.submission) == (test_set, submission)}
        done, scores, _ = worker.score(test_set, zipped({"system.txt": content}))
        assert done.returncode == 0, (submission, done.stderr)
        assert scores == wanted, (submission, scores, wanted)
        n += len(wanted)
    size = bundle.stat().st_size >> 20
    print(f"{name}: {len(files)} submissions, {n} scores equal to the board's; bundle of {size} MiB")
    if name == "stance":
        check_bad_submissions(worker, test_set, content)


def check_bad_submissions(worker: Worker, test_set: str, good: bytes) -> None:
    text = good.decode()
    first, *rest = text.splitlines(keepends=True)
    script = "<script>alert(1)</script>"
    hostile = {
        "an item is missing": (zipped({"a.tsv": "".join(rest).encode()}), "missing|no answer|has no"),
        "another task's items": (zipped({"a.tsv": text.replace("\nd", "\nq").encode()}), "not in the gold"),
        "no text": (zipped({"a.tsv": b"\xff\xfe\x00" * 100}), "UTF"),
        "empty": (zipped({}), "no file"),
        "two files": (zipped({"a.tsv": good, "b.tsv": good}), "2 files"),
        "html in names": (zipped({f"{script}.tsv".replace("/", "_"): text.replace(
            first.split("\t")[0], script).encode()}), "not in the gold"),
        "a huge line": (zipped({"a.tsv": b"x" * 2**25}), "characters"),
        "an archive in the archive": (zipped({"a.zip": zipped({"a.tsv": good})}), "archive|zip"),
        "gzip bomb": (zipped({"a.tsv.gz": _bomb()}), "times its size|larger"),
        "a label that nobody knows": (zipped({"a.tsv": text.replace("favour", "maybe").encode()}), "maybe"),
    }
    for what, (archive, told) in hostile.items():
        done, scores, page = worker.score(test_set, archive)
        assert (done.returncode, scores) == (3, None), (what, done)
        assert any(part in done.stderr for part in told.split("|")), (what, done.stderr)
        assert "Refused" in page, what
        assert "<script" not in page, what
        assert "Traceback" not in done.stderr, what
        print(f"  refused: {what}: {done.stderr.splitlines()[0][:150]}")
    done, scores, _ = worker.score(test_set, zipped({"../../out.tsv": good}))
    assert not (worker.folder / "out.tsv").exists()
    done, scores, _ = worker.score(test_set, zipped({}), lambda at: (at / "a.tsv").symlink_to("/etc/passwd"))
    assert (done.returncode, scores) == (3, None)
    assert "a link" in done.stderr
    assert "root" not in done.stderr
    done, scores, _ = worker.score(test_set, zipped({"__MACOSX/._a.tsv": b"x", "sub/a.tsv": good, ".DS_Store": b"y"}))
    assert done.returncode == 0, done.stderr
    print("  links and names that lead out reach nothing; what systems add is passed over")


def _bomb() -> bytes:
    import gzip

    return gzip.compress(b"\0" * 2**28)


def check_download(folder: Path) -> None:
    """Take over 300 submissions of a task of labels; of each participant the last is ranked."""
    task = LabelTask(folder / "task", {f"i{n}": "yes" if n % 2 else "no" for n in range(6)}, {})
    task.systems["a"] = dict(task.gold)
    db = folder / "d.duckdb"
    assert run(*REGISTRY, "run", task.write(), "--db", db).returncode == 0
    competition, last, _ = filled(task, 300, 40)
    began = time.monotonic()
    done = run(*REGISTRY, "import", "codabench", competition.write(folder), "--task", "small", "--db", db, "--option",
               f"submissions={folder / 'submissions.csv'}")
    assert done.returncode == 0, done.stderr
    took = time.monotonic() - began
    assert run(*REGISTRY, "score", "small", "--db", db).returncode == 0
    with Database(db).reading() as connection:
        board = {row.team: (int(row.version), round(row.score * 6)) for row in connection.exec_driver_sql(
            "SELECT r.team, r.version, s.score FROM ranked_submission r JOIN submission_score s "
            "ON s.submission = r.name WHERE r.team LIKE 'team%'")}
    assert board == last
    print(f"download: 300 submissions of 40 participants in {took:.1f} s: {done.stderr.splitlines()[-2]}")


def main(wheels: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder) / "empty", with_pip=False)
        for name in TASKS:
            at = Path(folder) / name
            at.mkdir()
            check_sample_task(name, Path(wheels).absolute(), at, Path(folder) / "empty" / "bin" / "python")
        check_download(Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
