"""Real layouts without their manifests: how `registry quick` reads them, and whether the board is the manifest's.

`python -m tests.scenarios.guesses` prints the table for the sample tasks and the real ones. Each layout is read from
its files, with the gold named and an answer if the command asks a question; then gold, answers, and the manifest's own
metric and test give both boards, whose scores and p-values of all pairs are compared bit by bit.
"""

import sys
import tempfile
import tomllib
from contextlib import redirect_stderr
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path

from registry.boards.load import load_leaderboards
from registry.cli.evaluate import evaluate_manifest
from registry.evaluation.ingest.declared import match_files
from registry.evaluation.resolve import resolve
from registry.importers import Wide
from registry.manifest import load_manifest
from registry.manifest.folder import format_toml
from registry.parallel.execution import Execution
from registry.pipeline import TaskPlace, evaluate_task
from registry.quick.make import make
from registry.quick.plan import QuestionError, Request
from registry.rendering.render import render
from registry.rendering.table import Table
from registry.store import catalog
from registry.store.database import Database
from registry.store.log import Journal
from tests.conftest import REAL_DATA, ROOT

SAMPLES, MANIFESTS = ROOT / "sample_data", ROOT / "tests" / "real_data"
KEYS = ("layout", "asks", "read as", "board", "is right")


@dataclass
class Layout:
    """Files as they lie, and the manifest that somebody wrote for them.

    Attributes:
        gold: The file of the gold below `folder`; None: one table has all systems.
        files: Patterns of the systems' files below `folder`.
        asks: What the question has to show where the files leave something open.
        told: What a user then answers.
        without: Files that are no submission.
    """

    folder: Path
    manifest: Path | None
    gold: str | None
    files: tuple
    told: Request = field(default_factory=Request)
    asks: str = ""
    test_set: str = ""
    metric: str = ""
    without: tuple = ()

    @property
    def paths(self):
        return [path for pattern in self.files for path in sorted(self.folder.glob(pattern))
                if path.name not in self.without]

    def asked(self, told):
        """The options of the command."""
        return replace(told, gold=str(self.folder / self.gold)) if self.gold else told


def real(name, gold, *files, **more):
    manifest = MANIFESTS / f"{name}.toml"
    manifest = manifest if manifest.exists() else None
    return Layout(REAL_DATA / name, manifest, gold, files, **more)


def sample(name, gold, *files, **more):
    return Layout(SAMPLES / name, SAMPLES / name / "task.toml", gold, files, **more)


LAYOUTS = {
    "stance": sample("stance", "gold.tsv", "submissions/*"),
    "entities": sample("entities", "gold.conll", "submissions/*"),
    "relations": sample("relations", "gold.jsonl", "submissions/*", metric="f1"),
    "collocations": sample("collocations", None, "candidates.csv", told=Request(
        metrics=("SetP(best=100)",), gold="collocation", item=("verb", "noun", "corpus")),
                           asks="--item verb --item noun --item corpus --gold collocation --metric 'SetP(best=100)'"),
    "answers": sample("answers", "items.csv", "submissions/*", told=Request("judged", {"drawn": "random"}),
                      asks="--as judged --option drawn=random"),
    "translation": sample("translation", "reference.A.txt", "submissions/*"),
    "semeval2018-arc": real("semeval2018-arc", "truth.txt", "submissions/*.txt", without=("436419.txt",)),
    "wnut17": real("wnut17", "emerging.test.annotated", "submissions/*", metric="span_f1"),
    "wmt22-cs-en": real("wmt22-cs-en", "references/generaltest2022.cs-en.ref.C.en", "system-outputs/*",
                        metric="bleu-C"),
    "conll2018": real("conll2018-fro_srcmf", "gold.conllu", "submissions/*", metric="LAS"),
    "wordalign enfr": real("wordalign", "gold/enfr.gold", "hypotheses/*.enfr.talp", test_set="enfr", metric="aer"),
    "wordalign roen": real("wordalign", "gold/roen.gold", "hypotheses/*.roen.talp", test_set="roen", metric="aer"),
    "krennppv": real("krennppv", None, "KrennPPV.csv", told=Request(
        gold="is.colloc", item=("PP", "verb"), metrics=("SetP(best=500, ties=random)",)),
                     asks="--item PP --item verb --gold is.colloc"),
    "trec-adhoc8-ap": real("trec-adhoc8-ap", None, "adhoc8_ap.csv", asks="--option better=higher",
                           told=Request(options={"better": "higher"})),
    "wordsim-rg": real("wordsim-rg", None, "noun_rg.csv", test_set="rg", metric="rho"),
    "wordsim-mc": real("wordsim-rg", None, "noun_mc.csv", test_set="mc", metric="rho"),
}


