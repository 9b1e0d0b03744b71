"""Records of Every Eval Ever: aggregate scores, and the samples from which these come.

Only samples can be compared: a score without them is told, and left out. Records that a registry wrote become its task
again (`registry.importers.every_eval_ever.task`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from registry.errors import InputError, counted
from registry.importers.every_eval_ever.record_format import SAMPLES, TASK
from registry.importers.every_eval_ever.records import Record, Result, Sample, read_record
from registry.importers.every_eval_ever.task import recorded_task
from registry.importers.files import Place, check_known, find_files
from registry.importers.scored import Better, Collected, Run, ScoredImporter, mean, standing_twice
from registry.manifest.folder import TaskFolder

_SHOWN = 10  # of what is told of many
_ALMOST = 1e-6  # relative: how far a score may be from its samples' mean

Runs = dict[str, Run]


class _Evaluated(NamedTuple):
    """What one record says of one test set."""

    record: Record
    result: Result
    runs: Runs


class EveryEvalEver(ScoredImporter):
    """Every Eval Ever: aggregate records with their samples.

    Attributes:
        benchmarks: The names of evaluations to take; without any all.
        metrics: The metrics to take, by id, else by name; without any all.
        repeated: Several records of one model and benchmark: `reject` them, take the `latest`, or all as `runs`.
    """

    name = "every-eval-ever"

    benchmarks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    repeated: Literal["reject", "latest", "runs"] = "reject"

    def read(self, path: Path) -> TaskFolder:
        """Make a test set of every benchmark and metric; of a registry's own records its task."""
        collected = Collected(path, self.missing, self.better)
        records, notes = _without_copies([
            read_record(file, collected)
            for file in find_files(path, lambda name: name.endswith(".json"), "record (*.json)")])
        tasks = {record.details.get(TASK, "") if record.details else "" for record in records}
        if len(tasks) == 1 and "" not in tasks and any(record.samples for record in records) and not (
                self.benchmarks or self.metrics or self.better):
            return recorded_task(records, collected.digests, notes)
        if tasks - {""}:
            notes.append("records of a registry stand beside others, or some of them are chosen: what their metrics "
                         "count in items is passed over; import them apart to have their boards again")
        return self._collected(records, collected, notes)

    def _collected(self, records: Sequence[Record], collected: Collected, notes: list[str]) -> TaskFolder:
        """Put together the scores of items by test set, model and run."""
        names = _test_sets(records)
        every = [of for results in names for of in results]
        check_known(self.benchmarks, {of.evaluation for of in every}, "benchmark", collected.path)
        check_known(self.metrics, {of.metric for of in every}, "metric", collected.path)
        found: dict[tuple[str, str], list[_Evaluated]] = defaultdict(list)
        bare, unlike = list[str](), list[str]()
        items = _Items()
        for record, results in zip(records, names, strict=True):
            chosen = {of: name for of, name in results.items() if of.evaluation in (self.benchmarks or (of.evaluation,))
                      and of.metric in (self.metrics or (of.metric,))}
            for of, runs in _runs(record, chosen, items, told=bool(self.metrics)).items():
                if runs:
                    found[chosen[of], record.model].append(_Evaluated(record, of, runs))
                    unlike += _unlike(record.model, chosen[of], of, runs)
                else:
                    bare.append(f"{record.model} on {chosen[of]}: {of.shown}")
        if not found:
            raise InputError(f"no record has samples (*{SAMPLES} beside it) that say which score they belong to, and "
                             "scores alone cannot be tested" + (f": {_some(bare)}" if bare else ""),
                             path=collected.path)
        self._add(found, collected)
        return collected.imported(notes=(*notes, *_told(bare, unlike, items)))

    def _add(self, found: Mapping[tuple[str, str], list[_Evaluated]], collected: Collected) -> None:
        """Add the scores of the evaluations that are taken."""
        better: dict[str, Better] = {}
        for (name, model), evaluated in found.items():
            several = self._of_one_model(evaluated)
            for n, of in enumerate(several, 1):
                direction: Better = "lower" if of.result.lower else "higher"
                if better.setdefault(name, direction) != direction and self.better is None:
                    raise of.record.place.error(f"{direction} scores of {name!r} are better here, and "
                                                f"{better[name]} ones in other records; set the option 'better'")
                for run, scores in of.runs.items():
                    collected.add(name, model, f"{n}.{run}" if len(several) > 1 else run, scores, direction)

    def _of_one_model(self, evaluated: Sequence[_Evaluated]) -> list[_Evaluated]:
        """The evaluations of one model on one test set that are taken: one, or with `runs` all."""
        distinct: list[_Evaluated] = []
        for of in evaluated:
            if not any(of.record.timestamp == other.record.timestamp and _scores(of) == _scores(other)
                       for other in distinct):
                distinct.append(of)
        if len(distinct) == 1 or self.repeated == "runs":
            return distinct
        first, second = distinct[:2]
        if self.repeated == "reject":
            raise second.record.place.error(
                f"another evaluation of {second.record.model!r} on {second.result.evaluation!r} than in "
                f"{first.record.place.path}; take the latest or all as runs with --option repeated=latest or runs",
                category="duplicate")
        distinct.sort(key=lambda of: of.record.moment)
        if distinct[-1].record.moment == distinct[-2].record.moment:
            raise distinct[-1].record.place.error(
                f"as late as {distinct[-2].record.place.path}, with other scores; keep one", category="duplicate")
        return distinct[-1:]


