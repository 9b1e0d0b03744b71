"""What is said to be remarkable about the submissions to real shared tasks is true, and nothing of it is noise."""

import re
from collections import Counter
from pathlib import Path

import pytest

TASKS = ["semeval2018-arc", "wordalign", "wordsim-rg", "krennppv", "wnut17"]
HERE = Path(__file__).parent
RELATION = re.compile(r"^[0-9]+\t(?:[^\t\n]*\t){6}([^\t\n:]*)", re.MULTILINE)  # of words; others have no plain number
CRLF = ("encoding", "all of 24,679 lines end with CR LF (Windows), which is interpreted as LF")


def remarks(registry, manifest, folder):
    """Category and message of all that `check` says of submissions, by the file's name."""
    found = registry("check", manifest, "--root", folder, "--format", "json", "--quiet")
    of_tests = ("trade precision for recall", "differences are too skewed", "too similar for")  # not of submissions
    assert [line for line in found.stderr.splitlines() if not line.startswith("ok: ") and not any(
        words in line for words in of_tests)] == []
    said = {}
    for problem in found.json:
        said.setdefault(Path(problem["file"]).stem, []).append((problem["category"], problem["message"]))
    return said


@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS)
def test_sound_tasks(task, registry, real_data):
    expected = {} if task != "wnut17" else {
        name: [CRLF] for name in ("arcada", "drexel_cci", "flytxt", "sjtu_adapt", "spinningbytes", "uh_ritual")} | {
        "mic-cis": [CRLF, (
            "text", "827 items have tokens that differ from the gold's, but each label is compared with the gold's "
            "label at the same position; check that the file has the gold's tokens in the same order")]}
    assert remarks(registry, HERE / f"{task}.toml", real_data(task)) == expected


def kept(registry):
    """Those that have a remark in the registry, and its category."""
    rows = registry("query", "SELECT system, category FROM submission_message", "--format", "json").json
    return [(row["system"], row["category"]) for row in rows]


@pytest.mark.thorough
def test_sound_translations(wmt22, registry):
    (of_draws,) = [line for line in wmt22.stderr.splitlines() if line.startswith("warning: ")]
    assert "the smallest possible p-value with 100 resamples is too large" in of_draws
    assert kept(registry) == []


def relations(path):
    """How often a file of CoNLL-U has each relation without its subtype."""
    return Counter(RELATION.findall(path.read_text("utf-8")))


@pytest.mark.slow
def test_parsers_with_relations_that_the_treebank_has_not(registry, conll2018, tmp_path):
    """Five of 25 parsers; one calls every root ROOT, which no word of the 1927 sentences is.

    Two of the treebank's relations stand once in it, so that one or two words with ones that it has not are no wonder.
    What is kept of all 25 is what `check` says of the five and a sound one, whatever they are scored by.
    """
    folder = conll2018
    gold = relations(folder / "gold.conllu")
    once = list(gold.values()).count(1)
    assert once == 2
    unknown = {path.stem: {name: n for name, n in relations(path).items() if name not in gold and n > once}
               for path in (folder / "submissions").iterdir()}
    assert {name: found for name, found in unknown.items() if found} == {
        "SLT-Interactions": {"punct": 10, "dep": 8}, "BOUN": {"ERROR": 5}, "HUJI": {"orphan": 1812},
        "LeisureX": {"<_UNK>": 3}, "ONLP-lab": {"ROOT": 1927}}
    odd = {name for name, found in unknown.items() if found}
    assert sorted(kept(registry)) == sorted((name, "label") for name in odd)
    text = (HERE / "conll2018-fro_srcmf.toml").read_text().partition('[[metric]]\nname = "Words"')[0]
    (tmp_path / "some.toml").write_text(text + "[significance]\nseed = 1\n" + "".join(
        f'[[submit]]\nfile = "submissions/{name}.conllu"\nsystem = "{name}"\n' for name in (*odd, "iParse")))
    said = remarks(registry, tmp_path / "some.toml", folder)
    assert said.keys() == odd
    for name, ((category, message),) in said.items():
        assert (category, message.split(" of ")[0]) == ("label", f"{sum(unknown[name].values()):,}")
        assert all(f"{relation!r} ({n:,} times" in message for relation, n in unknown[name].items())
    assert said["ONLP-lab"][0][1].endswith(
        "if upper and lower case mean the same, set the submission's option fold_case = true")