def declared(layout, folder, cluster):
    """The layout's manifest and its tables, with the metric and test set that are compared alone.

    Items are the units where no cluster was guessed: only people know that those of a page are not independent.
    """
    tables = tomllib.loads(layout.manifest.read_text()) if layout.manifest else imported(layout.paths[0])
    tables["metric"] = [metric for metric in tables["metric"] if not layout.metric or metric.get(
        "id", metric["name"]) == layout.metric][:1]
    with_references = tables["metric"][0].get("options", {})
    if "references" in with_references:  # the gold alone
        with_references["references"] = with_references["references"][:1]
    name = layout.test_set or tables["test_set"][0]["name"]
    tables["test_set"] = [test_set for test_set in tables["test_set"] if test_set["name"] == name]
    tables["submit"] = [submit for submit in tables["submit"] if submit.get("test_set", name) == name]
    if not cluster:
        tables["significance"].pop("unit", None)
        tables["test_set"][0].pop("cluster", None)
    path = folder / "declared.toml"
    path.write_text(format_toml(tables))
    return path, tables


def imported(path):
    """The manifest that `registry import wide` writes for a table, which names the table itself."""
    tables = Wide(metric="ap").read(path).tables
    return {"manifest": 1, **tables, "task": {"id": "imported"}, "significance": {"seed": 1},
            "test_set": [{**test_set, "gold": path.name} for test_set in tables["test_set"]],
            "submit": [{**submit, "file": path.name} for submit in tables["submit"]]}


def alone(metric):
    """A metric of the gold alone, which is called so where a manifest has no other references."""
    options = metric.get("options", {})
    return {**metric, "options": {**options, "references": ["gold"]}} if "references" in options else metric


def names_in(manifest, root):
    """What the manifest calls each system, by its file and, where that has many, the column of its scores."""
    specification, _ = load_manifest(manifest)
    known = resolve(specification, manifest, root)
    return {(str(path), submit.options.get("score")): submit.system or captured["system"]
            for _, submit, path, captured in match_files(known)}


def content(board, names):
    """Scores by system, and the p-values of all pairs, as the manifest calls them."""
    called = [names[standing.system] for standing in board.standings]
    scores = {name: standing.score for name, standing in zip(called, board.standings, strict=True)}
    return scores, {frozenset((called[one.a], called[one.b])): (one.p_value, one.p_adjusted) for one in board.decisions}


def compared(layout):
    """A row of the table, and whether all is as it should be."""
    question = ""
    try:
        first = make(layout.paths, layout.asked(Request()))
    except QuestionError as error:
        question = error.excerpt
        first = make(layout.paths, layout.asked(layout.told))
    asked_right = layout.asks in question if layout.asks else not question
    guessed = first.folder
    cluster = guessed.tables["test_set"][0].get("cluster")
    with tempfile.TemporaryDirectory() as temporary:
        manifest, tables = declared(layout, Path(temporary), cluster)
        called = names_in(manifest, layout.folder)
        names = {submit["system"]: called.get((guessed.copies[submit["file"]], submit.get("options", {}).get("score")))
                 for submit in guessed.tables["submit"]}
        guessed = replace(guessed, tables={
            **guessed.tables, "metric": [alone(metric) for metric in tables["metric"]],
            "significance": tables["significance"],
            "submit": [submit for submit in guessed.tables["submit"] if names[submit["system"]]]})
        how, kept = Execution(), TaskPlace(Path(temporary) / "task", Database(Path(temporary) / "guessed.duckdb"))
        mine = evaluate_task(guessed, tables["task"]["id"], Journal("quick", {}), how, lambda _: None, kept).boards[0]
        database = Database(Path(temporary) / "b.duckdb")
        evaluate_manifest(database, manifest, layout.folder, how, None)
        with database.reading() as connection:
            theirs, = load_leaderboards(connection, *catalog.tasks(connection, tables["task"]["id"]))
    wanted = content(theirs, {standing.system: standing.system for standing in theirs.standings})
    n = len(mine.standings)
    return {"layout": "", "asks": layout.asks or "nothing", "read as": first.read_as,
            "is right": asked_right and content(mine, names) == wanted,
            "board": f"{guessed.tables['test_set'][0]['format']}: {n} systems" + (
                f" of {len(names)}" if n < len(names) else "") + (f", by {cluster}" if cluster else "")}


def main(chosen):
    rows = []
    for name, layout in LAYOUTS.items():
        if layout.folder.is_dir() and (not chosen or name in chosen):
            with redirect_stderr(StringIO()):
                rows.append({**compared(layout), "layout": name})
    print(render([Table(rows, keys=KEYS)], "md"))
    sys.exit(not all(row["is right"] for row in rows))


if __name__ == "__main__":
    main(sys.argv[1:])
