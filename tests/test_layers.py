"""Imports point down only, and folders on one floor do not know each other."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "registry"
FLOORS = {  # of every folder with rooms: from the ground up, and what stands on one floor does not know each other
    "registry": [
        "arrays errors identity treebank version", "families plugins",
        "files items provenance rendering values",
        "columns judged parallel",
        "manifest metrics readers significance store",
        "evaluation importers metric_names query", "api guessing studies", "leaderboards", "reports",
        "at_once competitions releases", "direct serving", "cli"],
    "registry.significance": [
        "compact marks shared_draws", "judged_items", "matrix", "cautions discordance", "base",
        "distributions results units", "overall resampling",
        "crossed correlations exact", "intervals resampled_scores", "effects multiple pairwise",
        "assumptions histories ranks tried_pairs", "rank_cautions"],
    "registry.evaluation": ["matrices scorers", "resolve submissions", "ingest past", "scoring", "comparing",
                            "checking verifying"],
    "registry.evaluation.submissions": ["amend metadata names rules tombstones", "erase redact", "purge"],
    "registry.evaluation.verifying": ["faults", "definitions files hiding kept log references results scores",
                                      "verify"],
    "registry.evaluation.ingest": [
        "answer_ids content gold_items last_document mistakes", "join", "parsed_cache remarks",
        "context", "declared gold", "hiding submissions", "apply"],
    "registry.evaluation.comparing": [
        "contingency directions leaderboard_key", "settings", "board_keys", "board_statistics families",
        "by_response pair_results", "family_results intervals vetting", "plan", "compare"],
    "registry.manifest": ["fields write", "about", "folder spec", "files load"],
    "registry.guessing": [
        "guess records words", "files looks runs trial", "formats tables", "answer_logs unread unread_text",
        "decide guesses task unknown", "made"],
    "registry.guessing.tables": [
        "keys values", "answering flags named prose", "keyed", "long positional roles", "shape",
        "apiece wide written"],
    "registry.readers": [
        "parsing", "base order", "alignments lines markup names tables", """
            bio
            candidates
            conllu
            judged
            labels
            logprobs
            mtme
            multilabel
            nbest
            responses
            scores
            sgml
            spans
            texts
            trec
            wmt_xml
        """],
    "registry.studies": [
        "score_distributions sizes study", "best_score board_study run", """
            advise
            dependent
            effects
            gains
            judge
            nbest
            new_best
            suites
            verify
        """, "planning"],
    "registry.api": ["reading tasks", "result", "registry"],
    "registry.direct": ["columns form", "forms", "kinds", "task", "board", "evaluate"],
    "registry.releases": [
        "checksums decisions loading tables", "contents samples submitted totals",
        "derived_scores descriptions eval_records eval_results", "writing",
        "verifying"],
    "registry.competitions": [
        "competition detailed_results pull_request submission_list submitted_files wheels yaml",
        "download scoring_program", "start", "bundle"],
    "registry.leaderboards": [
        "comparison decisions families items scores", "directions intervals", "leaderboard stale",
        "details ladders place sentences states stored", "load", "choose snapshot", "site"],
    "registry.leaderboards.states": ["history", "corrections", "differences"],
    "registry.leaderboards.site": ["across changes unshown"],
    "registry.leaderboards.details": ["confusions phases regions telling", "bests systems", "load"],
    "registry.leaderboards.items": ["listed view", "answers", "load"],
    "registry.serving": [
        "connections reading settings", "answers", "queries", "served", "endpoint pages sql", "tables", "openapi",
        "guard", "app", "server"],
    "registry.reports": [
        """
            boards
            differences
            items
            methods
            erratum
            nbest
            plan
            stale
        """, "exchange figures json_schema latex_board platforms publishing study wide", "page"],
}
HEAVY = ("numpy", "scipy", "duckdb", "sqlalchemy", "alembic", "jinja2", "pydantic", "sacrebleu")


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements in one, at any depth; to walk through expressions too takes five times as long."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, ()):
            yield child
            yield from statements(child)


def imports(path: Path) -> list[str]:
    """The modules that one imports, wherever it does."""
    found = []
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                within = f"{node.module}.{alias.name}"
                found.append(within if within in MODULES else str(node.module))
    return found


def name_of(path: Path) -> str:
    return ".".join(("registry", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports_within() -> dict[str, list[str]]:
    """The modules of the package that each of them imports."""
    return {module: [name for name in imports(path) if name != module and name in MODULES]
            for module, path in MODULES.items()}


def child(folder: str, module: str) -> str | None:
    """What of a folder, a file or a room, a module belongs to; nothing if it lies elsewhere or is the folder's face."""
    return module.removeprefix(f"{folder}.").partition(".")[0] if module.startswith(f"{folder}.") else None


