"""Prompts: the examples of a batch as text, so that a model sees what people saw.

`unifew` is UniFew's multiple-choice question (Bragg et al. 2021, section 6): one text for each
example, with its answer in the training set. `icl` is in-context learning as in CLUES: the training
set as demonstrations before each example of the test set.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from annotation.models import Kind
from annotation.models.errors import BadInput

# UniFew writes a line break as these two characters.
BREAK = r"\n"
# Two mentions are marked in a text with these characters, as in FLEX's relations.
FIRST_MENTION = re.compile(r"#\s*([^#]+?)\s*#")
SECOND_MENTION = re.compile(r"\*\s*([^*]+?)\s*\*")
LETTERED = re.compile(r"\s*\(([A-Z])\)\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class PromptExample:
    id: str
    context: tuple[str, ...]
    question: str
    # What may be answered: the set's labels, or the marked entities; empty where pieces of the
    # text are.
    options: tuple[str, ...]
    answer: tuple[str, ...]


@dataclass(frozen=True)
class PromptSet:
    """A batch's material; `fields` name the run that answers it, as its predictions will."""

    kind: str
    fields: dict[str, Any]
    # In the order given by the seed.
    training: tuple[PromptExample, ...]
    test: tuple[PromptExample, ...]


def unifew_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    if prompts.kind != Kind.CHOICE:
        raise BadInput(
            f"The task {prompts.fields['task']} has no labels to choose from ({prompts.kind}), "
            "which UniFew's questions need: use the format icl."
        )
    for example in prompts.training:
        line = _line(prompts, "unifew", example, unifew_question(example), "training")
        yield {**line, "answer": example.answer[0]}
    for example in prompts.test:
        yield _line(prompts, "unifew", example, unifew_question(example), "test")


def icl_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    shown = "".join(
        f"{icl_question(each)} {_answer(each, prompts.kind)}\n\n" for each in prompts.training
    )
    for example in prompts.test:
        yield _line(prompts, "icl", example, shown + icl_question(example), "test")


FORMATS: dict[str, Callable[[PromptSet], Iterator[dict[str, Any]]]] = {
    "unifew": unifew_lines,
    "icl": icl_lines,
}


def unifew_question(example: PromptExample) -> str:
    if len(example.options) > len(ascii_uppercase):
        raise BadInput(
            f"UniFew letters its labels from A to Z, but there are {len(example.options)}."
        )
    lettered = " ".join(
        f"({letter}) {option}"
        for letter, option in zip(ascii_uppercase, example.options, strict=False)
    )
    segments = [_in_one_line(segment) for segment in example.context]
    if len(segments) == 2:
        return f"{segments[0]} Is {segments[1]}? {BREAK} {lettered}"
    text = " ".join(segments)
    question = _between_mentions(text) or _in_one_line(example.question)
    return f"{question} {BREAK} {lettered} {BREAK} {text}"


def icl_question(example: PromptExample) -> str:
    """A context, its question and what can be answered; the answer follows."""
    lines = ["Context: " + "\n".join(example.context), f"Question: {example.question}"]
    if example.options:
        lines.append("Options: " + "; ".join(example.options))
    return "\n".join([*lines, "Answer:"])


def read_label(answer: str, options: Sequence[str]) -> str:
    """The label that a model's answer names, with or without its letter; an answer that names none
    is left as it is, and is wrong."""
    text = answer.strip()
    lettered = LETTERED.fullmatch(text)
    if lettered and text not in options:
        text = lettered[2].strip()
        place = ascii_uppercase.index(lettered[1])
        if not text and place < len(options):
            return options[place]
    if text in options:
        return text
    same = [option for option in options if option.casefold() == text.casefold()]
    return same[0] if len(same) == 1 else text


def _line(
    prompts: PromptSet, form: str, example: PromptExample, prompt: str, role: str
) -> dict[str, Any]:
    options = {"options": list(example.options)} if example.options else {}
    return {
        **prompts.fields,
        "id": example.id,
        "format": form,
        "role": role,
        "prompt": prompt,
        **options,
    }


def _answer(example: PromptExample, kind: str) -> str:
    """Pieces as a JSON list, as an import reads free text; a label as it is."""
    if kind == Kind.SPANS:
        return json.dumps(list(example.answer), ensure_ascii=False)
    return example.answer[0] if example.answer else ""


def _between_mentions(text: str) -> str:
    if text.count("#") != 2 or text.count("*") != 2:
        return ""
    first, second = FIRST_MENTION.search(text), SECOND_MENTION.search(text)
    return f"{first[1]} to {second[1]}?" if first and second else ""


def _in_one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")
