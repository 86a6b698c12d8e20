"""The task file: what a task's own files do not say, or say wrongly.

`task.json` lies beside a task's files. The tasks of CLUES are described by files of the same form
that come with the project.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotation.models import Kind, Normalisation, ReferencePolicy
from annotation.models.benchmark import Direction
from annotation.models.errors import BadInput
from annotation.models.texts import is_text

NAME = "task.json"
SHIPPED = Path(__file__).resolve().parent.parent / "descriptions"

Fields = dict[str, Any]


def read_task_file(data: bytes, file: str) -> Fields:
    """The fields that a task file names, checked."""
    try:
        fields = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise BadInput(f"{file}, line {error.lineno}: this is not JSON ({error.msg}).") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file}, line 1: this is not JSON in UTF-8.") from error
    if not isinstance(fields, dict):
        raise BadInput(f"{file}, line 1: a task file is one JSON object.")
    for name, value in fields.items():
        _check(file, name, value)
    return fields


def shipped_description(slug: str) -> Fields:
    """What comes with the project for this task; empty for a task it does not know."""
    file = SHIPPED / f"{slug}.json"
    return read_task_file(file.read_bytes(), file.name) if file.is_file() else {}


def _check(file: str, name: str, value: object) -> None:
    if name not in FIELDS:
        raise BadInput(f"{file}: there is no field “{name}”; there are {', '.join(FIELDS)}.")
    is_good, wanted = FIELDS[name]
    if not is_good(value):
        raise BadInput(f"{file}: “{name}” must be {wanted}.")


def _is_text(most: int) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, str) and bool(value.strip()) and len(value) <= most and is_text(value)
    )


def _is_one_of(values: list[str]) -> Callable[[object], bool]:
    return lambda value: value in values


def _either(values: list[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


def _is_label_list(value: object) -> bool:
    if not isinstance(value, list) or not all(
        isinstance(label, str) and is_text(label) for label in value
    ):
        return False
    return len(value) >= 2 and "" not in value and len(set(value)) == len(value)


def _is_span_limit(value: object) -> bool:
    return value is None or (type(value) is int and 1 <= value <= 1000)


FIELDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "title": (_is_text(200), "a text of at most 200 characters"),
    "name": (_is_text(80), "a text of at most 80 characters"),
    "description": (_is_text(100_000), "a text"),
    "kind": (_is_one_of(Kind.values), _either(Kind.values)),
    "choices": (_is_label_list, "a list of two or more different labels"),
    "normalisation": (_is_one_of(Normalisation.values), _either(Normalisation.values)),
    "max_spans": (_is_span_limit, "a number from 1 to 1000, or null"),
    "language": (_is_text(20), "a language code such as en"),
    "direction": (_is_one_of(Direction.values), "ltr or rtl"),
    "reference_policy": (_is_one_of(ReferencePolicy.values), "set or any"),
    "exposure_key": (_is_text(64), "a text of at most 64 characters"),
}
