"""Patterns for prompt tuning, from a file: where the missing word stands beside the text, and which
word stands for which label, as in LM-BFF.

The file is a JSON object with a pattern for each task:

    {"sst2": {"pattern": "{text} It was {mask}.",
              "labels": {"negative": "terrible", "positive": "great"}},
     "mnli": {"pattern": "{first_open}? {mask}, {second_lower}",
              "labels": {"contradiction": "No", "entailment": "Yes", "neutral": "Maybe"}}}
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import punctuation

from annotation.models.errors import BadInput
from scoring.prompts.material import PromptExample
from scoring.runs.formats.json_files import read_json

FIELDS = {"pattern", "labels"}
# As LM-BFF joins a pair: `first_open` has no last punctuation, `second_lower` begins small.
PLACES = ("text", "first", "second", "first_open", "second_lower", "question", "mask")
OF_PAIRS = {"first", "second", "first_open", "second_lower"}
PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Pattern:
    text: str
    # The word for each label.
    words: Mapping[str, str]


def read_patterns(path: Path) -> dict[str, Pattern]:
    """By task. Raises BadInput with what is wrong."""
    given = read_json(path)
    if not isinstance(given, dict):
        raise BadInput(f"{path} must hold an object with a pattern for each task.")
    return {task: _pattern(value, f"{path}, {task}") for task, value in given.items()}


def filled(pattern: Pattern, example: PromptExample, *, word: str) -> str:
    """The pattern with the example's text, and a word where the mask stands."""
    values = {
        "text": " ".join(example.context),
        "question": example.question,
        "mask": word,
    }
    if OF_PAIRS & set(PLACE.findall(pattern.text)):
        values |= _pair(example)
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


def _pair(example: PromptExample) -> dict[str, str]:
    if len(example.context) != 2:
        raise BadInput(
            f"The pattern joins a first and a second text, but the example {example.id} has "
            f"{len(example.context)}: use {{text}}."
        )
    first, second = (text.strip() for text in example.context)
    return {
        "first": first,
        "second": second,
        "first_open": first.rstrip(punctuation),
        "second_lower": second[:1].lower() + second[1:],
    }


def _pattern(value: object, where: str) -> Pattern:
    if not isinstance(value, dict) or value.keys() != FIELDS:
        raise BadInput(f"{where} must have “pattern” and “labels”, and nothing else.")
    text, labels = value["pattern"], value["labels"]
    if not isinstance(text, str):
        raise BadInput(f"{where}: “pattern” must be a text.")
    are_words = isinstance(labels, dict) and all(isinstance(word, str) for word in labels.values())
    if not are_words:
        raise BadInput(f"{where}: “labels” must give each label a word.")
    if unknown := set(PLACE.findall(text)) - set(PLACES):
        places = ", ".join(f"{{{place}}}" for place in PLACES)
        raise BadInput(f"{where}: {{{min(unknown)}}} in “pattern” is none of {places}.")
    if PLACE.findall(text).count("mask") != 1:
        raise BadInput(f"{where}: “pattern” must hold {{mask}} once.")
    return Pattern(text, labels)