class _Items:
    """What samples say of items: those of one name have to be the same.

    Attributes:
        unlike: The items whose inputs are not, by test set and name.
        unclear: The records whose samples do not say which of several scores they belong to.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, tuple[str, ...], Place]] = {}
        self.unlike: dict[tuple[str, str], None] = {}
        self.unclear: dict[str, None] = {}

    def check(self, test_set: str, sample: Sample) -> None:
        """Refuse an item with another reference than before, and note one with another input."""
        now = hash(sample.said), sample.reference, sample.place
        said, reference, first = self._known.setdefault((test_set, sample.item), now)
        if reference != sample.reference:
            raise sample.place.error(f"another reference than in {first.path}: this is not the same sample",
                                     sample.item, category="text")
        if said != now[0]:
            self.unlike[test_set, sample.item] = None


def _without_copies(records: Iterable[Record]) -> tuple[list[Record], list[str]]:
    """Records without those that stand twice, and what is to be said of these."""
    known: dict[str, Record] = {}
    copies = 0
    for record in records:
        first = known.setdefault(record.evaluation_id, record)
        if first is record:
            continue
        if (record.content, record.digest) != (first.content, first.digest):
            raise record.place.error(f"the evaluation {record.evaluation_id[:100]!r} with other content than in "
                                     f"{first.place.path}; keep one", category="duplicate")
        copies += 1
    said = counted(copies, "record is there twice, and taken once", "records are there twice, and taken once")
    return list(known.values()), [said] * (copies > 0)


def _test_sets(records: Sequence[Record]) -> list[dict[Result, str]]:
    """What the test sets of every record's results are called: evaluation and metric, and what else tells two apart."""
    sources: dict[str, set[tuple[str, str]]] = defaultdict(set)
    several: set[tuple[str, str]] = set()
    for record in records:
        kinds = [(of.evaluation, of.dataset, of.split, of.metric) for of in record.results]
        several |= {(of[0], of[3]) for of in kinds if kinds.count(of) > 1}
        for of in record.results:
            sources[of.evaluation].add((of.dataset, of.split))
    names = []
    for record in records:
        named: dict[str, Result] = {}
        for of in record.results:
            source = (of.dataset, of.split) if len(sources[of.evaluation]) > 1 else ()
            parameters = of.parameters if (of.evaluation, of.metric) in several else ""
            name = ".".join(filter(None, (of.evaluation, *source, of.metric, parameters)))
            if name in named:
                raise record.place.error(f"two scores of {name!r}, which nothing tells apart", category="duplicate")
            named[name] = of
        names.append({of: name for name, of in named.items()})
    return names


def _runs(record: Record, chosen: Mapping[Result, str], items: _Items, *, told: bool) -> dict[Result, Runs]:
    """The scores of samples, by the result that they belong to and by run.

    A sample that does not say which of several it belongs to belongs to the one that is chosen, if the user has `told`.
    """
    found: dict[Result, Runs] = {of: defaultdict(dict) for of in chosen}
    for sample in record.lines():
        meant = record.results_of(sample)
        if told and len(meant) > 1:
            meant = tuple(of for of in meant if of in found)
        if len(meant) > 1 and not found.keys().isdisjoint(meant):
            items.unclear[record.place.path] = None
        if len(meant) != 1 or (of := meant[0]) not in found:
            continue
        run = found[of][sample.run]
        if sample.item in run:
            raise standing_twice(sample.item, sample.place, run[sample.item][1])
        items.check(chosen[of], sample)
        run[sample.item] = (None if of.unknown and sample.score == -1 else sample.score, sample.place)
    return found


def _scores(of: _Evaluated) -> dict[str, dict[str, object]]:
    return {run: {item: score for item, (score, _) in scores.items()} for run, scores in of.runs.items()}


def _unlike(model: str, name: str, of: Result, runs: Runs) -> list[str]:
    """Say where the mean of the samples is another score than the record's, as a share or in percent."""
    scores = [score for run in runs.values() for score, _ in run.values() if isinstance(score, float)]
    own = mean(scores) if scores else math.nan
    if any(math.isclose(of.score, own * scale, rel_tol=_ALMOST, abs_tol=_ALMOST) for scale in (1, 100)):
        return []
    return [f"{model} on {name}: {own:.6g}, not {of.score:.6g}"]


def _told(bare: Sequence[str], unlike: Sequence[str], items: _Items) -> list[str]:
    """What the user has to know."""
    told = []
    if bare:
        told.append(f"{counted(len(bare), 'score has', 'scores have')} no samples, and cannot be tested: {_some(bare)}")
    if unlike:
        told.append(f"{counted(len(unlike), 'score is', 'scores are')} not the mean of the samples' ones, which is "
                    f"what is compared: {_some(unlike)}")
    if items.unclear:
        told.append(f"samples of {counted(len(items.unclear), 'record')} do not say by 'evaluation_result_id' which of "
                    f"several scores they belong to, and are passed over: {_some(list(items.unclear))}")
    if items.unlike:
        test_set, item = next(iter(items.unlike))
        told.append(f"{counted(len(items.unlike), 'sample has', 'samples have')} another input for some models (or "
                    f"another prompt around it), such as {item!r} in {test_set!r}")
    return told


def _some(told: Sequence[str]) -> str:
    more = len(told) - _SHOWN
    return "; ".join(told[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
