"""Which wording a format has."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from annotation.models.errors import BadInput
from scoring.prompts.formats import FORMATS
from scoring.prompts.material import PromptSet
from scoring.prompts.unifew import Templates, read_templates, unifew_lines

UNIFEW = "unifew"
NAMES = (*FORMATS, UNIFEW)

Writer = Callable[[PromptSet], Iterator[dict[str, Any]]]


def writer_of(form: str, templates: Templates | None = None) -> Writer:
    if form == UNIFEW:
        return partial(unifew_lines, templates=templates or {})
    return FORMATS[form]


def templates_for(form: str, path: Path | None) -> Templates | None:
    if path is None:
        return None
    if form != UNIFEW:
        raise BadInput("Templates are for the format unifew: add --format unifew.")
    return read_templates(path)
