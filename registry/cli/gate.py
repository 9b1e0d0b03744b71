"""The command `gate`: test whether a candidate may replace a base system, with an exit status for CI."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree import ElementTree as Xml

import typer

from registry.cli import completion
from registry.cli.commands import TEST
from registry.cli.console import choose_format, print_tables, report, report_all, report_unchanged, write
from registry.cli.options import (
    Db,
    MetricAlias,
    OutputFormat,
    Quiet,
    TestSet,
    Track,
    Workers,
    find_private_database,
    make_execution,
)
from registry.cli.study import make_archive, print_study_tables, report_unstored
from registry.errors import InputError, MismatchError, listed

if TYPE_CHECKING:
    from registry.studies.run import StudyResult
    from registry.studies.study import Row

EXIT_STATUSES = {"pass": 0, "fail": 4, "undecided": 6}


def gate(
    base: Annotated[str, typer.Argument(metavar="BASE", autocompletion=completion.systems, help=(
        "The system to replace: its name, team/system, or team/system@version."))],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", autocompletion=completion.systems, help=(
        "The new system."))],
    task: Annotated[str | None, typer.Option("--task", autocompletion=completion.tasks, help=(
        "The task. Default: the only task of the registry."))] = None,
    metric: MetricAlias = None, test_set: TestSet = None, track: Track = None,
    margin: Annotated[list[str] | None, typer.Option("--margin", metavar="D|METRIC=D", help=(
        "The largest loss of score that is accepted, of all metrics or of one; repeatable."))] = None,
    superior: Annotated[bool, typer.Option("--superior", help=(
        "Pass only if the candidate is significantly better."))] = False,
    reference: Annotated[str, typer.Option("--reference", metavar="SYSTEM", autocompletion=completion.systems, help=(
        "A release that the candidate must not be worse than either, by the same margin."))] = "",
    average: Annotated[bool, typer.Option("--average", help=(
        "Test the average of each metric over the test sets, instead of each test set."))] = False,
    attempts: Annotated[int, typer.Option("--attempts", metavar="N", help=(
        "Number of candidates that are tried; alpha is divided by it."))] = 1,
    looks: Annotated[int, typer.Option("--looks", metavar="K", rich_help_panel=TEST, help=(
        "Test the candidate up to K times, each time on more units, until it passes or fails."))] = 1,
    look: Annotated[int | None, typer.Option("--look", metavar="N", rich_help_panel=TEST, help=(
        "The number of this test; it uses the first N of K parts of the units, in random order."))] = None,
    items: Annotated[bool, typer.Option("--items", rich_help_panel=TEST, help=(
        "Print the items that this look needs, and test nothing; the candidate need not be stored."))] = False,
    alpha: Annotated[float | None, typer.Option("--alpha", rich_help_panel=TEST, help=(
        "The significance level. Default: the manifest's."))] = None,
    expected: Annotated[float, typer.Option("--expected", metavar="D", rich_help_panel=TEST, help=(
        "The true difference for which an undecided gate prints the number of units that suffice."))] = 0.0,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help=(
        "Also write the verdicts as JUnit XML."))] = None,
    db: Db = None, format_: OutputFormat = None, workers: Workers = None, quiet: Quiet = False,
) -> None:
    """Test whether a candidate may replace a base system.

    The gate passes if the candidate is not worse than the base by more than the margin, by every metric on every test
    set. It fails if a larger loss is significant. Otherwise it is undecided. Exit status: 0 pass, 4 fail, 6 undecided.
    """
    from registry.rendering.table import Table
    from registry.reports.studies import study_table
    from registry.store import catalog
    from registry.studies.gate import Gate
    from registry.studies.gate_history import resolve_names, run_gate
    from registry.studies.study import Choice

    if items and look is None:
        raise InputError("--items prints the items of a look; add --looks and --look")
    common_margin, margins = _parse_margins(margin or [])
    study = Gate(base=base, candidate=candidate, margin=common_margin, margins=margins, superior=superior,
                 reference=reference, expected=expected, average=average, attempts=attempts, looks=looks, look=look)
    database = find_private_database(db, public=False)
    with database.reading() as connection:
        tasks = [row.slug for row in catalog.tasks(connection, task)]
    if not tasks:
        raise MismatchError("the registry has no task; `registry run MANIFEST` stores one")
    if len(tasks) > 1:
        raise InputError(f"the registry has {len(tasks)} tasks ({listed(tasks, 5)}); select one by --task")
    choice = Choice(tasks[0], metric, test_set, track)
    if items:
        with database.reading() as connection:
            print_tables([Table(study.list_items(connection, choice))], format_)
        return
    with database.reading() as connection:
        study = resolve_names(connection, tasks[0], study)
    settings: dict[str, float] = {} if alpha is None else {"alpha": alpha}
    archive = make_archive(database, repr(study), tasks[0], settings)
    result, remarks = run_gate(archive, study, choice, settings, make_execution(workers, None, None, quiet=quiet))
    if not result.is_new:
        report_unchanged("nothing changed: the verdict is already stored")
    report_all(remarks, "info")
    report_unstored(archive)
    if junit is not None:
        junit.write_bytes(_render_junit(result))
        report(f"written: {junit}")
    (summary,) = result.finding.tables["gate"]
    if choose_format(format_) == "json":
        _print_json(result, summary)
    else:
        print_study_tables([study_table(result)], format_)
    if summary["verdict"] == "undecided" and not quiet:
        systems = " ".join(f"--system {quote(name)}" for name in (study.base, study.candidate))
        report(f"next: `registry items {tasks[0]} disagree {systems}` lists the items on which the systems differ")
    raise typer.Exit(EXIT_STATUSES[summary["verdict"]])


def _print_json(result: StudyResult, summary: Row) -> None:
    """Print a gate as one JSON object: the verdict with its settings, the sentences and the criteria."""
    from registry.identity import replace_undefined

    study: Any = result.study
    sentences = list(result.finding.reading)
    content = {"task": result.task, "base": study.base, "candidate": study.candidate, **summary,
               "sentences": sentences, "signature": result.signature,
               "criteria": result.finding.tables["criteria"], "missing": result.finding.tables.get("missing", [])}
    write(json.dumps(replace_undefined(content), ensure_ascii=False, indent=2) + "\n")
    report_all(sentences)


def _parse_margins(texts: Sequence[str]) -> tuple[float | None, tuple[tuple[str, float], ...]]:
    """Return the margin of all metrics, and the margins of single metrics.

    Raises:
        InputError: A margin is no number, or there are several for a metric.
    """
    margins: dict[str, float] = {}
    for text in texts:
        metric, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            points = (f"; if scores are from 0 to 1, {number} are {float(number[:-1]) / 100:g}"
                      if re.fullmatch(r"\d+(\.\d+)?%", number) else "")
            raise InputError(f"--margin {text}: expected a number, such as 0.02, or METRIC=NUMBER{points}") from None
        if metric in margins or ("" in {*margins, metric} and margins):
            raise InputError(f"--margin {text}: give one margin for all metrics, or one METRIC=NUMBER for each metric")
        margins[metric] = value
    common = margins.pop("", None)
    return common, tuple(sorted(margins.items()))


def _render_junit(result: StudyResult) -> bytes:
    """Return the verdicts of a gate as JUnit XML, one test case per criterion.

    A criterion that does not pass is a failure of the type `fail` or `undecided`; the output of others has its numbers.
    """
    rows = result.finding.tables["criteria"]
    suite = Xml.Element("testsuite", name=f"gate {result.task}", tests=str(len(rows)), errors="0",
                        failures=str(sum(row["verdict"] != "pass" for row in rows)))
    for row in rows:
        against = f" against {row['against']}" if row["against"] != rows[0]["against"] else ""
        case = Xml.SubElement(suite, "testcase", name=f"{row['metric']}{against}",
                              classname=f"{result.task}.{row['test_set']}")
        text = _describe_criterion(row, result)
        if row["verdict"] == "pass":
            Xml.SubElement(case, "system-out").text = text
        else:
            Xml.SubElement(case, "failure", type=row["verdict"], message=text)
    document: bytes = Xml.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document


def _describe_criterion(row: Row, result: StudyResult) -> str:
    from registry.rendering.table import format_p_value
    from registry.studies.gate import describe_missing

    p = row["p_loss"] if row["verdict"] == "fail" else row["p_value"]
    size = row["difference"]
    change = "has no difference to" if not size else f"is {'better' if size > 0 else 'worse'} by {abs(size):.4g} than"
    study: Any = result.study
    missing = [count for count in result.finding.tables.get("missing", ()) if count["metric"] == row["metric"]
               and row["test_set"] in ("average", count["test_set"])
               and count["system"] in (study.candidate, row["against"])]
    parts = [f"{row['verdict']}: {study.candidate} {change} {row['against']} by {row['metric']} on {row['test_set']} "
             f"({row['candidate']:.4g} and {row['base']:.4g})",
             "" if row["margin"] is None else f"margin {row['margin']:g}",
             "" if p is None else f"p = {format_p_value(p)}", f"{row['units']:,} units"]
    sentences = [*study.describe_next_step(row), *describe_missing(missing)]
    return ". ".join([", ".join(filter(None, parts)), *([" ".join(sentences)] if sentences else [])])
