"""The grammar of formulas, against Python's own arithmetic; where a formula is a quotient; and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics import METRICS, Formula
from registry.metrics.statistics import parse_formula
from registry.values import parse

numbers = st.integers(1, 9).map(str)
names = st.sampled_from(["a", "b", "c"])
formulas = st.recursive(numbers | names, lambda inner: st.one_of(
    st.tuples(inner, st.sampled_from(["+", "-", "*", "/", " - "]), inner).map("".join),
    *(inner.map(shape.format) for shape in ("({})", "-({})", "sqrt(abs({}))", "({})^2")),
    *(st.tuples(inner, inner).map(lambda two, name=name: f"{name}({two[0]}, {two[1]})") for name in ("min", "max"))),
    max_leaves=12)
sums = st.tuples(*[st.integers(0, 50)] * 3)


def value(formula, **of):
    return parse_formula(formula).compute({name: np.array(float(v)) for name, v in of.items()})


@given(formulas, sums)
def test_formulas_are_what_python_computes(formula, of):
    known = dict(zip("abc", map(float, of), strict=True))
    try:
        expected = eval(formula.replace("^", "**"), {"sqrt": math.sqrt, "abs": abs, "min": min, "max": max}, known)
    except ZeroDivisionError:
        return
    with np.errstate(all="ignore"):
        assert value(formula, **known) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("formula", "expected"), [
    ("2^3^2", 512), ("-2^2", -4), ("2^-1", 0.5), ("8/4/2", 1), ("1 - 2 - 3", -4), ("2*-3", -6), ("1e2 + .5", 100.5),
    ("exp(log(7))", 7), ("max(1, 3, 2)", 3), ("2 * (3 + 4)", 14),
])
def test_precedence_and_association(formula, expected):
    assert value(formula) == pytest.approx(expected, rel=1e-12)


@given(formulas, sums)
def test_a_formula_that_claims_to_be_a_quotient_is_that_quotient(formula, of):
    expression = parse_formula(formula)
    if (found := expression.quotient()) is None:
        return
    known = {name: Fraction(n) for name, n in zip("abc", of, strict=True)}
    over, under = (sum(w * known[name] for w, name in zip(side, expression.names, strict=True)) for side in found)
    with np.errstate(all="ignore"):
        computed = value(formula, **known)
    if under and math.isfinite(computed):
        assert computed == pytest.approx(float(over / under), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("formula", "quotient"), [
    ("2*tp/(pred+gold)", ((2, 0, 0), (0, 1, 1))),
    ("(1 + 0.5^2)*tp / (0.5^2*gold + pred)", ((5, 0, 0), (0, 1, 4))),
    ("1 - (s + p)/(a + s)", ((0, -1, 1), (1, 0, 1))),
    ("100 * (1 - errors/words)", ((-100, 100), (0, 1))),
    ("a/n + b/n", ((1, 0, 1), (0, 1, 0))),
    ("a/2 / (b/4)", ((2, 0), (0, 1))), ("a/b*b/c", None), ("a/(n/m)", None), ("a / (0.5*n)", ((2, 0), (0, 1))),
    ("sqrt(a/n)", None), ("a + b", None), ("a/(n + 1)", None), ("a/(n - m)", None), ("a/0", None),
    ("a*b/n", None), ("(9^9^9)*a/n", None),
])
def test_which_formulas_are_quotients(formula, quotient):
    assert parse_formula(formula).quotient() == quotient


@pytest.mark.parametrize(("formula", "says"), [
    ("2*tp/(pred+gold", r"character 16 \(the end\): expected '\)'"),
    ("tp pred", r"character 4 \('pred'\): expected an operator"),
    ("tp + $x", r"character 6 \('\$x'\)"),
    ("", "character 1"),
    ("a + * b", r"character 5 \('\* b'\): expected a number, a name"),
    ("  __import__('os')", r"character 14"),
    ("sqr(a)", "character 1 .*unknown function 'sqr'; did you mean 'sqrt'"),
    ("sqrt(a, b)", "character 1 .*sqrt needs one argument"),
    ("max(a)", "max needs two or more"),
    ("1e99 * a", "the number is not between"),
    ("(" * 60 + "a" + ")" * 60, "expressions are nested more than 50 levels deep"),
    ("-" * 60 + "a", "more than 50"),
    ("a" + "+a" * 300, "601 characters; at most 400 are allowed"),
])
def test_what_is_no_formula_is_refused_at_its_character(formula, says):
    with pytest.raises(InputError, match=says):
        parse_formula(formula)


def test_the_longest_chains_are_read():
    formula = "a" + "/a" * 199
    metric = Formula(formula=formula)
    assert len(formula) == 399
    assert metric.score(np.array([1.0] + [0.0] * 15)) == 1
    assert metric.quotient is None


def test_the_metric_lays_out_what_its_formula_names():
    metric = Formula(formula="2*tp/(pred+gold)")
    assert metric.needs() == ("tp", "pred", "gold")
    item, answer = Item("i", {"gold": 4.0}), Answer("i", {"tp": 1.0, "pred": 2.0, "other": 9.0})
    assert metric.statistics(item, answer) == (1, 2, 4, *[0] * 13)
    assert metric.quotient == ((2, *[0] * 15), (0, 1, 1, *[0] * 13))
    scores = metric.score(np.array([[3.0, 4, 5, *[0] * 13], [0] * 16]))
    np.testing.assert_array_equal(scores, [6 / 9, np.nan])


def test_an_item_without_an_answer_counts_what_the_manifest_says():
    item = Item("i", {})
    with pytest.raises(InputError, match="item 'i': it has no answer, and Formula has no worst value"):
        Formula(formula="tp/n").statistics(item, None)
    assert Formula(formula="tp/n", worst=(0, 1)).statistics(item, None)[:2] == (0, 1)
    with pytest.raises(InputError, match="needs one number for each statistic, in this order: tp, n"):
        Formula(formula="tp/n", worst=(0,))


def test_statistics_that_are_not_there_are_named():
    with pytest.raises(InputError, match="item 'i': it has no statistic 'tp'; did you mean 'TP'"):
        Formula(formula="tp/n").statistics(Item("i", {}), Answer("i", {"TP": 1.0, "n": 2.0}))


@pytest.mark.parametrize("options", [{"formula": "3"}, {"formula": "+".join(f"x{n}" for n in range(17))}])
def test_formulas_without_or_with_too_many_names_are_refused(options):
    with pytest.raises(InputError, match=r"contains no statistic|17 names; at most 16 are allowed"):
        Formula.build(options)


def test_names_read_back():
    metric = Formula.build({"formula": "1 - a/(b + c)", "better": "lower"})
    assert parse("metric", METRICS, repr(metric)) == metric
    assert metric.better == "lower"
