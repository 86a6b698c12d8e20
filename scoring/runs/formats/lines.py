"""The project's own format: one JSON object per line.

{"system": …, "method": …, "parameters": …, "task": …, "shots": 10, "split": 1,
 "id": "883_1", "prediction": ["Belgrade"]}

What all lines share may be given once, in a first line without `id` and `prediction`. `prediction`
is a list of strings, or one string; without an `id`, `context` and `question` identify the example.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.models.errors import BadInput
from scoring.models import Run, shots_label
from scoring.runs.formats.json_files import read_lines, read_opening
from scoring.runs.formats.records import (
    Answer,
    Read,
    Reader,
    ReadOptions,
    ReadPrediction,
    RunFields,
    over,
    read_each,
    run_fields,
)
from scoring.runs.prompt_ids import of_prompt_id, prompted

HEADER = {"system", "method", "task", "shots"}


def fits(path: Path) -> bool:
    if not path.is_file():
        return False
    opening = read_opening(path)
    return "prediction" in opening or ("id" not in opening and len(HEADER & opening.keys()) >= 2)


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    rows = read_lines(path)
    first = next(rows, None)
    header = RunFields()
    if first and isinstance(first[1], dict) and not {"id", "prediction"} & first[1].keys():
        header = _header(first[0], first[1])
    elif first:
        rows = chain([first], rows)
    return read_each(rows, partial(_prediction, header=header, options=options))


def _header(where: str, fields: Mapping[str, Any]) -> RunFields:
    try:
        return run_fields(fields)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error


def _prediction(
    fields: Mapping[str, Any], *, header: RunFields, options: ReadOptions
) -> ReadPrediction:
    source_id, texts = example_of(fields)
    return ReadPrediction(
        run=over(header, run_fields(fields)),
        prompted=prompted(fields) if of_prompt_id(source_id) else None,
        answer=_answer(fields, options),
        source_id=source_id,
        texts=texts,
    )


def example_of(fields: Mapping[str, Any]) -> tuple[str | None, tuple[str, ...]]:
    """The id, and the texts to join by."""
    texts = [fields[name] for name in ("context", "question") if name in fields]
    flat = [text for value in texts for text in (value if isinstance(value, list) else [value])]
    source_id = as_id(fields.get("id"))
    if source_id is None and not flat:
        raise BadInput("the field “id” is missing")
    if not all(isinstance(text, str) for text in flat):
        raise BadInput("“context” and “question” must be texts")
    return source_id, tuple(flat)


def as_id(value: object) -> str | None:
    """Ids are compared as strings: files write 883 and "883" for the same example."""
    if isinstance(value, float):
        raise BadInput(f"the id must be a text or a whole number, but it is {value!r}")
    is_id = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if is_id else None


def _answer(fields: Mapping[str, Any], options: ReadOptions) -> Answer:
    if "prediction" not in fields:
        raise BadInput("the field “prediction” is missing")
    prediction = fields["prediction"]
    if isinstance(prediction, str):
        # A string is one piece as it is, unless the importer has it cut.
        return prediction if options.separator or options.none_word else (prediction,)
    if isinstance(prediction, list) and all(isinstance(piece, str) for piece in prediction):
        return tuple(prediction)
    raise BadInput("“prediction” must be a list of strings, or one string")


def predictions_of(run: Run) -> Iterator[dict[str, Any]]:
    """One line for each, as this reads them."""
    fields = {
        "system": run.system,
        "method": run.method,
        "parameters": run.parameters,
        "task": run.task.slug,
        "shots": shots_label(run.shots),
        "split": run.split,
        "episode": run.episode,
    }
    said = {name: value for name, value in fields.items() if value not in ("", None)}
    names = dict(run.test_set.items.values_list("example_id", "source_id"))
    for example, answer in run.predictions.values_list("example_id", "answer"):
        yield {**said, "id": names[example], "prediction": answer}


READER = Reader("JSONL", fits, read)
