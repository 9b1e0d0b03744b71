"""What a comparison will do, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.errors import counted, listed
from registry.evaluation.comparing.plan import BoardPlan, Plan
from registry.messages import Message
from registry.significance.base import Method
from registry.significance.multiple import explain_too_few_units

_SAID: dict[Method, str] = {"exact": "exact", "ideal": "ideal (the limit of all resamples)",
                            "asymptotic": "by a formula", "bound": "by a bound", "monte-carlo": "drawn"}


def planned_sentences(plan: Plan, *, in_full: bool) -> Iterator[str]:
    """Say what a comparison will do, where all is to be told, and what it cannot do."""
    if in_full and plan.n_new_pairs:
        yield _sentence(plan)
    for warning in _warnings(plan):
        yield f"warning: {warning}"


def _sentence(plan: Plan) -> str:
    """Say what a comparison will do, and how much memory it takes."""
    boards = [board for board in plan.boards if board.n_new_pairs]
    systems = [board.n_systems for board in boards]
    of = counted(systems[0], "system") if len(set(systems)) == 1 else f"{min(systems)} to {max(systems)} systems"
    return (f"plan: {counted(len(boards), 'board')} of {of}, {plan.n_new_pairs:,} "
            f"{'pair' if plan.n_new_pairs == 1 else 'pairs'}: {_how(plan)}; about {plan.n_bytes / 2**30:.1f} GiB")


def _warnings(plan: Plan) -> Iterator[str]:
    """Say what a comparison cannot do: tell any drawn pair apart, or keep within the memory that it may take."""
    if plan.n_new_pairs and plan.n_bytes > plan.memory:
        yield (f"about {plan.n_bytes / 2**30:.1f} GiB of memory are needed, more than the "
               f"{plan.memory / 2**30:.1f} GiB that --memory allows")
    alike: dict[Message, list[str]] = {}
    for board, needed in plan.find_boards_with_few_units():
        few = explain_too_few_units(board.n_units, needed, board.settings.unit or "item", two_sided=board.is_two_sided)
        alike.setdefault(few, []).append(board.key.name)
    for family in plan.find_infeasible_families():
        few = Message("too-few-resamples", {
            "simulated": family.n_simulated, "differences": family.n_pairs,
            "resamples": family.board.max_resamples, "needed": family.required_resamples})
        alike.setdefault(few, []).append(family.board.key.name)
    for message, names in alike.items():
        yield f"{listed(names, 1)}: {message}"


def _how(plan: Plan) -> str:
    """How many pairs come about how, and why some are drawn that are not elsewhere."""
    numbers = {said: n for method, said in _SAID.items() if (n := plan.count_by_method(method))}
    if "drawn" in numbers:
        why = f" as {' and '.join(plan.simulation_reasons)}" if plan.simulation_reasons else ""
        numbers[f"drawn {_times([board for board in plan.boards if board.n_simulated])}{why}"] = numbers.pop("drawn")
    if len(numbers) == 1:
        return f"all {next(iter(numbers))}"
    return "about " + ", ".join(f"{n:,} {said}" for said, n in numbers.items())


def _times(boards: Sequence[BoardPlan]) -> str:
    """How often pairs are drawn, and how often those whose decision that leaves open."""
    first, most = {board.settings.draws for board in boards}, max(board.max_resamples for board in boards)
    more = f" (undecided pairs up to {most:,})" if most > min(first) else ""
    return f"{' to '.join(f'{n:,}' for n in sorted({min(first), max(first)}))} times{more}"
