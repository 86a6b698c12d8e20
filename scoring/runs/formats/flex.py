"""FLEX's predictions.json: {"<question id>": {"label": "<class number>", "score": …}, …}.

A question's id gives its episode, and the label indexes the choices of that episode's test set.
System, method and shots are not in the file: the shots are those of the episode.
"""

from collections.abc import Iterator
from pathlib import Path

from scoring.runs.formats.fields import as_number
from scoring.runs.formats.json_files import read_members, read_opening
from scoring.runs.formats.records import (
    ClassNumber,
    Read,
    ReadOptions,
    ReadPrediction,
    Refused,
    RunFields,
)

NAME = "FLEX predictions"


def fits(path: Path) -> bool:
    if not path.is_file() or path.suffix == ".jsonl":
        return False
    # The last member of the opening may be cut off.
    values = [value for value in read_opening(path).values() if value is not None]
    return bool(values) and all(
        isinstance(value, dict) and "label" in value and value.keys() <= {"label", "score"}
        for value in values
    )


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    for question_id, value in read_members(path):
        where = f"{path.name}, question {question_id}"
        number = as_number(value.get("label")) if isinstance(value, dict) else None
        if number is None:
            yield Refused(where, "the label is not a class number")
            continue
        yield ReadPrediction(
            where=where,
            run=RunFields(),
            answer=ClassNumber(number),
            source_id=question_id,
            any_episode=True,
        )
