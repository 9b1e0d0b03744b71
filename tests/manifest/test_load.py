"""Manifests: what is wrong is named with file and key path."""

import pytest

from registry.errors import ManifestError
from registry.manifest import decode_manifest, encode_manifest, read_manifest

GOOD = """
manifest = 1
[task]
id = "ner-2027"
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "labels"
options = { separator = "tab", header = true }
[submission]
options = { header = false }
[[metric]]
id = "acc"
name = "Accuracy"
[[submit]]
file = "a.tsv"
system = "a"
"""


def read(text):
    return read_manifest(text.encode(), "task.toml")


def test_defaults():
    manifest = read(GOOD)
    assert manifest.task.version == "1"
    assert manifest.significance.test == "permutation"
    assert manifest.significance.correction == "holm"
    assert manifest.significance.seed is None
    assert manifest.primary.id == "acc"


def test_options_are_merged_as_long_as_the_format_stays():
    manifest = read(GOOD)
    test_set, submit = manifest.test_set[0], manifest.submit[0]
    assert manifest.get_file_settings(test_set, submit).options == {"separator": "tab", "header": False}
    other = read(GOOD + 'format = "bio"\noptions = { scheme = "iob2" }\nmissing = "drop"\n')
    reading = other.get_file_settings(test_set, other.submit[0])
    assert (reading.format, reading.options, reading.missing) == ("bio", {"scheme": "iob2"}, "drop")


@pytest.mark.parametrize(("old", "new", "key", "says"), [
    ("[submission]", "[submision]", "submision", "did you mean 'submission'"),
    ('format = "labels"', 'fromat = "labels"', "test_set[0].fromat", "did you mean 'format'"),
    ('format = "labels"', 'format = "labels"\nclustre = "document"', "test_set[0].clustre", "did you mean 'cluster'"),
    ('id = "ner-2027"', 'id = "ner 2027"', "task.id", "letters"),
    ('id = "ner-2027"', "", "task.id", "missing"),
    ('system = "a"', 'system = "a/b"', "submit[0].system", "'/'"),
    ('system = "a"', 'system = "a\\u202eb"', "submit[0].system", "invisible"),
    ('system = "a"', 'system = "a"\nkind = "best"', "submit[0].kind",
     "expected 'primary', 'contrastive' or 'baseline'"),
    ('system = "a"', 'system = "a"\ntest_set = "dev"', "submit[0].test_set", "'dev'"),
    *(("[submission]", f"[significance]\n{key} = {value}\n[submission]", f"significance.{key}", says)
      for key, values, says in (
          ("alpha", ("0", "1", "nan", "inf"), "expected a number above 0 and below 1"),
          ("confidence", ("0.0", "1.0", "nan", "inf"), "expected a number above 0 and at most 1 - 1e-9"),
          ("margin", ("0", "-0.1", "nan", "inf"), "expected a finite number above 0"),
          ("resamples", ("99", "1_073_741_825", "1e3", '"many"'),
           "expected a whole number from 100 to 2^30, or 'auto'"),
          ("resolve", ("99", "1_073_741_825"), "expected a whole number from 100 to 2^30"),
          ("precision", ("0.0", "1.0", "nan"), "expected a number above 0 and below 1"),
          ("seed", ("-1", "9223372036854775808"), "expected a whole number from 0 to 2^63 - 1"),
          ("alpha", ("true",), "not true"), ("resolve", ("true", "1e3"), "expected a whole number, not "),
          ("resamples", ("true",), "is true"),
          ("seed", ("true",), "not true"))
      for value in values),
    ("[submission]", '[significance]\nunit = "cluster"\n[submission]', "significance.unit",
     "has no cluster; set its key cluster"),
    *(('system = "a"', f'system = "a"\n{key} = {value}', f"submit[0].{at or key}", says) for key, value, at, says in (
        ("paper", '"arxiv.org/abs/1"', "", "is not a web address; expected one such as https://"),
        ("code", '"javascript:alert(1)"', "", "is not a web address; expected one such as https://"),
        ("licence", '"free"', "", "is not an SPDX licence identifier"), ("description", '"two\\nlines"', "", "more "
                                                                                                             "than one "
                                                                                                             "line"),
        ("size", "0", "", "expected the model's number of parameters, such as 7e9"),
        ("size", '"7B"', "", "not '7B'"),
        ("cost", "-0.5", "", "expected a finite number from 0"), ("cost", "true", "", "not true"),
        ("attributes", '{ size = 3 }\nsize = 3', "attributes.size", "has the same name as the key size; remove the "
                                                                    "attribute"))),
    *(('name = "Accuracy"', f'name = "Accuracy"\n{key} = {value}', f"metric[0].{key}", says) for key, value, says in (
        ("title", '""', "is empty"), ("title", '"a\\u202eb"', "invisible characters"),
        ("title", f'"{"x" * 61}"', "longer than 60"),
        ("decimals", "13", "expected a whole number from 0 to 12"), ("decimals", "2.5", "expected a whole number"))),
    ("manifest = 1", "manifest = 2", "manifest", "expected 1"),
    ("manifest = 1", "manifest = true", "manifest", "not true"),
    ("manifest = 1", "manifest = 1.0", "manifest", "not 1.0"),
    ("[submission]", "[submission", "", "not TOML"),
    ("[submission]", ".".join("a" * 1200) + " = 1", "", "has more than 1000 dots; write it as several lines"),
    ('system = "a"', 'system = "a"\nversion = 2', "submit[0].version", "expected text in quotes, not 2"),
    ('system = "a"', 'system = "a"\nheader = true', "submit[0].header", "write an option of the format or metric as "
                                                                        "options = { header = ... }"),
    ('system = "a"', 'system = "a"\nlate = "yes"', "submit[0].late", "expected true or false, not 'yes'"),
    ('format = "labels"', 'format = "labels"\nfacets = "x"', "test_set[0].facets", "expected a list, not 'x'"),
    ('system = "a"', 'system = "a"\noptions = ["a"]', "submit[0].options", "expected a table, not a list"),
    *(('system = "a"', f'system = "a"\nattributes = {{ size = {value} }}', "submit[0].attributes.size",
       "expected text, a finite number, true or false") for value in ("nan", "[1]", "{ b = 1 }", "2027-05-01")),
])
def test_errors_name_the_key_path(old, new, key, says):
    assert old in GOOD
    with pytest.raises(ManifestError) as caught:
        read(GOOD.replace(old, new, 1))
    assert caught.value.key == key
    assert str(caught.value).startswith(f"task.toml: {key}")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_facts_are_attributes_and_what_a_task_does_not_say_leaves_its_stored_form_as_ever():
    manifest = read(GOOD + 'size = 7e9\npaper = "https://example.org/p"\nattributes = { layers = 2 }\n')
    assert manifest.submit[0].all_attributes == {"layers": 2, "paper": "https://example.org/p", "size": 7_000_000_000}
    assert not any(key in encode_manifest(manifest) for key in ("decimals", "cost_unit", "plugins"))
    assert encode_manifest(manifest).count('"title"') == 1  # the task's own, which was there before metrics had one
    titled = read(GOOD.replace('name = "Accuracy"', 'name = "Accuracy"\ntitle = "Right"\ndecimals = 1'))
    assert decode_manifest(encode_manifest(titled)).metric == titled.metric


