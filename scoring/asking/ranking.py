"""Choosing by likelihood: what stands for each option of a choice after its prompt, and which of
them the log-probabilities choose. A reply holds these, by the option."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Any, NamedTuple

import scipy

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput, Refusal
from scoring.prompts.formats import BETWEEN_TEXTS
from scoring.prompts.prompting import PromptExample, PromptSet

TEXT, SUM, NORMALIZED = "text", "likelihood", "likelihood-normalized"
CALIBRATED = "likelihood-calibrated"
# How a choice is answered, and what that adds to the name of the system.
WAYS = {
    TEXT: "",
    SUM: "by likelihood",
    NORMALIZED: "by normalized likelihood",
    CALIBRATED: "by calibrated likelihood",
}
# In a line: what is written for each option, in their order; and prompts without any content.
WRITTEN = "written"
CONTENT_FREE = "content_free"
# What stands in these for an example, as in Zhao et al. 2021.
NO_CONTENTS = ("N/A", "[MASK]", "")
# Between a prompt and what follows, as in lm-evaluation-harness.
JOINT = " "
DIGITS = 6


class Likelihoods(NamedTuple):
    """What a model tells of the options after a prompt, in their order; the tokens that it read
    and wrote for them, and how it calls itself."""

    log_probabilities: list[float]
    read: int
    written: int
    version: str


def sum_of(of_tokens: Sequence[float | None], text: str) -> float:
    """The log-probability of an option, from those of its tokens. Raises Refusal without some."""
    known = [value for value in of_tokens if value is not None]
    if not known or len(known) < len(of_tokens):
        raise Refusal(f"The model gives no log-probability of “{text.strip()}”.")
    return sum(known)


def way_of(kind: str, way: str) -> str:
    """Other kinds, and choices of any number of labels, write their answers."""
    asked = answer_kind(kind)
    return way if asked.takes_options and not asked.takes_sets else TEXT


def with_options(line: Mapping[str, Any], prompts: PromptSet) -> dict[str, Any]:
    """What the prompt asks to be written for each option: the letter of one of an example's own.
    Raises BadInput where there is nothing to rank."""
    if "messages" in line:
        raise BadInput("Options are ranked after a plain text: use the format icl, or unifew.")
    written = list(line.get("options", ()))
    if prompts.is_lettered:
        kind = answer_kind(prompts.kind)
        written = [kind.as_shown((label,), lettered=True) for label in line["labels"]]
    if not written or not all(text.strip() for text in written):
        raise BadInput(
            f"The example {line['example']} of {line['task']} has no options, or an empty one, "
            "which has no likelihood: ask for it by text."
        )
    return {**line, WRITTEN: written}


def content_free(prompts: PromptSet) -> Iterator[PromptSet]:
    """The same shots before examples that say nothing. What all have in common stays: the question
    and the labels, but not the options of an example of its own behind their letters."""
    is_same = len({example.question for example in prompts.test}) == 1
    for text in NO_CONTENTS:
        yield replace(prompts, test=tuple(_emptied(one, text, is_same) for one in prompts.test))


def _emptied(example: PromptExample, text: str, keeps_question: bool) -> PromptExample:
    context = tuple(
        BETWEEN_TEXTS.join(text for _ in s.split(BETWEEN_TEXTS)) for s in example.context
    )
    question = example.question if keeps_question or not example.question else text
    options = (text,) * len(example.options) if example.labels else example.options
    return replace(example, context=context, question=question, options=options)


def mean_of_shares(told: Sequence[Sequence[float]]) -> list[float]:
    """The log of each option's mean probability among the options, over several prompts."""
    special = scipy.special
    shares = special.log_softmax(told, axis=1)
    return [float(value) for value in special.logsumexp(shares, axis=0) - log(len(told))]


def as_reply(line: Mapping[str, Any], *log_probabilities: Sequence[float]) -> str:
    """Write the log probabilities after the prompt as a reply; where it is calibrated, those
    without content beside them."""
    of_each = zip(
        *([round(value, DIGITS) for value in some] for some in log_probabilities), strict=True
    )
    figures = [numbers[0] if len(numbers) == 1 else numbers for numbers in of_each]
    return json.dumps(dict(zip(line[WRITTEN], figures, strict=True)), ensure_ascii=False)


def chosen(reply: str, line: Mapping[str, Any], way: str) -> tuple[str, ...]:
    """The option of the greatest log-probability, the first of equals; normalized, by character, as
    the harness's `acc_norm` (by byte is its `acc_bytes`); calibrated, less that without content."""
    by_text: Mapping[str, Any] = json.loads(reply)
    scores = [by_text[text] for text in line[WRITTEN]]
    if way == CALIBRATED:
        scores = [after - free for after, free in scores]
    if way == NORMALIZED:
        scores = [score / len(text) for score, text in zip(scores, line[WRITTEN], strict=True)]
    answers = line.get("labels") or line["options"]
    return (answers[scores.index(max(scores))],)
