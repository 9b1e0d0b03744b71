"""Text in another Unicode normal form than the gold's is told of where a file is brought in and where it is checked."""

import unicodedata

import pytest

MANIFEST = """manifest = 1
[task]
id = "t"
[[test_set]]
name = "test"
gold = "gold.txt"
format = "lines"
[[metric]]
name = "chrF"
[[submit]]
file = "{system}.out"
"""
TEXT = "Kůň stojí.\nNic.\nŽluťoučký.\n"


@pytest.fixture
def folder(tmp_path):
    def write(form, of_gold="NFC", manifest=MANIFEST):
        (tmp_path / "gold.txt").write_text(unicodedata.normalize(of_gold, TEXT))
        (tmp_path / "x.out").write_text(unicodedata.normalize(form, TEXT))
        (tmp_path / "task.toml").write_text(manifest)
        return tmp_path / "task.toml"

    return write


def test_what_only_looks_like_the_gold_is_told_with_its_first_line_and_not_repaired(folder, registry):
    manifest = folder("NFD")
    says = "x.out:1: 2 lines are not in Unicode normal form NFC, but the gold is"
    assert says in registry("check", manifest).stderr
    done = registry("run", manifest, "--format", "json")
    assert says in done.stderr
    assert done.json[0]["score"] < 100


def test_text_in_the_gold_s_own_form_needs_no_remark(folder, registry):
    for forms in (("NFC", "NFC"), ("NFD", "NFD")):
        done = registry("run", folder(*forms), "--format", "json", "--db", f"{forms[0]}.duckdb")
        assert "normal form" not in done.stderr
        assert done.json[0]["score"] == 100


def test_a_task_can_have_it_mended_and_its_provenance_says_so(folder, registry, tmp_path):
    """Of a file with every trouble at once: the scores of a sound one, no remark, and the reader on record."""
    manifest = folder("NFD", manifest=MANIFEST.replace(
        "[[metric]]", '[submission]\noptions = { repair = ["bom", "crlf", "nfc"] }\n[[metric]]'))
    spoilt = "\ufeff" + unicodedata.normalize("NFD", TEXT).replace("\n", "\r\n")
    (tmp_path / "x.out").write_bytes(spoilt.encode())
    assert registry("check", "x.out", "--task", manifest, "--format", "json").json == []
    done = registry("run", manifest, "--format", "json")
    assert "normal form" not in done.stderr
    assert done.json[0]["score"] == 100
    (row,) = registry("query", "SELECT s.reader, r.reader AS gold FROM submission s, gold_revision r",
                      "--format", "json").json
    assert row["reader"].startswith('lines(repair=[bom, crlf, nfc]')
    assert "repair" not in row["gold"]
    assert registry("run", manifest, "--format", "json").json[0]["score"] == 100
    (tmp_path / "task.toml").write_text(MANIFEST)
    assert "byte-order mark" in registry("run", manifest, "--db", "other.duckdb", exit_code=3).stderr