def test_two_metrics_of_one_name_are_refused():
    with pytest.raises(ManifestError, match="two \\[\\[metric\\]\\]"):
        read(GOOD + '[[metric]]\nid = "acc"\nname = "Accuracy"\n')


def test_not_utf8_names_the_line():
    with pytest.raises(ManifestError, match="line 2"):
        read_manifest(b"manifest = 1\ntitle = '\xff'", "task.toml")


def test_all_that_is_wrong_is_told_at_once():
    wrong = (GOOD.replace("[task]", "[tasks]").replace("[[metric]]", "[[metrics]]")
             .replace("[submission]", "[submision]").replace('id = "acc"', "id = 3")
             .replace('gold = "gold.tsv"', 'gld = "gold.tsv"\nfacets = "x"'))
    with pytest.raises(ManifestError) as caught:
        read(wrong)
    told = {error.key: str(error) for error in (caught.value, *caught.value.others)}
    assert set(told) == {"tasks", "metrics", "submision", "metric[0].id", "test_set[0].gld", "test_set[0].facets"}
    assert "did you mean 'metric'?" in told["metrics"]


@pytest.mark.parametrize(("old", "new", "says"), [
    ("[[metric]]", "[metric]", "metric: expected a list, not a table; write [[metric]]"),
    ("[task]", "[[task]]", "task: expected a table, not a list; write [task]"),
    ('[task]\nid = "ner-2027"\n', "", "task: this table is missing; add [task]"),
])
def test_tables_are_written_as_the_error_says(old, new, says):
    with pytest.raises(ManifestError) as caught:
        read(GOOD.replace(old, new))
    assert (str(caught.value), caught.value.others) == (f"task.toml: {says}", ())


def test_contradictions_between_tables_are_told_at_once():
    with pytest.raises(ManifestError) as caught:
        read(GOOD + '[[metric]]\nid = "acc"\nname = "Accuracy"\n[significance]\nunit = "cluster"\n'
             '[[submit]]\nfile = "b.tsv"\ntest_set = "dev"\n')
    assert [error.key for error in (caught.value, *caught.value.others)] == [
        "metric", "submit[1].test_set", "significance.unit"]


def test_what_a_release_says_of_a_task_is_checked():
    told = GOOD.replace("[task]", '[task]\nurl = "https://example.org/t"\nlicence = "cc-by-4.0 OR LicenseRef-ours"\n'
                           'organisers = ["Ann Example"]\ndate = 2027-03-01')
    task = read(told).task
    assert (task.licence, task.date, task.organisers) == ("CC-BY-4.0 OR LicenseRef-ours", "2027-03-01", ["Ann Example"])
    for key, value in (("url", "example.org"), ("licence", "CC BY 4"), ("date", "March")):
        with pytest.raises(ManifestError, match=rf"task\.{key}: .*{value}"):
            read(GOOD.replace("[task]", f'[task]\n{key} = "{value}"'))
