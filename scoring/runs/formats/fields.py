"""The fields of a run as files and options write them, checked."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from django.db.models import Field

from annotation.models.errors import BadInput
from annotation.models.texts import is_text
from scoring.models import FULLY_SUPERVISED, Method, ProtocolTag, Run
from scoring.runs.formats.records import RunFields

NAMES = tuple(field.name for field in fields(RunFields))
TEXTS = ("benchmark", "task", "system", "method", "parameters", "citation", "url")
NUMBERS = ("split", "episode")
FLAGS = ("uses_labelled", "uses_unlabelled")
LARGEST = 2**31 - 1


def run_fields(given: Mapping[str, Any]) -> RunFields:
    """The fields of a run among a record's. Raises BadInput with what is wrong."""
    checked: dict[str, Any] = {}
    for name in NAMES:
        if given.get(name) is not None:
            checked[name] = _check(name, given[name])
    return RunFields(**checked)


def over(base: RunFields, above: RunFields) -> RunFields:
    """`base`, overridden by whatever `above` says."""
    said = {name: getattr(above, name) for name in NAMES}
    return replace(
        base, **{name: value for name, value in said.items() if value not in ("", None, ())}
    )


def check_complete(run: RunFields) -> None:
    """Raise BadInput for the first thing that a run needs and was not given."""
    if not run.system:
        raise BadInput("nothing names the system: add the field “system”, or give --system.")
    if not run.method:
        raise BadInput(
            "nothing names the method (FT, PT, ICL or other): add the field “method”, "
            "or give --method."
        )
    if run.shots is None:
        raise BadInput(
            "nothing gives the number of shots: add the field “shots”, or give --shots "
            "(0 for none, all for fully supervised)."
        )


def stored_shots(run: RunFields) -> int | None:
    """Shots as the models hold them: null for fully supervised."""
    return None if run.shots == FULLY_SUPERVISED else int(run.shots or 0)


def as_shots(value: object) -> int | str:
    if value == FULLY_SUPERVISED:
        return FULLY_SUPERVISED
    number = as_number(value)
    if number is None:
        raise BadInput(f"“shots” must be a number from 0 or “all”, but it is {value!r}.")
    return number


def as_number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:12])
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= LARGEST else None


def _check(name: str, value: Any) -> Any:
    if name in TEXTS:
        return _as_text(name, value)
    if name in NUMBERS:
        number = as_number(value)
        if number is None:
            raise BadInput(f"“{name}” must be a number from 0, but it is {value!r}.")
        return number
    if name in FLAGS:
        if not isinstance(value, bool):
            raise BadInput(f"“{name}” must be true or false, but it is {value!r}.")
        return value
    return as_shots(value) if name == "shots" else _as_protocol(value)


def _as_text(name: str, value: object) -> str:
    if not isinstance(value, str) or not is_text(value):
        raise BadInput(f"“{name}” must be a text, but it is {value!r}.")
    text = value.strip()
    if name == "method" and text and text not in Method.values:
        raise BadInput(f"the method “{text}” is none of {', '.join(Method.values)}.")
    if name == "url" and text and not text.startswith(("https://", "http://")):
        raise BadInput(f"“url” must begin with https:// or http://, but it is {text!r}.")
    most = longest(name)
    if most is not None and len(text) > most:
        raise BadInput(f"“{name}” must have at most {most} characters, but it has {len(text)}.")
    return text


def longest(name: str) -> int | None:
    field = None if name in ("benchmark", "task") else Run._meta.get_field(name)
    return field.max_length if isinstance(field, Field) else 80


def _as_protocol(value: object) -> tuple[str, ...]:
    tags = value if isinstance(value, list | tuple) else [value]
    for tag in tags:
        if tag not in ProtocolTag.values:
            raise BadInput(f"the protocol “{tag}” is none of {', '.join(ProtocolTag.values)}.")
    return tuple(dict.fromkeys(tags))
