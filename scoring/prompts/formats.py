"""Prompts in our own wording: a model is told what people were told, and nothing else.

`icl` is in-context learning as in CLUES: one text with the description, the shots with their
answers, and the example; `chat` is the same as messages. `pairs` has a text for every example by
itself, with its answer in the training set, as fine-tuning takes them. Texts are whole: nothing is
cut to a length. `unifew` has a wording of its own.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput
from scoring.prompts.prompting import PromptExample, PromptSet
from scoring.prompts.templates import Templates, read_templates, unifew_lines

ANSWER = "Answer:"


def icl_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    kind = answer_kind(prompts.kind)
    shots = [
        f"{question(shot)}\n{ANSWER} {kind.as_shown(shot.answer)}" for shot in prompts.training
    ]
    for example in prompts.test:
        parts = [instructions(prompts), *shots, f"{question(example)}\n{ANSWER}"]
        yield prompts.line("icl", example, {"prompt": "\n\n".join(parts)})


def chat_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    kind = answer_kind(prompts.kind)
    shown = [_message("system", instructions(prompts))]
    for shot in prompts.training:
        shown += [
            _message("user", question(shot)),
            _message("assistant", kind.as_shown(shot.answer)),
        ]
    for example in prompts.test:
        messages = [*shown, _message("user", question(example))]
        yield prompts.line("chat", example, {"messages": messages})


def pair_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    told = instructions(prompts)
    return _lines_by_example(
        prompts, "pairs", lambda example: f"{told}\n\n{question(example)}\n{ANSWER}"
    )


def clues_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    """As CLUES gives its models an example: the question and the text, no description."""
    return _lines_by_example(
        prompts, "clues", lambda example: " ".join([example.question, *example.context])
    )


def _lines_by_example(
    prompts: PromptSet, form: str, prompt_of: Callable[[PromptExample], str]
) -> Iterator[dict[str, Any]]:
    """Each example by itself, with its answer in the training set."""
    kind = answer_kind(prompts.kind)
    for training, examples in ((True, prompts.training), (False, prompts.test)):
        for example in examples:
            content = {"prompt": prompt_of(example)}
            if training:
                content["answer"] = kind.as_shown(example.answer)
            yield prompts.line(form, example, content, training=training)


FORMATS = {"icl": icl_lines, "chat": chat_lines, "pairs": pair_lines}
UNIFEW = "unifew"
NAMES = (*FORMATS, UNIFEW)
# What a text-to-text model is tuned on and asked: the texts of each example by itself.
BY_EXAMPLE = {"pairs": pair_lines, "clues": clues_lines}
NAMES_BY_EXAMPLE = (*BY_EXAMPLE, UNIFEW)

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


class Texts(NamedTuple):
    lines: Writer
    # Why there are none for a task; empty if there are.
    problem: Callable[[PromptSet], str]


def texts_in(form: str, path: Path | None) -> Texts:
    """Of each example by itself. Raises BadInput where the templates are no use, or missing."""
    if form != UNIFEW:
        if path is not None:
            raise BadInput("Templates are for the format unifew, or for --method PT.")
        return Texts(BY_EXAMPLE[form], lambda prompts: "")
    if path is None:
        raise BadInput("UniFew's wording is in a file: give it with --templates.")
    templates = read_templates(path)

    def problem(prompts: PromptSet) -> str:
        if not answer_kind(prompts.kind).takes_labels:
            return "it has no labels, which UniFew's questions need"
        return "" if prompts.fields["task"] in templates else "--templates has no wording for it"

    return Texts(writer_of(form, templates), problem)


def instructions(prompts: PromptSet) -> str:
    """The description as people read it, and the form of an answer, which people see as a form."""
    form = answer_kind(prompts.kind).answer_form(prompts.max_spans)
    return "\n\n".join(filter(None, (prompts.description.strip(), form)))


def question(example: PromptExample) -> str:
    """A context, its question and what can be answered."""
    lines = ["Context: " + "\n".join(example.context)]
    if example.question:
        lines.append(f"Question: {example.question}")
    if example.options:
        lines.append("Options: " + "; ".join(example.options))
    return "\n".join(lines)


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
