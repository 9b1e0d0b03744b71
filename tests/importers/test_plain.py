"""`registry import plain`: a folder of references, source and translations, one segment per line."""

import gzip
import json
import subprocess
import sys

import pytest
from sacrebleu.metrics import BLEU

REFERENCES = (["the cat sat on the mat .", "a dog barked at the old moon .", "it rained all the day long ."],
              ["a cat sat on a mat .", "the dog was barking at the old moon .", "all day long it rained ."])
ASPEN = ["the cat sat on a mat .", "a dog barked at the moon .", "it rained all day long ."]
CEDAR = ["  the\u00a0cat\tsat ... ", "A dog can't bark — 5,000 \u2028 moons .", "it rained\x0c"]  # odd blanks and CRLF
BIRCH = ["a cat was on the mat .", "the dog barked at the old moon .", "the rain fell all the day ."]


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        path = tmp_path / "wmt"
        path.mkdir(exist_ok=True)
        for name, lines in files.items():
            (path / name.replace("__", ".")).write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


def test_systems_are_scored_as_sacrebleu_does(registry, folder):
    path = folder(ref1__txt=REFERENCES[0], ref2__txt=REFERENCES[1], src__txt=["x", "y", "z"], aspen__txt=ASPEN)
    (path / "birch.txt.gz").write_bytes(gzip.compress("\n".join(BIRCH).encode()))
    (path / "cedar.txt").write_bytes("\r\n".join(CEDAR).encode())
    registry("import", "plain", "wmt", "--task", "mt")
    board = registry("run", "mt/task.toml", "--format", "json").json
    found = {(row["metric"], row["system"]): row["score"] for row in board}
    command = [sys.executable, "-m", "sacrebleu", path / "ref1.txt", path / "ref2.txt", "-m", "bleu", "chrf", "-w", "9"]
    own = ((system, json.loads(subprocess.run([*command, "-i", path / system], capture_output=True, check=True).stdout))
           for system in ("aspen.txt", "birch.txt.gz", "cedar.txt"))
    assert found == {(metric, system.partition(".")[0]): pytest.approx(score["score"], abs=1e-9)
                     for system, of in own for metric, score in zip(("bleu", "chrf"), of, strict=True)}
    assert "nothing changed" in registry("import", "plain", "wmt", "--task", "mt").stderr


def test_files_are_named_by_patterns(registry, folder):
    folder(new__A__de=REFERENCES[0], new__aspen__de=ASPEN, new__en=["x", "y", "z"], README=["no system"],
           docs=["d1", "d1", "d2"], **{"new__birch@2__de": BIRCH, ".hidden": ["x"]})
    registry("import", "plain", "wmt", "--option", "references=*.A.*", "--option", "source=*.en", "--option",
             "documents=docs", "--option", "system=new.{system}.de")
    board = registry("board", "wmt", "--format", "json", exit_code=4).stderr
    assert "registry compare" in board
    registry("compare", "wmt", "--unit", "cluster", "--resamples", "100")
    rows = registry("pairs", "wmt", "--format", "json").json
    assert {(row["system_a"], row["system_b"], row["n_units"]) for row in rows} <= {
        ("aspen", "birch_2", 2), ("birch_2", "aspen", 2)}


def test_blank_lines_are_refused_or_empty_text(registry, folder):
    folder(ref=REFERENCES[0], aspen=[*ASPEN[:2], ""])
    assert "item '3': its line is blank" in registry("import", "plain", "wmt", exit_code=3).stderr
    registry("import", "plain", "wmt", "--option", "missing=worst")
    (row,) = registry("query", "SELECT score FROM submission_score WHERE metric = 'bleu'", "--format", "json").json
    assert row["score"] == pytest.approx(BLEU().corpus_score([*ASPEN[:2], ""], REFERENCES[:1]).score, abs=1e-9)


@pytest.mark.parametrize(("files", "options", "says"), [
    ({"aspen": ASPEN}, [], "wmt: no file name matches ref* or *.ref*, so the reference is missing; name it with "
                           "--option"),
    ({"ref": ASPEN}, [], "wmt: no file name matches {system}, so there is no system"),
    ({"ref": ASPEN, "src": ["x"] * 3, "source": ["x"] * 3, "a": ASPEN}, [], "a second source file, after source"),
    ({"ref": ASPEN, "a": ASPEN}, ["documents=ref"], "wmt/ref: two options name this file"),
    ({"ref": ASPEN, "a": ASPEN, "a__txt": ASPEN}, [], "wmt/a.txt: this is a second file of the system 'a', after a"),
    ({"ref": ASPEN, "a": ASPEN}, ["system=a"], "option 'system' of plain is 'a'; write {system} once"),
    ({"ref": ASPEN, "a": [*ASPEN, "more"]}, [], "wmt/a:4: the file has 4 lines, but the gold has 3"),
    ({"ref": ASPEN, "ref2": ASPEN[:2], "a": ASPEN}, [], "the file has 2 lines, but the gold has 3"),
])
def test_what_is_wrong_is_named(registry, folder, files, options, says):
    folder(**files)
    given = [part for option in options for part in ("--option", option)]
    assert says in registry("import", "plain", "wmt", *given, exit_code=3).stderr


def test_links_that_lead_out_are_refused(registry, folder, tmp_path):
    path = folder(ref=ASPEN, a=ASPEN)
    (tmp_path / "secret").write_text("secret\n")
    (path / "b").symlink_to(tmp_path / "secret")
    refused = registry("import", "plain", "wmt", exit_code=3).stderr
    assert "wmt/b: this link points to a file outside the folder" in refused
