"""What the tests' pages hold: two metrics, one with a facet, a system without a score; items of labels and texts."""

from dataclasses import replace
from datetime import datetime

from registry.boards.details import (
    Cell,
    Confusions,
    Details,
    DistinctiveItem,
    DistinctiveItems,
    History,
    NewBest,
    PairRegions,
    Regions,
    Runs,
    Version,
)
from registry.boards.items import ItemView, KnownAnswer, SystemOutput
from registry.boards.results import describe_result
from registry.boards.snapshot import TaskAbout, TaskBoards
from registry.manifest.spec import Task
from tests.reports.boards import leaderboard

NAMES = ("oak", "elm", "ash", "fir")


def speaking(of, text, address="https://example.org/a"):
    """Contents whose task and systems say a text of themselves wherever they can, as if no manifest had checked it."""
    declared = Task.model_construct(id="task", title=text, version=text, description=text, url=address, licence=text,
                                    organisers=[text], contact=text, citation=text, date=text, cost_unit=text)
    facts = {"description": text, "licence": text, "paper": address, "code": address, "size": 7e9, "cost": 0.25,
             text: text, "__proto__": 1}
    boards = [replace(board, standings=tuple(replace(at, attributes=facts) for at in board.standings),
                      declared_title=text) for board in of.boards]
    return replace(of, boards=boards, about=TaskAbout(declared, "2026-11-20", {text: text}, {text: text}))


def contents(names=NAMES, items=()):
    """Accuracy on all items and on those of news, and precision; by accuracy the last system has no score."""
    scores = [*(0.9 - n / 10 for n in range(len(names) - 1)), None]
    board = leaderboard(names, scores)
    boards = [board, replace(board, facet="domain=news", signature="acc|facet:domain=news"),
              replace(leaderboard(names[::-1]), metric="p", signature="p|task")]
    boards = [replace(board, result=describe_result(board)) for board in boards]
    return TaskBoards("task", "A task", "1", "acc", boards, TaskAbout(Task(id="task")), items=items)


def detailed(of, label="yes"):
    """The contents with details: the first system has two versions and two runs, and took the lead from the second."""
    (first, team), (second, other) = ((one.system, one.team) for one in of.boards[0].standings[:2])
    times = [datetime(2026, 3, day) for day in (1, 9)]
    return replace(of, details=Details(
        [Version("test", team, first, version, at, late, score)
         for version, at, late, score in zip("12", times, (False, True), (0.75, 0.9), strict=True)],
        [Runs("test", team, first, "acc", (0.8, 1.0), (label, "run 2"))],
        [Regions("test", 10, False, (PairRegions((team, first), (other, second), 3, 1, 2, 4, 5, 0.5),))],
        [Confusions("test", False, (label, "no"), (6, 4), {
            (team, first): (Cell(0, 0, 5), Cell(0, 1, 1), Cell(1, 1, 3), Cell(1, None, 1))})],
        [DistinctiveItems("test", None, team, first, 1, 0, True, (DistinctiveItem("i1", 1.0, 0.25, True, True),))],
        [History(of.boards[0].key, 3, (NewBest(times[0], other, second, second, 1, 0.8),
                                       NewBest(times[1], team, first, first, 0, 0.9, True, 0.003, (label,))))]))


def item(name, kind, golds, given, **more):
    """An item of test set test: what the golds and every system say; systems' scores are 1, 0.8, ...."""
    said = [SystemOutput(source, **what) for source, what in golds]
    said += [SystemOutput("system", of, of, 0, scores={"acc": 1 - n / 5, "p": 0.5}, **what)
             for n, (of, what) in enumerate(given.items())]
    return ItemView("task", "test", name, "acc", kind, said, **more)


def sets(name, kind, known, given, **more):
    """An item whose responses are sets, told by the places of their answers among those that are known."""
    gold = [n for n, of in enumerate(known) if of.in_gold]
    return item(name, kind, [("gold", {"said": gold})], {of: {"said": said} for of, said in given.items()}, known=known,
                **more)


def labels(name, gold, given, facets=(), tracks=None):
    """An item with one label: the gold's, and that of every system; the other metric gives half of the first."""
    names = list(dict.fromkeys([gold, *given.values()]))
    said = [SystemOutput("gold", said=[0])] + [SystemOutput(
        "system", of, of, 0, said=[names.index(label)], score=float(label == gold), track=(tracks or {}).get(of),
        scores={"acc": float(label == gold), "p": (label == gold) / 2}) for of, label in given.items()]
    return ItemView("task", "test", name, "acc", "label", said, facets=facets,
                    known=[KnownAnswer(label, in_gold=label == gold) for label in names])


def translations(name, references, given):
    """An item of text: its references by their names, and what every system writes."""
    said = [SystemOutput(of, text=text) for of, text in references.items()]
    scores = {"acc": 0.5, "p": 0.5}
    said += [SystemOutput("system", of, of, 0, text=text, score=0.5, scores=scores) for of, text in given.items()]
    return ItemView("task", "test", name, "acc", "text", said)


ITEMS = [labels("i1", "yes", {"oak": "yes", "elm": "no", "ash": "yes", "fir": "no"}),
         labels("i2", "no", {"oak": "no", "elm": "yes", "ash": "no", "fir": "no"})]
