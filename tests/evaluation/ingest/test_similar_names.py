"""Names that are taken for each other: in another case, or with characters that look the same."""

import unicodedata
from pathlib import Path

import pytest

from registry.evaluation.ingest.similar_names import find_similar_names, skeleton, warnings_about
from registry.manifest.fields import check_name

GOLD = "".join(f"i{n}\t{'ab'[n % 2]}\n" for n in range(4))
MANIFEST = """manifest = 1
task.id = "small"
significance.seed = 1
test_set = [{ name = "test", gold = "gold.tsv", format = "labels", options = { columns = ["item", "label"] } }]
metric = [{ name = "Accuracy" }]
"""
ALIKE = {  # a name that is taken for Aspen or aspen, and what of it is told
    "aspen": "differ only in letter case", "ASPEN": "differ only in letter case",
    "Аspen": "U+0041 LATIN CAPITAL LETTER A in one is U+0410 CYRILLIC CAPITAL LETTER A in the other",
    "Αspen": "U+0391 GREEK CAPITAL LETTER ALPHA", "аsреn": "U+0440 CYRILLIC SMALL LETTER ER",
    "Ａｓｐｅｎ": "U+FF21 FULLWIDTH LATIN CAPITAL LETTER A", "𝐀spen": "U+1D400 MATHEMATICAL BOLD CAPITAL A",
    "Aspén": "U+00E9 LATIN SMALL LETTER E WITH ACUTE", "As\u0331pen": "nothing in one is U+0331 COMBINING MACRON BELOW",
    "Aspen\u3164": "U+3164 HANGUL FILLER", "As\u034fpen": "U+034F COMBINING GRAPHEME JOINER",
    "Aspen\ufe0f": "U+FE0F VARIATION SELECTOR-16"}
DIFFERENT = ["Aspen 2", "Aspens", "Asper", "A-spen", "Aspen_", "Birch", "Аспен", "桜", "As pen"]
REFUSED = ["As\u200bpen", "Aspen\u200d", "Aspen ", " Aspen", "Aspen\u2060", "\ufeffAspen", "As\u00adpen"]


def told(before, after):
    return list(warnings_about(find_similar_names("small", before, after)))


@pytest.mark.parametrize("name", ALIKE)
def test_names_that_are_taken_for_each_other_are_told_with_what_differs(name):
    assert check_name(name) == name
    (warning,) = told({"Aspen": {"x"}}, {"Aspen": {"x"}, name: {"y"}})
    assert warning.startswith(f"small: the teams 'Aspen' and {name!r} ")
    assert ALIKE[name] in warning
    assert "if they are one team, write its name in one way" in warning
    (of_systems,) = told({"T": {"Aspen"}}, {"T": {"Aspen", name}, "U": {name}})
    assert of_systems.startswith(f"small: the systems 'Aspen' and {name!r} of 'T' ")


@pytest.mark.parametrize("name", DIFFERENT)
def test_other_names_are_let_pass(name):
    assert told({}, {"Aspen": {"Aspen", name}, name: {"Aspen"}}) == []


def test_decomposed_letters_are_composed():
    assert check_name(unicodedata.normalize("NFD", "Aspén")) == unicodedata.normalize("NFC", "Aspén")


@pytest.mark.parametrize("name", REFUSED)
def test_names_with_invisible_characters_or_blanks_at_the_ends_are_refused_anyway(name):
    with pytest.raises(ValueError, match=r"invisible|begins or ends"):
        check_name(name)


@pytest.mark.parametrize(("a", "b"), [("が", "か"), ("ぱ", "は"), ("की", "का"), ("נָ", "נ"), ("ไม้", "ไม่")])
def test_marks_that_are_letters_count(a, b):
    assert skeleton(a) != skeleton(b)


@pytest.mark.parametrize(("a", "b"), [
    ("ТЕАМ", "TEAM"), ("Ηelios", "Helios"), ("pаypаl", "paypal"), ("a–b", "a-b"), ("a\u00a0b", "a b"), ("a  b", "a b"),
    ("Straße", "STRASSE"), ("x²", "x2"), ("ı", "i"), ("ΝΕΤ", "NET"), ("νet", "vet"), ("Ꮪ".lower(), "ꮪ")])
def test_skeletons_of_names_that_look_the_same_are_equal(a, b):
    assert skeleton(a) == skeleton(b)


def test_each_pair_is_told_once_and_only_if_one_is_new():
    three = {"Aspen": {"x"}, "aspen": {"x"}, "Аspen": {"x"}}
    assert len(told({}, three)) == 3
    assert len(told({"Aspen": {"x"}, "aspen": {"x"}}, three)) == 2
    assert told(three, three) == []
    assert "'Birch' and 'birch'" in told({"birch": ()}, {"birch": (), "Birch": ()})[0].replace(
        "'birch' and 'Birch'", "'Birch' and 'birch'")


def test_of_many_pairs_the_first_are_told_and_the_rest_counted():
    names = ["".join(c.upper() if n >> k & 1 else c for k, c in enumerate("abcdefgh")) for n in range(8)]  # 28 pairs
    warnings = told({}, dict.fromkeys(names, ()))
    assert len(warnings) == 11
    assert warnings[-1].startswith("small: 18 more pairs of names")


def write(manifest, *submissions):
    """A task with a submission for each team and system, none of which has another one's answers."""
    Path("gold.tsv").write_text(GOLD)
    tables = ""
    for n, (team, system) in enumerate(submissions):
        Path(f"{n}.tsv").write_text("".join(f"i{m}\t{'ab'[n >> m & 1]}\n" for m in range(4)))
        tables += f'[[submit]]\nfile = "{n}.tsv"\nteam = "{team}"\nsystem = "{system}"\n'
    Path("task.toml").write_text(manifest + tables)


def similar(outcome):
    return [line for line in outcome.stderr.splitlines() if "letter case" in line or "alike" in line]


def test_check_apply_run_and_submit_tell_it_when_a_name_is_new(registry):
    write(MANIFEST, ("Birch", "x"), ("Aspen", "x"))
    registry("run", "task.toml")
    write(MANIFEST, ("Birch", "x"), ("Aspen", "x"), ("aspen", "y"), ("Birch", "Х"))
    case = "warning: small: the teams 'Aspen' and 'aspen' differ only in letter case; if they are one team"
    look = "warning: small: the systems 'x' and 'Х' of 'Birch' look alike (U+0078 LATIN SMALL LETTER X in one is U+0425"
    for command in (("check", "task.toml"), ("check", "task.toml", "--db", "registry.duckdb"),
                    ("apply", "task.toml", "--dry-run"), ("run", "task.toml")):
        found = similar(registry(*command))
        assert [line.startswith(says) for line, says in zip(found, (case, look), strict=True)] == [True, True], found
    for command in (("check", "task.toml", "--db", "registry.duckdb"), ("run", "task.toml"), ("apply", "task.toml")):
        assert similar(registry(*command)) == []
    submit = ("submit", "small", "0.tsv", "--team", "BIRCH", "--system", "z")
    (found,) = similar(registry(*submit))
    assert "the teams 'Birch' and 'BIRCH' differ only in letter case" in found
    assert similar(registry(*submit)) == []
