"""Bundles for tests: packed by the product, read and changed by hand."""

import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from annotation.models import Study
from scoring.bundle.contents import Wanted
from scoring.bundle.packing import SUMS, export_bundle


def packed(study: Study, **wanted: bool) -> dict[str, bytes]:
    """The files of a study's bundle."""
    file = io.BytesIO()
    export_bundle(study, file, Wanted(**wanted))
    with ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rows(files: dict[str, bytes], name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files[name].splitlines()]


def with_rows(
    files: dict[str, bytes], name: str, changed: list[dict[str, Any]]
) -> dict[str, bytes]:
    """Changed by somebody who also knows how to make the checksums."""
    lines = "".join(json.dumps(row) + "\n" for row in changed)
    return resummed({**files, name: lines.encode()})


def resummed(files: dict[str, bytes]) -> dict[str, bytes]:
    sums = {n: sha256(data).hexdigest() for n, data in files.items() if n != SUMS}
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return {**files, SUMS: listed.encode()}


def zipped(files: dict[str, bytes], path: Path) -> Path:
    with ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def unpacked(files: dict[str, bytes], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder
