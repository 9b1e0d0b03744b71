"""Options of the metric and the test: several metrics, settings of the test, and runs."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

import registry as package
from registry.errors import InputError
from tests.quick.layouts import GOLD, IDS, A, B, rows

HEADER = ("id", "label")


@pytest.fixture
def files(folder):
    """A gold, two systems and a second run of the first, in the working folder."""
    folder({name: rows(IDS, labels, header=HEADER) for name, labels in (
        ("gold.tsv", GOLD), ("a.tsv", A), ("b.tsv", B), ("c.seed1.tsv", A), ("c.seed2.tsv", B))})


@pytest.fixture
def quick(files, registry):
    """Run `registry quick` on the two systems."""
    def run(*options, systems=("a.tsv", "b.tsv"), gold="gold.tsv", **expected):
        named = () if gold is None else ("--gold", gold)
        return registry("quick", *named, *systems, *options, "--format", "json", **expected)

    return run


def test_each_metric_has_a_board(quick):
    done = quick("--metric", "accuracy", "--metric", "macro-F1")
    assert [(row["metric"], row["system"]) for row in done.json] == [
        ("accuracy", "a"), ("accuracy", "b"), ("macro-F1", "a"), ("macro-F1", "b")]
    for metric in ("accuracy", "macro-F1"):
        assert {row["system"]: row["score"] for row in quick("--metric", metric).json} == {
            row["system"]: row["score"] for row in done.json if row["metric"] == metric}
    assert "--metric accuracy --metric macro-F1" in done.stderr
    assert len(quick("--metric", "accuracy", "--metric", "accuracy").json) == 2


def test_metrics_of_one_class_have_different_names(quick):
    """The titles of metrics are their ids, or the expressions if titles are equal; equal metrics have one board."""
    for metrics, ids in ((("LabelF", "LabelF(labels=[yes])", "F1-macro"), ["macro-F1", "F1-of-yes"]),
                         (("LabelF", "LabelF(labels=[yes])", "LabelF(labels=[no])"),
                          ["macro-F1", "F1-of-yes", "F1-of-no"])):
        done = quick(*(word for metric in metrics for word in ("--metric", metric)))
        assert list(dict.fromkeys(row["metric"] for row in done.json)) == ids


def test_a_new_manifest_declares_each_metric(files, registry):
    registry("new", "mine", "--gold", "gold.tsv", "a.tsv", "b.tsv", "-m", "accuracy", "-m", "macro-F1",
             "--alpha", 0.1, "--resamples", 500)
    manifest = tomllib.loads(Path("mine/task.toml").read_text())
    assert [table["id"] for table in manifest["metric"]] == ["accuracy", "macro-F1"]
    assert (manifest["significance"]["alpha"], manifest["significance"]["resamples"]) == (0.1, 500)


def test_metrics_of_different_values_are_refused(quick):
    assert "no kind of values fits --metric accuracy and --metric BLEU" in quick(
        "--metric", "accuracy", "--metric", "BLEU", exit_code=3).stderr


def test_evaluate_takes_one_metric(files):
    for arguments in ((GOLD, {"a": A, "b": B}), ("gold.tsv", ["a.tsv", "b.tsv"])):
        with pytest.raises(InputError, match="call evaluate for each metric"):
            package.evaluate(*arguments, metric=["accuracy", "macro-F1"])


def test_evaluate_takes_one_column_of_scores(folder):
    folder({name: "id\tquality\tcost\n" + "".join(f"{i}\t{i}\t1\n" for i in range(9)) for name in ("a.tsv", "b.tsv")})
    with pytest.raises(InputError, match=r"names 2 columns .quality, cost.*call evaluate for each column"):
        package.evaluate(None, ["a.tsv", "b.tsv"], score=["quality:higher", "cost:lower"])


def test_settings_of_the_test_are_options(quick):
    options = ("--test", "bootstrap", "--alpha", 0.1, "--correction", "bonferroni", "--resamples", 500, "--seed", 7)
    signature = quick(*options).json[0]["signature"]
    assert all(part in signature for part in ("|corr:bonferroni/", "|a:.1|", "|seed:7|"))


@pytest.mark.parametrize(("options", "message"), [
    (("--alpha", 2), "alpha: is 2.0; expected a number above 0 and below 1"),
    (("--test", "permutation(resamples=500)"), "use --resamples 500"),
    (("--test", "sign", "--correction", "max-t"), "use --correction holm"),
    (("--metric", "macro-F1", "--test", "mcnemar"), "mcnemar needs a metric that counts each answer as"),
])
def test_a_wrong_setting_names_the_option(quick, options, message):
    assert message in quick(*options, exit_code=3).stderr


def test_an_unknown_option_does_not_suggest_help(quick):
    assert "--help" not in quick("--elp", 1, exit_code=2).stderr
    assert "--alpha" in quick("--alpah", 1, exit_code=2).stderr


def test_random_runs_need_two_files_of_each_system(quick):
    refused = quick("--runs", "random", systems=("a.tsv", "c.seed1.tsv", "c.seed2.tsv"), exit_code=3).stderr
    assert "needs two or more files of each system, but 1 system has only one (a). To compare the systems" in refused
    assert "leave out those with one file; to compare all systems, use --runs fixed," in refused
    with pytest.raises(InputError, match=r"runs='random' needs two or more files.*use runs='fixed'"):
        package.evaluate("gold.tsv", ["a.tsv", "c.seed1.tsv", "c.seed2.tsv"], runs="random")


@pytest.fixture
def answers(folder, registry):
    """Keep two systems and one benchmark, whose files have a gold, an answer, a score and a topic of each item."""
    def make(name, right):
        return "id\ttarget\toutput\tquality\ttopic\n" + "".join(
            f"i{n}\tx\t{'xy'[n % right == 0]}\t{n % right}\t{'news' if n % 3 else 'law'}\n" for n in range(30))

    folder({f"{name}.tsv": make(name, right) for name, right in (("a", 4), ("b", 5))})

    def run(*options, **expected):
        return registry("quick", *options, "--format", "json", **expected)

    return run


@pytest.mark.parametrize("options", [
    ("a.tsv", "b.tsv", "--score", "quality:higher"),
    ("--gold", "a.tsv", "a.tsv", "b.tsv", "--label", "target", "--label", "output")])
def test_an_attribute_is_kept_for_later_commands(options, answers, registry):
    done = answers(*options, "--attribute", "topic", "--keep", "kept", "--db", "kept.duckdb")
    assert "--attribute topic" in done.stderr
    assert "`registry study facets kept --attribute topic`" in done.stderr
    rows = registry("study", "facets", "kept", "--attribute", "topic", "--db", "kept.duckdb", "--format", "json").json
    assert {row["value"]: row["units"] for row in rows} == {"law": 10, "news": 20}


@pytest.mark.parametrize(("options", "message"), [
    (("--attribute", "topic"), "add --keep TASK, or use --by topic for a board of each value"),
    (("--attribute", "topics", "--keep", "kept"), "the file has no column 'topics'"),
])
def test_an_attribute_needs_a_column_and_a_task(options, message, answers):
    assert message in answers("a.tsv", "b.tsv", "--score", "quality:higher", *options, exit_code=3).stderr


def test_a_missing_attribute_names_the_option_that_keeps_it(answers, registry):
    answers("a.tsv", "b.tsv", "--score", "quality:higher", "--keep", "kept", "--db", "kept.duckdb")
    refused = registry("study", "facets", "kept", "--attribute", "topic", "--db", "kept.duckdb", exit_code=3).stderr
    assert "`registry quick --attribute COLUMN --keep TASK`" in refused


def test_another_task_of_the_same_name_suggests_keep(answers):
    kept = "--keep", "kept", "--db", "kept.duckdb"
    answers("a.tsv", "b.tsv", "--score", "quality:higher", *kept)
    refused = answers("a.tsv", "b.tsv", "--score", "quality:lower", *kept, exit_code=3).stderr
    assert "remove it, or name another task with --keep" in refused


def test_an_unknown_label_names_the_option_that_works(quick, folder):
    folder({"d.tsv": rows(IDS, ["Yes_" if label == "yes" else label for label in GOLD], header=HEADER)})
    warned = next(line for line in quick(systems=("b.tsv", "d.tsv")).stderr.splitlines()
                  if "unknown to the gold" in line)
    _, option = shlex.split(re.search(r"--option '.*?'", warned)[0])
    done = quick("--option", option, systems=("b.tsv", "d.tsv"))
    assert "unknown to the gold" not in done.stderr
    assert {row["system"]: row["score"] for row in done.json}["d"] == 1


def test_a_warning_of_fixed_runs_names_the_option(quick):
    warned = quick("--runs", "fixed", systems=("a.tsv", "c.seed1.tsv", "c.seed2.tsv")).stderr
    assert "the results hold for these runs, but not for new runs (--runs fixed)" in warned


def test_quiet_prints_results_warnings_and_questions_only(quick):
    loud, done = quick(), quick("--quiet")
    assert done.json == loud.json
    assert done.stderr.splitlines() == [line for line in loud.stderr.splitlines() if " is " in line or line.startswith(
        ("The systems differ", "This test set", "For the paper"))]
    warned = quick("--quiet", "--runs", "fixed", systems=("a.tsv", "c.seed1.tsv", "c.seed2.tsv")).stderr.splitlines()
    assert warned[0].startswith("warning: ")
    assert not any(line.startswith(("info", "read as", "quick:", "next", "item", "plan")) for line in warned)
    assert "which file is the gold" in quick("--quiet", exit_code=3, gold=None).stderr
