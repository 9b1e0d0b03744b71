"""The page as a file: it stands alone, is small, says the same for the same, and lets no name out of its place."""

import base64
import hashlib
import json
import random
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from registry.reports.methods import describe_methods
from registry.reports.page import card, page, site_index
from registry.reports.page.data import dump_json, make_systems_data
from registry.reports.page.html import make_page_data
from tests.conftest import ROOT
from tests.reports.boards import HOSTILE, changed, leaderboard
from tests.reports.page.contents import NAMES, contents, labels, speaking, translations


class Elements(HTMLParser):
    """All elements with their attributes, and the content of styles and scripts."""

    def __init__(self, html):
        super().__init__()
        self.found, self.content = [], {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.found and self.found[-1][0] in ("style", "script"):
            self.content.setdefault(len(self.found) - 1, data)

    def all(self, tag):
        return [(attributes, self.content.get(n)) for n, (name, attributes) in enumerate(self.found) if name == tag]


def data_of(html):
    return json.loads(next(content for attributes, content in Elements(html).all("script") if "type" in attributes))


@pytest.mark.parametrize("html", [page(contents()), site_index([card("tasks/task.html", contents())])])
def test_the_policy_admits_this_style_and_this_script_and_nothing_else(html):
    elements = Elements(html)
    policy = next(a["content"] for a, _ in elements.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for tag in ("style", "script"):
        (content,) = [content for attributes, content in elements.all(tag) if "type" not in attributes]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


def test_nothing_is_fetched_and_nothing_stands_in_attributes_that_runs():
    for html in (page(contents()), site_index([card("tasks/task.html", contents())])):
        for tag, attributes in Elements(html).found:
            assert tag not in ("img", "iframe", "object", "embed")
            assert tag != "link" or (attributes["rel"], attributes["href"][:19]) in (
                ("icon", "data:image/svg+xml,"), ("alternate", "feed.xml"))
            assert not attributes.keys() & {"src", "srcset", "style", "action"}
            assert not [name for name in attributes if name.startswith("on")]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_make_no_elements(name):
    """The same elements as with harmless names, in the page and in the index."""
    def tags(of, html):
        return [tag for tag, _ in Elements(html(of)).found]

    hostile = speaking(replace(contents(("oak", name)), title=name, version=name), name)
    for html in (page, lambda of: site_index([card("tasks/task.html", of)])):
        assert tags(hostile, html) == tags(speaking(contents(("oak", "elm")), "a text"), html)
    assert data_of(page(hostile))["boards"][0]["standings"]["system"] == ["oak", name]


OVERVIEW = ["#metric=acc&set=test", "#metric=acc&set=test&facet=domain%3Dnews", "#metric=p&set=test"]


def test_only_addresses_of_the_web_become_links_and_what_has_no_room_is_counted():
    html = page(speaking(contents(), "a text", "javascript:alert(1)"))
    assert [a["href"] for a, _ in Elements(html).all("a")] == [
        "#leaderboard", "#", *OVERVIEW], "those of the page itself"
    assert data_of(html)["systems"] == {"left_out": 0, "of": {f"{name}/{name}@1": {
        "description": "a text", "licence": "a text", "size": 7e9, "cost": 0.25, "__proto__": 1} for name in NAMES}}
    said = make_systems_data(speaking(contents([f"s{n}" for n in range(200)]), "x" * 1000).boards)
    there = [of for of in said["of"].values() if "description" in of]
    assert said["left_out"] == 200 - len(there)
    assert 100 < len(there) < 160
    assert not any("licence" in of for of in said["of"].values())  # of 1,000 characters
    assert all(of["paper"] for of in said["of"].values())


def test_data_cannot_end_their_element():
    given = {"</script>": "<!--<script>&\u2028\u2029", "nan": float("nan")}
    assert not set(dump_json(given)) & set("<>&\u2028\u2029")
    assert json.loads(dump_json(given)) == given | {"nan": None}


def test_the_same_contents_give_the_same_bytes():
    assert page(contents()) == page(contents())


def test_scripts_off_leave_the_first_leaderboard():
    (shown,) = re.findall(r"<noscript>.*?</noscript>", page(contents()), re.DOTALL)
    assert re.findall("<bdi>(.*?)</bdi>", shown) == list(NAMES)
    assert "n/a" in shown
    assert "What can be said: 100 %." in shown


def test_methods_are_the_paragraph_with_its_references():
    of = contents()
    found, methods = data_of(page(of))["boards"][0], describe_methods(of.boards[0])
    assert found["methods"] == methods.text
    assert [work["text"] for work in found["references"]] == [work.description for work in methods.references]
    assert found["references"][0]["link"] == "https://www.jstor.org/stable/4615733"


def test_responses_that_are_the_same_stand_together():
    items = [labels("i1", "yes", {"oak": "yes", "elm": "no", "ash": "yes", "fir": "no"})]
    (item,) = make_page_data(contents(items=items))["items"]["test"]["items"]
    assert item["answers"] == {"sure": 1, "gold": 1, "key": ["yes", "no"], "types": [""], "type": 0}
    assert (item["contents"], item["by"]) == ([[[], []], [[1], [0]]], "0101"), "the second adds no, and lacks yes"


def noisy(n, metrics=1):
    """Boards of n systems whose pairs have figures of many digits."""
    draw, board = random.Random(1), leaderboard([f"system-{i}" for i in range(n)])
    board = changed(board, lambda _: dict(  # noqa: C408
        difference=draw.random(), ci_low=draw.random(), ci_high=draw.random(), p_value=draw.random(),
        p_adjusted=draw.random(), n_discordant=draw.randrange(2000)))
    return [replace(board, metric=f"metric-{m}") for m in range(metrics)]


def test_30_systems_on_2000_items_by_three_metrics_stay_below_450_kb():
    draw = random.Random(2)
    items = [translations(f"i{k}", {"gold": "word " * 20}, {f"system-{i}": " ".join(
        draw.choices(["a", "few", "words"], k=20)) for i in range(30)}) for k in range(200)]
    of = replace(contents(), boards=noisy(30, metrics=3), items=items)
    assert len(page(of).encode()) < 450_000  # of which scripts and styles take 160
    data = make_page_data(of)
    assert all(len(board["pairs"]["difference"]) == 435 for board in data["boards"])
    assert len(data["items"]["test"]["items"]) > 20


def test_all_pairs_of_200_systems_have_room_and_those_of_a_further_board_are_of_neighbours():
    first, second = data_of(page(replace(contents(), boards=noisy(200, metrics=2))))["boards"]
    assert len(first["pairs"]["significant"]) == 19_900
    assert first["pairs"]["reach"] is None
    assert second["pairs"]["reach"] == 10
    assert len(second["pairs"]["significant"]) == 200 * 10 - 10 * 11 // 2


def test_the_page_of_a_task_and_the_site(registry, tmp_path):
    manifest = ROOT / "sample_data" / "stance" / "task.toml"
    registry("site", manifest, "-o", "public", "--items", "200")
    registry("page", "stance", "-o", "page.html", "--items", "200")
    alone, part = (tmp_path / "page.html").read_text(), (tmp_path / "public" / "tasks" / "stance.html").read_text()
    assert data_of(alone) == data_of(part)
    index = Elements((tmp_path / "public" / "index.html").read_text())
    assert [a["href"] for a, _ in index.all("a")] == [
        "#tasks-heading", "feed.xml", "tasks/stance.html", "tasks/stance.html#metric=accuracy&set=test"]
    assert data_of(alone)["items"]
    again = registry("site", "-o", "public", "--items", "200")
    assert "index, feed and 1 page written (1 unchanged)" in again.stderr
    assert (tmp_path / "public" / "tasks" / "stance.html").read_text() == part
    assert not list((tmp_path / "public").rglob(".*"))


def test_a_page_holds_no_item_that_nobody_asked_for(registry, task, tmp_path):
    """Neither its name, nor its gold or a response."""
    task.gold = {f"secret-{item}": f"gold-{label}" for item, label in task.gold.items()}
    task.systems = {name: {f"secret-{item}": f"gold-{label}" for item, label in answers.items()}
                    for name, answers in task.systems.items()}
    task.documents = {}
    registry("site", task.write(), "-o", "public")
    registry("page", "small", "-o", "page.html")
    for path in (tmp_path / "public" / "tasks" / "small.html", tmp_path / "page.html"):
        html = path.read_text()
        assert not data_of(html)["items"]
        assert "secret-" not in html
        assert "gold-" not in html
    registry("page", "small", "-o", "page.html", "--items", "1")
    html = (tmp_path / "page.html").read_text()
    assert "secret-" in html
    assert "gold-" in html


def test_items_on_which_all_agree_are_left_out(registry, scored, task, tmp_path):
    """On i0 and i1 all are right; on i5 system a alone is wrong, on the others it alone is right."""
    scored(task)
    registry("page", "small", "-o", "page.html", "--items", "9")
    found = data_of((tmp_path / "page.html").read_text())["items"]["test"]
    assert found["names"] == ["a", "b", "c"]
    assert {item["item"]: item["by"] for item in found["items"]} == dict.fromkeys(("i2", "i3", "i4", "i5"), "011")


def test_what_is_in_the_way_of_a_page_is_named_and_stays(registry, scored, task, tmp_path):
    scored(task)
    (tmp_path / "folder").mkdir()
    outcome = registry("page", "small", "-o", "folder", exit_code=1)
    assert outcome.stderr.strip() == "error: folder: this is a folder; name a file"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "registry.duckdb", "task"]


def test_a_task_without_comparison_has_no_page(registry, task, tmp_path):
    registry("apply", task.write())
    outcome = registry("page", "small", "-o", "page.html", exit_code=4)
    assert "small: there is no comparison to show yet; `registry score`" in outcome.stderr
    assert not (tmp_path / "page.html").exists()
