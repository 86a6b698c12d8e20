"""An Inspect log as an `.eval` archive: a zip with header.json and samples/<id>_epoch_<n>.json.

Inspect compresses with Zstandard, which Python's own zipfile reads from 3.14 on.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.benchmarks.archives import UNREADABLE, check_entries
from annotation.models.errors import BadInput
from scoring.runs.formats.inspect_samples import header_of, read_sample, run_of
from scoring.runs.formats.records import Read, ReadOptions

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

NAME = "Inspect log (.eval)"
# Of both modules: the backport's errors are classes of its own.
BROKEN = (*UNREADABLE, zipfile.BadZipFile, ZstdError)


def fits(path: Path) -> bool:
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "header.json" in archive.namelist()


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    with zipfile.ZipFile(path) as archive:
        entries: Any = archive.infolist()  # of either module
        check_entries(entries)
        run = run_of(header_of(_read(archive, "header.json", path), path.name))
        for entry in entries:
            if entry.filename.startswith("samples/") and entry.filename.endswith(".json"):
                sample = _read(archive, entry.filename, path)
                yield from read_sample(sample, path.name, run, options)


def _read(archive: zipfile.ZipFile, name: str, path: Path) -> dict[str, Any]:
    try:
        value = json.loads(archive.read(name))
    except (*BROKEN, RecursionError) as error:
        raise BadInput(f"{path}: {name} cannot be read as JSON.") from error
    if not isinstance(value, dict):
        raise BadInput(f"{path}: {name} must hold a JSON object.")
    return value
