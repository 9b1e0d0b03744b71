"""Which files a connection to a registry may read and write besides the database itself: as a rule, none."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from registry.store.rows import quoted

NO_ACCESS = {"enable_external_access": "false"}  # DuckDB still opens the database, its log and its temporary folder


class Reach(NamedTuple):
    """Files and folders that a connection may read and write."""

    files: Sequence[Path] = ()
    folders: Sequence[Path] = ()


NOWHERE = Reach()


def confine(driver: Any, reach: Reach) -> None:
    """Switch off access to all files but those of `reach`, before anything of the database is read.

    DuckDB accepts these settings only after it has started, and only while access is on.
    """
    # DuckDB checks the pattern of `read_parquet` too, not only the files that match it.
    folders = [name for folder in reach.folders for name in (str(folder), glob.escape(str(folder)))]
    for setting, paths in (("allowed_paths", reach.files), ("allowed_directories", folders)):
        driver.execute(f"SET {setting} = [{', '.join(map(quoted, paths))}]")
    driver.execute("SET enable_external_access = false")
