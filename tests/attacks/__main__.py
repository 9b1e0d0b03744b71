"""Run `python -m tests.attacks [FAMILY ...] [--every-way]`: all SQL texts against a registry that hides something."""

import argparse
import sys
import tempfile
from collections import Counter
from contextlib import chdir
from pathlib import Path

from tests.attacks.hidden import build
from tests.attacks.sql_readers import readers, secrets_of
from tests.attacks.sql_texts import leaks, texts


def main():
    """Print the leaks and, by family, how many texts print a secret for an organiser."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("families", nargs="*", help="all families if none is given")
    parser.add_argument("--every-way", action="store_true", help="send each text in every way, not in one of them")
    options = parser.parse_args()
    chosen = [text for text in texts() if not options.families or text.family in options.families]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        path, copy = build(Path(folder)), Path(folder) / "organiser" / "registry.duckdb"
        copy.parent.mkdir()
        with readers(path, copy) as (reader, organiser):
            secrets = secrets_of(organiser)
            control = Counter(leak.text.family for leak in leaks({"csv": organiser.csv}, chosen, secrets))
            found = leaks(reader.ways, chosen, secrets, every_way=options.every_way)
    for family, count in Counter(text.family for text in chosen).items():
        print(f"{family}: {count} texts, of which {control[family]} print a secret for an organiser")
    print(f"{len(found)} leaks", *found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
