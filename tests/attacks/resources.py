"""Hostile submissions that cost much time or memory, and the table of their costs.

`python -m tests.attacks.resources` writes each file, gives it to `registry check` and `registry submit`, and prints
seconds, MB and the message. With a name it measures only the files whose names contain it.
"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from registry.readers.parsing.document import LEAST_LINES

REGISTRY = [sys.executable, "-m", "registry"]
MIB = 2**20
_ITEMS = range(1, 201)
_HEAD = 'manifest = 1\ntask.id = "{id}"\nmetric = [{{ name = "{metric}" }}]\n'
_SET = '[[test_set]]\nname = "test"\ngold = "gold"\nformat = "{format}"\noptions = {{ {options} }}\n'


@dataclass(frozen=True)
class Task:
    """A task of 200 items: the format of its files with options, its metric, the gold, and more of the manifest."""

    format: str
    metric: str
    gold: str
    options: str = ""
    extra: str = ""

    def write(self, folder: Path) -> Path:
        """Write the gold and the manifest; return the path of the manifest."""
        (folder / "gold").write_text(self.gold)
        manifest = folder / "task.toml"
        manifest.write_text(_HEAD.format(id="t", metric=self.metric)
                            + _SET.format(format=self.format, options=self.options)
                            + self.extra)
        return manifest


def _lines(line: str) -> str:
    return "".join(line.format(n) + "\n" for n in _ITEMS)


_LABELS, _OBJECTS = _lines("i{0}\tA"), _lines('{{"item": "i{0}", "label": "A"}}')
_JSON = "[" + ",".join(_OBJECTS.splitlines()) + "]"
_PHRASES = _lines("the house number {0} is small")
TASKS = {
    "labels": Task("labels", "Accuracy", _LABELS),
    "comments": Task("labels", "Accuracy", _LABELS, 'comment = "#"'),
    "numbered": Task("labels", "Accuracy", _LABELS.replace("i", ""), 'item = "", columns = ["n", "label"]'),
    "csv": Task("labels", "Accuracy", "item,label\n" + _LABELS.replace("\t", ","),
                'separator = "comma", header = true'),
    "jsonl": Task("labels", "Accuracy", _OBJECTS, 'syntax = "jsonl"'),
    "json": Task("labels", "Accuracy", _JSON, 'syntax = "json"'),
    "bio": Task("bio", "SpanF", _lines("a{0}\tB-x\nb\tO\n"), 'scheme = "iob2"'),
    "conllu": Task("conllu", "LAS", _lines("1\ta{0}\t_\t_\t_\t_\t0\troot\t_\t_\n")),
    "spans": Task("spans", "SpanF", "item\tstart\tend\ttype\n" + _lines("i{0}\t1\t2\tx")),
    "candidates": Task("candidates", "SetP", "item\tgold\ta\n" + _lines("i{0}\t1\t0.5"),
                       'item = ["item"], score = "a"'),
    "lines": Task("lines", "BLEU", _PHRASES),
    "nbest": Task("lines", "BLEU", _PHRASES, extra='[submission]\nformat = "nbest"\n'),
    "scores": Task("scores", "Mean", "item\tx\n" + _lines("i{0}\t1"), 'item = ["item"], score = "x"'),
    "trec": Task("trec", "AP", _lines("q{0} 0 d1 1")),
    "pharaoh": Task("pharaoh", "AER", _lines("0-0 1-1"), "offset = 0"),
}


@dataclass(frozen=True)
class HostileFile:
    """A file that is to be refused.

    Attributes:
        task: The name of the task that it is submitted to.
        make: Makes its content, of about so many bytes once decompressed.
        options: Of the reader.
        is_folded: Whether the file is gzipped.
    """

    task: str
    make: Callable[[int], bytes]
    options: tuple[str, ...] = ()
    is_folded: bool = True


def repeat(line: str) -> Callable[[int], bytes]:
    """Repeat a line."""
    encoded = line.encode()
    return lambda size: encoded * (size // len(encoded))


def count_up(line: str) -> Callable[[int], bytes]:
    """Number lines, all of which are different."""
    return lambda size: "".join(line.format(n) for n in range(size // len(line.format(10**6)))).encode()


def between(before: str, part: str, after: str) -> Callable[[int], bytes]:
    """Repeat a part between two texts."""
    return lambda size: before.encode() + repeat(part)(size) + after.encode()


def parquet(select: str) -> Callable[[int], bytes]:
    """Write what a SELECT of `$1` rows finds as Parquet."""
    def make(size: int) -> bytes:
        with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
            path = Path(folder) / "x.parquet"
            connection.execute(f"COPY ({select.replace('$1', str(size))}) TO '{path}' (FORMAT parquet)")
            return path.read_bytes()
    return make


def numpy_archive(size: int) -> bytes:
    """Write zeros as a compressed .npz."""
    file = io.BytesIO()
    np.savez_compressed(file, x=np.zeros(size // 8))
    return file.getvalue()


def zipped(size: int) -> bytes:
    """Write lines as a .zip."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", b"i1\tA\n" * (size // 5))
    return file.getvalue()


_WIDE = "item,label" + "".join(f",c{n}" for n in range(100_000)) + "\n"
_PARQUET = ("syntax=parquet",)
FILES: dict[str, HostileFile] = {
    "labels-x": HostileFile("labels", repeat("x\n")),
    "labels-16M": HostileFile("labels", lambda size: b"x\ty\n" * (size // 4 - 100)),
    "labels-duplicates": HostileFile("labels", repeat("i7\tA\n")),
    "labels-unknown": HostileFile("labels", count_up("u{}\tA\n")),
    "labels-new-labels": HostileFile("labels", count_up("i7\tA{}\n")),
    "labels-blank": HostileFile("labels", repeat("\n")),
    "labels-comments": HostileFile("comments", repeat("#\n")),
    "labels-numbered": HostileFile("numbered", repeat("1\tA\n")),
    "labels-wide": HostileFile("csv", lambda size: (_WIDE + (",1" * 100_000 + "\n") * (size // 200_000)).encode()),
    "labels-field": HostileFile("labels", lambda size: b"i1\t" + b"A" * size + b"\n"),
    "labels-fields-16MB": HostileFile("labels", lambda size: (b"i1\t" + b"A" * (2**24 - 9) + b"\n") * (size >> 24)),
    "labels-nul": HostileFile("labels", lambda size: b"i1\tA\n" + b"\0" * size),
    "labels-latin": HostileFile("labels", lambda size: b"i\xe4\tA\n" * (size // 5)),
    "labels-quotes": HostileFile("csv", repeat('i1,"A\n')),
    "jsonl-duplicates": HostileFile("jsonl", repeat('{"item": "i1", "label": "A"}\n')),
    "jsonl-unknown": HostileFile("jsonl", count_up('{{"item": "u{}", "label": "A"}}\n')),
    "jsonl-empty": HostileFile("jsonl", repeat("{}\n")),
    "jsonl-1": HostileFile("jsonl", repeat("1\n")),
    "jsonl-broken": HostileFile("jsonl", repeat("{\n")),
    "jsonl-nested": HostileFile("jsonl", lambda size: b"[" * min(size, 2**24 - 9) + b"\n"),
    "jsonl-number": HostileFile("jsonl", lambda size: b'{"item": "i1", "label": ' + b"9" * 10**6 + b"}\n"),
    "jsonl-keys": HostileFile("jsonl", lambda size: (
        "{" + ",".join(f'"k{n}":1' for n in range(min(size // 10, 10**6))) + "}\n").encode()),
    "json-numbers": HostileFile("json", between("[", "1,\n", "1]")),
    "json-9MB": HostileFile("json", lambda size: b"[" + b"1,\n" * (9 * 10**6 // 3) + b"1]", is_folded=False),
    "json-lists": HostileFile("json", between("[", "[],\n", "[]]")),
    "json-objects": HostileFile("json", between("[", "{},\n", "{}]")),
    "json-duplicates": HostileFile("json", between("[", '{"item":"i1","label":"A"},\n', "{}]")),
    "json-nested-array": HostileFile("json", between('[{"item":"i1","label":[', "1,\n", "1]}]")),
    "json-nested-objects": HostileFile("json", between('[{"item":"i1","label":[', "{},\n", "1]}]")),
    "json-deep": HostileFile("json", repeat("[\n")),
    "json-deep-object": HostileFile("json", repeat('{"a":\n')),
    "json-number": HostileFile("json", lambda size: b'[{"item":"i1","label":' + b"9" * 10**6 + b"}]"),
    "json-names": HostileFile("json", lambda size: b'{"a":1' + b"".join(
        b',\n"u%d":"A"' % n for n in range(size // 14)) + b"}"),
    "json-blank": HostileFile("json", between("[", " \n", "]")),
    "json-string": HostileFile("json", lambda size: b'["' + b"a" * size + b'"]'),
    "bio-tokens": HostileFile("bio", repeat("w\tO\n")),
    "bio-items": HostileFile("bio", repeat("w\tO\n\n")),
    "bio-tags": HostileFile("bio", repeat("w\tI-x\n")),
    "bio-blank": HostileFile("bio", repeat("\n")),
    "bio-spans": HostileFile("bio", repeat("w\tB-x\n")),
    "conllu-tokens": HostileFile("conllu", repeat("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n")),
    "conllu-trees": HostileFile("conllu", repeat("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")),
    "conllu-comments": HostileFile("conllu", repeat("#\n")),
    "spans-one-item": HostileFile("spans", between("item\tstart\tend\ttype\n", "i1\t1\t2\tx\n", "")),
    "spans-unknown": HostileFile("spans", lambda size: b"item\tstart\tend\ttype\n" + count_up("u{}\t1\t2\tx\n")(size)),
    "spans-different": HostileFile("spans", lambda size: (
        b"item\tstart\tend\ttype\n" + count_up("i1\t1\t{}\tx\n")(size))),
    "candidates-duplicates": HostileFile("candidates", between("item\ta\n", "i1\t1\n", "")),
    "candidates-unknown": HostileFile("candidates", lambda size: b"item\ta\n" + count_up("u{}\t1\n")(size)),
    "lines-x": HostileFile("lines", repeat("x\n")),
    "lines-blank": HostileFile("lines", repeat("\n")),
    "lines-long": HostileFile("lines", lambda size: (b"x " * (2**23 - 9) + b"\n") * (size >> 24)),
    "nbest-one": HostileFile("nbest", repeat("0 ||| x ||| LM= 1 ||| 1\n")),
    "scores-duplicates": HostileFile("scores", between("item\tx\n", "i1\t1\n", "")),
    "scores-nan": HostileFile("scores", between("item\tx\n", "i1\tnan\n", "")),
    "trec-one-document": HostileFile("trec", repeat("q1 Q0 d1 1 1 r\n")),
    "trec-documents": HostileFile("trec", count_up("q1 Q0 d{} 1 1 r\n")),
    "trec-topics": HostileFile("trec", count_up("u{} Q0 d1 1 1 r\n")),
    "pharaoh-links": HostileFile("pharaoh", lambda size: b"0-0 " * (2**22 - 9) + b"\n"),
    "pharaoh-lines": HostileFile("pharaoh", repeat("0-0\n")),
    "parquet-100M": HostileFile("labels", parquet("SELECT 'i1' AS item, 'A' AS label FROM range(100_000_000)"),
                                options=_PARQUET, is_folded=False),
    "parquet-10M": HostileFile("labels", parquet("SELECT 'i1' AS item, 'A' AS label FROM range(10_000_000)"),
                               options=_PARQUET, is_folded=False),
    "parquet-list": HostileFile("labels", parquet(
        "SELECT 'i1' AS item, list_transform(range(20_000_000), lambda x: 0) AS label"),
        options=_PARQUET, is_folded=False),
    "parquet-strings": HostileFile("labels", parquet(
        "SELECT 'i' || i AS item, repeat('A', 1_000_000) AS label FROM range(200) t(i)"),
        options=_PARQUET, is_folded=False),
    "npz": HostileFile("labels", numpy_archive, is_folded=False),
    "zip": HostileFile("labels", zipped, is_folded=False),
    "gzip-90MB": HostileFile("labels", lambda _: b"x\n" * 45 * 10**6),
    "gzip-parts": HostileFile("labels", lambda size: gzip.compress(b"i1\tA\n") + gzip.compress(b"") * (size // 128),
                              is_folded=False),
    "gzip-of-gzip": HostileFile("labels", lambda size: gzip.compress(b"x\n" * (size // 2))),
    "zstd": HostileFile("labels", lambda size: b"\x28\xb5\x2f\xfd" + b"\0" * 1000, is_folded=False),
}


# The kernel counts the memory of the process that starts another one as the other one's, so a small one is between.
_MEASURING = """
import json, resource, subprocess, sys, time
seconds, output = int(sys.argv[1]), sys.argv[2]
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
begun = time.monotonic()
with open(output, "wb") as file:
    status = subprocess.run(sys.argv[3:], stdout=subprocess.DEVNULL, stderr=file).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, status]))
"""


@dataclass(frozen=True)
class Cost:
    """What a command took: elapsed and processor seconds, MB at its peak, exit status, and its output on stderr."""

    elapsed: float
    seconds: float
    megabytes: float
    status: int
    message: str


def measure(command: list[str], folder: Path, limit: int = 60) -> Cost:
    """Run a command for so many seconds of processor time at most, and measure it."""
    output = folder / "stderr"
    found = subprocess.run([sys.executable, "-c", _MEASURING, str(limit), str(output), *command],
                           cwd=folder, check=True, capture_output=True, text=True)
    return Cost(*json.loads(found.stdout), output.read_text(errors="replace"))


def commands(file: HostileFile, name: str) -> list[list[str]]:
    """Return the commands that a participant, and an organiser, gives the file to."""
    options: list[str] = [word for option in file.options for word in ("--option", option)]
    return [[*REGISTRY, "check", name, "--task", "task.toml", *options],
            [*REGISTRY, "submit", "t", name, "--system", "x", "--quiet", *options]]


def forms(file: HostileFile, made: bytes) -> dict[str, bytes]:
    """Return the file as it is, compressed, and cut to as many lines as any submission may have."""
    if not file.is_folded:
        return {"": made}
    cut = made[:2 * MIB].split(b"\n")[:LEAST_LINES]
    return {"gzip": gzip.compress(made, 9), "plain": made} | (
        {"cut": b"\n".join(cut[:-1]) + b"\n"} if len(cut) > LEAST_LINES / 4 else {})


def main(words: list[str]) -> None:
    """Print a line for every file, form and command."""
    print("file", "form", "kB", "command", "processor s", "elapsed s", "MB", "status", "message", sep="\t")
    for name, file in FILES.items():
        if words and not any(word in name for word in words):
            continue
        made = file.make(60 * MIB)
        for form, content in forms(file, made).items():
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                TASKS[file.task].write(folder)
                (folder / name).write_bytes(content)
                subprocess.run([*REGISTRY, "apply", "task.toml", "--quiet"], cwd=folder, check=True,
                               capture_output=True)
                for command in commands(file, name):
                    cost = measure(command, folder)
                    lines = cost.message.strip().splitlines() or [""]
                    print(name, form, f"{len(content) / 1000:,.0f}", command[3], f"{cost.seconds:.1f}",
                          f"{cost.elapsed:.1f}", f"{cost.megabytes:.0f}", cost.status,
                          lines[0][:160] + " | " + lines[-1][:160], sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
