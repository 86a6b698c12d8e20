"""Prompts in our own wording: a model is told what people were told, and nothing else.

`icl` is in-context learning as in CLUES: one text with the description, the shots with their
answers, and the example; `chat` is the same as messages. `pairs` has a text for every example by
itself, with its answer in the training set, as fine-tuning takes them. Texts are whole: nothing is
cut to a length. `unifew` and the patterns of prompt tuning have wordings of their
own, from files of templates: they are data, so that what is called UniFew is UniFew.

A file is a JSON object with an entry for each task. UniFew's multiple-choice questions:

    {"mr": {"question": "Topic?", "joining": "{question} \\\\n {options} \\\\n {text}"},
     "snli": {"question": "", "joining": "{first} Is {second}? \\\\n {options}",
              "labels": {"neutral": "Maybe", "entailment": "Yes", "contradiction": "No"}}}

UniFew's line break is two characters, a backslash and an n, which JSON writes as `\\\\n`. The
patterns of prompt tuning, as in LM-BFF: where the missing word stands beside the text, and which
word stands for which label:

    {"sst2": {"pattern": "{text} It was {mask}.",
              "labels": {"negative": "terrible", "positive": "great"}},
     "mnli": {"pattern": "{first_open}? {mask}, {second_lower}",
              "labels": {"contradiction": "No", "entailment": "Yes", "neutral": "Maybe"}}}
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from string import ascii_uppercase, punctuation
from typing import Any, NamedTuple, TypeVar

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput
from scoring.prompts.prompting import PromptExample, PromptSet
from scoring.runs.formats.json_files import read_json

FIELDS = {"question", "joining", "labels"}
PLACES = ("question", "options", "text", "first", "second")
# As LM-BFF joins a pair: `first_open` has no last punctuation, `second_lower` begins small.
PLACES_OF_PATTERN = ("text", "first", "second", "first_open", "second_lower", "question", "mask")
OF_PAIRS = {"first", "second", "first_open", "second_lower"}
PLACE = re.compile(r"\{(\w+)\}")
# Between the two texts of a pair that stand in one.
BETWEEN_TEXTS = "###"
T = TypeVar("T")


@dataclass(frozen=True)
class Template:
    question: str
    # How question, options and text are joined; see PLACES.
    joining: str
    # What a prompt calls a label; its own text where none is named.
    labels: Mapping[str, str] = field(default_factory=dict)


Templates = Mapping[str, Template]


@dataclass(frozen=True)
class Pattern:
    text: str
    # The word for each label.
    words: Mapping[str, str]


def read_templates(path: Path) -> dict[str, Template]:
    """Read the templates by task. Raises BadInput with what is wrong."""
    return _by_task(path, "a template", _template)


def read_patterns(path: Path) -> dict[str, Pattern]:
    return _by_task(path, "a pattern", _pattern)


def _by_task(path: Path, what: str, read: Callable[[object, str], T]) -> dict[str, T]:
    document = read_json(path)
    if not isinstance(document, dict):
        raise BadInput(f"{path} must hold an object with {what} for each task.")
    return {task: read(value, f"{path}, {task}") for task, value in document.items()}


def unifew_lines(prompts: PromptSet, templates: Templates) -> Iterator[dict[str, Any]]:
    task = prompts.fields["task"]
    if not prompts.has_labels:
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
            called = tuple(template.labels.get(option, option) for option in example.options)
            if len(set(called)) < len(called):
                raise BadInput(
                    f"The template of {task} calls two labels the same ({', '.join(called)})."
                )
            shown = replace(example, options=called)
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
    if OF_PAIRS & set(PLACE.findall(template.joining)):
        texts: Sequence[str] = example.context
        texts = texts[0].split(BETWEEN_TEXTS) if len(texts) == 1 else texts
        pair = _two(example, texts, "The template", " in its joining")
        values["first"], values["second"] = map(_in_one_line, pair)
    return PLACE.sub(lambda place: values[place[1]], template.joining)


def _two(
    example: PromptExample, segments: Sequence[str], what: str, where: str = ""
) -> Sequence[str]:
    if len(segments) != 2:
        raise BadInput(
            f"{what} joins a first and a second text, but the example {example.id} has "
            f"{len(segments)}: use {{text}}{where}."
        )
    return segments


def _template(value: object, where: str) -> Template:
    if not isinstance(value, dict) or not {"question", "joining"} <= value.keys() <= FIELDS:
        raise BadInput(f"{where} must have “question” and “joining”, and may have “labels”.")
    question, joining, labels = value["question"], value["joining"], value.get("labels", {})
    if not isinstance(question, str) or not isinstance(joining, str):
        raise BadInput(f"{where}: “question” and “joining” must be texts.")
    if not _are_texts(labels):
        raise BadInput(f"{where}: “labels” must give each label a text.")
    _check_places(joining, PLACES, f"{where}: {{}} in “joining”")
    if "{options}" not in joining:
        raise BadInput(f"{where}: “joining” must say where the {{options}} stand.")
    return Template(question, joining, labels)


def _pattern(value: object, where: str) -> Pattern:
    if not isinstance(value, dict) or value.keys() != {"pattern", "labels"}:
        raise BadInput(f"{where} must have “pattern” and “labels”, and nothing else.")
    text, labels = value["pattern"], value["labels"]
    if not isinstance(text, str):
        raise BadInput(f"{where}: “pattern” must be a text.")
    if not _are_texts(labels):
        raise BadInput(f"{where}: “labels” must give each label a word.")
    _check_places(text, PLACES_OF_PATTERN, f"{where}: {{}} in “pattern”")
    if PLACE.findall(text).count("mask") != 1:
        raise BadInput(f"{where}: “pattern” must hold {{mask}} once.")
    return Pattern(text, labels)


def _are_texts(labels: object) -> bool:
    return isinstance(labels, dict) and all(isinstance(text, str) for text in labels.values())


def _check_places(text: str, places: Sequence[str], what: str) -> None:
    if unknown := set(PLACE.findall(text)) - set(places):
        known = ", ".join(f"{{{place}}}" for place in places)
        raise BadInput(f"{what.format(f'{{{min(unknown)}}}')} is none of {known}.")


def filled(pattern: Pattern, example: PromptExample, *, word: str) -> str:
    """The pattern with the example's text, and a word where the mask stands."""
    values = {"text": " ".join(example.context), "question": example.question, "mask": word}
    if OF_PAIRS & set(PLACE.findall(pattern.text)):
        first, second = (text.strip() for text in _two(example, example.context, "The pattern"))
        values |= {
            "first": first,
            "second": second,
            "first_open": first.rstrip(punctuation),
            "second_lower": second[:1].lower() + second[1:],
        }
    return PLACE.sub(lambda place: values[place[1]], pattern.text)


