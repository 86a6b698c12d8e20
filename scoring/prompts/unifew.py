"""UniFew's multiple-choice questions, from a file of templates: the wording is data, so that what
is called UniFew is UniFew.

The file is a JSON object with a template for each task:

    {"mr": {"question": "Topic?", "joining": "{question} \\\\n {options} \\\\n {text}"},
     "snli": {"question": "", "joining": "{first} Is {second}? \\\\n {options}",
              "labels": {"neutral": "Maybe", "entailment": "Yes", "contradiction": "No"}}}

UniFew's line break is two characters, a backslash and an n, which JSON writes as `\\\\n`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput
from scoring.prompts.material import PromptExample, PromptSet

FIELDS = {"question", "joining", "labels"}
PLACES = ("question", "options", "text", "first", "second")
PLACE = re.compile(r"\{(\w+)\}")
# Between the two texts of a pair that stand in one.
BETWEEN_TEXTS = "###"


@dataclass(frozen=True)
class Template:
    question: str
    # How question, options and text are joined; see PLACES.
    joining: str
    # What a prompt calls a label; its own text where none is named.
    labels: Mapping[str, str] = field(default_factory=dict)


Templates = Mapping[str, Template]


def read_templates(path: Path) -> dict[str, Template]:
    """By task. Raises BadInput with what is wrong."""
    try:
        given = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON in UTF-8.") from error
    if not isinstance(given, dict):
        raise BadInput(f"{path} must hold an object with a template for each task.")
    return {task: _template(value, f"{path}, {task}") for task, value in given.items()}


def unifew_lines(prompts: PromptSet, templates: Templates) -> Iterator[dict[str, Any]]:
    """One text for each example, with its answer in the training set."""
    task = prompts.fields["task"]
    if not answer_kind(prompts.kind).takes_labels:
        raise BadInput(
            f"The task {task} has no labels to choose from ({prompts.kind}), which UniFew's "
            "questions need: use the format icl."
        )
    if task not in templates:
        raise BadInput(
            f"UniFew's wording for the task {task} is not known: name its question, joining and "
            "labels in a file, and give it with --templates; our own wording is the format pairs."
        )
    template = templates[task]
    for training, examples in ((True, prompts.training), (False, prompts.test)):
        for example in examples:
            shown = replace(example, options=_called(example.options, template, task))
            content: dict[str, Any] = {"prompt": unifew_question(shown, template)}
            if shown.options != example.options:
                content["labels"] = list(example.options)
            if training:
                content["answer"] = template.labels.get(example.answer[0], example.answer[0])
            yield prompts.line("unifew", shown, content, training=training)


def unifew_question(example: PromptExample, template: Template) -> str:
    """The options of the example are the texts that it shows."""
    if len(example.options) > len(ascii_uppercase):
        raise BadInput(
            f"UniFew letters its labels from A to Z, but there are {len(example.options)}."
        )
    lettered = zip(ascii_uppercase, example.options, strict=False)
    values = {
        "question": template.question,
        "options": " ".join(f"({letter}) {option} " for letter, option in lettered),
        "text": _in_one_line(" ".join(example.context)),
    }
    if {"first", "second"} & set(PLACE.findall(template.joining)):
        values["first"], values["second"] = map(_in_one_line, _pair(example))
    return PLACE.sub(lambda place: values[place[1]], template.joining)


def _pair(example: PromptExample) -> list[str]:
    segments = list(example.context)
    if len(segments) == 1:
        segments = segments[0].split(BETWEEN_TEXTS)
    if len(segments) != 2:
        raise BadInput(
            f"The template joins a first and a second text, but the example {example.id} has "
            f"{len(segments)}: use {{text}} in its joining."
        )
    return segments


def _called(options: tuple[str, ...], template: Template, task: str) -> tuple[str, ...]:
    called = tuple(template.labels.get(option, option) for option in options)
    if len(set(called)) < len(called):
        raise BadInput(f"The template of {task} calls two labels the same ({', '.join(called)}).")
    return called


def _template(value: object, where: str) -> Template:
    if not isinstance(value, dict) or not {"question", "joining"} <= value.keys() <= FIELDS:
        raise BadInput(f"{where} must have “question” and “joining”, and may have “labels”.")
    question, joining, labels = value["question"], value["joining"], value.get("labels", {})
    if not isinstance(question, str) or not isinstance(joining, str):
        raise BadInput(f"{where}: “question” and “joining” must be texts.")
    if not isinstance(labels, dict) or not all(isinstance(text, str) for text in labels.values()):
        raise BadInput(f"{where}: “labels” must give each label a text.")
    if unknown := set(PLACE.findall(joining)) - set(PLACES):
        places = ", ".join(f"{{{place}}}" for place in PLACES)
        raise BadInput(f"{where}: {{{min(unknown)}}} in “joining” is none of {places}.")
    if "{options}" not in joining:
        raise BadInput(f"{where}: “joining” must say where the {{options}} stand.")
    return Template(question, joining, labels)


def _in_one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")
