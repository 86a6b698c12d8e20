"""Imports for tests: a file through its reader, into a benchmark."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from annotation.models import Benchmark, Kind
from scoring.models import Run
from scoring.runs.formats.detecting import find_sources
from scoring.runs.formats.records import ReadOptions, RunFields
from scoring.runs.importing import RunsReport, import_predictions
from tests import make

FILES = Path(__file__).parent / "files"
WHO = {"system": "BERT-Base", "method": "FT", "shots": 3, "split": 1}


def toy_benchmark(name: str = "toy") -> Benchmark:
    """A choice task and a spans task, each with the test items test 0 to test 3."""
    made = make.benchmark(name)
    make.task(made, slug="mood", kind=Kind.CHOICE, tests=4)
    make.task(made, slug="names", kind=Kind.SPANS, tests=4)
    return made


def imported(
    path: Path, into: Benchmark, *, run: Mapping[str, Any] | None = None, **options: Any
) -> RunsReport:
    """Its log may know another gold than the toy's."""
    [(reader, file)] = find_sources(path)[0]
    options = {"accept_differences": True, **options}
    return import_predictions(
        reader=reader,
        path=file,
        benchmark=into,
        options=ReadOptions(run=RunFields(**(run or {})), **options),
    )


def answers(run: Run) -> dict[str, list[str]]:
    rows = run.predictions.values_list("example__identity", "answer")
    return {identity.removeprefix("id:"): answer for identity, answer in rows}


def written(path: Path, records: Iterable[object]) -> Path:
    """A file with one JSON object per line; strings are written as they are."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n")
    return path
