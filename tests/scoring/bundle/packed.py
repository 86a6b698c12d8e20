"""Bundles for tests: packed by the product, read and changed by hand."""

import io
import json
import os
import subprocess
import venv
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from annotation.models import Study
from scoring.bundle.packing import SUMS, export_bundle

# All that the script of a bundle needs.
BARE = ("numpy", "scipy")


def packed(study: Study, **chosen: Any) -> dict[str, bytes]:
    """The files of a study's bundle."""
    file = io.BytesIO()
    export_bundle(study, file, **chosen)
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


def make_bare_python(folder: Path) -> Path:
    """A virtual environment that has numpy and scipy, and nothing else."""
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in BARE:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin).parent
        for path in (source, source.with_name(f"{name}.libs")):
            if path.exists():
                (packages / path.name).symlink_to(path)
    return folder / "bin" / "python"


def run_figures(python: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The script of an unpacked bundle."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [python, "figures.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
