"""Validates releases by roc-validator and mlcroissant; run by `validators`, in an environment that has these.

Nothing is fetched: the JSON-LD context of RO-Crate is that of the package rocrate, and Croissant's stands in the file.
"""

import json
import logging
import os
import socket
import sys
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

ROWS = 200


def without_network():
    """Serve the context of RO-Crate to roc-validator and to rdflib, and nothing else."""
    import rocrate
    from rdflib.plugins.shared.jsonld import context
    from rocrate_validator.utils.http import HttpRequester

    known = json.loads((Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_text())

    def served(url):
        if url.rstrip("/") != known["@id"]:
            raise OSError(f"{url} is not served here")
        return SimpleNamespace(status_code=200, headers={"Content-Type": "application/ld+json"}, json=lambda: known)

    def refused(*_):
        raise OSError("there is no network here")

    HttpRequester.get = lambda self, url, **__: served(url)
    context.source_to_json = lambda url, *_, **__: (served(url).json(), None)
    socket.socket.connect = refused


def croissant(path):
    """What mlcroissant warns of (an error it raises), and how many rows it reads, `ROWS` of a record set at most."""
    from absl import logging as told
    from mlcroissant import Dataset

    found = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())
    told.get_absl_logger().addHandler(handler)
    dataset = Dataset(jsonld=path)
    n_rows = sum(1 for of in dataset.metadata.record_sets for _ in islice(dataset.records(of.uuid), ROWS))
    told.get_absl_logger().removeHandler(handler)
    return found, n_rows


def ro_crate(folder):
    """What roc-validator finds wrong with the folder: what is required, and what is recommended."""
    from rocrate_validator import services
    from rocrate_validator.models import Severity, ValidationSettings

    result = services.validate(ValidationSettings(
        rocrate_uri=str(folder), profile_identifier="ro-crate-1.3", requirement_severity=Severity.RECOMMENDED))
    found = {name: [f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues()
                    if issue.severity.name == name] for name in ("REQUIRED", "RECOMMENDED")}
    return found["REQUIRED"], found["RECOMMENDED"]


if __name__ == "__main__":
    without_network()
    wrong = 0
    for folder in map(Path, sys.argv[1:]):
        (required, recommended), (of_croissant, n_rows) = ro_crate(folder), croissant(folder / "croissant.json")
        print(f"{folder.name}: roc-validator: {len(required)} errors, {len(recommended)} recommendations; "
              f"mlcroissant: {len(of_croissant)} warnings, {n_rows} rows read", flush=True)
        for issue in (*required, *recommended, *of_croissant):
            print("   ", issue)
        wrong += len(required) + len(of_croissant)
    sys.stdout.flush()
    os._exit(wrong > 0)  # mlcroissant's threads still read what was not asked for, and would abort an ordinary exit
