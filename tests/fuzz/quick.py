"""Fuzz how `registry quick` reads files for some minutes of processor time each, and print every failure.

python -m tests.fuzz.quick                          # each layout of files for a minute
python -m tests.fuzz.quick spans --minutes 10       # those whose name begins so, ten minutes for all together
python -m tests.fuzz.quick 'spans doccano' --seed 7 --trial 1234

One file of a layout is damaged, or all in the same way. What is read then has to become a task whose files are read
and scored as its manifest says: every answer is one to an item, every score a number or undefined. What is refused
names a file and what to do. Readings in another format than that of the whole files are counted.
"""

import argparse
import contextlib
import io
import math
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import replace
from pathlib import Path

from registry.errors import InputError, one_line
from registry.evaluation.ingest.declared import expand_submissions
from registry.evaluation.ingest.fit import join
from registry.evaluation.resolve import resolve
from registry.evaluation.scoring.measure import score_single_run
from registry.items import by_key
from registry.manifest import load_manifest
from registry.quick.make import make
from tests.fuzz.layouts import LAYOUTS
from tests.fuzz.mutations import mutated
from tests.fuzz.trial import Failure, at_most

MOST_FAILURES = 5  # of one layout
SECONDS = 20  # of processor time, for files of some KiB
LONGEST = 15_000  # characters of what is told in all


def guessed(paths, asked, folder):
    """Guess, write the task into a folder, read and score it; gives its format and metric, and the scores."""
    found = make(paths, asked)
    if not found.read_as:
        raise Failure("nothing says how files are read")
    with found.folder.write(folder, "t") as manifest:
        task = resolve(load_manifest(manifest)[0], manifest)
        scores = {}
        for one in expand_submissions(task):
            reader = task.readers[one.test_set.name]
            items = list(by_key(reader.read_gold(task.gold_documents(one.test_set)), "gold", reader.repeated).values())
            for document in one.documents:
                joined = join(items, one.read_answers(document), one.reader, one.policies, document)
                of = score_single_run(items, joined, one.policies.missing, task.metrics)
                if any(math.isinf(score) for score in of.values()):
                    raise Failure(f"a score is infinite: {of}")
                scores[one.test_set.name, one.system, document.path] = of
    return (found.folder.tables["test_set"][0]["format"], found.folder.tables["metric"][0]["name"]), scores


def trial(layout, folder, name=None):
    """Damage files as `name` decides, and guess: what was guessed and None, or None and what was refused.

    Without a name they are whole.

    Raises:
        Failure: Something else became of it.
    """
    rng = random.Random(name)
    shutil.rmtree(folder, ignore_errors=True)
    files = dict(layout.files)
    for one in () if name is None else files if rng.random() < 0.2 else [rng.choice(list(files))]:
        files[one] = mutated(files[one], random.Random(f"{name} in all"))
    for file, content in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
    try:
        with at_most(SECONDS), warnings.catch_warnings(action="error"):
            asked = replace(layout.asked, gold=str(folder / layout.gold)) if layout.gold else layout.asked
            return guessed([folder / file for file in layout.given], asked, folder / "task")[0], None
    except InputError as error:
        _check_refusal(error, files, folder)
        return None, error


def _check_refusal(error, files, folder):
    for one in (error, *error.others):
        if one.path is None:
            if one.category == "manifest":  # of a system that cannot be called so
                continue
            raise Failure(f"an error without a place: {one}")
        name = str(Path(one.path).relative_to(folder)) if Path(one.path).is_relative_to(folder) else None
        lines = files[name].count(b"\n") + 1 if name in files else None
        if one.line is not None and lines is not None and not 1 <= one.line <= lines:
            raise Failure(f"line {one.line} of {lines}: {one}")
    told = [one_line(line) for line in (*map(str, (error, *error.others)), *error.excerpt.splitlines())]
    if sum(map(len, told)) > LONGEST:
        raise Failure(f"{sum(map(len, told))} characters are told: {told}")
    if (folder / "task").exists():
        raise Failure(f"a half of a task is left behind: {error}")


def fuzz(name, *, seed, seconds, only=None):
    """Run trials until the time is up; gives how many there were, were guessed, otherwise than whole, and failed."""
    layout, end = LAYOUTS[name], time.process_time() + seconds
    n, told, others, failed = only or 0, 0, {}, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "files")
        meant, _ = trial(layout, folder)
        while True:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    kind, refused = trial(layout, folder, f"{seed}/{name}/{n}")
                told += refused is None
                if kind is not None and kind != meant:
                    others.setdefault(kind, []).append(n)
                if only is not None:
                    print(kind or refused)
            except Exception:
                failed += 1
                print(f"{name}: repeat with: python -m tests.fuzz.quick '{name}' --seed {seed} --trial {n}\n"
                      f"{traceback.format_exc(limit=-5)}", flush=True)
            n += 1
            if only is not None or time.process_time() >= end or failed >= MOST_FAILURES:
                return n - (only or 0), told, others, failed


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.quick", description=__doc__.partition("\n")[0])
    parser.add_argument("layout", nargs="*", help=f"beginnings of {', '.join(LAYOUTS)}; else all")
    parser.add_argument("--minutes", type=float, default=1,
                        help="of processor time, for what one name begins, or for each layout (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the mutations; else the time")
    parser.add_argument("--trial", type=int, help="only this trial")
    given = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    failures = 0
    chosen = [[name for name in LAYOUTS if name.startswith(of)] for of in given.layout]
    for names in chosen or [[name] for name in LAYOUTS]:
        for name in names:
            n, told, others, failed = fuzz(name, seed=given.seed, seconds=60 * given.minutes / len(names),
                                           only=given.trial)
            failures += failed
            unlike = "".join(f", {len(of)} as {format_} {metric} (such as {of[0]})"
                             for (format_, metric), of in others.items())
            print(f"{name}: {n} trials, {n - told - failed} refused, {failed} failed; guessed {told}{unlike} "
                  f"(seed {given.seed})", flush=True)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
