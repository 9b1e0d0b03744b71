"""Mutated downloads and submissions: an `InputError`, a refusal in words, or what was meant; nothing else, ever.

    python -m tests.competitions.fuzz --minutes 10

takes so much processor time. `trial(n)` is one of them, by its number the same every time.
"""

import argparse
import contextlib
import io
import random
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from registry.competitions import scoring_program
from registry.competitions.bundle import write_zip
from registry.competitions.download import Codabench
from registry.competitions.scoring_program import SETTINGS, Settings
from registry.errors import InputError
from registry.evaluation.resolve import resolve
from registry.manifest import load_manifest
from tests.competitions.test_download import Competition
from tests.fuzz.mutations import mutated
from tests.label_tasks import LabelTask


class Trials:
    """A task with a download of six submissions in a folder."""

    def __init__(self, folder):
        self.folder = folder
        task = LabelTask(folder / "task", {f"i{n}": "yes" if n % 2 else "no" for n in range(30)}, {})
        manifest = task.write()
        manifest.write_text(manifest.read_text().replace(
            'id = "small"', 'id = "small"\ndeadline = 2027-01-01T13:03:00Z'))
        self.task = resolve(load_manifest(manifest)[0], manifest)
        (task.folder / SETTINGS).write_text(Settings("test", ("test",), hidden=False).text())
        self.reference = task.folder
        self.answers = "".join(f"{k}\t{v}\n" for k, v in task.gold.items()).encode()
        competition = Competition()
        for n in range(6):
            competition.add(f"team_{n % 3}", {"a.tsv": self.answers}, leads=n > 3)
        competition.write(folder)
        self.competition = competition

    def trial(self, n):
        """One trial; says what failed, or None."""
        drawn = random.Random(n)
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                [self.download, self.download, self.submission][n % 3](drawn)
        except InputError:
            return None
        except Exception:
            return f"{n}: {traceback.format_exc(limit=-5)}"
        return None

    def download(self, drawn):
        """A file of a download is mutated, or a participant's zip file in it."""
        at = self.folder / "mutated"
        shutil.rmtree(at, ignore_errors=True)
        at.mkdir()
        names = ["bulk_submissions.zip", "submissions.csv", "submissions.json", "board.csv"]
        for name in names:
            shutil.copyfile(self.folder / name, at / name)
        chosen = drawn.choice([*names, "inner", "inner"])
        if chosen == "inner":
            files = dict(self.competition.files)
            name = drawn.choice(sorted(files))
            files[name] = mutated(files[name], drawn)
            write_zip(at / "bulk_submissions.zip", files)
        else:
            (at / chosen).write_bytes(mutated((at / chosen).read_bytes(), drawn))
        options = {"submissions": str(at / drawn.choice(names[1:3])), "take": drawn.choice(["all", "latest"])}
        if drawn.random() < 0.5:
            options |= {"take": "leaderboard", "leaderboard": str(at / "board.csv")}
        read = Codabench.build(options).read(at / "bulk_submissions.zip", self.task)
        assert 1 <= len(read.submissions) <= 6

    def submission(self, drawn):
        """A submission is mutated, and scored."""
        at = self.folder / "run"
        shutil.rmtree(at, ignore_errors=True)
        shutil.copytree(self.reference, at / "input" / "ref")
        (at / "input" / "res").mkdir()
        (at / "output").mkdir()
        (at / "input" / "res" / "a.tsv").write_bytes(mutated(self.answers, drawn))
        status = scoring_program.main([str(at / "input"), str(at / "output")])
        page = (at / "output" / "detailed_results.html").read_text()
        assert (status == 0) == (at / "output" / "scores.json").exists() == ("<h1>Accepted" in page)
        assert status in (0, 3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    n, failed = given.first, []
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(Path(folder))
        while time.process_time() < given.minutes * 60:
            if told := trials.trial(n):
                failed.append(told)
                print(told, flush=True)
            n += 1
    print(f"{n - given.first} trials, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
