"""What a task, its systems and its metrics say of themselves, from the manifest to every place that shows it."""

import json

import pytest

from tests.evaluation.stored import query
from tests.publication.secret_task import hits

FACTS = {"description": "What a tagger says of itself", "paper": "https://example.org/p", "code": "https://example.org/c",
         "licence": "MIT", "size": 7_000_000_000, "cost": 0.25}


@pytest.fixture
def said(task, scored):
    """The task with all that it can say; system a is declared by itself, with its facts."""
    task.extra = f"""
[[submit]]
file = "systems/a.tsv"
system = "a"
attributes = {{ layers = 24, secret = "not for pages" }}
{chr(10).join(f"{key} = {json.dumps(value)}" for key, value in FACTS.items())}
"""
    manifest = task.write()
    text = manifest.read_text().replace('name = "Accuracy"', 'name = "Accuracy"\ntitle = "% right"\ndecimals = 1')
    manifest.write_text(text.replace('id = "small"', 'id = "small"\ndescription = "Yes or no."\norganisers = ["Ada"]\n'
                                     'url = "https://example.org/t"\ndate = 2026-11-20\ncost_unit = "EUR"'))
    task.write = lambda: manifest
    scored(task)
    return task


def page_data(html):
    return json.loads(html.partition('<script type="application/json" id="data">')[2].partition("</script>")[0])


@pytest.mark.slow
def test_it_is_shown_amended_exported_and_hidden(said, registry, tmp_path):
    board = registry("board", "--format", "md").stdout
    assert "**small/test: % right**" in board
    assert "| 0.8 |" in board
    assert "0.83" not in board
    assert "Ada; 2026-11-20; https://example.org/t" in board
    assert registry("board", "--format", "json").json[0]["score"] == 5 / 6
    assert r"\% right" in registry("board", "--format", "latex").stdout
    (listed,) = registry("list", "tasks", "--format", "json").json
    assert (listed["date"], listed["url"], listed["licence"]) == ("2026-11-20", "https://example.org/t", None)

    registry("amend", "small/test/a/a", "--attribute", "cost=0.5", "--reason", "cheaper now")
    registry("submit", "small", said.folder / "systems" / "b.tsv", "--system", "d", "--attribute", "size=1e9",
             "--attribute", "colour=red", "--run")
    for given, says in (("paper=nowhere", "paper: 'nowhere' is not a web address"), ("size=0", "size: ")):
        told = registry("amend", "small/test/a/a", "--attribute", given, "--reason", "x", exit_code=3).stderr
        assert says in told

    registry("page", "small", "-o", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text()
    shown = page_data(html)
    assert shown["systems"]["of"] == {"a/a@1": {**FACTS, "cost": 0.5, "layers": 24}, "d/d@1": {"size": 10**9}}
    assert (shown["boards"][0]["metric_label"], shown["boards"][0]["standings"]["printed"][0]) == ("% right", "0.8")
    for text in ("Yes or no.", ">Ada<", 'href="https://example.org/t"', "@misc{small-1", 'property="og:title"'):
        assert text in html
    assert query(registry, "SELECT digest FROM gold_revision")[0]["digest"] in html
    assert '"sc:license": "MIT"' in registry("export", "small", "croissant-tasks").stdout
    registry("export", "small", "every-eval-ever", "-o", tmp_path / "eee")
    record = next(path for path in (tmp_path / "eee").rglob("*.json") if path.parent.name == "a").read_text()
    assert json.loads(record)["model_info"]["additional_details"]["paper"] == FACTS["paper"]
    registry("release", "small", "-o", tmp_path / "release")
    assert "no faults" in registry("verify", tmp_path / "release").stderr

    registry("hide", "small")
    registry("compare", "small")
    registry("page", "small", "-o", tmp_path / "hidden.html")
    hidden = (tmp_path / "hidden.html").read_text()
    assert page_data(hidden)["systems"]["of"] == {}
    assert not any(text in hidden for text in (FACTS["paper"], FACTS["code"], FACTS["description"]))
    assert not hits(hidden)
