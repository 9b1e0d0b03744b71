"""Registries that another program altered, in one place each; `registry verify` must name the place.

`python -m tests.attacks.alterations` changes every column of every table, deletes and repeats a row of every table,
adds rows that differ in one column, and makes all other alterations, each alone, and prints those that are not named.
The suite does the same in fewer files.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import duckdb
from typer.testing import CliRunner

from registry.cli.app import app
from registry.evaluation.verifying.verify import verify
from registry.significance import Execution
from registry.store import models, schema
from registry.store.database import CONFIG, Database
from registry.store.log import Journal
from registry.studies import STUDIES
from registry.studies.verify import verify_studies
from tests.label_tasks import LabelTask

ITEMS = [f"i{n:02}" for n in range(18)]
GOLD = {item: "abc"[n % 3] for n, item in enumerate(ITEMS)}
DOCUMENTS = {item: f"d{n % 2}" for n, item in enumerate(ITEMS)}

# What nothing that is stored or logged determines, and why. All other columns must be named.
EXEMPT = {
    "study_part": "parts of an unfinished study: a note counts them; `verify` makes a finished study again without",
}
EMPTY = {"study_part", "publication", "statistic_total", *(f"statistics_{name}" for name in (
    "ratio_decimal", "prf", "alignment", "bleu", "chrf", "meteor", "additive", "pair", "votes",
    "ratings"))}  # tables of other families

VIEWS = {
    "a winner off the board": ("ranked_submission", "SELECT * FROM ({former}) WHERE team <> 'ann'"),
    "another comparison shown": ("latest_comparison", "SELECT * REPLACE (1 AS n_systems) FROM ({former})"),
    "other ranks": ("leaderboard", "SELECT * REPLACE (1 AS rank) FROM ({former})"),
    "a file read": ("item_score", "SELECT * FROM ({former}) WHERE EXISTS (FROM read_text('/etc/hostname'))"),
}
DEFINITIONS = {  # by what is altered: how, and the kind of thing and the name that must be named
    **{what: (f'CREATE OR REPLACE VIEW "{name}" AS {select}', "view", name) for what, (name, select) in VIEWS.items()},
    "a view gone": ("DROP VIEW answer_support", "view", "answer_support"),
    "an unknown view": ("CREATE VIEW official AS SELECT 1 AS rank", "view", "official"),
    "a view on another table": ("CREATE OR REPLACE VIEW confusion AS FROM team", "view", "confusion"),
    "a macro": ("CREATE OR REPLACE MACRO scoring_named(wanted) AS 1", "macro", "scoring_named"),
    "a table macro": ("CREATE OR REPLACE MACRO above(submission, threshold) AS TABLE SELECT 1", "macro", "above"),
    "a macro gone": ("DROP MACRO scoring_beside", "macro", "scoring_beside"),
    "an unknown macro": ("CREATE MACRO official(x) AS x", "macro", "official"),
    "a digest function replaced": ("CREATE MACRO sha256(x) AS 'forged'", "macro", "sha256"),
    "an aggregate replaced": ("CREATE MACRO count(x) AS 1", "macro", "count"),
    "an operator replaced": ("""CREATE MACRO "="(a, b) AS TRUE""", "macro", "="),
    "another operator replaced": ("""CREATE MACRO "||"(a, b) AS a""", "macro", "||"),
    "the catalog's own function replaced": (
        "CREATE MACRO duckdb_views() AS TABLE SELECT 1 AS view_name", "macro", "duckdb_views"),
    "an unknown table": ("CREATE TABLE official (rank INTEGER)", "table", "official"),
    "an unknown schema": ("CREATE SCHEMA official", "schema", "official"),
    "a table in an unknown schema": ("CREATE SCHEMA o; CREATE TABLE o.team (name VARCHAR)", "table", "o.team"),
    "an unknown type": ("CREATE TYPE mood AS ENUM ('happy')", "type", "mood"),
    "an unknown sequence": ("CREATE SEQUENCE next_rank", "sequence", "next_rank"),
    "an unknown index": ("CREATE INDEX by_name ON team (name)", "index", "by_name"),
    "an unknown column": ("ALTER TABLE standing ADD COLUMN prize VARCHAR", "table", "standing"),
    "a column of another type": ("ALTER TABLE standing ALTER wins TYPE DOUBLE", "table", "standing"),
    "a column that may be NULL": ("ALTER TABLE standing ALTER losses DROP NOT NULL", "table", "standing"),
    "a column gone": ("ALTER TABLE standing DROP COLUMN kind", "table", "standing"),
    "a table gone": ("DROP TABLE scoring_message", "table", "scoring_message"),
    "another comment on a table": ("COMMENT ON TABLE system IS 'x'", "comment", "table system"),
    "another comment on a column": ("COMMENT ON COLUMN system.name IS 'x'", "comment", "column system.name"),
    "another comment on a view": ("COMMENT ON VIEW item_score IS 'x'", "comment", "view item_score"),
    "another comment on a view's column": (
        "COMMENT ON COLUMN leaderboard.rank IS 'x'", "comment", "column leaderboard.rank"),
    "another comment on a macro": ("COMMENT ON MACRO scoring_named IS 'x'", "comment", "macro scoring_named"),
    "another comment on a table macro": ("COMMENT ON MACRO TABLE above IS 'x'", "comment", "macro above"),
    "a comment gone": ("COMMENT ON COLUMN score.value IS NULL", "comment", "column score.value"),
    "an unknown comment": ("COMMENT ON TABLE alembic_version IS 'x'", "comment", "table alembic_version"),
    "a table that is a view": (
        "ALTER TABLE scoring_message RENAME TO r; CREATE VIEW scoring_message AS FROM r", "table", "scoring_message"),
}


class Alteration(NamedTuple):
    """A statement that changes one thing of a table."""

    name: str
    table: str
    sql: str


def answers(step, instead="a"):
    """The gold with every `step`th item answered otherwise."""
    return GOLD | {item: instead if GOLD[item] != instead else "b" for item in ITEMS[::step]}


def write_task(folder):
    """Write a task with clusters, facets, tracks, runs, factors, remarks, two metrics and a family of boards."""
    systems = {"ann": answers(8), "bob": answers(3), "dee": answers(5, "zzz")}
    task = LabelTask(
        folder / "task", GOLD, systems, DOCUMENTS, test_set={"facets": ["document"]},
        significance={"seed": 3, "overall": "friedman", "family": ["acc"], "resamples": 100},
        extra='[[metric]]\nid = "f1"\nname = "LabelF"\n'
              '[[submit]]\nfile = "tracks/{track}/{system}.tsv"\n'
              '[[submit]]\nfile = "prompts/{system}.{prompt}.{seed}.tsv"\n')
    manifest = task.write()  # most systems have an unknown label, so that they have a remark
    for name, given in {"tracks/open/fay": answers(4, "zzz"), "tracks/open/gil": answers(7, "zzz"),
                        **{f"prompts/eve.{prompt}.{seed}": answers(4 + seed + len(prompt), "zzz")
                           for prompt in ("p", "qq") for seed in (1, 2)}}.items():
        path = manifest.parent / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{item}\t{label}\n" for item, label in given.items()))
    return manifest


def make_registry(folder):
    """Make a registry of such a task, with a study, pseudonyms, an amendment, a second comparison and a purged team."""
    path, manifest = folder / "registry.duckdb", write_task(folder)
    late = folder / "task" / "systems" / "bob.tsv"
    for arguments in (
            ["run", manifest], ["effects", "small", "--metric", "acc"], ["hide", "small"], ["reveal", "small"],
            ["submit", "small", late, "--team", "hal", "--system", "hal"],
            ["amend", "small/test/bob/bob", "--kind", "baseline", "--reason", "declared too late"],
            ["score", "small"], ["compare", "small"], ["purge", "small", "hal", "--reason", "asked for it"],
            ["compare", "small"]):
        done = CliRunner().invoke(app, [*map(str, arguments), "--db", str(path)])
        assert done.exit_code == 0, (arguments, done.output)
    return path


def verified(path, results="all"):
    """What `registry verify` finds, of studies too."""
    with Database(path).writing(dry_run=True) as connection:
        found = verify(connection, Journal("verify", {}), None, results, Execution(workers=1))
    verify_studies(Database(path), None, results, Execution(workers=1), found,
                   lambda kind: STUDIES[kind].load())
    return found


def is_key(column):
    """True if two rows may not have one value of this column and of others."""
    return any(column.name in constraint.columns for constraint in column.table.constraints)


def changed(column):
    """Another value of a column, in SQL."""
    name = f'"{column.name}"'
    type_ = str(column.type)
    if type_ in ("INTEGER", "SMALLINT", "BIGINT"):
        return f"coalesce({name}, 0) + {1000 if is_key(column) else 1}"
    if type_ == "BOOLEAN":
        return f"NOT coalesce({name}, FALSE)"
    if type_ == "DATETIME":
        return f"coalesce({name}, TIMESTAMP '2030-01-01') + INTERVAL 1 SECOND"
    if type_ == "FLOAT" or type_.startswith("DOUBLE"):
        return f"coalesce({name}, 0) + 0.125"
    if type_ == "BLOB":
        return f"{name} || 'more'::BLOB"
    return f"coalesce({name}, '') || 'x'"


def every_column(last=("team", "system", "submission", "tombstone")):
    """Yield an alteration of each column of each table: of its first row, and of the last, which a purge may leave."""
    for table in models.metadata.tables.values():
        for column in table.columns if table.name not in EXEMPT else ():
            for which in ("min", "max") if table.name in last else ("min",):
                yield Alteration(f"{table.name}.{column.name} ({which})", table.name, f"""
                    UPDATE "{table.name}" SET "{column.name}" = {changed(column)}
                    WHERE rowid = (SELECT {which}(rowid) FROM "{table.name}")""")


def every_table():
    """Yield the deletion of a row of each table, and its repetition under another key if the table has one."""
    for table in models.metadata.tables.values():
        if table.name in EXEMPT:
            continue
        yield Alteration(f"a row of {table.name} deleted", table.name, f"""
            DELETE FROM "{table.name}" WHERE rowid = (SELECT min(rowid) FROM "{table.name}")""")
        replaced = ", ".join(f'{changed(column)} AS "{column.name}"' for column in table.columns if is_key(column))
        yield Alteration(f"a row of {table.name} repeated", table.name, f"""
            INSERT INTO "{table.name}" SELECT * {replaced and f"REPLACE ({replaced})"} FROM "{table.name}"
            WHERE rowid = (SELECT min(rowid) FROM "{table.name}")""")


def added_row(column, which="min", of="TRUE"):
    """SQL that copies the first or last row of a table which a condition selects, with another value of a column.

    The row gets the next number if the table numbers its rows.
    """
    table = column.table
    replaced = {own.name: f'(SELECT max("{own.name}") + 1 FROM "{table.name}")' for own in table.primary_key
                if str(own.type) == "INTEGER"}
    replaced.setdefault(column.name, changed(column))
    values = ", ".join(f'{value} AS "{name}"' for name, value in replaced.items())
    return f"""INSERT INTO "{table.name}" SELECT * REPLACE ({values}) FROM "{table.name}" WHERE rowid = (
        SELECT {which}(rowid) FROM "{table.name}" WHERE {of})"""


def every_added_row():
    """Yield rows that are copies of the first and last row of each table, with another value in one column."""
    for table in models.metadata.tables.values():
        for column in table.columns if table.name not in EXEMPT else ():
            for which in ("min", "max"):
                yield Alteration(f"a row of {table.name} added with another {column.name} ({which})", table.name,
                                 added_row(column, which))
    yield Alteration("an answer that nobody gives added", "answer", """
        INSERT INTO answer SELECT * REPLACE (answer_id + 1 AS answer_id, key || 'y' AS key, FALSE AS in_gold)
        FROM answer ORDER BY answer_id DESC LIMIT 1""")
    yield Alteration("a part of a finished study added", "study_part",
                     "INSERT INTO study_part SELECT digest, '[]', '{}' FROM study LIMIT 1")
    yield Alteration("a row that calls the registry a public file", "publication",
                     "INSERT INTO publication VALUES ('2027-01-01', TRUE, '')")
    yield Alteration("a total added", "statistic_total",
                     "INSERT INTO statistic_total VALUES (1, 1, 0, 0, 'numerator', 1, 1)")


def alter(path, sql):
    """Alter a registry as another program would; says whether a row was changed."""
    config = {key: value for key, value in CONFIG.items() if key != "enable_external_access"}
    with duckdb.connect(str(path), config=config) as connection:
        return connection.execute(sql).fetchone() != (0,)


def redefine(path, *statements):
    """Alter definitions; `{former}` is the SELECT that a view had."""
    selects = {view.name: view.select for view in schema.load_views()}
    names = [sql.split('"')[1] if "{former}" in sql else "" for sql in statements]
    alter(path, "; ".join(sql.replace("{former}", selects.get(name, ""))
                          for sql, name in zip(statements, names, strict=True)))


def main(chosen):
    """Make every alteration alone, and print what `verify` says of it; fail if one is not named."""
    unnamed = []
    with tempfile.TemporaryDirectory() as folder:
        original, copy = make_registry(Path(folder)), Path(folder) / "altered.duckdb"
        assert verified(original).faults == []
        for name, (sql, kind, thing) in DEFINITIONS.items():
            shutil.copyfile(original, copy)
            redefine(copy, sql)
            if not any((fault.of, fault.name) == (kind, thing) for fault in verified(copy, "none").faults):
                unnamed.append(name)
        n = len(DEFINITIONS)
        for alteration in (*every_column(), *every_table(), *every_added_row()):
            if chosen and not alteration.name.startswith(tuple(chosen)):
                continue
            shutil.copyfile(original, copy)
            try:
                if not alter(copy, alteration.sql):
                    continue  # nothing to alter
            except duckdb.ConstraintException:
                continue  # another column would have to differ, too
            n += 1
            faults = verified(copy, "none").faults or verified(copy).faults
            print(alteration.name, *sorted({f"{fault.of} {fault.name}" for fault in faults})[:3], sep="\t", flush=True)
            unnamed += [] if faults else [alteration.name]
    print(f"{n} alterations, {n - len(unnamed)} named", *unnamed, sep="\n")
    return 1 if unnamed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
