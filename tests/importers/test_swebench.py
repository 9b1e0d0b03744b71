"""`registry import swe-bench`: reports of the harness, and published results.

`swe_bench_reports` was written by the harness itself (swebench 5.0.2; `make.py` there); where something is wrong with a
report, it is made here as make_run_report writes it.
"""

import json
import shutil
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.importers import IMPORTERS

REPORTS = Path(__file__).parent / "swe_bench_reports"
ALL = ("django__django-1", "django__django-2", "flask__flask-3", "flask__flask-4", "flask__flask-5")


def report(resolved=(), unresolved=(), error=(), empty_patch=(), incomplete=()):
    """An instance whose evaluation left an empty file counts both as completed and as an error."""
    lists = {"resolved": resolved, "unresolved": unresolved, "error": error, "empty_patch": empty_patch,
             "incomplete": incomplete}
    names = {f"{outcome}_ids": [ALL[n] for n in ns] for outcome, ns in lists.items()}
    return {"total_instances": sum(map(len, lists.values())), **names,
            "completed_ids": names["resolved_ids"] + names["unresolved_ids"] + names["error_ids"],
            "submitted_ids": ["not__of-this-set"], "schema_version": 2}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        (tmp_path / "reports" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "reports" / name).write_text(content if isinstance(content, str) else json.dumps(content, indent=4))

    return write


def test_resolved_instances_are_the_score_and_the_other_outcomes_stay_apart(registry):
    registry("import", "swe-bench", REPORTS, "--task", "swe", "--option", "run=r1")
    own = {system: json.loads((REPORTS / f"{system}.r1.json").read_text()) for system in ("acme__aspen-1.5", "birch")}
    board = registry("run", "swe/task.toml", "--format", "json").json
    assert [(row["system"], row["score"]) for row in board] == [
        (system, report["resolved_instances"] / report["total_instances"]) for system, report in own.items()]
    found = registry("query", "SELECT system, item, answer FROM item_response ORDER BY ALL", "--format", "json").json
    assert [tuple(row.values()) for row in found] == sorted(
        (system, instance, outcome) for system, report in own.items()
        for outcome in ("resolved", "unresolved", "error", "empty_patch", "incomplete")
        for instance in report[f"{outcome}_ids"])


def test_a_folder_may_hold_the_logs_too_and_other_files_where_the_run_is_named(registry, tmp_path):
    """As it looks where the harness has run: a report.json for every instance below `logs`."""
    for report in REPORTS.glob("*.r1.json"):
        shutil.copy(report, tmp_path)
    log = tmp_path / "logs" / "run_evaluation" / "r1" / "birch" / "django__django-201"
    log.mkdir(parents=True)
    (log / "report.json").write_text('{"django__django-201": {"resolved": true}}')
    registry("import", "swe-bench", ".", "--task", "swe")
    (tmp_path / "preds.json").write_text('{"django__django-201": {"model_patch": "diff"}}')
    assert "preds.json: no key 'resolved_ids', so this is not the report of a run; name such a report, or select " \
        "files called MODEL.RUN.json" in registry("import", "swe-bench", ".", "--task", "other", exit_code=3).stderr
    registry("import", "swe-bench", ".", "--task", "named", "--option", "run=r1")
    found = registry("query", "SELECT task, system, score FROM submission_score ORDER BY ALL", "--format", "json").json
    assert [tuple(row.values()) for row in found] == [
        ("named", "acme__aspen-1.5", 0.5), ("named", "birch", 0.375),
        ("swe", "acme__aspen-1.5.r1", 0.5), ("swe", "birch.r1", 0.375)]
    assert "no report called MODEL.RUN.json in this folder" in registry(
        "import", "swe-bench", "logs", exit_code=3).stderr


