"""Resampled training files: whole items of any format, drawn with replacement, and the stubs of their systems."""

import gzip
import tomllib
from collections import Counter

import pytest

from registry.readers import Conllu, Document

CONLLU = "".join(f"# sent_id = s{n}\n# text = w{n}\n1\tw{n}\t_\t_\t_\t_\t0\troot\t_\t_\n\n" for n in range(20))
BIO = "\n\n".join(f"w{n}\tB-x\nand\tO" for n in range(20)) + "\n"  # no blank line at the end
CSV = "item,label\n" + "".join(f"i{n},yes\n" for n in range(20))


@pytest.fixture
def resample(registry, tmp_path):
    """Resample files by their content, and give what is written by its path."""
    def run(contents, *asked, exit_code=0):
        for name, content in contents.items():
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        done = registry("study", "resample-train", *contents, "--model", "east", *asked, "--to", "out",
                        exit_code=exit_code)
        return done if exit_code else {path.relative_to(tmp_path / "out").as_posix(): path.read_text()
                                       for path in sorted((tmp_path / "out").rglob("*")) if path.is_file()}

    return run


def test_sentences_come_whole_with_their_comments(resample):
    files = resample({"train.conllu": CONLLU}, "--format", "conllu", "--size", "50", "--size", "8", "--copies", "3")
    assert sorted(files) == sorted([f"train/{size}-{n}/train.conllu" for size in (8, 50) for n in (1, 2, 3)]
                                   + ["submissions.toml"])
    blocks = {f"{block}\n\n" for block in CONLLU.split("\n\n") if block}
    for path, text in files.items():
        if path.startswith("train/50"):
            drawn = [f"{block}\n\n" for block in text.split("\n\n") if block]
            assert len(drawn) == 50
            assert set(drawn) <= blocks
            assert Counter(drawn).most_common(1)[0][1] > 1  # with replacement
            assert len(Conllu(id="none").read_gold({"gold": Document(path, text.encode())})) == 50
    assert len({text for path, text in files.items() if path.startswith("train/50")}) == 3


@pytest.mark.parametrize(("content", "asked", "head"), [
    (BIO, ("--format", "bio", "--option", "scheme=iob2", "--option", "separator=tab"), ""),
    (CSV, ("--format", "labels", "--option", "separator=comma", "--option", "header=true"), "item,label\n"),
    (gzip.compress(CSV.replace("\n", "\r\n").encode()),
     ("--format", "labels", "--option", "separator=comma", "--option", "header=true"), "item,label\n"),
], ids=["bio", "csv", "gzip and CRLF"])
def test_any_format_of_lines(resample, content, asked, head):
    files = resample({"train.gz" if isinstance(content, bytes) else "train": content}, *asked, "--copies", "1")
    text = files["train/20-1/train"]
    assert text.startswith(head)
    assert text.count("B-x") == 20 or text.count(",yes\n") == 20
    assert "\r" not in text


def test_draws_are_uniform(resample):
    """Of 20 items 20,000 are drawn: 19 degrees of freedom, 1 in 10^6."""
    files = resample({"train.csv": CSV}, "--format", "labels", "--option", "separator=comma", "--option", "header=true",
                     "--size", "20000", "--copies", "1")
    counts = Counter(files["train/20000-1/train.csv"].splitlines()[1:])
    assert len(counts) == 20
    assert sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 65


def test_parallel_files_stay_parallel(resample):
    source, target = ("".join(f"{side}{n}\n" for n in range(30)) for side in "st")
    files = resample({"train.cs": source, "train.en": target}, "--format", "lines", "--copies", "2")
    for copy in (1, 2):
        drawn = [files[f"train/30-{copy}/train.{side}"].split() for side in ("cs", "en")]
        assert [s[1:] for s in drawn[0]] == [t[1:] for t in drawn[1]]


def test_stubs_are_tables_of_a_manifest(resample, registry, scored, task, tmp_path):
    """With the outputs in place they are submissions, marked by model."""
    files = resample({"train.csv": CSV}, "--format", "labels", "--option", "separator=comma", "--option", "header=true",
                     "--model", "west", "--copies", "2", "--seed", "7")
    stubs = tomllib.loads(files["submissions.toml"])["submit"]
    assert [one["system"] for one in stubs] == ["east-20-1", "east-20-2", "west-20-1", "west-20-2"]
    assert stubs[2]["attributes"] == {"model": "west", "training_size": 20, "training_sample": 1, "training_seed": 7}
    folder = task.write().parent
    for n, one in enumerate(stubs):
        path = folder / one["file"]
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{item}\t{label if n % 2 else 'no'}\n" for item, label in task.gold.items()))
    task.extra = files["submissions.toml"]
    scored(task)
    found = registry("query", "SELECT attributes FROM submission WHERE attributes LIKE '%west%'", "--format", "json")
    assert len(found.json) == 2


def test_a_seed_draws_the_same_and_nothing_is_overwritten(resample, registry):
    asked = ("--format", "labels", "--option", "separator=comma", "--option", "header=true", "--copies", "1")
    first = resample({"train.csv": CSV}, *asked)
    assert resample({"train.csv": CSV}, *asked) == first
    assert "exists with other content" in resample({"train.csv": CSV}, *asked, "--seed", "1", exit_code=3).stderr


def test_nothing_is_written_through_a_link_that_leads_elsewhere(resample, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "submissions.toml").symlink_to(tmp_path / "elsewhere")
    refused = resample({"a": "x\n"}, "--format", "lines", "--copies", "1", exit_code=3).stderr
    assert "submissions.toml: this file already exists with other content" in refused
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(("contents", "asked", "said"), [
    ({"a": "x\ny\n", "b": "x\n"}, ("--format", "lines"), "parallel files need the same number of items"),
    ({"a": "x\n"}, ("--format", "lines", "--size", "0"), "the number of items must be 1 or more"),
    ({"a": "x\n"}, ("--format", "lines", "--copies", "0"),
     "the number of copies and the number of items must be 1 or more"),
    ({"a": "x\n"}, ("--format", "lines", "--size", str(10**20)), "too many"),
    ({"a": "x\n"}, ("--format", "lines", "--copies", str(10**20)), "too many"),
    ({"a": "x\n"}, ("--format", "lines", "--model", "east"), "the model east is named twice"),
    ({"a": "x\n"}, ("--format", "lines", "--size", "5", "--size", "5"), "the size 5 is named twice"),
    ({"a": "x\n"}, ("--format", "lines", "--model", "a/b"), "invisible characters from the name"),
    ({"a": "".join(f"q{n} 0 d{m} 1\n" for m in range(3) for n in range(9))}, ("--format", "trec"),
     "not separate blocks of lines"),
])
def test_what_cannot_be_resampled(resample, contents, asked, said):
    assert said in resample(contents, *asked, exit_code=3).stderr
