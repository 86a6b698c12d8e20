"""Lists of lists of strings, as the official scorer of CLUES takes them: a JSON array with one list
for each test item, or one list per line.

There are no ids: the answers stand in the order of the test file, and nothing else says which item
one belongs to. So a file in which anything is odd is refused whole.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.models.errors import BadInput
from scoring.runs.formats.json_files import read_elements
from scoring.runs.formats.records import Read, ReadOptions, ReadPrediction, RunFields

NAME = "CLUES lists"


def fits(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        start = file.read(4_096).lstrip()
    return start.startswith("[") and start[1:].lstrip().startswith(("[", "]", '"'))


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    for place, pieces in enumerate(_lists(path)):
        where = f"{path.name}, answer {place + 1}"
        if not _is_answer(pieces):
            raise BadInput(f"{where} must be a list of strings; nothing was imported.")
        yield ReadPrediction(where=where, run=RunFields(), answer=tuple(pieces), place=place)


def _lists(path: Path) -> Iterator[Any]:
    lines = _first_lines(path)
    is_by_line = _is_answer(_parsed(lines[0])) and (len(lines) > 1 or lines[0] != "[]")
    return _of_lines(path) if is_by_line else read_elements(path)


def _first_lines(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return list(islice((line.strip() for line in file if line.strip()), 2))


def _of_lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        yield from (_parsed(line) for line in file if line.strip())


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_answer(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(piece, str) for piece in value)
