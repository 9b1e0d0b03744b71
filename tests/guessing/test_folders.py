"""A folder that holds the gold and the systems, as people and contests lay them out."""

from pathlib import Path

import pytest

from registry.errors import InputError
from registry.guessing.files import system_names
from registry.guessing.guess import Asked
from registry.guessing.made import made
from tests.guessing.test_guessing import GOLD, IDS, RATED, SENTENCES, A, B, rows

LAYOUTS = {  # the gold, the systems' files, and what systems are called
    "submissions": ("gold.tsv", ["submissions/a.tsv", "submissions/b.tsv"], ["a", "b"]),
    "systems beside the gold": ("key.tsv", ["a.tsv", "b.tsv"], ["a", "b"]),
    "references that are no text": ("ref.tsv", ["a.tsv", "b.tsv"], ["a", "b"]),
    "a folder of each team": ("ref/truth.tsv", ["res/a/answer.tsv", "res/b/answer.tsv"], ["a", "b"]),
    "folders of teams beside the gold": ("test.gold", ["a/test", "b/test"], ["a", "b"]),  # MCL-WiC's
    "a folder called otherwise": ("gold.tsv", ["sub/a.tsv", "sub/b.tsv"], ["a", "b"]),
    "a gold called otherwise": ("stages.tsv", ["a/out.tsv", "b/out.tsv"], ["a", "b"]),  # CAMELYON's
    "a folder of each seed": ("gold.tsv", ["out/a/seed1/p.tsv", "out/b/seed1/p.tsv"], ["a", "b"]),
}


@pytest.fixture
def folder(tmp_path):
    """Write files by their paths within a folder; gives the folder."""
    def written(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return written


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_gold_and_systems(name, folder):
    gold, systems, names = LAYOUTS[name]
    texts = (rows(IDS, GOLD), rows(IDS, A), rows(IDS, B))
    found = made([folder(dict(zip([gold, *systems], texts, strict=True)))], Asked())
    assert found.folder.tables["test_set"][0]["format"] == "labels"
    assert [submit["system"] for submit in found.folder.tables["submit"]] == names
    why = "as the only file beside folders" if "stages" in gold else "by its name"
    assert found.told[0].startswith(f"the gold is {gold}, {why}")


def test_of_several_files_in_each_folder_the_one_that_ends_as_the_gold_does(folder):
    """Logs and scores beside outputs are passed over, and told; where two end so, the command to give is named."""
    text, files = rows(IDS, GOLD), ("out/a/p.tsv", "out/b/p.tsv", "out/a/all.json", "out/b/all.json", "out/b/x.log")
    path = folder({"test.tsv": text, **dict.fromkeys(files, rows(IDS, A))})
    found = made([path / "test.tsv", path / "out"], Asked())
    assert [submit["system"] for submit in found.folder.tables["submit"]] == ["a", "b"]
    assert found.told[0].endswith("p.tsv, which alone ends as the gold does; passed over: all.json, x.log")
    folder({"out/a/q.tsv": text, "out/b/q.tsv": text})
    with pytest.raises(InputError, match=r"registry quick GOLD \S+/\*/p.tsv or registry quick GOLD \S+/\*/q.tsv"):
        made([path / "test.tsv", path / "out"], Asked())


def test_scores_in_folders_of_seeds_without_a_gold(folder):
    files = [f"out/{system}/seed{seed}/s.tsv" for system in "ab" for seed in (0, 1)]
    path = folder(dict.fromkeys(files, rows(IDS, RATED, header=("item", "f1"))))
    found = made([path / "out"], Asked(runs="fixed"))
    assert {submit["system"] for submit in found.folder.tables["submit"]} == {"a", "b"}
    assert "a: 2 runs, scored by their average" in found.told


def test_text_beside_references(folder):
    text = "\n".join(SENTENCES)
    path = folder({"ref.txt": text, "src.txt": text, "a.txt": text})
    found = made([path], Asked())
    assert "results of plain" in found.told[0]
    assert [one["name"] for one in found.folder.tables["metric"]] == ["BLEU", "chrF"]
    said = made([path], Asked(metric="TER"), "sign").folder.tables
    assert [one["name"] for one in said["metric"]] == ["TER"]
    assert said["metric"][0]["options"] == {"references": ["gold"]}
    assert said["significance"]["test"] == "sign"


def test_names_in_text_beside_references_are_no_words(folder):
    """SCTK's trn files, which an importer of plain text would take as they are."""
    text = "".join(f"{line} (spk-{n})\n" for n, line in enumerate(SENTENCES))
    with pytest.raises(InputError, match="each line ends with a name that stands in all files"):
        made([folder({"x.ref": text, "a.hyp": text.replace("the", "a")})], Asked())


def test_files_of_documents_are_told(folder):
    """brat's, one for each document: no file is the gold."""
    path = folder({f"{of}/{n}.ann": "T1\tPER 0 4\tAnna\n" for of in ("gold", "system/a") for n in "12"})
    with pytest.raises(InputError, match=r"has a file for each document, as .*a does"):
        made([path / "gold", path / "system"], Asked())


def test_what_is_passed_over_is_told(folder):
    path = folder({"gold.tsv": rows(IDS, GOLD), "runs/a.tsv": rows(IDS, A), "runs/README.md": "", "runs/old/x": ""})
    for paths in ([path], [path / "gold.tsv", path / "runs"]):
        assert f"passed over in {path / 'runs'}: README.md, old" in made(paths, Asked()).told


def test_several_files_of_a_team(folder):
    path = folder({"gold.tsv": rows(IDS, GOLD), "res/a/x.tsv": rows(IDS, A), "res/a/y.tsv": rows(IDS, B)})
    with pytest.raises(InputError, match="2 files in it, where one is expected") as caught:
        made([path], Asked())
    assert caught.value.path == str(Path(path) / "res/a")


def test_systems_are_called_by_what_tells_them_apart():
    assert system_names([Path(f"x/wmt.cs-en.hyp.{name}.en") for name in ("Online-A", "Online-B")]) == [
        "Online-A", "Online-B"]
    assert system_names([Path("arcada"), Path("mic-cis.txt")]) == ["arcada", "mic-cis"]
    assert system_names([Path("1/out.txt"), Path("2/out.txt")]) == ["1", "2"]
    with pytest.raises(InputError, match="would be called 'a'"):
        system_names([Path("a.txt"), Path("a.tsv"), Path("b.txt")])
