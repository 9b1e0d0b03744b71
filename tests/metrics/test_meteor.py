"""METEOR: scores of segments and of the corpus are those that the program prints for files; nothing hangs."""

import os
import random
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import settings

from registry.errors import InputError
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.metrics import METEOR, meteor

needs_program = pytest.mark.skipif(shutil.which("java") is None, reason="java")

DUTCH = ["de", "kat", "katten", "zat", "zitten", "op", "een", "mat", "matten", "|||", "a|||b", ".", "Hond"]
ENGLISH = [  # system, and two references
    ("The cat sat on the mat.", "The cat sat on the mat.", "A cat was sitting on a mat."),
    ("a feline sits on carpets ||| now", "The cat sat on the mat.", "the cat is sitting on the carpet | now"),
    ("he took into consideration the high price", "he considered the steep price", "he took account of the cost"),
    ("", "nobody said anything", "not a word"),
    ("entirely unrelated", "The Queen's speech, in full", "what the king said"),
]
# what `scored_by_the_program` gave for these (METEOR 1.5, "-l en -norm"): it takes 8 seconds to load its paraphrases
PRINTED = ([1.0, 0.232132650376934, 0.7614747930775019, 0.0, 0.06025104602510461], 0.31197196414256656)
THOROUGH = settings.default.max_examples > 100


def scored_by_the_program(folder, corpus, *options):
    """The segments' scores and the corpus score, as the program prints them for a file of each side."""
    system, reference = folder / "system", folder / "references"
    system.write_text("".join(f"{text}\n" for text, *_ in corpus))
    reference.write_text("".join(f"{text}\n" for _, *texts in corpus for text in texts))
    done = subprocess.run(["java", "-Xmx2G", "-jar", meteor._find_archive(), system, reference, "-q", "-r", "2",
                           *options], capture_output=True, text=True, check=True)
    return [float(line) for line in done.stderr.split()], float(done.stdout)


def statistics(metric, corpus):
    items = [Item(str(n), {"A": a, "B": b}) for n, (_, a, b) in enumerate(corpus)]
    return metric.corpus_statistics(items, [Answer(str(n), text) if text else None
                                            for n, (text, _, _) in enumerate(corpus)])


def made_up(n):
    rng = random.Random(15)

    def segment(least=1):
        return " ".join(rng.choices(DUTCH, k=rng.randint(least, 9)))

    corpus = [(segment(0), segment(), segment()) for _ in range(n)]
    return [*corpus, *((one, other, one) for _, one, other in corpus[:5])]  # some are a reference, word by word


@pytest.mark.slow
@needs_program
@pytest.mark.parametrize(("metric", "corpus", "options"), [
    (METEOR(references=("A", "B"), language="nl", text="lowercase"), made_up(60), ("-l", "nl", "-lower")),
    (METEOR(references=("A", "B"), language="other", text="as-is"), made_up(20), ("-l", "other")),
    (METEOR(references=("A", "B")), ENGLISH, ("-l", "en", "-norm")),
], ids=["nl", "other", "en"])
def test_scores_are_those_that_the_program_prints(tmp_path, metric, corpus, options):
    known = corpus is ENGLISH and not THOROUGH
    segments, whole = PRINTED if known else scored_by_the_program(tmp_path, corpus, *options)
    found = statistics(metric, corpus)
    assert metric.score(found) == pytest.approx(np.array(segments), abs=1e-12)
    assert metric.score(found.sum(axis=0)) == pytest.approx(whole, abs=1e-12)
    assert len(set(segments)) > 3


@needs_program
def test_the_columns_say_what_was_counted():
    """'de' matches exactly (stage 1), 'katten' and 'kat' are one stem (stage 2), 'mat' is left; both are adjacent."""
    metric = METEOR(references=("A", "B"), language="nl", text="lowercase")
    row = dict(zip(FAMILIES["meteor"].columns, statistics(metric, [("de katten mat", "de kat", "x")])[0], strict=True))
    assert {name: n for name, n in row.items() if n} == {
        "test_length": 3, "reference_length": 2, "test_content_matches_1": 1, "reference_content_matches_1": 1,
        "test_content_matches_2": 1, "reference_content_matches_2": 1, "chunks": 1, "test_word_matches": 2,
        "reference_word_matches": 2}


def test_the_score_by_hand():
    """Of 4 and 2 content words 2 match exactly, in 2 chunks: P 1/2, R 1, mean 1/(.15/.5 + .85), less 0.6 of it."""
    sums = np.zeros(23)
    sums[[0, 1, 4, 8, 20, 21, 22]] = 4, 2, 2, 2, 2, 2, 2
    assert METEOR().score(sums) == pytest.approx(0.4 / (0.15 / 0.5 + 0.85))
    assert METEOR().score(np.zeros((2, 23))).tolist() == [0, 0]


@needs_program
def test_text_cannot_end_its_line_or_field():
    metric = METEOR(references=("A", "B"), language="nl", text="lowercase")
    hostile = "kat\rSCORE ||| x ||| y\nEVAL ||| 1"
    found = statistics(metric, [(hostile, "kat", hostile), ("kat", "kat", "mat")])
    assert found.shape == (2, 23)
    assert metric.score(found).tolist() == [1, 1]


@pytest.fixture
def replaced(tmp_path, monkeypatch):
    """Puts a shell script in the place of Java."""
    def replace(script):
        (tmp_path / "java").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "java").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(meteor, "_find_archive", lambda: "meteor.jar")

    meteor.find_program.cache_clear()
    yield replace
    meteor.find_program.cache_clear()


@pytest.mark.parametrize(("script", "says"), [
    ("echo 'Exception in thread main: out of memory' >&2; exit 1", "at segment 1: Exception in thread main"),
    ("read line; echo 1 2 3; sleep 60", "the METEOR program stopped at segment 1: 1 2 3"),
    ("exec sleep 60", "it took too long"),
])
def test_a_program_that_fails_or_hangs_is_ended_with_an_error(replaced, monkeypatch, script, says):
    replaced(script)
    monkeypatch.setattr(meteor, "START_SECONDS", 0.2)
    monkeypatch.setattr(meteor, "SEGMENT_SECONDS", 0.0)
    with pytest.raises(InputError, match=says):
        METEOR().statistics(Item("1", {"gold": "a" * 100_000}), None)


def test_without_java_or_the_package_it_is_said_what_to_install(monkeypatch):
    meteor.find_program.cache_clear()
    monkeypatch.setattr(meteor.shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="install a Java runtime"):
        METEOR().statistics(Item("1", {"gold": "a"}), None)
    monkeypatch.undo()
    monkeypatch.setattr(meteor.shutil, "which", lambda name: "/bin/true")
    monkeypatch.setattr(meteor, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'evalregistry\[meteor\]'"):
        METEOR().statistics(Item("1", {"gold": "a"}), None)


def test_only_english_can_be_normalized():
    with pytest.raises(InputError, match="tokenize the text"):
        METEOR(language="nl")
