"""Which differences between environments let `verify` accept other last digits, and how it names them."""

import json
import math
import platform

import duckdb
import pytest

from registry.evaluation.verifying.faults import find_other_environments
from registry.provenance import environment
from registry.store.database import CONFIG, Database
from tests.attacks.alterations import verified
from tests.conftest import ROOT

DB = "registry.duckdb"
MINOR = ".".join(platform.python_version_tuple()[:2])


def alter(sql, *values):
    with duckdb.connect(DB, config=CONFIG) as connection:
        return connection.execute(sql, values).fetchone()


def set_in_environment(**values):
    """Let all runs have other settings in their environment; None takes one away."""
    (there,) = alter("SELECT environment FROM run LIMIT 1")
    known = {name: value for name, value in (json.loads(there) | values).items() if value is not None}
    alter("UPDATE run SET environment = ?", json.dumps(known))


def differing():
    with Database(DB).reading() as connection:
        return set(find_other_environments(connection).values())


@pytest.fixture(autouse=True)
def registry_of_stances(scored):
    scored(ROOT / "sample_data" / "stance" / "task.toml")


def move_a_score():
    """Alter a score by one unit in the last place."""
    scoring_id, metric_id, value = alter("SELECT scoring_id, metric_id, value FROM score WHERE value BETWEEN 0.1 AND 1")
    alter("UPDATE score SET value = ? WHERE scoring_id = ? AND metric_id = ?", math.nextafter(value, 1), scoring_id,
          metric_id)


def test_packages_that_compute_no_stored_number_may_have_any_version():
    """The last bit counts after a reinstallation with other packages, from a wheel instead of a checkout."""
    set_in_environment(**{"sacrebleu": "1.0", "rouge-score": None, "duckdb": "1.0", "unrelated": "7",
                          "python": f"{MINOR}.99"})
    alter("UPDATE run SET code_revision = 'another', code_dirty = TRUE")
    move_a_score()
    assert differing() == set()
    assert ("altered", "score") in {(fault.kind, fault.of) for fault in verified(DB, "none").faults}


def test_numbers_of_another_numpy_may_be_apart_and_the_note_names_both_versions():
    set_in_environment(numpy="1.26.4")
    move_a_score()
    found = verified(DB, "none").without_rounding()
    assert "score" not in {fault.of for fault in found.faults}
    (note,) = [note for note in found.notes if note.startswith("score ")]
    assert f"computed with numpy 1.26.4 (here {environment()['numpy']})" in note


def test_what_may_change_the_last_digits_is_named_with_both_versions():
    here = environment()
    for name in ("numpy", "scipy", "platform", "vectors", "blas"):
        set_in_environment(**{name: "9"})
        assert differing() == {f"{name} 9 (here {here[name]})"}
        set_in_environment(**{name: here[name]})
    set_in_environment(python="2.7.18", code="0123abcd", scipy=None)
    assert differing() == {f"evalregistry's code 0123abcd (here {here['code']}), python 2.7 (here {MINOR}), "
                           f"scipy unknown (here {here['scipy']})"}
