"""Rows of several boards: what a family beyond a board holds, and what boards do that are families of their own."""

from registry.significance import McNemar
from tests.validity.bands import Rate
from tests.validity.board_examinations import Boards, SharedDraws
from tests.validity.populations import F1, PRECISION, binary, spans
from tests.validity.row import Row

RECALL = ((1, 0, 0), (0, 0, 1))


def boards():
    """As one family boards hold the level together; apart, 20 of them err as often as 20 independent tries do."""
    held, tied = (Rate(0.0, 0.05, "any error"),), binary(150, (0.7,) * 5)
    for n in (5, 20):
        yield Row(f"boards-{n}-holm-together", tied, Boards(McNemar(), "holm", (tied,) * (n - 1)), held, 20_000, 100)
    # one board errs in 2.9 %: 1 - (1 - 0.029)^20 = 0.44
    yield Row("boards-20-holm-apart", tied, Boards(McNemar(), "holm", (tied,) * 19, together=False),
              (Rate(0.35, 0.52, "any error"),), 20_000, 100)
    better = binary(150, (0.64, 0.64, 0.64, 0.9))
    equal = binary(150, (0.7,) * 4)
    # where the primary metric tells one system from the others, the next one is tested on those pairs
    for name, primary, other in (("complete", equal, equal), ("partial", better, equal), ("reversed", equal, better)):
        yield Row(f"boards-gatekeeping-{name}", primary, Boards(McNemar(), "gatekeeping", (other, equal)), held,
                  20_000, 200)
    alike = spans(60, (0.6,) * 3, (0.4,) * 3)
    for method in ("min_p", "max_t"):
        yield Row(f"boards-{method}-metrics", alike, SharedDraws("permutation", method, (F1, PRECISION, RECALL)), held,
                  2000, 50)
