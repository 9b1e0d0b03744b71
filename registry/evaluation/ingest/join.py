"""Answers joined to items by key, never by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.columns import AnswerColumns, JoinedColumns
from registry.errors import InputError
from registry.evaluation.ingest.mistakes.headers import as_header, header
from registry.items import Answer, Item, standing_twice
from registry.metrics import Metric
from registry.readers import Document, Reader

_MANY = 0.05  # of the items: to leave so many out for all systems would make another test set


@dataclass(frozen=True)
class Policies:
    """What is done about a submission that does not quite go with the gold.

    Attributes:
        missing: About items without an answer: `reject`, `worst`, `drop` or `own`.
        tokens: About text that differs from the gold's: `reject` or `warn`.
        metrics: By which it will be scored; remedies depend on them.
    """

    missing: str
    tokens: str = "reject"
    metrics: tuple[Metric, ...] = ()


@dataclass(frozen=True)
class Joined:
    """A submission's answers in the order of the gold's items, None where there is none.

    `differing` are the answers to a text that is not quite the gold's, let pass under the policy `warn`.
    """

    answers: Sequence[Answer | None]
    differing: int = 0

    @classmethod
    def of(cls, items: Sequence[Item], assigned: Sequence[Answer], reader: Reader, policies: Policies) -> Joined:
        """Join answers that have no disagreement with the items."""
        answered = {answer.key: answer for answer in assigned}
        joined = [answered.get(item.key) for item in items]
        differing = 0 if policies.tokens == "reject" else sum(
            answer is not None and reader.mismatch(item.gold, answer.value) is not None
            for item, answer in zip(items, joined, strict=True))
        return cls(joined, differing)

    @property
    def n_missing(self) -> int:
        """How many items have no answer."""
        if isinstance(self.answers, JoinedColumns):
            return len(self.answers) - int(self.answers.there.sum())
        return self.answers.count(None)

    @property
    def labels(self) -> frozenset[str]:
        """The labels that are given, where answers are labels."""
        if isinstance(self.answers, JoinedColumns):
            return frozenset(self.answers.counts)
        return frozenset(answer.value for answer in self.given)

    @property
    def given(self) -> Sequence[Answer]:
        """The answers that there are, in this order."""
        if isinstance(self.answers, JoinedColumns):
            return self.answers.of(self.answers.there) if self.n_missing else self.answers
        return [answer for answer in self.answers if answer is not None]


def join(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, policies: Policies, path: str) -> Joined:
    """Give the answer to each item.

    Args:
        items: The gold's, in its order.
        answers: A submission's, in any order.
        reader: Of the submission.
        policies: Of the submission.
        path: The submission's file, for errors.

    Raises:
        InputError: An answer is to no item of the gold, two are to the same, items are missing under `reject`, or an
            answer is about another text than the gold.
    """
    assigned = reader.assign(items, answers, path)
    if isinstance(assigned, AnswerColumns) and (columns := JoinedColumns.of_items(assigned, items)) is not None and (
            policies.missing != "reject" or columns.there.all()):
        return Joined(columns)
    for problem in disagreements(items, assigned, reader, policies, path):
        raise problem
    return Joined.of(items, assigned, reader, policies)


def disagreements(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, policies: Policies,
                  path: str) -> Iterator[InputError]:
    """Give every reason why a submission does not go with the items; the arguments are those of `join`.

    The answers are those that `Reader.assign` has brought to the items.

    Of unknown and of missing items the first one's error says how many there are. Of several answers to an item the
    first one is held against it.
    """
    answered: dict[str, Answer] = {}
    for answer in answers:
        if (first := answered.setdefault(answer.key, answer)) is not answer:
            yield standing_twice(answer, first, path, reader.repeated)
    if found := reader.implausible(items, answers):
        yield InputError(found[1], path=path, line=found[0], category="order")
    known = {item.key for item in items}
    unknown = [] if reader.ignores_others else [answer for answer in answers if answer.key not in known]
    if unknown[:1] == answers[:1] and unknown and header(answers, reader) is not None:
        remedy = f"set {as_header(unknown[0], reader)}, or take the line out"
        yield InputError(f"not in the gold, but like a header; {remedy}", path=path, line=unknown[0].line,
                         item=unknown[0].key, category="header")
        del unknown[0]
    for n, answer in enumerate(unknown):
        nor = "is" if len(unknown) == 2 else "are"
        more = "" if n or len(unknown) == 1 else f" (nor {nor} {len(unknown) - 1} more of the file's {len(answers)})"
        yield InputError(f"not in the gold{more}; is this file for another test set?", path=path, line=answer.line,
                         item=answer.key, category="unknown")
    for item in items:
        if (given := answered.get(item.key)) is None:
            continue
        if why := reader.incomparable(item.gold, given.value):
            yield InputError(why, path=path, line=given.line, item=item.key, category="text")
        elif policies.tokens == "reject" and (found := reader.mismatch(item.gold, given.value)):
            yield InputError(f"{found[1]}; mend the file, or let the manifest say tokens = \"warn\"", path=path,
                             line=given.line + found[0], item=item.key, category="text")
    absent = [item for item in items if item.key not in answered] if policies.missing == "reject" else []
    for n, item in enumerate(absent):
        more = "" if n or len(absent) == 1 else f" (one of {len(absent)} such among {len(items)} items)"
        remedy = for_missing(len(absent), len(items), policies.metrics)
        if item is items[0] and header(items, reader) is not None:
            remedy = f"the gold's first line looks like a header: set {as_header(item, reader)} of the test set"
        yield InputError(f"{reader.absent}{more}; {remedy}", path=path, item=item.key, category="missing")


def for_missing(n_missing: int, n_items: int, metrics: Sequence[Metric]) -> str:
    """Say what to do about a file without answers to `n_missing` of `n_items`, where `missing = "reject"` holds."""
    add, many = "add it" if n_missing == 1 else "add them", n_missing >= _MANY * n_items
    without = [metric for metric in metrics if not metric.has_worst]
    policies = []
    if all(hasattr(metric, "worst") for metric in without):
        told = " and ".join(f"the option worst of {metric.name}" for metric in without)
        policies.append('missing = "worst"' + (f" (with {told})" if told else ""))
    if not many:
        policies.append('"drop"' if policies else 'missing = "drop"')
    cost = f'; "drop" would leave out {n_missing} of {n_items} items for all systems' if many else ""
    return add + (f", or let the manifest say {' or '.join(policies)}" if policies else "") + cost


Runs = Sequence[Sequence[Answer | None]]


def joined_runs(items: Sequence[Item], reader: Reader, documents: Sequence[Document], missing: str) -> Runs:
    """Read a submission's runs again; what was let pass when it was brought in is let pass again."""
    policies = Policies(missing, tokens="warn")
    return [join(items, reader.read_answers(document), reader, policies, document.path).answers
            for document in documents]
