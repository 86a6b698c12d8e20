"""An Inspect log as one JSON document: written with --log-format json, or converted by
`inspect log convert --to json`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scoring.runs.formats.inspect_samples import header_of, read_sample, run_of
from scoring.runs.formats.json_files import read_members, read_opening
from scoring.runs.formats.records import Read, ReadOptions

NAME = "Inspect log"


def fits(path: Path) -> bool:
    return path.is_file() and {"version", "status", "eval"} <= read_opening(path).keys()


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    header: dict[str, Any] = {}
    run = None
    for key, value in read_members(path, arrays={"samples"}):
        if key == "eval":
            header["eval"] = value
        elif key == "samples":
            run = run or run_of(header_of(header, path.name))
            yield from read_sample(value, path.name, run, options)
