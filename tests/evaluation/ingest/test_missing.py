"""Remedies that would help: what a message advises is possible, and does not cost all other systems their items."""

import pytest

from registry.errors import InputError
from registry.items import Item
from registry.metrics import METRICS
from registry.missing import suggest_remedy

FORMULA = METRICS["Formula"].build({"formula": "hits / all"})
WITH_WORST = METRICS["Formula"].build({"formula": "hits / all", "worst": [0, 1]})
ACCURACY, PEARSON = METRICS["Accuracy"](), METRICS["Pearson"]()


@pytest.mark.parametrize(("n_missing", "metrics", "remedy"), [
    (1, [ACCURACY], 'add the answer, or set missing = "worst" or missing = "drop" in the manifest'),
    (4, [ACCURACY, WITH_WORST], 'add the answers, or set missing = "worst" or missing = "drop" in the manifest'),
    (95, [ACCURACY], 'add the answers, or set missing = "worst" in the manifest; missing = "drop" would leave out 95 '
                     "of 100 items for all systems"),
    (1, [FORMULA], 'add the answer, or set missing = "worst" (with the option worst of '
                   'Formula(formula="hits / all")) or missing = "drop" in the manifest'),
    (1, [ACCURACY, PEARSON], 'add the answer, or set missing = "drop" in the manifest'),
    (5, [PEARSON], 'add the answers; missing = "drop" would leave out 5 of 100 items for all systems'),
])
def test_what_to_do_about_missing_answers(n_missing, metrics, remedy):
    assert suggest_remedy(n_missing, 100, metrics) == remedy


@pytest.mark.parametrize("metric", [FORMULA, WITH_WORST, PEARSON, ACCURACY, METRICS["Mean"](), METRICS["RMSE"](),
                                    METRICS["Mean"](worst=0.0), METRICS["Perplexity"](), METRICS["BitsPerCharacter"]()],
                         ids=repr)
def test_a_metric_has_the_worst_value_that_it_says(metric):
    if metric.has_worst:
        assert metric.statistics(Item("i", "gold"), None)
        return
    with pytest.raises(InputError, match="its option worst" if hasattr(metric, "worst") else 'missing = "drop"'):
        metric.statistics(Item("i", "gold"), None)


def test_texts_that_repeat_are_no_names_of_items(registry, tmp_path):
    """The remedy of the message is the right one: with it the task is accepted."""
    (tmp_path / "gold.csv").write_text("text,right\nyes,1\nno,2\nyes,3\n")
    (tmp_path / "a.csv").write_text("text,score\nyes,1\nno,2\nyes,3.5\n")
    manifest = tmp_path / "task.toml"
    manifest.write_text(
        'manifest = 1\n[task]\nid = "t"\n[[test_set]]\nname = "test"\ngold = "gold.csv"\nformat = "scores"\n'
        'options = { separator = "comma", item = ["text"], gold = "right" }\n[[metric]]\nname = "MAE"\n'
        '[[submit]]\nfile = "a.csv"\nsystem = "a"\n')
    told = registry("check", manifest, exit_code=3).stderr
    assert "item 'yes': occurs twice, first in line 2" in told
    assert "or set item = [] to number the rows if this column has texts, not item names" in told
    manifest.write_text(manifest.read_text().replace('item = ["text"]', "item = []"))
    registry("check", manifest)
