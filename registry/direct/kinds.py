"""Recognition of the forms that gold values can have. If several forms are possible, the metric decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from registry.direct.form import Form
from registry.direct.forms import Labels, Numbers, Rankings, Sets, Spans, Tags, Texts, is_collection, to_tags
from registry.errors import InputError
from registry.readers.bio import is_tag


def find_forms(golds: Sequence[Any]) -> list[type[Form]]:
    """Find the data types that gold values can have, such as `Labels` or `Texts`.

    The result is a list with the most likely type first. Example: text values can be labels or texts.

    Raises:
        InputError: The values have no supported type.
    """
    first = next((gold for gold in golds if gold is not None and not (is_collection(gold) and not len(gold))), ())
    if isinstance(first, str):
        return [Labels, Texts]
    if isinstance(first, Mapping):
        return [Rankings]
    if isinstance(first, int | float):
        return [Labels, Numbers] if all(isinstance(gold, int) or gold.is_integer() for gold in golds
                                        if isinstance(gold, int | float)) else [Numbers, Labels]
    if not is_collection(first):
        raise InputError(f"the gold has {type(first).__name__} values, such as {first!r:.60}; expected labels, "
                         "numbers, texts, or lists of spans, tags or answers")
    if not all(isinstance(entry, str) for entry in first):
        if all(is_collection(entry) or isinstance(entry, Mapping) for entry in first):
            return [Spans]
        raise InputError(f"the gold has {first!r:.60}; expected a list of spans (start, end, type), or texts: tags, "
                         "references, or a set of answers")
    if isinstance(first, AbstractSet):
        return [Sets]
    if first and all(is_tag(tag) for gold in golds if is_collection(gold) for tag in gold if isinstance(tag, str)):
        return [Tags, Sets]
    return [Sets, Texts] if first else [Spans]


def require_sets(golds: Sequence[Any], names: Sequence[str], systems: Iterable[Sequence[Any]]) -> None:
    """Check that lists of texts are sets of answers, whose order does not matter.

    Lists of texts are scored as sets. This would be wrong for sequences, such as one tag per token.

    Args:
        golds: The gold value of each item.
        names: The names of the items.
        systems: The values of each system; None for a missing answer.

    Raises:
        InputError: Some values look like tags of spans, but one is invalid; or a list contains a value twice; or the
            lists of all systems are as long as those of the gold.
    """
    lists = {name: gold for name, gold in zip(names, golds, strict=True) if isinstance(gold, list | tuple)}
    values = {value for gold in lists.values() for value in gold}
    if any(map(is_tag, values)) or ("o" in values and any(is_tag(value.upper()) for value in values if "-" in value)):
        for name, gold in lists.items():
            try:
                to_tags(gold)
            except ValueError as error:
                raise InputError(f"{error}; if the values are not tags of tokens, pass sets instead of lists", item=name
                                 ) from None
    advice = ("if the order does not matter, pass sets; if each token has a label, such as its part of speech, pass "
              "one list with the labels of all tokens, and clusters= with the sentence of each token")
    for name, gold in lists.items():
        if len(set(gold)) < len(gold):
            raise InputError(f"a value occurs twice in the list {gold!r:.60}; {advice}", item=name)
    if max(map(len, lists.values()), default=0) > 1 and all(
            isinstance(value, list | tuple) and len(value) == len(gold)
            for values in systems for value, gold in zip(values, golds, strict=True) if value is not None):
        name, gold = next((name, gold) for name, gold in lists.items() if len(gold) > 1)
        raise InputError(f"all lists have the same length as in the gold, such as {gold!r:.60}, so their order may "
                         f"matter; {advice}", item=name)


def require_references_by_item(golds: Sequence[Any], systems: Iterable[Sequence[Any]]) -> None:
    """Check that the gold has one list of references per item.

    Users may give one list per reference instead, because sacrebleu expects this.

    Args:
        golds: The gold value of each item.
        systems: The texts of each system.

    Raises:
        InputError: There is probably one list per reference. Either each list is as long as the output of a system, but
            the number of lists differs from this length; or both numbers are equal, and the texts of the systems
            resemble the gold more under this interpretation.
    """
    n_items = len(golds)
    lengths = {len(gold) for gold in golds if isinstance(gold, list | tuple)}
    if len(lengths) != 1 or not all(isinstance(gold, list | tuple) for gold in golds):
        return
    (length,) = lengths
    if length == n_items > 1:
        by_item = by_reference = 0.0
        for texts in systems:
            for n, text in enumerate(texts[:n_items]):
                by_item += sum(_compute_word_overlap(text, reference) for reference in golds[n])
                by_reference += sum(_compute_word_overlap(text, golds[k][n]) for k in range(length))
        is_transposed = 2 * by_reference > 3 * by_item
    else:
        is_transposed = all(len(texts) == length != n_items for texts in systems)
    if is_transposed:
        raise InputError(f"the gold has {n_items} lists of {length} texts, which seem to be one list per reference; "
                         "pass one list per item: list(zip(*gold))")


def _compute_word_overlap(text: Any, reference: Any) -> float:
    words, reference_words = (set(value.split()) if isinstance(value, str) else set[str]()
                              for value in (text, reference))
    return len(words & reference_words) / max(len(words | reference_words), 1)


def to_plain(value: Any) -> Any:
    """Convert numpy values to Python values, also in nested collections.

    Collections become lists, sets and dicts.
    """
    if hasattr(value, "tolist"):
        return to_plain(value.tolist())
    if isinstance(value, AbstractSet):
        return {tuple(map(to_plain, entry)) if isinstance(entry, tuple) else to_plain(entry) for entry in value}
    if isinstance(value, list | tuple):
        return [*map(to_plain, value)]
    return {key: to_plain(entry) for key, entry in value.items()} if isinstance(value, Mapping) else value
