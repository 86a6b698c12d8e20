"""A task's own file: what its rows do not say, or say wrongly. The tasks of CLUES are described by
files of the same form that come with the project."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from annotation.benchmarks.archives import Files
from annotation.benchmarks.formats import samples
from annotation.benchmarks.formats.content import Fields, read_json
from annotation.benchmarks.formats.known_sets import PARTS, USUAL
from annotation.kinds.naming import WAYS
from annotation.models import Kind, Normalisation, ReferencePolicy
from annotation.models.benchmark import Direction, Markup
from annotation.models.errors import BadInput
from annotation.models.texts import is_text
from scoring.core.normalisation import in_one_form

TASK_FILE = "task.json"
SHIPPED = Path(__file__).resolve().parent.parent / "descriptions"

# A tolerance: absolute, or of the gold.
SHARE = re.compile(r"(?=.{1,20}$)(?:\d+|\d*\.\d+)%?")


def read_task_file(data: bytes, file: str) -> Fields:
    fields = read_json(data, file)
    if not isinstance(fields, dict):
        raise BadInput(f"{file}, line 1: a task file is one JSON object.")
    for name, value in fields.items():
        if name not in FIELDS:
            raise BadInput(f"{file}: there is no field “{name}”; there are {', '.join(FIELDS)}.")
        is_good, description = FIELDS[name]
        if not is_good(value):
            raise BadInput(f"{file}: “{name}” must be {description}.")
    return fields


def as_said(line: str) -> Fields:
    """A line of a task's file, with its braces or without."""
    line = line.strip()
    inner = line if line.startswith("{") else f"{{{line}}}"
    return read_task_file(inner.encode(errors="replace"), "The answer")


def also_said(before: Fields, said: Fields) -> Fields:
    """What is left out adds up; anything else is as it was said last."""
    both: Fields = {}
    for name in ("unused", "missing", "leave_out", "versions"):
        old, new = before.get(name), said.get(name)
        if isinstance(old, list) and isinstance(new, list) and new:
            both[name] = [*old, *new]
    both |= {n: {**before.get(n, {}), **said[n]} for n in ("columns", "parts") if n in said}
    return {**before, **said, **both}


def is_task_file(name: str, files: Files) -> bool:
    """Whether it describes a task: BIG-bench's tasks are files of this name, too."""
    if PurePosixPath(name).name != TASK_FILE:
        return False
    with suppress(BadInput):
        read = read_json(files.read(name), name)
        return not (isinstance(read, dict) and isinstance(read.get("examples"), list))
    return True


def shipped_description(slug: str) -> Fields:
    """What comes with the project for this task; empty for a task it does not know."""
    file = SHIPPED / f"{slug}.json"
    return read_task_file(file.read_bytes(), file.name) if file.is_file() else {}


def _is_text(most: int) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, str) and bool(value.strip()) and len(value) <= most and is_text(value)
    )


def _is_sign(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 5 and is_text(value)


def _is_one_of(values: list[str]) -> Callable[[object], bool]:
    return lambda value: value in values


def _either(values: list[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


def _is_label_list(value: object) -> bool:
    labels = value if samples.are_texts(value) else []
    once = set(map(in_one_form, labels))
    return len(labels) >= 2 and "" not in once and len(once) == len(labels)


def _are_columns(value: object) -> bool:
    return isinstance(value, dict) and all(
        field in USUAL and (isinstance(paths, str) or samples.are_texts(paths))
        for field, paths in value.items()
    )


def _are_parts(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() <= {"test", "shots"}
        and {*value.values()} <= {*PARTS}
    )


OFFSETS = "offsets"
READINGS = ["alternatives", "set", "options", OFFSETS]
FIELDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "title": (_is_text(200), "a text of at most 200 characters"),
    "name": (_is_text(80), "a text of at most 80 characters"),
    "description": (_is_text(100_000), "a text"),
    "kind": (_is_one_of(Kind.values), _either(Kind.values)),
    "choices": (_is_label_list, "a list of two or more different labels"),
    "normalisation": (_is_one_of(Normalisation.values), _either(Normalisation.values)),
    "columns": (_are_columns, f"an object that names columns as {_either(list(USUAL))}"),
    "answer_by": (_is_one_of(list(WAYS)), _either(list(WAYS))),
    "answers": (_is_one_of(READINGS), _either(READINGS)),
    "apart_by": (_is_sign, "the sign between the labels of one answer"),
    "label_names": (
        lambda value: _is_label_list([*value.values()] if isinstance(value, dict) else value),
        "a list of two or more different labels, by number, or an object of them",
    ),
    "missing": (samples.are_texts, "a list of texts that stand where there is no answer"),
    "unused": (samples.are_texts, "a list of columns that hold no part of what is asked"),
    "leave_out": (samples.are_texts, "a list of the ids of rows, or of files, that are left out"),
    "rows": (_is_text(200), "the column that holds a list of objects, each of them a question"),
    "parts": (_are_parts, f"an object that names for “test” or “shots” one of {', '.join(PARTS)}"),
    "join": (
        lambda value: value == "" or _is_text(200)(value),
        "line, or the column whose value rows of two files share, or empty",
    ),
    "versions": (
        lambda value: value in ("each", "together") or samples.are_texts(value),
        "each, together, or a list of the versions that are meant",
    ),
    "tolerance": (
        lambda value: isinstance(value, str) and bool(SHARE.fullmatch(value)),
        "a text such as 0.01, or 1% of the gold",
    ),
    "max_spans": (
        lambda value: value is None or (type(value) is int and 1 <= value <= 1000),
        "a number from 1 to 1000, or null",
    ),
    "language": (_is_text(20), "a language code such as en"),
    "markup": (_is_one_of(Markup.values), _either(Markup.values)),
    "direction": (_is_one_of(Direction.values), "ltr or rtl"),
    "reference_policy": (_is_one_of(ReferencePolicy.values), "set or any"),
    "exposure_key": (_is_text(64), "a text of at most 64 characters"),
    "sample": (samples.is_sample, samples.WANTED),
}
