"""Figures known only as published: one JSON object with a list `scores`.

{"benchmark": "clues", "scores": [{"kind": "model", "system": "GPT-3", "method": "ICL",
 "parameters": "175B", "task": "sst2", "shots": 10, "mean": 85.9, "sd": 3.7, "n": 5,
 "references": "unknown", "source": "CLUES Table 6"}, …]}

`shots` may be "all" (fully supervised); figures are in percent; `references` is the policy
behind the figure: set, any or unknown. A `metric`, of the file or of a score, must be S1: figures
in another one are refused, since tables would rank them beside S1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.models.errors import BadInput
from scoring.models import FULLY_SUPERVISED, References, ReportedKind
from scoring.runs.formats.json_files import read_members, read_opening
from scoring.runs.formats.records import (
    Reader,
    ReadOptions,
    Refused,
    RunFields,
    as_number,
    read_each,
    run_fields,
)

NAME = "reported scores"
METRIC = "S1"
# Where files say what a figure measures.
METRIC_NAMES = ("metric", "metric_name", "measure")


@dataclass(frozen=True)
class ReadScore:
    where: str
    run: RunFields
    kind: str
    mean: float
    sd: float | None
    n: int | None
    references: str
    source: str

    @property
    def shots(self) -> int | None:
        return None if self.run.shots == FULLY_SUPERVISED else int(self.run.shots or 0)


def fits(path: Path) -> bool:
    if not path.is_file():
        return False
    opening = read_opening(path)
    return "scores" in opening and isinstance(opening["scores"], list | None)


def read(path: Path, options: ReadOptions) -> Iterator[ReadScore | Refused]:
    return read_each(_scores(path), lambda where, row: _score(where, *row))


def _scores(path: Path) -> Iterator[tuple[str, tuple[object, str]]]:
    """Each with the benchmark that the file names."""
    benchmark, number = "", 0
    for key, value in read_members(path, arrays={"scores"}):
        if key == "benchmark" and isinstance(value, str):
            benchmark = value
        if key in METRIC_NAMES:
            _check_metric(value)
        if key == "scores":
            number += 1
            yield f"{path.name}, score {number}", (value, benchmark)


def _score(where: str, given: object, benchmark: str) -> ReadScore:
    if not isinstance(given, Mapping):
        raise BadInput("a score must be an object")
    for name in METRIC_NAMES:
        _check_metric(given.get(name, METRIC))
    run = run_fields({"benchmark": benchmark, **given})
    kind = _one_of(given, "kind", ReportedKind.values)
    for name in ("task", "system", "shots"):
        if getattr(run, name) in ("", None):
            raise BadInput(f"the field “{name}” is missing")
    return ReadScore(
        where=where,
        run=run,
        kind=kind,
        mean=_percent(given, "mean"),
        sd=None if given.get("sd") is None else _percent(given, "sd"),
        n=_count(given),
        references=_one_of({"references": "unknown", **given}, "references", References.values),
        source=_source(given),
    )


def _check_metric(metric: object) -> None:
    # As in "S1 (percent)".
    if str(metric).upper().split()[:1] != [METRIC]:
        raise BadInput(
            f"the metric is {metric!r}, and figures are compared in S1 alone: leave out what was "
            "measured in another metric"
        )


def _one_of(given: Mapping[str, Any], name: str, values: list[str]) -> str:
    value: object = given.get(name)
    if not isinstance(value, str) or value not in values:
        raise BadInput(f"“{name}” must be one of {', '.join(values)}, not {value!r}")
    return value


def _percent(given: Mapping[str, Any], name: str) -> float:
    value = given.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # Not a number is not between them either.
    if value is None or not is_number or not 0 <= value <= 100:
        raise BadInput(f"“{name}” must be a figure in percent, from 0 to 100, not {value!r}")
    return float(value)


def _count(given: Mapping[str, Any]) -> int | None:
    if given.get("n") is None:
        return None
    number = as_number(given["n"])
    if not number:
        raise BadInput(f"“n” must be a number from 1, or null, not {given['n']!r}")
    return number


def _source(given: Mapping[str, Any]) -> str:
    source = given.get("source")
    if not isinstance(source, str) or not 0 < len(source.strip()) <= 300:
        raise BadInput("“source” must say where the figure was published (1 to 300 characters)")
    return source.strip()


READER = Reader(NAME, fits, read)
