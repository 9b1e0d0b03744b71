"""One file of a submission joined with the gold's items: by key, never by position.

All commands take this path. Every problem goes to `Document.report`, which raises it or collects it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from registry.columns import AnswerColumns, JoinedColumns, as_columns
from registry.errors import InputError
from registry.evaluation.ingest.remarks import Remark, find_header, find_remarks, header_options
from registry.items import Answer, Item, standing_twice
from registry.metrics import Metric
from registry.missing import MissingPolicy
from registry.readers import Document, Reader


@dataclass(frozen=True)
class Policies:
    """How a submission may differ from the gold.

    Attributes:
        missing: What happens to items without an answer.
        tokens: `reject` or `warn`: what happens if its text differs from the gold's.
        metrics: The metrics of the task; remedies depend on them.
    """

    missing: MissingPolicy
    tokens: str = "reject"
    metrics: tuple[Metric, ...] = ()


@dataclass(frozen=True, eq=False)
class FittedFile:
    """A file that fits the gold.

    Attributes:
        answers: The answers, as the file has them.
        joined: The answers to the items.
        remarks: What is surprising about the file.
    """

    answers: Sequence[Answer]
    joined: JoinedColumns
    remarks: list[Remark]


def fit_file(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, policies: Policies, document: Document,
             *, with_gold: bool = True) -> FittedFile | None:
    """Join a file's answers with the items, and find what is surprising about it.

    Args:
        items: The items of the gold, in its order.
        answers: The file's, in any order.
        reader: Of the submission.
        policies: Of the submission.
        document: The file; problems are reported to it.
        with_gold: False if the items are those of a task pack, without their gold.

    Returns:
        The joined file; None if the document has collected a problem.

    Raises:
        InputError: The file does not fit, and the document collects no problems.
    """
    joined = join(items, answers, reader, policies, document)
    if document.problems is not None and document.problems.counts:
        return None
    remarks = find_remarks(items, joined, reader, document.collecting(None), policies.missing,
                           differing=count_differing(items, joined, reader, policies), with_gold=with_gold)
    return FittedFile(answers, joined, list(remarks))


def join(items: Sequence[Item], answers: Sequence[Answer], reader: Reader, policies: Policies,
         document: Document) -> JoinedColumns:
    """Join a file's answers with the items; the arguments are those of `fit_file`.

    Raises:
        InputError: An answer belongs to no item, two belong to the same one, an item has no answer although it needs
            one, or an answer is about another text; and the document collects no problems.
    """
    columns = as_columns(reader.assign(items, answers, document.path))
    joined = JoinedColumns.of_items(columns, items)
    if not (columns.is_numeric and joined.is_one_to_one):
        for problem in find_disagreements(items, columns, joined, reader, policies, document.path):
            document.report(problem)
    if joined.n_missing:
        unanswered = list(compress(items, (~joined.there).tolist()))
        for item, fault, remedy in policies.missing.find_problems(unanswered, len(items), policies.metrics,
                                                                  reader.absent):
            if item is items[0] and find_header(items, reader) is not None:
                remedy = (f"the gold's first line looks like a header: set {header_options(item, reader)} of the test "
                          "set")
            document.report(InputError(f"{fault}; {remedy}", path=document.path, item=item.key, category="missing"))
    return joined


def find_disagreements(items: Sequence[Item], answers: AnswerColumns, joined: JoinedColumns, reader: Reader,
                       policies: Policies, path: str) -> Iterator[InputError]:
    """Yield every reason why answers do not go with the items, except missing ones.

    The error of the first unknown item says how many there are. Of several answers to an item the first is compared
    with it.
    """
    first: dict[str, Answer] = {}
    for answer in answers:
        if (earlier := first.setdefault(answer.key, answer)) is not answer:
            yield standing_twice(answer, earlier, path, reader.repeated)
    if implausible := reader.implausible(items, answers):
        yield InputError(implausible[1], path=path, line=implausible[0], category="order")
    known = {item.key for item in items}
    unknown = [] if reader.ignores_others else [answer for answer in answers if answer.key not in known]
    if unknown and unknown[0] == answers[0] and find_header(answers, reader) is not None:
        remedy = f"set {header_options(unknown[0], reader)}, or take the line out"
        yield InputError(f"not in the gold, but like a header; {remedy}", path=path, line=unknown[0].line,
                         item=unknown[0].key, category="header")
        del unknown[0]
    for n, answer in enumerate(unknown):
        nor = "is" if len(unknown) == 2 else "are"
        more = "" if n or len(unknown) == 1 else f" (nor {nor} {len(unknown) - 1} more of the file's {len(answers)})"
        yield InputError(f"not in the gold{more}; is this file for another test set?", path=path, line=answer.line,
                         item=answer.key, category="unknown")
    for item, given in zip(items, joined, strict=True):
        if given is None:
            continue
        if why := reader.incomparable(item.gold, given.value):
            yield InputError(why, path=path, line=given.line, item=item.key, category="text")
        elif policies.tokens == "reject" and (mismatch := reader.mismatch(item.gold, given.value)):
            yield InputError(f"{mismatch[1]}; mend the file, or let the manifest say tokens = \"warn\"", path=path,
                             line=given.line + mismatch[0], item=item.key, category="text")


def count_differing(items: Sequence[Item], joined: JoinedColumns, reader: Reader, policies: Policies) -> int:
    """Count the answers to a text that differs from the gold's, which the policy `warn` accepts."""
    if policies.tokens == "reject" or type(reader).mismatch is Reader.mismatch:
        return 0
    return sum(answer is not None and reader.mismatch(item.gold, answer.value) is not None
               for item, answer in zip(items, joined, strict=True))


def join_again(items: Sequence[Item], reader: Reader, documents: Sequence[Document],
               missing: MissingPolicy) -> list[JoinedColumns]:
    """Read an accepted submission's runs again, and join them with the items."""
    policies = Policies(missing, tokens="warn")
    return [join(items, reader.read_answers(document), reader, policies, document) for document in documents]
