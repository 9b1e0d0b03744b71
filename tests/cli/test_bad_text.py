"""Bad tagged text and bad translations: one line that names file, line and item and the likely cause."""

import shutil

import pytest

from tests.conftest import ROOT


@pytest.fixture
def sample(registry, tmp_path):
    """A copy of a sample task, and a way to expect that a changed submission is refused and nothing written."""
    def copy(name, submission):
        folder = tmp_path / name
        shutil.copytree(ROOT / "sample_data" / name, folder)
        path = folder / "submissions" / submission
        for other in {*path.parent.iterdir()} - {path}:
            other.unlink()

        def refused(change, *says):
            lines = path.read_text().split("\n")
            path.write_text("\n".join(change(lines)))
            for command in ("check", "run"):
                told = registry(command, folder / "task.toml", exit_code=3).stderr
                assert told.count("\n") == 1 or command == "check", told  # which tells more than the first problem
                for part in says:
                    assert part in told
            assert not list(tmp_path.glob("[!.]*.duckdb"))
            path.write_text("\n".join(lines))

        return refused

    return copy


def replaced(at, line):
    return lambda lines: [*lines[:at], line, *lines[at + 1:]]


def test_entities(sample):
    refused = sample("entities", "Aspen.aspen-s.conll")
    name = "Aspen.aspen-s.conll"
    refused(replaced(1, "Nobody\tI-person"), f"{name}:2:", "'I-person' cannot follow 'O' in the scheme iob2",
            'invalid_tags = "begin"')
    refused(replaced(1, "Nobody\tE-person"), f"{name}:2:", "tag 'E-person' is not valid; expected O, or B-TYPE, I-TYPE")
    refused(replaced(1, "Nobody O"), f"{name}:2:", "the line has 1 column; expected 2 (token, label) with the "
                                                   "separator tab")

    def other_token(lines):
        return [*lines[:2], "x\t" + lines[2].split("\t")[1], *lines[3:]]

    refused(other_token, f"{name}:3: item 'd01-01': token 2 is 'x', but the gold token is", 'tokens = "warn"')
    refused(lambda lines: [*lines[:2], *lines[3:]], f"{name}:2: item 'd01-01':", "tokens, but the gold sentence has",
            "check the blank lines up to this sentence", "the tokenization")
    refused(lambda lines: lines[lines.index("") + 1:], "item 'd01-01': it has no answer")
    refused(replaced(0, "# id = d99-01"), f"{name}:2: item 'd99-01': not in the gold")


def test_another_scheme_than_declared(sample):
    refused = sample("entities", "Aspen.aspen-s.conll")
    refused(lambda lines: [line.replace("\tB-", "\tI-") for line in lines],
            "in the scheme iob2; correct the tags, set another scheme")


def test_manifests_that_ask_for_what_is_not_there(registry, tmp_path):
    folder = tmp_path / "translation"
    shutil.copytree(ROOT / "sample_data" / "translation", folder)
    text = (folder / "task.toml").read_text()
    for old, new, says in (
        ('references = ["A", "B"]', 'references = ["A", "Z"]', "metric[0]: unknown reference of test set test 'Z'"),
        ('{ name = "B", path', '{ name = "A", path', "two references have the name 'A'"),
        ('{ name = "B", path', '{ name = "gold", path', "two references have the name 'gold'"),
        ('format = "lines"', 'format = "labels"',
         "does not accept the keys references, attributes and source; remove them"),
    ):
        assert old in text
        (folder / "task.toml").write_text(text.replace(old, new))
        assert says in registry("check", folder / "task.toml", exit_code=3).stderr


def test_translations(sample):
    refused = sample("translation", "harbour.txt")
    refused(lambda lines: lines[:50] + lines[51:], "harbour.txt:", "shifted from about line", "check_order")
    refused(lambda lines: ["one more line", *lines], "harbour.txt:121: the file has 121 lines, but the gold has 120")
    refused(lambda lines: [*lines[60:120], *lines[:60], ""], "the lines may be shuffled")
    refused(replaced(16, "  "), "harbour.txt: item '17': its line is blank", 'missing = "worst"')
