"""Named values: `repr` is the canonical name and parses back."""

from dataclasses import replace
from typing import ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError, UnknownNameError
from registry.metrics import METRICS
from registry.readers import READERS
from registry.significance import TESTS
from registry.values import Value, parse
from tests.required_options import REQUIRED


class Spice(Value):
    name: ClassVar[str] = "Spice"
    heat: float = 1.0
    count: int = 0
    whole: bool = False
    kind: Literal["pod", "seed"] = "pod"
    origins: tuple[str, ...] = ()
    note: str | None = None
    swaps: tuple[tuple[str, str], ...] = ()


class Sauce(Value):
    name: ClassVar[str] = "Sauce"
    of: str


KNOWN = {"Spice": Spice, "Sauce": Sauce}
texts = st.text(st.characters(exclude_categories=("Cs",)))


@given(st.builds(Spice, st.floats(allow_nan=False, allow_infinity=False), st.integers(), st.booleans(),
                 st.sampled_from(["pod", "seed"]), st.lists(texts).map(tuple), st.none() | texts,
                 st.dictionaries(texts, texts).map(lambda swaps: tuple(sorted(swaps.items())))))
def test_repr_parses_back(value):
    assert parse("spice", KNOWN, repr(value)) == value


def test_repr_is_legible():
    assert repr(Spice(0.5, 3, True, "seed", ("Goa", "New York"), "hot", (("1", "a b"), ("x", "y")))) == (
        'Spice(heat=0.5, count=3, whole=true, kind=seed, origins=[Goa, "New York"], note=hot, swaps={"1"="a b", x=y})')
    assert repr(Spice(2.0, origins=("Goa",))) == (
        "Spice(heat=2, count=0, whole=false, kind=pod, origins=Goa, note=none, swaps=[])")


@pytest.mark.parametrize("known", [METRICS, READERS, TESTS])
def test_everything_that_is_registered_parses_back_and_documents_itself(known):
    for name, cls in known.items():
        value = cls.build(REQUIRED.get(name, {}))
        assert name == cls.name
        assert parse("value", known, repr(value)) == value
        assert cls.__doc__.partition("\n")[0].endswith((".", ":"))


@pytest.mark.parametrize("known", [METRICS, READERS, TESTS])
def test_a_word_that_is_none_of_an_option_is_refused_in_python_too(known):
    for name, cls in known.items():
        value = cls.build(REQUIRED.get(name, {}))
        for option in cls._words():
            with pytest.raises(InputError, match=f"option '{option}' of {name} is '\\?'; expected one of "):
                replace(value, **{option: "?"})


@pytest.mark.parametrize("text", ["Spice(", "Spice)", "Spice(heat)", "Spice(heat=)", "Spice(heat=1", "Spice(heat=1))",
                                  "Spice(heat=1 count=2)", "Spice(heat=1, heat=2)", "Spice,heat=1)", "Spice; x", "",
                                  "()", "Spice(origins=[a", "Spice(origins=[a b])"])
def test_malformed_names_are_refused(text):
    with pytest.raises(InputError):
        parse("spice", KNOWN, text)


@pytest.mark.parametrize(("text", "says"), [
    ("Sauce", "Sauce needs the option 'of'"),
    ("Spicy", "did you mean 'Spice'"),
    ("Spice(haet=1)", "did you mean 'heat'"),
    ("Spice(heat=hot)", "expected a number"),
    ("Spice(count=1.5)", "expected a whole number"),
    ("Spice(whole=1)", "expected true or false"),
    ("Spice(kind=leaf)", "expected one of pod, seed"),
    ("Spice(heat=[1, 2])", r"is \[1, 2\]; expected a number"),
    ("Spice(kind=[pod, seed])", r"is \[pod, seed\]; expected one of pod, seed"),
    ("Spice(heat=true)", "is true; expected a number"),
    ("Spice(swaps={x=1})", "option 'swaps' of Spice: 'x' is 1; expected text, in quotes: \"1\""),
])
def test_wrong_names_and_options_say_what_is_expected(text, says):
    with pytest.raises(InputError, match=says):
        parse("spice", KNOWN, text)


@pytest.mark.parametrize("order", [6.0, True, 7])
def test_a_number_that_equals_a_choice_is_not_that_choice(order):
    with pytest.raises(InputError, match=r"option 'char_order' of chrF is .*; expected one of 1, 2"):
        METRICS["chrF"].build({"char_order": order})


def test_unknown_name_carries_the_candidates():
    with pytest.raises(UnknownNameError) as caught:
        parse("metric", METRICS, "Acuracy")
    assert caught.value.known == tuple(METRICS)


def test_a_value_whose_class_lacks_something_is_not_made():
    class Unfinished(METRICS["Kappa"].__base__):
        """Lacks what it is scored by."""

        takes = "label"

    with pytest.raises(TypeError, match="score_classes"):
        Unfinished()
