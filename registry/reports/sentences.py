"""What a comparison supports and what it does not, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, text

from registry.errors import counted
from registry.reports.plan import too_few_draws
from registry.reports.table import p_value
from registry.significance import CORRECTIONS, TESTS
from registry.significance.multiplicity import draws_needed
from registry.store.catalog import AnyRow
from registry.values import parse

_STRETCHES = 4  # that one sentence names


def sentences(connection: Connection, signature: str) -> tuple[str, ...]:
    """Say what the latest comparison with a signature supports."""
    row = connection.execute(text("""
        WITH decided AS (
            SELECT comparison_id, count_if(is_significant) AS won, count_if(NOT is_resolved) AS open
            FROM comparison_pair GROUP BY comparison_id
        ),
        stood AS (SELECT comparison_id, list(runs ORDER BY runs DESC) AS most_runs FROM standing GROUP BY comparison_id)
        SELECT l.*, stood.most_runs, decided.won, decided.open, o.test AS overall, o.statistic, o.degrees, o.p_value
        FROM latest_comparison AS l
        JOIN stood USING (comparison_id)
        LEFT JOIN decided USING (comparison_id)
        LEFT JOIN overall_result AS o USING (comparison_id)
        WHERE signature = :signature"""), {"signature": signature}).one()
    if row.n_systems == 1:
        return ("One system: there is nothing to compare.",)
    said = [_counted(row)]
    if row.overall is not None:
        said.append(f"All systems at once: {row.overall} {row.statistic:.2f} with "
                    f"{counted(row.degrees, 'degree')} of freedom, p = {p_value(row.p_value)}.")
    if row.open:
        said.append(f"{row.open} of these decisions {'hangs' if row.open == 1 else 'hang'} on Monte-Carlo error: draw "
                    "more with --resamples or --resolve.")
    return (*said, *(_hopeless(row) or _few_draws(connection, row)))


def _counted(row: AnyRow) -> str:
    """How many differences are significant, by what."""
    correction = CORRECTIONS[row.correction]
    corrected = "uncorrected" if row.correction == "none" else f"after {correction.title}"
    level = "a false discovery rate of " if correction.controls == "false discovery rate" else ""
    one_sided = _sided(row) or parse("test", TESTS, row.test).is_one_sided
    sure = "" if correction.controls == "family-wise error" and not one_sided else "; rank ranges are descriptive"
    units = counted(row.n_units, row.unit)
    if row.runs == "random":
        units = "whole runs" if row.test == "permutation" else f"{units} and runs"
    differences = f"{counted(row.family_size, 'difference')} {'is' if 1 in (row.won, row.family_size) else 'are'}"
    return (f"{row.won} of {differences} significant at {level}{row.alpha:g} {corrected} ({row.test} "
            f"over {units}{_sided(row)}){sure}.")


def _sided(row: AnyRow) -> str:
    return "" if row.alternative == "two-sided" else f", one-sided ({row.alternative})"


def _hopeless(row: AnyRow) -> Sequence[str]:
    """Say that no difference can be significant, where so few units or runs leave no p-value that is small enough."""
    units, least = counted(row.n_units, row.unit), 2.0 ** ((not _sided(row)) - row.n_units)
    if row.runs == "random":
        most, second = row.most_runs[:2]
        units = f"{most} and {second} runs"
        least = (2 if not _sided(row) and most == second else 1) / math.comb(most + second, most)
    first_by_all = row.correction in ("holm", "bonferroni", "shaffer")  # the others can reject all pairs together
    needed = row.alpha / (row.family_size if first_by_all else 1)
    if row.test == "permutation" and least > needed:
        return (f"With {units} no p-value can be below {least:g}, so no difference can be significant here; that says "
                "nothing about the systems.",)
    return ()


def _few_draws(connection: Connection, row: AnyRow) -> Sequence[str]:
    """Say that no drawn difference can be significant, where the corrected p-values of so few draws are too large."""
    results = connection.execute(text("""
        SELECT r.p_value, r.method = 'monte-carlo' AS drawn, r.resamples
        FROM comparison_pair JOIN pair_result AS r USING (pair_result_id)
        WHERE comparison_id = :comparison ORDER BY position"""), {"comparison": row.comparison_id}).all()
    p = np.array([of.p_value for of in results], dtype=np.float64)
    by_pair = CORRECTIONS[row.correction].function is not None  # else all rest on joint draws
    drawn = np.array([of.drawn or not by_pair for of in results], dtype=bool) & ~np.isnan(p)
    if not drawn.any():
        return ()
    draws = max(of.resamples or row.resamples for of, is_drawn in zip(results, drawn, strict=True) if is_drawn)
    p = np.where(drawn, np.nan, np.where(np.isnan(p), 1.0, p))
    needed = draws_needed(p, row.correction, row.alpha, parse("test", TESTS, row.test).least_p)
    return (too_few_draws(int(drawn.sum()), len(p), draws, needed),) if needed > draws else ()


def separable(names: Sequence[str], runs: Sequence[tuple[int, int]], won: int, settings: AnyRow) -> str:
    """Say which systems are told apart, and which are not.

    Args:
        names: Of the ranked systems, best first; at least two.
        runs: The longest stretches of systems of which no two are told apart, by their first and last place from 0.
        won: How many systems the first one beats.
        settings: Of the comparison, a row of `latest_comparison`.
    """
    corrected = "" if settings.correction == "none" else f" after {CORRECTIONS[settings.correction].title}"
    over = f"at {100 * settings.alpha:g} %{corrected} over {counted(settings.family_size, 'pair')}"
    if (0, len(names) - 1) in runs:
        return f"No two systems are separable {over}."
    stretches = [f"{first + 1} to {last + 1}" for first, last in runs]
    if len(stretches) > _STRETCHES:
        stretches = [*stretches[:_STRETCHES], "others"]
    apart = " and ".join(filter(None, (", ".join(stretches[:-1]), *stretches[-1:])))
    if won == len(names) - 1:
        said = [f"{names[0]} is better than every other system"]
    elif runs and runs[0][0] == 0:
        said = []
    else:
        said = [f"{names[0]} is better than {names[1]}, and than {won} of {len(names) - 1} systems in all"]
    said += [f"ranks {apart} are not separable"] if apart else []
    sentence = "; ".join(said)
    return (sentence if said[0].startswith(names[0]) else sentence.capitalize()) + f" {over}."
