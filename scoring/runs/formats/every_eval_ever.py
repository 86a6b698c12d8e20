"""Samples of Every Eval Ever: one row for each sample and metric, `<uuid>_samples.jsonl`.

The answer is the value extracted last (`answer_attribution`), else the first raw output.
`sample_id` may be a harness's running number, so `input.raw` has to agree with it. Shots are not
recorded: the importer gives them. Annotators exported by this project are refused: people are not a
system.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.models.errors import BadInput
from scoring.models import Method
from scoring.runs.formats.inspect_logs import answer_from
from scoring.runs.formats.json_files import list_in, object_in, read_lines, read_opening
from scoring.runs.formats.lines import as_id
from scoring.runs.formats.records import (
    LeftOut,
    Read,
    Reader,
    ReadOptions,
    ReadPrediction,
    RunFields,
    chosen,
    read_each,
)
from scoring.samples.exporting import HUMAN, SIMULATED

ROW = {"schema_version", "evaluation_id", "model_id", "sample_id", "evaluation_name"}


def fits(path: Path) -> bool:
    return path.is_file() and read_opening(path).keys() >= ROW


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    wanted = _wanted(path, options)
    annotators: set[str] = set()
    has_others = False

    def read_row(row: Mapping[str, Any]) -> ReadPrediction:
        nonlocal has_others
        if _is_of_annotator(row):
            annotators.add(str(row.get("model_id")))
            raise BadInput("the answer of an annotator, who is no system")
        has_others = True
        if wanted and row.get("evaluation_name") != wanted:
            raise LeftOut(f"another evaluation than “{wanted}”")
        return _prediction(row)

    yield from read_each(read_lines(path), read_row)
    if annotators and not has_others:
        raise BadInput(
            f"{path.name} holds the answers of an annotator ({min(annotators)}), who is no system: "
            "leave the file out, since people are compared by the study that they took part in."
        )


def _is_of_annotator(row: Mapping[str, Any]) -> bool:
    about = row.get("metadata")
    return isinstance(about, dict) and about.get("kind") in (HUMAN, SIMULATED)


def _wanted(path: Path, options: ReadOptions) -> str:
    """The evaluation to read; every one where each names its own task."""
    if not options.choice and not options.run.task:
        return ""
    rows = (row for _, row in read_lines(path) if isinstance(row, dict))
    names = {str(row.get("evaluation_name")) for row in rows}
    return chosen(names, options.choice, what="evaluation", file=path.name)


def _prediction(row: Mapping[str, Any]) -> ReadPrediction:
    given = row.get("input")
    if not isinstance(given, dict):
        raise BadInput("the field “input” is missing")
    if row.get("error"):
        raise BadInput("the sample ended in an error")
    return ReadPrediction(
        run=RunFields(
            # A harness's filter comes after the task's name.
            task=str(row.get("evaluation_name", "")).partition("/")[0],
            system=str(row.get("model_id", "")),
            method=Method.ICL,
        ),
        answer=answer_from(_answer_text(row), list_in(given.get("choices"))),
        source_id=as_id(row.get("sample_id")),
        texts=tuple(text for text in (given.get("raw"),) if isinstance(text, str)),
    )


def _answer_text(row: Mapping[str, Any]) -> str:
    extracted: list[str] = [
        attribution["extracted_value"]
        for attribution in list_in(row.get("answer_attribution"))
        if isinstance(attribution, dict)
        and attribution.get("is_terminal", True)
        and isinstance(attribution.get("extracted_value"), str)
    ]
    if extracted:
        return extracted[-1]
    raw = object_in(row.get("output")).get("raw")
    if isinstance(raw, list) and raw and isinstance(raw[0], str):
        return raw[0]
    raise BadInput("the sample has neither an extracted answer nor an output")


READER = Reader("Every Eval Ever", fits, read)
