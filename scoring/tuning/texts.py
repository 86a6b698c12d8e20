"""What a text-to-text model is tuned on and asked: the texts of each example by itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput
from scoring.prompts.formats import lines_by_example, pair_lines
from scoring.prompts.prompting import PromptSet
from scoring.prompts.templates import Template, read_templates, unifew_lines

PAIRS, CLUES, UNIFEW = FORMATS = ("pairs", "clues", "unifew")

Lines = Callable[[PromptSet], Iterable[dict[str, Any]]]


@dataclass(frozen=True)
class Texts:
    # The lines of an export: prompts, with an answer where they are for training.
    lines: Lines
    # Why there are none for a task; empty if there are.
    problem: Callable[[PromptSet], str]


def texts_in(form: str, templates: Path | None) -> Texts:
    """In the format of this name. Raises BadInput where the templates are no use, or missing."""
    if form == UNIFEW:
        if templates is None:
            raise BadInput("UniFew's wording is in a file: give it with --templates.")
        read = read_templates(templates)
        return Texts(partial(unifew_lines, templates=read), partial(_problem_of_unifew, read))
    if templates is not None:
        raise BadInput("Templates are for the format unifew, or for --method PT.")
    return Texts(pair_lines if form == PAIRS else clues_lines, lambda prompts: "")


def clues_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    """As CLUES gives its models an example: the question and the text, no description."""
    return lines_by_example(
        prompts, CLUES, lambda example: " ".join([example.question, *example.context])
    )


def _problem_of_unifew(templates: Mapping[str, Template], prompts: PromptSet) -> str:
    if not answer_kind(prompts.kind).takes_labels:
        return "it has no labels, which UniFew's questions need"
    if prompts.fields["task"] not in templates:
        return "--templates has no wording for it"
    return ""
