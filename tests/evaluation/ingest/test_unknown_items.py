"""Answers to items that the gold does not have: reject the file, or ignore them with a warning."""

from shlex import split

import numpy as np
import pytest

GOLD = [("yes", "no")[n % 2] for n in range(20)]
ANSWERS = [("yes", "no")[n % 3 > 0] for n in range(30)]
RIGHT = np.mean(np.array(GOLD) == np.array(ANSWERS[:20]))
NUMBERS = np.round(np.random.default_rng(1).random(3000), 3)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write files with a line of name and value for each item."""
    monkeypatch.chdir(tmp_path)

    def write_files(**columns):
        for name, values in columns.items():
            (tmp_path / f"{name}.tsv").write_text("".join(f"q{n}\t{value}\n" for n, value in enumerate(values)))

    return write_files


def run(registry, options, metric='{ name = "Accuracy" }', reader='format = "labels"', exit_code=0):
    with open("task.toml", "w") as manifest:
        manifest.write(f"""manifest = 1
task = {{ id = "t" }}
test_set = [{{ name = "test", gold = "gold.tsv", {reader} }}]
submission = {{ options = {{ {options} }} }}
metric = [{metric}]
submit = [{{ file = "a.tsv", system = "a" }}]
""")
    return registry("run", "task.toml", exit_code=exit_code).stderr


def get_score(registry):
    (row,) = registry("board", "t", "--format", "json").json
    return row["score"]


def test_they_are_refused_with_the_option_that_ignores_them(write, registry):
    write(gold=GOLD, a=ANSWERS)
    error = run(registry, "", exit_code=3)
    assert "item 'q20': not in the gold (nor are 9 more of the file's 30)" in error
    (setting,) = [part for part in error.split("; ") if "unknown_items" in part]
    warning = run(registry, setting.strip().partition("option ")[2])
    assert "10 items are not in the gold and ignored: q20, q21, q22 and 7 more" in warning
    assert get_score(registry) == pytest.approx(RIGHT)
    assert ": no faults" in registry("verify").stderr


def test_missing_items_are_refused_all_the_same(write, registry):
    write(gold=GOLD, a=ANSWERS[:19])
    assert "item 'q19': it has no" in run(registry, 'unknown_items = "ignore"', exit_code=3)


def test_a_large_table_of_numbers(write, registry):
    """It is read by columns."""
    write(gold=NUMBERS[:1000], a=NUMBERS)
    warning = run(registry, 'unknown_items = "ignore"', '{ name = "Mean", options = { better = "higher" } }',
                  'format = "scores", options = { columns = ["item", "score"] }')
    assert "items are not in the gold and ignored: q1000, q1001, q1002 and 1997 more" in warning
    assert get_score(registry) == pytest.approx(NUMBERS[:1000].mean())


def test_quick_prints_the_option(write, registry):
    write(gold=GOLD, a=ANSWERS)
    arguments = ("quick", "--gold", "gold.tsv", "a.tsv", "--format", "json")
    error = registry(*arguments, exit_code=3).stderr
    option = error.partition("add --option ")[2].split("\n")[0].split(" (")[0]
    result = registry(*arguments, *split(f"--option {option}"))
    assert result.json[0]["score"] == pytest.approx(RIGHT)
    assert "10 items are not in the gold and ignored: q20, q21, q22 and 7 more" in result.stderr
