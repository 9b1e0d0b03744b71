"""What comparisons found, and comparisons of which nothing is kept."""

from dataclasses import dataclass

from sqlalchemy import Connection

from registry.boards.load import load_leaderboards
from registry.evaluation.comparing.compare import compare
from registry.evaluation.comparing.settings import build_request
from registry.store import catalog
from registry.store.database import Database
from registry.store.log import Journal

RAW = ("submission_a", "submission_b", "difference", "p_value", "log10_p", "ci_low", "ci_high", "n_units",
       "n_discordant", "method")


@dataclass
class Undone:
    """A registry of one task in a transaction that is undone."""

    connection: Connection

    @property
    def task(self):
        return catalog.tasks(self.connection)[0]

    def compare(self, execution=None, **asked):
        """Compare all systems, as the task declares but for what is asked."""
        request = build_request(self.task, asked, execution=execution)
        return compare(self.connection, Journal("compare", asked), self.task, request)

    @property
    def boards(self):
        return load_leaderboards(self.connection, self.task)

    @property
    def pairs(self):
        """The rows of all pairs of all boards, as `registry pairs` has them."""
        return [dict(pair.row) for board in self.boards for pair in board.decisions]


def pairs(db="registry.duckdb"):
    with Database(db).reading() as connection:
        return Undone(connection).pairs


def raw(db="registry.duckdb"):
    return sorted([row[k] for k in RAW] for row in pairs(db))
