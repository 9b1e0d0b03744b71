"""What a site tells of a registry that changes: new systems and bests, corrected gold, what is hidden or missing."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from registry.boards.site import load_changes
from registry.publication.publish import publish_temporarily
from registry.reports.page import feed
from registry.store.database import Database
from tests.label_tasks import second_test_set

ATOM = "{http://www.w3.org/2005/Atom}"


def told():
    """What the feed of everybody says by ids, the last change first."""
    with publish_temporarily(Database(Path("registry.duckdb"))) as public, public.reading() as connection:
        root = ET.fromstring(feed(load_changes(connection)))
    return {of.findtext(f"{ATOM}id"): f"{of.findtext(f'{ATOM}title')}. {of.findtext(f'{ATOM}content')}"
            for of in root.iter(f"{ATOM}entry")}


def index_now(registry):
    """The index as it is now."""
    registry("site", "-o", "public")
    return Path("public", "index.html").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), [
    (("page", "small"), "page.html"), (("plot", "small", "scores"), "scores.svg"), (("site",), "site"),
    (("publish",), "public.duckdb"), (("release", "small"), "release")])
def test_quiet_commands_report_no_written_file(registry, scored, task, command, output):
    scored(task)
    assert output in registry(*command, "-o", output).stderr
    assert registry(*command, "-o", f"2-{output}", "-q").stderr == ""
    assert Path(f"2-{output}").exists()


def test_the_feed_tells_what_the_log_knows_and_readers_may(registry, scored, task):
    """a has 5 of 6 right, e all of them; of the corrected gold a has all and e 5."""
    scored(task)
    first = told()
    assert sorted(first.values()) == ["small: 3 new systems. New: a, b, c.",
                                      "small: new test set test. Test set test of task small has 6 items."]
    task.systems["e"] = dict(task.gold)
    registry("run", task.write())
    second = told()
    assert [said.partition(".")[0] for said in second.values()][:2] == ["small: new best, e", "small: new system e"]
    assert list(second.items())[2:] == list(first.items()), "what was there stays as it was"
    task.gold["i5"], task.version = task.systems["a"]["i5"], "2"
    registry("run", task.write())
    best, corrected, *_ = told().values()
    assert best.startswith("small: new best, a. a is first on test, with accuracy 1.0000; before, it was e, with 1.0")
    assert best.endswith("Since then the gold was revised.")
    assert corrected.startswith("small: corrected gold of test. Revision 2 ")
    registry("withdraw", "small/test/e/e", "--reason", "asked")
    withdrawn, *others = told().values()
    assert withdrawn == "small: e/e withdrawn. No longer on the boards: e/e."
    assert "small: new system e. New: e." not in others
    registry("hide", "small", "--scores", "--until", "2999-12-01T12:00:00Z")
    assert told() == {}
    assert "hidden until 2999-12-01" in registry("site", "-o", "public").stderr


@pytest.mark.slow
def test_names_are_hidden_in_the_feed_until_they_are_revealed_and_ids_stay(registry, scored, task):
    task.systems = {"Zephyrine": task.systems["a"], "Vortigern": task.systems["b"]}
    task.extra = "[board]\nanonymous = true\n"
    scored(task)
    hidden = told()
    assert not re.findall("Zephyrine|Vortigern", str(hidden))
    registry("reveal", "small")
    assert told().keys() == hidden.keys()
    assert "small: 2 new systems. New: Vortigern, Zephyrine." in told().values()


@pytest.mark.slow
def test_what_is_not_compared_or_not_scored_is_said_and_the_rest_is_shown(registry, task, tmp_path):
    """Another task with gold alone; and of a task with two test sets a system that is not scored has no average yet."""
    other = type(task)(tmp_path / "other", dict(task.gold), {})
    other.write().write_text(other.manifest.read_text().replace('"small"', '"other"'))
    task.documents = {}
    task.extra = second_test_set("gold.tsv", 'file = "dev.tsv"\nsystem = "a"')
    manifest = task.write()
    (task.folder / "dev.tsv").write_text((task.folder / "systems" / "a.tsv").read_text())
    manifest.write_text(manifest.read_text().replace('{system}.tsv"', '{system}.tsv"\ntest_set = "test"', 1))
    registry("run", manifest)
    registry("apply", other.manifest)
    assert "nothing has been compared yet." in index_now(registry)
    assert "nothing has been compared" in registry("site", "other", "-o", "public", exit_code=4).stderr
    registry("submit", "small", task.folder / "dev.tsv", "--system", "new", "--test-set", "test")
    for command in (("site", "-o", "public"), ("page", "small", "-o", "page.html"), ("board", "small", "--wide")):
        assert "task 'small' has no averages over test sets, because " in registry(*command).stderr
    assert "have changed since the last comparison" in index_now(registry)
    (tmp_path / "public" / "tasks" / "other.html").write_text("of before")
    assert "tasks/other.html: this page is outdated" in registry("site", "-o", "public").stderr
