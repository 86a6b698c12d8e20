"""What MT-DNN writes, with which CLUES released its fine-tuning: one JSON object with the examples'
ids (`uids`), what was predicted for each (`predictions`), and scores that are not read.

A prediction is a text, a list of texts, or the number of a label: numbers mean something only with
the labels in the order of the tool's own task definition, which the importer gives.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from annotation.models.errors import BadInput
from scoring.runs.formats.json_files import read_members, read_opening
from scoring.runs.formats.lines import as_id
from scoring.runs.formats.records import Read, ReadOptions, ReadPrediction, Refused, RunFields

NAME = "MT-DNN"
IDS, PREDICTIONS = ARRAYS = ("uids", "predictions")


def fits(path: Path) -> bool:
    return path.is_file() and path.suffix != ".jsonl" and set(ARRAYS) <= read_opening(path).keys()


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    held: dict[str, list[Any]] = {name: [] for name in ARRAYS}
    for name, value in read_members(path, ARRAYS):
        if name in held:
            held[name].append(value)
    ids, predictions = held[IDS], held[PREDICTIONS]
    if len(ids) != len(predictions):
        raise BadInput(
            f"{path.name} has {len(ids)} uids, but {len(predictions)} predictions: nothing says "
            "which belongs to which."
        )
    for number, (uid, prediction) in enumerate(zip(ids, predictions, strict=True), start=1):
        where = f"{path.name}, prediction {number}"
        try:
            answer = _answer(prediction, options.labels, path.name)
            source_id = as_id(uid)
        except _NoAnswer as error:
            yield Refused(where, str(error))
            continue
        if source_id is None:
            yield Refused(where, "the uid is neither a text nor a whole number")
            continue
        yield ReadPrediction(where=where, run=RunFields(), answer=answer, source_id=source_id)


class _NoAnswer(Exception):
    """The prediction is none that could be read."""


def _answer(value: object, labels: Sequence[str], file: str) -> tuple[str, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        if not labels:
            raise BadInput(
                f"{file} holds the numbers of labels: give the labels in the order of MT-DNN's "
                "task definition, from 0, with --labels."
            )
        # A label that there is not is an answer, and wrong.
        return (labels[value] if 0 <= value < len(labels) else f"label {value}",)
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(piece, str) for piece in value):
        return tuple(value)
    if isinstance(value, list):
        raise _NoAnswer("the prediction is a list of tags or numbers, not of pieces of the text")
    raise _NoAnswer("the prediction is neither a text, a list of texts, nor a label's number")