def test_the_instances_of_a_repository_are_a_cluster(registry, write):
    write("a.r1.json", report([0, 1, 2, 3, 4]))
    write("b.r1.json", report([0, 2], [1, 3, 4]))
    registry("import", "swe-bench", "reports")
    registry("compare", "reports", "--unit", "cluster")
    (pair,) = registry("pairs", "reports", "--format", "json").json
    assert (pair["n_units"], pair["system_a"]) == (2, "a.r1")


@pytest.mark.parametrize(("content", "says"), [
    ("[]", "a.r1.json: no key 'resolved_ids'"),
    ("{", "a.r1.json:1: not JSON"),
    (report([0], [0]), "item 'django__django-1': the instance is both resolved and unresolved"),
    (report([0]) | {"total_instances": 500}, "the report has outcomes of 1 instance, but 'total_instances' is 500"),
    (report([0]) | {"error_ids": "x"}, "'error_ids' is \"x\"; expected a list"),
    (report([0]) | {"error_ids": ["a\tb"], "total_instances": 2}, "'a\\tb' is not a valid instance id"),
    (report([0]) | {"error_ids": [7]}, "'error_ids' contains 7; expected instance ids"),
    (report([1]), "'a.r1' has no outcome of 4 instances that other systems have, such as 'django__django-1'"),
])
def test_what_is_wrong_is_named(registry, write, content, says):
    write("a.r1.json", content)
    write("b.r1.json", report([0, 1, 2, 3, 4]))
    assert says in registry("import", "swe-bench", "reports", exit_code=3).stderr


def outcomes(registry, system):
    found = registry("query", "SELECT item, answer FROM item_response WHERE system = $system ORDER BY item", "--param",
                     f"system={system}", "--format", "json").json
    return [ALL.index(row["item"]) for row in found], [row["answer"] for row in found]


def test_published_results_list_what_was_resolved_and_all_else_is_unresolved(registry, write):
    """As in SWE-bench/experiments: a folder for each submission, with other files, and of newer ones the details."""
    write("verified/2024_aspen/results/results.json", {
        "no_generation": [ALL[3]], "no_logs": [ALL[1]], "resolved": [ALL[0]]})
    write("verified/2024_aspen/results/resolved_by_repo.json", {"django/django": {"resolved": 1, "total": 2}})
    write("verified/2024_aspen/trajs/x.json", [])
    write("verified/2025_birch/per_instance_details.json", {
        instance: {"cost": 0.7, "resolved": n != 4} for n, instance in enumerate(ALL)})
    told = registry("import", "swe-bench", "reports/verified", exit_code=3).stderr
    assert "results.json: the report lists only resolved instances; add --option instances=FILE" in told
    write("verified/all.txt", "\n".join(ALL) + "\n")
    registry("import", "swe-bench", "reports/verified", "--option", "instances=all.txt")
    assert outcomes(registry, "2024_aspen") == (
        [0, 1, 2, 3, 4], ["resolved", "error", "unresolved", "empty_patch", "unresolved"])
    assert outcomes(registry, "2025_birch") == ([0, 1, 2, 3, 4], ["resolved"] * 4 + ["unresolved"])


def test_a_submission_s_metadata_and_date_are_its_attributes(registry, write, tmp_path):
    """As newer submissions to SWE-bench/experiments have them, and as older ones had."""
    for name, metadata in {
            "20250226_birch": "info:\n  name: Birch + tools\n  site: https://b.org\ntags:\n  model: [m-1, m-2]\n"
                              "  org: Birch\n  os_model: false\n  checked: true\n  system: {attempts: '1'}\n",
            "20240620_aspen": "name: Aspen\noss: true\nsite: [https://a.org]\nverified: false\n", "fir": None}.items():
        write(f"{name}/per_instance_details.json", {instance: {"resolved": n != 4} for n, instance in enumerate(ALL)})
        if metadata:
            write(f"{name}/metadata.yaml", metadata)
    task = IMPORTERS["swe-bench"]().read(tmp_path / "reports")
    assert {submit["system"]: submit.get("attributes") for submit in task.tables["submit"]} == {
        "20250226_birch": {"date": "2025-02-26", "name": "Birch + tools", "site": "https://b.org", "model": "m-1, m-2",
                           "organisation": "Birch", "open_model": False, "checked": True, "attempts": "1"},
        "20240620_aspen": {"date": "2024-06-20", "name": "Aspen", "site": "https://a.org", "open_system": True,
                           "checked": False}, "fir": None}
    registry("import", "swe-bench", "reports")  # and they can be written into a manifest


