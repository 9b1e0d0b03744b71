"""Agreement of annotators, from a file or values to a table of coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from registry.direct.advice import name_arguments
from registry.direct.files import describe_question
from registry.direct.ratings import NamedRatings, RatingOptions, read_ratings
from registry.errors import InputError, counted
from registry.manifest import Significance, update_significance
from registry.messages import Message, Messages
from registry.quick.plan import QuestionError
from registry.rendering.render import TableDisplay
from registry.rendering.table import Column, Row, Table, format_interval, make_number_format
from registry.significance import Settings
from registry.significance.agreement import (
    ICC_NAMES,
    LEAST_SHARED,
    LEAST_UNITS,
    Estimate,
    measure_agreement,
    measure_categories,
    measure_pairs,
    measure_without_annotators,
)

By = Literal["annotator", "pair", "category"]

RESAMPLES, SEED = 10_000, 1
_DECIMALS = 3
_KEYS = ("coefficient", "level", "annotator", "other_annotator", "category", "value", "ci_low", "ci_high", "confidence",
         "items", "annotators", "resamples", "seed")
_MEANING = ("Alpha is 1 if all values of an item agree, and 0 if they agree as values of random items do. Krippendorff "
            "(2004) requires at least .800, or .667 for tentative conclusions.")


@dataclass(frozen=True, repr=False)
class Agreement(TableDisplay):
    """Agreement of annotators: coefficients with confidence intervals.

    `print` shows them as a table, and so do notebooks.

    Attributes:
        rows: The coefficients, as dictionaries: `coefficient`, `level`, `annotator`, `other_annotator` and `category`
            (None if the coefficient is not about one), `value`, `ci_low`, `ci_high` (None if undefined), `confidence`,
            `items` (with two or more ratings), `annotators`, `resamples` and `seed`. The first one is Krippendorff's
            alpha.
        by: What the further rows are about: `annotator`, `pair` or `category`; None without such rows.
        messages: Warnings and notes with codes; `str(message)` is the text.
        read_as: The options of `registry agreement` that read the same columns.
        notes: Sentences about values that look like missing ones.
    """

    rows: Sequence[Row]
    by: By | None
    messages: Messages
    read_as: str
    notes: tuple[str, ...] = ()
    _resampling: str = ""

    @property
    def alpha(self) -> float:
        """Krippendorff's alpha."""
        value: float = self.rows[0]["value"]
        return value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The confidence interval of alpha; None if there is none."""
        low, high = self.rows[0]["ci_low"], self.rows[0]["ci_high"]
        return None if low is None else (low, high)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        row = self.rows[0]
        interval = f", {100 * row['confidence']:g} % CI {_format_interval(row)}" if self.interval else ""
        return (f"Krippendorff's alpha ({row['level']}) is {self.alpha:z.{_DECIMALS}f}{interval}: "
                f"{counted(row['items'], 'item')}, {counted(row['annotators'], 'annotator')}")

    @property
    def _table(self) -> Table:
        return make_agreement_table(self)


def make_agreement_table(agreement: Agreement) -> Table:
    """Return the coefficients as a table, with the answer in its title."""
    number = make_number_format(_DECIMALS)
    names = {"annotator": ("annotator",), "pair": ("annotator", "other_annotator"), "category": ("category",)}
    subjects = [Column(key, key.replace("_", " "), lambda value: value or "", is_name=True)
                for key in (names[agreement.by] if agreement.by else ())]
    rows = [{**row, "interval": _format_interval(row) or "n/a"} for row in agreement.rows]
    columns = [Column("coefficient", "coefficient"), *subjects, Column("value", "value", number, right=True),
               Column("interval", f"{100 * agreement.rows[0]['confidence']:g} % CI", right=True),
               Column("items", "items", lambda items: f"{items:,}", right=True)]
    return Table(rows, columns, agreement.sentence, [_MEANING, agreement._resampling], _KEYS,
                 notes=[message.sentence for message in agreement.messages])


def _format_interval(row: Row) -> str:
    return format_interval(row["ci_low"], row["ci_high"], _DECIMALS)


def compute_agreement(data: Any, options: RatingOptions, by: By | None, settings: Mapping[str, Any]) -> Agreement:
    """Compute the agreement of annotators.

    Args:
        data: The path of a file, a data frame, or a dictionary of columns.
        options: Columns and values of the table.
        by: What further rows are about.
        settings: Values of `resamples`, `seed` and `confidence`; None is the default.

    Raises:
        InputError: The data or a setting is invalid.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    chosen = update_significance(Significance(), {"resamples": RESAMPLES, "seed": SEED} | given)
    named = read_ratings(data, options)
    kernel_settings = Settings(resamples=chosen.draws, seed=chosen.seed or 0, confidence=chosen.confidence)
    _check_by(named, by)
    estimates = measure_agreement(named.ratings, kernel_settings)
    rows = [_make_row(estimate, named, kernel_settings) for estimate in estimates]
    if by is not None:
        further = list(_measure_by(named, by, kernel_settings))
        estimates += [estimate for estimate, _ in further]
        rows += [_make_row(estimate, named, kernel_settings, **names) for estimate, names in further]
    paired = named.ratings.drop_unpaired()
    n_units = paired.n_items if paired.clusters is None else int(paired.clusters.max()) + 1
    unit = "item" if paired.clusters is None else "cluster"
    resampling = (f"Intervals say how coefficients vary over other {unit}s, with these annotators (BCa bootstrap, "
                  f"{chosen.draws:,} resamples of {counted(n_units, unit)}, seed {chosen.seed}).")
    messages = [*_list_messages(named, estimates, n_units, unit)]
    n_pairs = math.comb(len(named.annotators), 2) - sum(row["other_annotator"] is not None for row in rows)
    if by == "pair" and n_pairs:
        messages.append(Message("unshared-items", {"pairs": n_pairs, "least": LEAST_SHARED}))
    return Agreement(rows, by, Messages(messages), named.read_as, named.notes, resampling)


