"""Policies for items that a submission does not answer, with their rules and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import ClassVar, Protocol

from registry.errors import InputError
from registry.items import Item

_MANY = 0.05  # of the items: leaving out so many for all systems would make another test set


class Scorer(Protocol):
    """The part of a metric's interface that policies for missing answers use."""

    name: ClassVar[str]

    @property
    def has_worst(self) -> bool:
        """True if the metric can count an item without an answer as completely wrong."""

    def make_unanswered_error(self, item: Item) -> InputError:
        """Return the error for an unanswered item, if the metric has no worst value."""


class MissingPolicy(StrEnum):
    """What happens if a system does not answer some items.

    REJECT refuses the submission. WORST counts the items as wrong. DROP leaves the items out for all systems. OWN
    leaves them out only for the system that did not answer them.
    """

    REJECT = "reject"
    WORST = "worst"
    DROP = "drop"
    OWN = "own"

    @property
    def leaves_items_out(self) -> bool:
        """True if items without an answer are not scored."""
        return self in (MissingPolicy.DROP, MissingPolicy.OWN)

    @property
    def lets_items_differ(self) -> bool:
        """True if systems may be scored on different items.

        Items that one system does not answer then still count for the others.
        """
        return self is MissingPolicy.OWN

    def describe_for_participants(self) -> str:
        """Describe the policy to participants in one sentence."""
        if self is MissingPolicy.REJECT:
            return "A submission has to answer every item."
        return f"Items without an answer {'are left out' if self.leaves_items_out else 'count as wrong'}."

    def find_problems(self, unanswered: Sequence[Item], n_items: int, metrics: Sequence[Scorer],
                      absent: str) -> Iterator[tuple[Item, str, str]]:
        """Yield unanswered items that make a submission invalid, with problem and remedy.

        Args:
            unanswered: The items without an answer.
            n_items: The number of all items.
            metrics: The metrics of the task; remedies depend on them.
            absent: The problem in the words of the file's reader, such as a missing line.
        """
        if self is MissingPolicy.REJECT:
            remedy = suggest_remedy(len(unanswered), n_items, metrics)
            for n, item in enumerate(unanswered):
                more = "" if n or len(unanswered) == 1 else f" ({len(unanswered)} of {n_items} items have this problem)"
                yield item, f"{absent}{more}", remedy
        without_worst = next((metric for metric in metrics if not metric.has_worst), None)
        if self is MissingPolicy.WORST and without_worst is not None:
            for item in unanswered:
                fault, _, remedy = without_worst.make_unanswered_error(item).message.partition("; ")
                yield item, fault, remedy


def suggest_remedy(n_missing: int, n_items: int, metrics: Sequence[Scorer]) -> str:
    """Return advice for a submission that is refused because items have no answer."""
    add, many = "add the answer" if n_missing == 1 else "add the answers", n_missing >= _MANY * n_items
    without = [metric for metric in metrics if not metric.has_worst]
    policies = []
    if all(hasattr(metric, "worst") for metric in without):
        option = " and ".join(f"the option worst of {metric!r}" for metric in without)
        policies.append('missing = "worst"' + (f" (with {option})" if option else ""))
    if not many:
        policies.append('missing = "drop"')
    cost = f'; missing = "drop" would leave out {n_missing} of {n_items} items for all systems' if many else ""
    return add + (f", or set {' or '.join(policies)} in the manifest" if policies else "") + cost