@pytest.mark.parametrize(("metadata", "says"), [
    ("a: [", "metadata.yaml: not YAML"), ("[" * 5000, "metadata.yaml: not YAML"), ('x: "\\UFFFFFFFF"', "not YAML"),
    ("!!python/object/apply:os.system [ls]", "yaml:1: .* the tag 'python/obj"), ("x: " + "y" * 2**16, "than 64 KiB"),
    ("a0: &a0 {}\n" + "".join(f"a{n + 1}: &a{n + 1} {{<<: [*a{n}, *a{n}]}}\n" for n in range(60)), "'<<' merges mapp"),
    ("info:\n  name: a\n  name: b\n", "yaml:2: not YAML: the key 'name' occurs twice"),
    ("info: !!timestamp x\ntags: {org: !!bool x, model: !!int '', os_model: 1:1.0}\nname: " + "9" * 5000, None),
    ("a: &x " + "y" * 30000 + "\nmodel: [" + "*x," * 9000 + "]\ntags: {model: [" + "*x," * 100 + "]}", None),
    ("info: {name: 0x" + "f" * 30000 + "}", None)])
def test_hostile_metadata_are_refused_or_cut(write, tmp_path, metadata, says):
    write("aspen/per_instance_details.json", {ALL[0]: {"resolved": True}})
    write("aspen/metadata.yaml", metadata)
    if says:
        with pytest.raises(InputError, match=says):
            IMPORTERS["swe-bench"]().read(tmp_path / "reports")
    else:
        (submit,) = IMPORTERS["swe-bench"]().read(tmp_path / "reports").tables["submit"]
        assert len(str(submit)) < 7000


def test_the_lists_of_the_harness_before_2_contain_each_other(registry, write):
    """As get_model_report of swebench 1.1.5 fills them: what was generated, left a log, was applied, and resolved."""
    of = {"no_generation": [4], "generated": [0, 1, 2, 3], "with_logs": [0, 1, 2], "applied": [0, 1], "resolved": [0],
          "no_apply": [2], "install_fail": [], "reset_failed": [], "test_errored": [], "test_timeout": []}
    write("aspen/results.json", {name: [ALL[n] for n in ns] for name, ns in of.items()})
    registry("import", "swe-bench", "reports")
    assert outcomes(registry, "aspen")[1] == ["resolved", "unresolved", "error", "error", "empty_patch"]


def test_instances_that_are_not_in_every_report_are_refused_or_left_out_for_all(registry, write):
    write("a.r1.json", report([0, 1], [2]))
    write("b.r1.json", report([0, 2], [3]))
    told = registry("import", "swe-bench", "reports", exit_code=3).stderr
    assert "add --option missing=drop to drop such instances" in told
    registry("import", "swe-bench", "reports", "--option", "missing=drop")
    board = registry("run", "reports/task.toml", "--format", "json").json
    assert {row["system"]: row["score"] for row in board} == {"a.r1": 0.5, "b.r1": 1}


def test_instances_of_another_set_are_named(registry, write):
    write("a/results.json", {"no_generation": [], "no_logs": [], "resolved": ["x__x-9"]})
    write("all.txt", "\n".join(ALL))
    told = registry("import", "swe-bench", "reports", "--option", "instances=all.txt", exit_code=3).stderr
    assert "item 'x__x-9': this instance is not in 'all.txt'" in told
    told = registry("import", "swe-bench", "reports", "--option", "instances=none.txt", exit_code=3).stderr
    assert "none.txt: cannot read the file" in told