def _check_by(named: NamedRatings, by: By | None) -> None:
    """Check that the further rows can be computed.

    Raises:
        InputError: They do not fit the ratings.
    """
    if by == "annotator" and len(named.annotators) == 2:
        raise InputError("there are only two annotators; alpha without each annotator needs three or more")
    if by == "category" and named.ratings.level not in ("nominal", "ordinal"):
        raise InputError(f"agreement by category needs categories, but the level is {named.ratings.level}; use --level "
                         "nominal or --level ordinal")


def _measure_by(named: NamedRatings, by: By, settings: Settings) -> Iterator[tuple[Estimate, dict[str, Any]]]:
    """Yield further estimates, with the entries of their rows."""
    n = len(named.annotators)
    if by == "annotator":
        for estimate, name in zip(measure_without_annotators(named.ratings, settings), named.annotators, strict=True):
            yield estimate, {"coefficient": "alpha without the annotator", "annotator": name, "annotators": n - 1}
    elif by == "pair":
        for (a, b), estimate in measure_pairs(named.ratings, settings).items():
            yield estimate, {"coefficient": "alpha of the pair", "annotator": named.annotators[a],
                             "other_annotator": named.annotators[b], "annotators": 2}
    else:
        for estimate, name in zip(measure_categories(named.ratings, settings), named.categories, strict=True):
            yield estimate, {"coefficient": "alpha against the rest", "category": name}


def _make_row(estimate: Estimate, named: NamedRatings, settings: Settings, **names: Any) -> dict[str, Any]:
    value, low, high = (None if math.isnan(number) else number for number in (
        estimate.value, estimate.low, estimate.high))
    level = "nominal" if "category" in names else named.ratings.level
    return {"coefficient": estimate.coefficient, "level": level, "annotator": None,
            "other_annotator": None, "category": None, "value": value, "ci_low": low, "ci_high": high,
            "confidence": settings.confidence, "items": estimate.n_items, "annotators": len(named.annotators),
            "resamples": settings.resamples, "seed": settings.seed} | names


def _list_messages(named: NamedRatings, estimates: Sequence[Estimate], n_units: int, unit: str) -> Iterator[Message]:
    ratings = named.ratings
    paired = ratings.drop_unpaired()
    if n_units < LEAST_UNITS:
        yield Message("few-units-agreement", {"units": n_units, "unit": unit, "least": LEAST_UNITS})
    no_interval = [estimate for estimate in estimates if math.isnan(estimate.low) and not math.isnan(estimate.value)]
    if constant := sum(estimate.is_constant for estimate in no_interval):
        yield Message("constant-agreement", {"coefficients": constant, "unit": unit})
    if len(no_interval) > constant:
        yield Message("undefined-agreement", {
            "coefficients": len(no_interval) - constant, "unit": unit,
            "percent": 100 * max(estimate.undefined for estimate in no_interval)})
    if n := ratings.n_items - paired.n_items:
        yield Message("unpaired-items", {"items": n})
    computed = {estimate.coefficient for estimate in estimates}
    if ratings.level == "nominal" and "Fleiss' kappa" not in computed:
        yield Message("unequal-ratings")
    if ratings.level in ("interval", "ratio") and ICC_NAMES[0] not in computed:
        yield Message("incomplete-ratings")


def compute_agreement_of_values(data: Any, options: RatingOptions, by: By | None,
                                settings: Mapping[str, Any]) -> Agreement:
    """Compute the agreement of annotators for `registry.compute_agreement`; errors name its arguments."""
    try:
        result = compute_agreement(data, options, by, settings)
        return replace(result, notes=tuple(map(name_arguments, result.notes)))
    except InputError as error:
        is_file = isinstance(data, str | Path)
        message = name_arguments(error.message)
        if isinstance(error, QuestionError):
            message = describe_question(error).message
        if is_file and message == error.message:
            raise
        raise InputError(message, path=error.path if is_file else None,
                         line=error.line if is_file else None, item=error.item) from None
