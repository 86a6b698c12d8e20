"""Samples of lm-evaluation-harness: `samples_<task>_<date>.jsonl`, written by --log_samples.

The task's name is in the file's name; system and shots are in `results_<date>.json` beside it.
There is one row for each document and filter. `doc_id` is not used: it numbers the rows of a
selection. Where the choices were weighed one by one, the likeliest is the answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from annotation.models.errors import BadInput
from scoring.models import Method
from scoring.runs.formats.json_files import object_in, read_json, read_lines, read_opening
from scoring.runs.formats.lines import as_id
from scoring.runs.formats.records import (
    Answer,
    LeftOut,
    Read,
    Reader,
    ReadOptions,
    ReadPrediction,
    RunFields,
    as_number,
    chosen,
    read_each,
)
from scoring.runs.prompt_ids import prompted

ROW = {"doc_id", "doc", "resps", "filtered_resps"}
MOST_PARAMETERS = 10**18
FILE_NAME = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl")


def fits(path: Path) -> bool:
    return path.is_file() and read_opening(path).keys() >= ROW


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    run = _run(path)
    wanted = chosen(_filters(path), options.choice, what="filter", file=path.name)

    def read_row(row: Mapping[str, Any]) -> ReadPrediction:
        if row.get("filter", "none") != wanted:
            raise LeftOut(f"another filter than “{wanted}”")
        return _prediction(row, run)

    return read_each(read_lines(path), read_row)


def _filters(path: Path) -> set[str]:
    rows = (row for _, row in read_lines(path) if isinstance(row, dict))
    return {str(row.get("filter", "none")) for row in rows}


def _run(path: Path) -> RunFields:
    name = FILE_NAME.fullmatch(path.name)
    task = name["task"] if name else ""
    results = _results(path, name["date"] if name else None)
    config = object_in(results.get("config"))
    parameters = config.get("model_num_parameters")
    return RunFields(
        task=task,
        system=str(results.get("model_name") or config.get("model") or ""),
        method=Method.ICL,
        parameters=_in_millions(parameters),
        shots=as_number(object_in(results.get("n-shot")).get(task)),
    )


def _results(path: Path, date: str | None) -> Mapping[str, Any]:
    """The results file of the same date, or the only one beside the samples."""
    same_date = path.with_name(f"results_{date}.json")
    beside = sorted(path.parent.glob("results_*.json"))
    if date and same_date.is_file():
        results = read_json(same_date)
    else:
        results = read_json(beside[0]) if len(beside) == 1 else {}
    return object_in(results)


def _in_millions(parameters: object) -> str:
    if not isinstance(parameters, int) or not 0 < parameters < MOST_PARAMETERS:
        return ""
    return f"{parameters / 1e6:.0f}M"


def _prediction(row: Mapping[str, Any], run: RunFields) -> ReadPrediction:
    doc = row.get("doc")
    requests = _requests(row)
    prompt = requests[0][0] if requests else ""
    return ReadPrediction(
        run=run,
        answer=_answer(row, requests, doc),
        source_id=as_id(doc.get("id")) if isinstance(doc, dict) else None,
        texts=(*_strings(doc), prompt),
        prompted=prompted(doc),
    )


def _requests(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(prompt, continuation) of each request, in order."""
    arguments = row.get("arguments")
    if not isinstance(arguments, dict):
        return []
    requests: list[tuple[str, str]] = []
    while isinstance(request := arguments.get(f"gen_args_{len(requests)}"), dict):
        requests.append((str(request.get("arg_0", "")), str(request.get("arg_1", ""))))
    return requests


def _answer(row: Mapping[str, Any], requests: Sequence[tuple[str, str]], doc: object) -> Answer:
    responses = row.get("filtered_resps")
    if not isinstance(responses, list) or not responses:
        raise BadInput("the row has no filtered response")
    if len(requests) > 1:
        return (_likeliest(responses, requests, doc),)
    first = responses[0]
    # A filter that keeps several responses leaves them in a list.
    return str(first[0] if isinstance(first, list) and first else first)


def _likeliest(
    responses: Sequence[object], requests: Sequence[tuple[str, str]], doc: object
) -> str:
    """The choice with the greatest log-likelihood; among equals the first, as in the harness."""
    # Requests without a prompt weigh only the choice, for another metric.
    weighed = [
        (_log_likelihood(response), continuation.strip())
        for response, (prompt, continuation) in zip(responses, requests, strict=False)
        if prompt or not requests[0][0]
    ]
    place = max(range(len(weighed)), key=lambda number: weighed[number][0])
    continuations = [continuation for _, continuation in weighed]
    choices = doc.get("choices") if isinstance(doc, dict) else None
    # Lettered choices: the document says what the letters stand for.
    if isinstance(choices, list) and len(choices) == len(weighed):
        return str(choices[place])
    if len(set(continuations)) < len(continuations):
        raise BadInput("the choices are inside the prompts and cannot be told apart")
    return continuations[place]


def _log_likelihood(response: object) -> float:
    try:
        # What cannot be indexed is refused like anything else that is not a number.
        weight = float(response[0])  # type: ignore[index]
    except (TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
        raise BadInput("a choice has no log-likelihood") from error
    if isnan(weight):
        raise BadInput("a choice's log-likelihood is not a number")
    return weight


def _strings(value: object) -> Iterator[str]:
    """Every string in a document, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


READER = Reader("lm-evaluation-harness", fits, read)
