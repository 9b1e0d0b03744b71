"""What attackers have found in public files once, and must not find again."""

import random

import duckdb

from registry.publication.publish import publish
from registry.store.database import Database
from tests.label_tasks import LabelTask
from tests.publication.test_non_interference import dump

ANONYMOUS, WITHHELD = "[board]\nanonymous = true\n", "[release]\ngold = false\n"


def fetch(path, sql):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def published(registry, manifest, name):
    registry("run", manifest, "--db", f"{name}.private")
    publish(Database(f"{name}.private"), path := manifest.parent / f"{name}.public", sources=True)
    return path


def test_a_table_with_a_column_for_each_system_is_not_published_with_hidden_ones(registry, tmp_path):
    """It would give away the names of columns."""
    generator = random.Random(1)
    lines = [f"i{n},{generator.random() > .3:d},{generator.random() > .5:d}" for n in range(20)]
    (tmp_path / "wide.csv").write_text("\n".join(["id,secretalpha/one,base", *lines]) + "\n")
    registry("import", "wide", "wide.csv", "--task", "wide", "--option", 'item=["id"]')
    manifest = tmp_path / "wide" / "task.toml"
    text = manifest.read_text().replace('system = "base"\n', 'system = "base"\nkind = "baseline"\n')
    manifest.write_text(text + ANONYMOUS)
    public = published(registry, manifest, "wide")
    assert fetch(public, "SELECT name FROM source WHERE name NOT LIKE 'normalized manifest%'") == []
    manifest.write_text(text)
    public = published(registry, manifest, "open")
    assert len(fetch(public, "SELECT name FROM source WHERE name NOT LIKE 'normalized manifest%'")) == 1


def levels_task(folder, levels, extra):
    """A task of two systems, each of which ran with three prompts."""
    gold = {f"i{n}": "yes" if n % 3 else "no" for n in range(30)}
    wrong = {"yes": "no", "no": "yes"}
    systems = {f"{team}.{level}": {key: wrong[label] if (n + k) % (4 + place) == 0 else label
                                   for n, (key, label) in enumerate(gold.items())}
               for place, level in enumerate(levels) for k, team in enumerate("ab")}
    task = LabelTask(folder, gold, systems)
    task.extra = extra
    manifest = task.write()
    text = manifest.read_text().replace('"systems/{system}.tsv"', '"systems/{system}.{prompt}.tsv"')
    manifest.write_text(text.replace("[significance]\n", '[significance]\nruns = "random"\n'))
    return manifest


def test_no_digest_confirms_a_guess_at_a_hidden_level(registry, tmp_path):
    first, second = (published(registry, levels_task(tmp_path / name, levels, ANONYMOUS), name)
                     for name, levels in (("one", ("ka", "lb", "mc")), ("other", ("kz", "lz", "mz"))))
    query = "SELECT digest FROM tested_statistics UNION ALL SELECT digest FROM submission"
    assert fetch(first, "SELECT DISTINCT level FROM replicate_factor ORDER BY ALL") == [
        ("level 1",), ("level 2",), ("level 3",)]
    assert all(digest.startswith("withheld") for (digest,) in fetch(first, query))
    assert len(fetch(second, query)) == 4
    assert "no faults" in registry("verify", "--db", first).stderr


def test_the_direction_of_results_tells_nothing_of_withheld_statistics(registry, tmp_path):
    """The same outcomes of other items have other digests, which are sorted otherwise."""
    generator = random.Random(4)
    keys = [f"i{n:02}" for n in range(40)]
    gold = {key: generator.choice("xyz") for key in keys}
    systems = {f"s{k}": {key: label if generator.random() < .5 + .08 * k else "w" for key, label in gold.items()}
               for k in range(5)}
    order = generator.sample(keys, len(keys))
    dumps = []
    for name, moved in (("one", dict(zip(keys, keys, strict=True))), ("other", dict(zip(keys, order, strict=True)))):
        task = LabelTask(tmp_path / name, {key: gold[moved[key]] for key in keys},
                         {system: {key: answers[moved[key]] for key in keys} for system, answers in systems.items()})
        task.extra = WITHHELD
        dumps.append(dump(published(registry, task.write(), name)))
    assert dumps[0]["pair_result"] == dumps[1]["pair_result"]
    assert dumps[0] == dumps[1]


def test_verify_leaves_out_boards_of_purged_teams(registry, task):
    registry("run", task.write())
    registry("purge", "small", "c", "--reason", "asked for")
    registry("publish", "--output", "public.duckdb")
    said = registry("verify", "--db", "public.duckdb").stderr
    assert "boards with a purged team were not recomputed" in said
    assert "no faults" in said
