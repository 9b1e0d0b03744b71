"""The ranked candidates of a test set, out of the registry, and what must hold for their tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from registry.studies.board_study import called
from sqlalchemy import Connection

from registry.arrays import Ints
from registry.errors import InputError, UnknownNameError
from registry.messages import Message
from registry.metrics.sets import order_ties
from registry.significance.diagnostics.assumptions import shared_candidates
from registry.significance.pairwise.independent import same_items
from registry.store import catalog
from registry.store.catalog import GoldRevisionRow, Member, TaskRow, TestSetRow
from registry.store.statistics import load_named_answers, load_responses, several_runs
from registry.studies.nbest.precision import Ranked


@dataclass(frozen=True, eq=False)
class RankedTestSet:
    """One test set's candidates.

    Attributes:
        name: `task/test_set`.
        ranked: What is studied.
        items: The id of each candidate's item, [candidates].
        submissions: The names `team/system@version` of the systems, in their order.
        gold: Its gold's revision.
        warnings: Which assumption of the tests does not hold.
    """

    name: str
    ranked: Ranked
    items: Ints
    submissions: tuple[str, ...]
    gold: GoldRevisionRow
    warnings: tuple[Message, ...]

    def repetition(self, connection: Connection, attribute: str) -> Ints:
        """The number of every candidate's value of an attribute of its item, [candidates].

        Raises:
            InputError: An item lacks it, or all have the same.
        """
        values = catalog.item_attribute(connection, self.gold.gold_revision_id, attribute)
        if any(int(item) not in values for item in self.items):
            raise InputError(f"items of {self.name} have no attribute {attribute!r}; the options of the gold's reader "
                             "name attributes")
        known, numbers = np.unique([values[int(item)] for item in self.items], return_inverse=True)
        if len(known) < 2:
            raise InputError(f"all items of {self.name} have the same {attribute!r}: there is no repetition")
        return numbers.astype(np.int64)


def load(connection: Connection, task: TaskRow, test_set: TestSetRow, systems: Sequence[str] = (),
         seed: int = 0) -> RankedTestSet:
    """Load the candidates of a test set: every answer that the gold or a system that takes part has.

    Args:
        connection: To read from.
        task: Its row.
        test_set: Its row.
        systems: The ones wanted, in this order (`system`, or `team/system`); none: all.
        seed: Of the random order that breaks ties.

    Raises:
        UnknownNameError: No system is called so.
        InputError: A name is ambiguous or stands twice, answers have no scores, or every system gives one answer to
            every item.
    """
    name = f"{task.slug}/{test_set.name}"
    members = catalog.ranked(connection, test_set.test_set_id)
    if not members:
        raise InputError(f"{name} has no submission that takes part; `registry submit` brings one in")
    answers = load_named_answers(connection, test_set.gold_revision_id)
    responses = load_responses(connection, [member.scoring_id for member in members], answers.ids)
    repeated = several_runs(connection, [member.submission_id for member in members])
    for n, member in enumerate(members):
        if member.submission_id in repeated:
            raise InputError(f"{member.name} has several runs, which are no one ranking; submit one of them by itself")
        if np.isnan(responses.scores[responses.given[:, n], n]).any():
            raise InputError(f"answers of {member.name} have no score, so there is no ranking; `registry compare` "
                             "tests sets of answers, and one answer per item by mcnemar")
    kept = np.flatnonzero(answers.in_gold | responses.given.any(axis=1))  # others took part once
    items = answers.items[kept]
    if not len(kept):
        catalog.item_ids(connection, test_set.gold_revision_id)  # says so if the gold is withheld
        raise InputError(f"{name} has no candidate: neither the gold nor a system has any answer")
    if same_items(items, responses.given[kept]):
        raise InputError(f"every system gives one answer to every item of {name}, so D1 and D2 are answers to the same "
                         "items and not independent; take `registry compare --test mcnemar`")
    chosen = [_find(members, system, name) for system in systems] or list(range(len(members)))
    if twice := [n for n in chosen if chosen.count(n) > 1]:
        raise InputError(f"{members[twice[0]].name} is named twice; name it once")
    order = order_ties(seed, (answers.names[n] for n in kept))
    ranked = Ranked(tuple(called([members[n] for n in chosen])), answers.in_gold[kept],
                    responses.scores[kept][:, chosen], order)
    warning = shared_candidates(items, has_intervals=True)
    gold = catalog.get(connection, GoldRevisionRow, gold_revision_id=test_set.gold_revision_id)
    submissions = tuple(f"{of.team}/{of.system}@{of.version}" for of in (members[n] for n in chosen))
    return RankedTestSet(name, ranked, items, submissions, gold,
                         () if warning is None else (warning,))


def _find(members: Sequence[Member], system: str, name: str) -> int:
    found = [n for n, member in enumerate(members) if system in (member.system, f"{member.team}/{member.system}")]
    if not found:
        raise UnknownNameError(f"system of {name}", system, {member.system for member in members})
    if len(found) > 1:
        raise InputError(f"several systems of {name} are called {system!r}; name the team too: "
                         f"{', '.join(f'{members[n].team}/{system}' for n in found)}")
    return found[0]