@pytest.mark.parametrize("folder", FLOORS)
def test_imports_point_down(folder):
    floors = {name: n for n, names in enumerate(FLOORS[folder]) for name in names.split()}
    here = {child(folder, module) for module in MODULES} - {None, "__main__"}
    assert here == floors.keys(), "every file and room has a floor"
    for module, imported in imports_within().items():
        for name in imported:
            above, below = child(folder, module), child(folder, name)
            if above != below and above in floors and below in floors:
                assert floors[below] < floors[above], f"{module} (floor {floors[above]}) imports {name}"


def test_reports_have_data_and_no_connection():
    """What they show is read by `leaderboards` and `studies`, all of it at once."""
    for module, path in MODULES.items():
        if module.startswith("registry.reports"):
            banned = "sqlalchemy", "duckdb", "registry.store"
            assert not [name for name in imports(path) if name.startswith(banned)], module
            assert not {node.attr for node in ast.walk(ast.parse(path.read_text()))
                        if isinstance(node, ast.Attribute)} & {"execute", "exec_driver_sql"}, module


def test_no_room_asks_its_folders_face():
    """As what a folder's `__init__` shows is made of its rooms, none of these may import it."""
    for module, imported in imports_within().items():
        for name in imported:
            assert not module.startswith(f"{name}.") or name == module, f"{module} imports {name}"


def test_no_module_imports_itself_through_others():
    left = {module: set(names) for module, names in imports_within().items()}
    while left:  # take away whatever imports nothing that is left
        free = [module for module, names in left.items() if not names & left.keys()]
        assert free, f"a circle among {sorted(left)}"
        for module in free:
            del left[module]


def test_help_imports_nothing_heavy():
    """So that it comes at once; how fast is a benchmark (command_line)."""
    code = "import atexit, sys, registry.cli; atexit.register(lambda: print(*sys.modules)); registry.cli.main()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    *told, modules = done.stdout.splitlines()
    assert any("leaderboard" in line for line in told)
    imported = {module.partition(".")[0] for module in modules.split()}
    assert "typer" in imported
    assert not imported & set(HEAVY)


def test_a_command_imports_no_pandas_and_ends_at_once(scored, task):
    """DuckDB would wherever it is given a parameter and pandas is installed, and Python always: a fifth of its time."""
    pytest.importorskip("pandas", reason="pandas")
    scored(task)
    code = ("import atexit, gc, sys, registry.cli; atexit.register(lambda: print('pandas.core' in sys.modules, "
            "gc.get_freeze_count() > 0)); registry.cli.main()")
    done = subprocess.run([sys.executable, "-c", code, "board", "small"], capture_output=True, text=True, check=True)
    *board, at_the_end = done.stdout.splitlines()
    assert len(board) > 1
    assert at_the_end == "False True"


def test_boards_are_shown_without_what_computes_them():
    """So that a board comes at once: neither what reads files nor what checks, scores and compares is imported."""
    code = "import sys, registry.leaderboards.snapshot, registry.reports.boards; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    computing = ("registry.readers", "registry.studies", "registry.evaluation.ingest", "registry.evaluation.scoring",
                 "registry.evaluation.checking", "registry.evaluation.resolve", "scipy")
    assert not [module for module in done.stdout.split() if module.startswith(computing)]
