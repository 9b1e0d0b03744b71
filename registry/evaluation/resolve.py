"""Find the readers, metrics and tests that a manifest names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from registry.errors import InputError, ManifestError, UnknownNameError, add_keys, combine_errors
from registry.evaluation.matrices import Counts, build_matrix
from registry.families import FAMILIES
from registry.identity import digest
from registry.manifest import Manifest, Root, Significance, Submit, TestSet, decode_manifest, encode_manifest
from registry.metric_names import build_metric
from registry.metrics import METRICS, ConfusionMetric, Metric
from registry.readers import READERS, Document, Reader, Scores
from registry.significance import CORRECTIONS, OVERALL_TESTS, TESTS, Matrix, OverallTest, PairTest
from registry.significance.base import Unit
from registry.significance.multiple import STEP_DOWN
from registry.values import build, get_name, parse

_TEST_OPTION = re.compile(r"[(,]\s*(\w+)\s*=\s*([^\s,)]+)")

Load = Callable[[Path, Path | None], Document]


@dataclass(frozen=True)
class ResolvedTask:
    """A manifest, with the metrics and readers whose names it contains.

    Attributes:
        manifest: The manifest.
        root: The folder of the task's files.
        metrics: Metrics by alias, in the order of the manifest.
        readers: For each test set, the reader, which parses the gold.
    """

    manifest: Manifest
    root: Root
    metrics: dict[str, Metric]
    readers: dict[str, Reader]

    @cached_property
    def stored(self) -> str:
        """The manifest as it is stored: normalized JSON without submissions."""
        return encode_manifest(self.manifest)

    @cached_property
    def stored_digest(self) -> str:
        """Digest of the manifest as it is stored."""
        return digest(self.stored.encode())

    def get_metrics(self, test_set: str) -> dict[str, Metric]:
        """Return the metrics that score the systems of a test set, by alias."""
        return {spec.id: self.metrics[spec.id] for spec in self.manifest.get_metrics(test_set)}

    def gold_documents(self, test_set: TestSet, load: Load = Document.load) -> dict[str, Document]:
        """Load the gold files of a test set.

        Args:
            test_set: The test set.
            load: Function that loads one file.

        Returns:
            The files by role: `gold`, and if declared `attributes`, `source` and `reference:NAME`.

        Raises:
            ManifestError: The manifest belongs to a task pack, which has no gold; or a file does not exist.
            InputError: A file cannot be read.
        """
        n = self.manifest.test_set.index(test_set)
        if test_set.gold is None:
            raise ManifestError("a task pack has a list of items and no gold; check submissions with it by "
                                "`registry check FILE --task MANIFEST`", path=self.root.manifest, key=f"test_set[{n}]")
        files = [("gold", "gold", test_set.gold), ("attributes", "attributes", test_set.attributes),
                 ("source", "source", test_set.source)]
        files += [(f"reference:{reference.name}", f"references[{m}].path", reference.path)
                  for m, reference in enumerate(test_set.references)]
        return {role: load(self.root.resolve(path, f"test_set[{n}].{key}"), self.root.folder)
                for role, key, path in files if path is not None}

    def submission_reader(self, test_set: TestSet, submit: Submit) -> Reader:
        """Build the reader, which parses the files of a submission.

        Args:
            test_set: The test set of the submission.
            submit: The table `[[submit]]` that declares the submission.

        Raises:
            InputError: The reader is unknown, an option is invalid, or the reader returns another kind of answers than
                the reader of the gold, for example spans instead of labels.
        """
        reading = self.manifest.get_file_settings(test_set, submit)
        reader = build("reader", READERS.with_plugins(self.manifest.task.plugins), reading.format, reading.options)
        columns = [metric.column for metric in self.get_metrics(test_set.name).values()]
        names = tuple(dict.fromkeys(column for column in columns if column is not None))
        if isinstance(reader, Scores) and None not in columns:
            if "score" in reading.options:
                raise InputError(f"option 'score' is {reader.score!r}, but every metric of test set {test_set.name!r} "
                                 "names its own column; remove the option")
            reader = replace(reader, score="", other_scores=names)
        reader = reader.with_columns(names)
        if reader.gives != self.readers[test_set.name].gives:
            raise InputError(f"reader {reader.name!r} reads {reader.gives}s, but the gold of {test_set.name!r} has "
                             f"{self.readers[test_set.name].gives}s")
        return reader


def resolve(manifest: Manifest, path: Path, folder: Path | None = None) -> ResolvedTask:
    """Build the readers and metrics that a manifest names, and check that they fit.

    The manifest's tests are checked, too.

    Args:
        manifest: The manifest.
        path: The file of the manifest.
        folder: Folder of the task's files; None: the folder of `path`.

    Raises:
        ManifestError: Names are unknown, options are invalid, or a metric does not fit a reader or a test. The error
            lists all faults with their keys in the manifest.
    """
    errors: list[tuple[str, InputError]] = []
    readers: dict[str, Reader] = {}
    known_readers, known_metrics = _load_plugins(manifest, path)
    for n, test_set in enumerate(manifest.test_set):
        with _collect_error(errors, f"test_set[{n}]"):
            reader = build("reader", known_readers, test_set.format, test_set.options)
            if (test_set.references or test_set.attributes or test_set.source) and not reader.takes_more_files:
                raise InputError(f"reader {reader.name!r} does not accept the keys references, attributes and source; "
                                 "remove them")
            readers[test_set.name] = reader
    metrics: dict[str, Metric] = {}
    for n, spec in enumerate(manifest.metric):
        with _collect_error(errors, f"metric[{n}]"):
            takes = next((readers[test_set.name].gives for test_set in manifest.test_set
                          if test_set.name in readers and spec in manifest.get_metrics(test_set.name)), "")
            if not takes and spec.name not in known_metrics:
                continue  # the meaning of a common name depends on the reader, which has an error
            metric = build_metric(spec.name, spec.options, takes, known_metrics)
            if metric in metrics.values():
                raise InputError(f"{metric!r} is declared twice; remove one declaration")
            for test_set in manifest.test_set:
                if test_set.name in readers and spec in manifest.get_metrics(test_set.name):
                    _check_fit(metric, readers[test_set.name], test_set)
            metrics[spec.id] = metric
    with _collect_error(errors, "board.release"):
        _check_release(manifest)
    with _collect_error(errors, "significance"):
        tests = resolve_significance(manifest.significance)
        if unfitting := [InputError(f"metric {alias!r}: {reason}") for alias, metric in metrics.items()
                         if (reason := explain_refusal(*tests, _make_empty_matrix(metric, manifest.significance)))]:
            raise combine_errors(unfitting)
    if errors:
        raise add_keys(errors, path)
    return ResolvedTask(manifest, Root(folder or path.parent, path), metrics, readers)


def _load_plugins(manifest: Manifest, path: Path) -> tuple[dict[str, type[Reader]], dict[str, type[Metric]]]:
    try:
        for package in manifest.task.plugins:
            if not any(catalogue.list_plugins(package) for catalogue in (READERS, METRICS)):
                raise InputError(f"{package} offers neither readers nor metrics; remove it from task.plugins")
        return READERS.with_plugins(manifest.task.plugins), METRICS.with_plugins(manifest.task.plugins)
    except InputError as error:
        raise add_keys([("task.plugins", error)], path) from None


def _check_release(manifest: Manifest) -> None:
    """Refuse a Ladder leaderboard if systems can be scored on different items.

    A Ladder shows only scores that clearly improve the best score, so scores must be comparable.
    """
    policies = [policy for policy in (manifest.submission.missing, *(submit.missing for submit in manifest.submit))
                if policy is not None and policy.leaves_items_out]
    if manifest.board.release == "ladder" and policies:
        raise InputError(f"'ladder' requires scores on the same items, but missing = {min(policies).value!r} "
                         'leaves some items out; set missing = "reject" or "worst"')


def _check_fit(metric: Metric, reader: Reader, test_set: TestSet) -> None:
    """Check that a metric can score the answers in the format of a test set.

    Args:
        metric: The metric.
        reader: Reader of the test set, which parses one kind of answers.
        test_set: The test set.

    Raises:
        InputError: The metric takes another kind of answers, or the reader lacks an option that the metric needs.
        UnknownNameError: The gold lacks a reference or a column that the metric needs.
    """
    if reader.gives != metric.takes:
        raise InputError(f"{metric!r} compares {metric.takes}s, but reader {reader.name!r} of test set "
                         f"{test_set.name!r} reads {reader.gives}s; choose another metric or another reader")
    reader.with_columns([] if metric.column is None else [metric.column])
    available_names = [*reader.offers(), *(reference.name for reference in test_set.references)]
    for name in metric.needs():
        if name not in available_names and test_set.gold is not None:
            if getattr(reader, name, "") is None:  # the reader has this option, but it is not set
                raise InputError(f"{metric!r} needs the {name} of test set {test_set.name!r}: set its options = "
                                 f"{{ {name} = \"COLUMN\" }}")
            kind = "reference" if reader.takes_more_files else "column"
            raise UnknownNameError(f"{kind} of test set {test_set.name}", name, available_names)


def resolve_stored(stored: str, slug: str) -> ResolvedTask:
    """Build the readers and metrics that a stored manifest names.

    Args:
        stored: The stored manifest.
        slug: The task's id.
    """
    return resolve(decode_manifest(stored), Path(f"<stored manifest of {slug}>"), Path())


def resolve_significance(significance: Significance) -> tuple[PairTest, OverallTest | None]:
    """Make the tests in the settings, and check that all settings agree.

    Returns:
        The test of pairs, and the test of all systems; the latter is None if it is not requested.

    Raises:
        UnknownNameError: A test or the correction is unknown.
        InputError: A test does not allow a setting such as the unit or random runs, or the correction does not allow
            the test.
    """
    if significance.correction not in CORRECTIONS:
        raise UnknownNameError("correction", significance.correction, CORRECTIONS)
    test, overall = build_tests(significance)
    unit = significance.unit or test.units[0]
    if unit not in test.units:
        suitable_tests = [name for name, test_class in TESTS.items() if unit in test_class.units]
        raise InputError(f"{test!r} does not support {unit}s as units; set unit = {_either(test.units)}, or "
                         f"test = {_either(suitable_tests[:2])}")
    if overall is not None and unit not in overall.units:
        raise InputError(f"{overall!r} does not support {unit}s as units; set unit = {_either(overall.units)}, or "
                         "leave out overall")
    if significance.strata is not None and not test.takes_strata:
        raise InputError(f"{test!r} does not support strata; leave out strata, or set test = \"bootstrap\"")
    correction = CORRECTIONS[significance.correction]
    if correction.function is None and (test.name not in STEP_DOWN or test != TESTS[test.name]()):
        raise InputError(f"correction {correction.name!r} works only with the tests {' and '.join(STEP_DOWN)} "
                         f"without options, not with {test!r}; set correction = \"holm\"")
    if test.is_one_sided and significance.alternative != "two-sided":
        raise InputError(f"{test!r} always tests the direction of the observed difference; leave out alternative and "
                         'candidate, or set test = "bootstrap"')
    if correction.name == "shaffer" and (significance.alternative != "two-sided" or test.is_one_sided):
        raise InputError("correction 'shaffer' requires two-sided tests; set correction = \"holm\"")
    if significance.runs == "random" and (overall is not None or not test.takes_runs):
        test_names = _either([name for name, test_class in TESTS.items() if test_class.takes_runs])
        raise InputError(f"{overall or test!r} does not support random runs; set runs = \"fixed\", or "
                         f"test = {test_names}")
    if significance.runs == "random" and correction.function is None and test.name == "permutation":
        raise InputError(f"correction {correction.name!r} permutes units, but random runs are permuted as a whole; "
                         'set correction = "holm", or test = "bootstrap"')
    return test, overall


def choose_unit(significance: Significance, test_set: str, cluster: str | None) -> Unit:
    """Choose the unit that tests permute or resample: item, cluster or response.

    A response is a single answer. Items of one cluster are not independent. So the default unit is the cluster if the
    test set declares clusters.

    Args:
        significance: The settings.
        test_set: Name of the test set.
        cluster: Attribute that groups the items into clusters; None if the test set declares no clusters.

    Raises:
        InputError: The test set declares clusters, but the test can use only items or responses as units.
    """
    if significance.unit is not None:
        return significance.unit
    test, _ = resolve_significance(significance)
    unit = test.units[0]
    if cluster is None:
        return unit
    if unit == "item" and "cluster" in test.units:
        return "cluster"
    raise InputError(f"test set {test_set!r} declares clusters ({cluster}), but {test!r} tests single {unit}s; set "
                     f'test = "permutation" or "bootstrap", or set unit = "{unit}" (--unit {unit}) to test {unit}s as '
                     "if they were independent")


def build_tests(significance: Significance) -> tuple[PairTest, OverallTest | None]:
    """Make the tests in the settings, without checking the other settings.

    Returns:
        The test of pairs, and the test of all systems; the latter is None if it is not requested.

    Raises:
        UnknownNameError: A test is unknown.
        InputError: The manifest has a test of pairs where a test of all systems is needed, or vice versa.
    """
    if get_name(significance.test) in OVERALL_TESTS:
        raise InputError(f"{significance.test!r} tests all systems together; name it in overall (--overall), and a "
                         f"test of pairs in test; known: {', '.join(sorted(TESTS))}")
    if significance.overall is not None and get_name(significance.overall) in TESTS:
        raise InputError(f"{significance.overall!r} tests pairs of systems; name it in test (--test); overall takes "
                         f"{' or '.join(OVERALL_TESTS)}")
    _refuse_shared_options(significance.test)
    return parse("test", TESTS, significance.test), None if significance.overall is None else parse(
        "overall test", OVERALL_TESTS, significance.overall)


def _refuse_shared_options(test: str) -> None:
    """Raise an error if a test, such as `permutation(resamples=100)`, contains a setting that all tests share."""
    name = get_name(test)
    for option, value in _TEST_OPTION.findall(test) if name in TESTS else ():
        if option in Significance.model_fields and option not in TESTS[name].__dataclass_fields__:
            raise InputError(f"{option!r} is not an option of {name}, but a setting of all tests; set "
                             f"{option} = {value} (--{option} {value})")


def _either(units: Sequence[str]) -> str:
    return " or ".join(f'"{unit}"' for unit in units)


def explain_refusal(test: PairTest, overall: OverallTest | None, matrix: Matrix) -> str | None:
    """Return the reason why the tests do not apply to the data; None if they do.

    Args:
        test: The test of pairs.
        overall: The test of all systems; None if it is not requested.
        matrix: The statistics of all systems.
    """
    if reason := test.refusal(matrix):
        return reason
    if overall is None:
        return None
    if matrix.unequal:
        return f"{overall.name} needs answers of all systems to the same items"
    return overall.refusal(matrix)


def _make_empty_matrix(metric: Metric, significance: Significance) -> Matrix:
    """Make a statistics matrix without items and systems, to try tests on it.

    A test that refuses this matrix refuses all matrices of the metric.
    """
    statistics = np.zeros((0, 0, 3 if isinstance(metric, ConfusionMetric) else len(FAMILIES[metric.family].columns)))
    return build_matrix(metric, Counts.from_statistics(statistics), runs=() if significance.runs == "random" else None)


@contextmanager
def _collect_error(errors: list[tuple[str, InputError]], key: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        errors.append((key, error))
