"""Signatures: what a paper prints is read back, and nothing else is taken for one."""

import re
from dataclasses import replace
from typing import get_args

import pytest
import threadpoolctl
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import InputError
from registry.provenance import Signature, StudySignature, _list_processor_features, parse_signature
from registry.significance import CORRECTIONS, TESTS
from registry.significance.base import Method

SLUGS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True)
NAMES = st.text(st.characters(exclude_characters="/@", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
DIGITS = st.from_regex(r"[0-9a-f]{8}", fullmatch=True)
COUNTS = st.integers(0, 10**9)
OPTIONAL = st.none() | NAMES
TEST_NAMES = st.builds("{}{}".format, st.sampled_from(sorted(TESTS)),
                       st.sampled_from(["", "(interval='bca-exact')", "(a='|%7C', b=1e-05)"]))
SIGNATURES = st.builds(
    Signature, SLUGS, SLUGS, SLUGS, SLUGS, OPTIONAL, OPTIONAL, COUNTS, st.none() | COUNTS, OPTIONAL, DIGITS, TEST_NAMES,
    st.sampled_from(["two-sided", "greater", "less"]), st.none() | st.sampled_from([*get_args(Method), "mixed"]),
    st.sampled_from(["fixed", "random"]), st.none() | COUNTS, st.sampled_from(sorted(CORRECTIONS)), COUNTS,
    st.floats(1e-9, 1, exclude_max=True), DIGITS, SLUGS, st.integers(1, 30))
STUDIES = st.builds(
    StudySignature, NAMES, SLUGS, SLUGS, SLUGS, st.lists(SLUGS, min_size=1, max_size=3).map(tuple), OPTIONAL, OPTIONAL,
    COUNTS, COUNTS, st.lists(DIGITS, min_size=1, max_size=3).map(tuple), COUNTS, DIGITS, SLUGS)
ONE = Signature("f1", "labels", "2", "test", None, None, 12, None, None, "0123abcd", "permutation", "two-sided",
                "monte-carlo", "fixed", 1, "holm", 10, 0.05, "89ab4567", "0.1.0")


@settings(max_examples=50)
@given(SIGNATURES | STUDIES)
def test_a_signature_is_read_as_it_was_written(signature):
    assert parse_signature(str(signature)) == signature


def test_only_the_linear_algebra_of_numpy_is_part_of_the_environment(monkeypatch):
    """Which other packages have loaded a library of their own in this process is chance."""
    _list_processor_features.cache_clear()
    before = _list_processor_features()
    libraries = [*threadpoolctl.threadpool_info(), {
        "user_api": "blas", "internal_api": "mkl", "architecture": "another", "filepath": "/somewhere/libmkl.so"}]
    monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: libraries)
    _list_processor_features.cache_clear()
    assert _list_processor_features() == before
    assert before["blas"]


def test_a_printed_line():
    line = ("f1|task:labels@2|set:test|n:12|gold:0123abcd|test:permutation-monte-carlo|seed:1|corr:holm/10|a:.05|"
            "v:0.1.0|id:89ab4567")
    assert parse_signature(line) == ONE
    assert parse_signature(line.replace("n:12", "n:13")) == replace(ONE, n_items=13)


@pytest.mark.parametrize(("was", "becomes", "told"), [
    ("|n:12", "", "no field 'n'"), ("n:12", "n:twelve", "not a signature"), ("|n:12", "|12", "'12' is not of the form"),
    ("n:12", "n:012", "would write f1|"), ("|v:0.1.0", "|v:0.1.0|seed:2", "would write f1|"),
    ("f1|", "study:x|f1|", "no field"),
])
def test_what_is_no_signature_is_said(was, becomes, told):
    assert was in str(ONE)
    with pytest.raises(InputError, match=re.escape(told)):
        parse_signature(str(ONE).replace(was, becomes, 1))
