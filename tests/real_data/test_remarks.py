"""What is said to be remarkable about the submissions to real shared tasks is true, and nothing of it is noise."""

from collections import Counter
from pathlib import Path

import pytest

TASKS = ["semeval2018-arc", "wmt22-cs-en", "wordalign", "wordsim-rg", "krennppv", "wnut17"]
HERE = Path(__file__).parent
CRLF = ("encoding", "all of 24679 lines end with CR LF, which is read as LF")


def remarks(registry, folder):
    """Category and message of all that `check` says, by the file's name."""
    found = registry("check", HERE / f"{folder.name}.toml", "--root", folder, "--format", "json", "--quiet")
    assert [line for line in found.stderr.splitlines() if not line.startswith("ok: ")] == []
    said = {}
    for problem in found.json:
        said.setdefault(Path(problem["file"]).stem, []).append((problem["category"], problem["message"]))
    return said


@pytest.mark.parametrize("task", TASKS)
def test_sound_tasks(task, registry, real_data):
    expected = {} if task != "wnut17" else {
        name: [CRLF] for name in ("arcada", "drexel_cci", "flytxt", "sjtu_adapt", "spinningbytes", "uh_ritual")} | {
        "mic-cis": [CRLF, ("text", "827 items have tokens that differ from the gold's")]}
    assert remarks(registry, real_data(task)) == expected


def relations(path):
    """How often a file of CoNLL-U has each relation without its subtype."""
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines() if line[:1].isdigit())
    return Counter(row[7].partition(":")[0] for row in rows if row[0].isdecimal())


def test_parsers_with_relations_that_the_treebank_has_not(registry, real_data):
    """Five of 25 parsers; one calls every root ROOT, which no word of the 1927 sentences is.

    Two of the treebank's relations stand once in it, so that one or two words with ones that it has not are no wonder.
    """
    folder = real_data("conll2018-fro_srcmf")
    gold = relations(folder / "gold.conllu")
    once = list(gold.values()).count(1)
    assert once == 2
    unknown = {path.stem: {name: n for name, n in relations(path).items() if name not in gold and n > once}
               for path in (folder / "submissions").iterdir()}
    assert {name: found for name, found in unknown.items() if found} == {
        "SLT-Interactions": {"punct": 10, "dep": 8}, "BOUN": {"ERROR": 5}, "HUJI": {"orphan": 1812},
        "LeisureX": {"<_UNK>": 3}, "ONLP-lab": {"ROOT": 1927}}
    said = remarks(registry, folder)
    assert said.keys() == {name for name, found in unknown.items() if found}
    for name, ((category, message),) in said.items():
        assert (category, message.split(" of ")[0]) == ("label", str(sum(unknown[name].values())))
        assert all(f"{relation!r} ({n} times" in message for relation, n in unknown[name].items())
    assert said["ONLP-lab"][0][1].endswith("if they are the same, set the submission's option fold_case = true")