def words_of(pattern: Pattern, task: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The word for each label. Raises BadInput where one has none, or two have the same."""
    missing = [label for label in labels if label not in pattern.words]
    if missing:
        raise BadInput(f"The pattern of {task} has no word for the label “{missing[0]}”.")
    words = tuple(pattern.words[label] for label in labels)
    if len(set(words)) < len(words):
        raise BadInput(f"The pattern of {task} has one word for two labels ({', '.join(words)}).")
    return words


def _in_one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


ANSWER, REASONING = "Answer:", "Reasoning:"
BETWEEN_PARTS = "\n\n"


def icl_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    shots = [f"{question(shot)}\n{ANSWER} {_shown(prompts, shot)}" for shot in prompts.training]
    end = REASONING if prompts.reasons else ANSWER
    for example in prompts.test:
        parts = [instructions(prompts), *shots, f"{question(example)}\n{end}"]
        yield prompts.line("icl", example, {"prompt": BETWEEN_PARTS.join(parts)})


def chat_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    shown = [_message("system", instructions(prompts))]
    for shot in prompts.training:
        shown.append(_message("user", question(shot)))
        shown.append(_message("assistant", _shown(prompts, shot)))
    for example in prompts.test:
        messages = [*shown, _message("user", question(example))]
        yield prompts.line("chat", example, {"messages": messages})


def pair_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    description = instructions(prompts)

    def prompt(example: PromptExample) -> str:
        return f"{description}\n\n{question(example)}\n{ANSWER}"

    return _lines_by_example(prompts, "pairs", prompt)


def clues_lines(prompts: PromptSet) -> Iterator[dict[str, Any]]:
    """Write an example as CLUES gives it to models: the question and the text, no description."""
    return _lines_by_example(prompts, "clues", lambda one: " ".join([one.question, *one.context]))


def _lines_by_example(
    prompts: PromptSet, form: str, prompt_of: Callable[[PromptExample], str]
) -> Iterator[dict[str, Any]]:
    """Each example by itself, with its answer in the training set."""
    for training, examples in ((True, prompts.training), (False, prompts.test)):
        for example in examples:
            content = {"prompt": prompt_of(example)}
            if training:
                content["answer"] = _shown(prompts, example)
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
    """Raises BadInput where the templates are no use, or missing."""
    if form != UNIFEW:
        if path is not None:
            raise BadInput("Templates are for the format unifew, or for --method PT.")
        return Texts(BY_EXAMPLE[form], lambda prompts: "")
    if path is None:
        raise BadInput("UniFew's wording is in a file: give it with --templates.")
    templates = read_templates(path)

    def problem(prompts: PromptSet) -> str:
        if not prompts.has_labels:
            return "it has no labels, which UniFew's questions need"
        return "" if prompts.fields["task"] in templates else "--templates has no wording for it"

    return Texts(writer_of(form, templates), problem)


def instructions(prompts: PromptSet) -> str:
    """The description as people read it, and the form of an answer, which people see as a form."""
    kind = answer_kind(prompts.kind)
    form = kind.answer_form(prompts.max_spans, lettered=prompts.is_lettered)
    if prompts.reasons:
        form = (
            f"Think step by step first. Then write “{ANSWER}” on a new line, and behind it your "
            f"answer. For the answer itself: {form}"
        )
    return "\n\n".join(filter(None, (prompts.description.strip(), form)))


def question(example: PromptExample) -> str:
    text = "\n".join(example.context)
    lines = [f"Context: {text}", f"Question: {example.question}"]
    if not example.question:
        # A question of its own, unless it is a text to be labelled.
        is_labelled = example.options and not example.labels
        lines = [f"Context: {text}" if is_labelled else f"Question: {text}"]
    if example.labels:
        lettered = zip(ascii_uppercase, example.options, strict=False)
        lines += [f"{letter}. {option}" for letter, option in lettered]
    elif example.options:
        lines.append("Options: " + "; ".join(example.options))
    return "\n".join(lines)


def _shown(prompts: PromptSet, example: PromptExample) -> str:
    kind = answer_kind(prompts.kind)
    return kind.as_shown(example.answer, lettered=prompts.is_lettered)


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
