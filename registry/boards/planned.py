"""Sentences about a planned comparison: its size, its cost, and warnings."""

from __future__ import annotations

from collections.abc import Iterator

from registry.errors import counted, listed
from registry.evaluation.comparing.plan import Plan
from registry.messages import Message
from registry.significance.base import Method
from registry.significance.multiple import explain_too_few_units

_METHODS: dict[Method, str] = {"exact": "exact", "ideal": "ideal (the limit of all resamples)",
                               "asymptotic": "by a formula", "bound": "by a bound", "monte-carlo": "simulated"}


def describe_plan(plan: Plan, *, in_full: bool) -> Iterator[str]:
    """Yield lines about a planned comparison: its size, its methods, and warnings.

    Args:
        plan: The planned comparison.
        in_full: False to yield only warnings.
    """
    if in_full and plan.n_new_pairs:
        boards = [board for board in plan.boards if board.n_new_pairs]
        sizes = [board.n_systems for board in boards]
        systems = counted(sizes[0], "system") if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)} systems"
        yield (f"plan: {counted(len(boards), 'board')} of {systems}, {plan.n_new_pairs:,} "
               f"{'pair' if plan.n_new_pairs == 1 else 'pairs'}: {_describe_methods(plan)}; "
               f"about {plan.n_bytes / 2**30:.1f} GiB")
    for warning in _list_warnings(plan):
        yield f"warning: {warning}"


def _list_warnings(plan: Plan) -> Iterator[str]:
    if plan.n_new_pairs and plan.n_bytes > plan.memory:
        yield (f"about {plan.n_bytes / 2**30:.1f} GiB of memory are needed, more than the "
               f"{plan.memory / 2**30:.1f} GiB that --memory allows")
    boards: dict[Message, list[str]] = {}
    for board, required in plan.find_boards_with_few_units():
        message = explain_too_few_units(board.n_units, required, board.settings.unit or "item",
                                        two_sided=board.is_two_sided)
        boards.setdefault(message, []).append(board.key.name)
    for family in plan.find_infeasible_families():
        message = Message("too-few-resamples", {"simulated": family.n_simulated, "differences": family.n_pairs,
                                                "resamples": family.board.max_resamples,
                                                "needed": family.required_resamples})
        boards.setdefault(message, []).append(family.board.key.name)
    for message, names in boards.items():
        yield f"{listed(names, 1)}: {message}"


def _describe_methods(plan: Plan) -> str:
    """Say how many p-values are exact, asymptotic or simulated, and why."""
    counts = {phrase: n for method, phrase in _METHODS.items() if (n := plan.count_by_method(method))}
    if (n_simulated := counts.pop("simulated", 0)):
        boards = [board for board in plan.boards if board.n_simulated]
        first, most = {board.settings.draws for board in boards}, max(board.max_resamples for board in boards)
        resamples = " to ".join(f"{n:,}" for n in sorted({min(first), max(first)}))
        undecided = f" (undecided pairs up to {most:,})" if most > min(first) else ""
        reasons = f" because {' and '.join(plan.simulation_reasons)}" if plan.simulation_reasons else ""
        counts[f"simulated with {resamples} resamples{undecided}{reasons}"] = n_simulated
    if len(counts) == 1:
        return f"all {next(iter(counts))}"
    return "about " + ", ".join(f"{n:,} {phrase}" for phrase, n in counts.items())
