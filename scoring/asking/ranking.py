"""Choosing by likelihood: what stands for each option of a choice after its prompt, and which of
them the log-probabilities choose. A reply holds these, by the option."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput
from scoring.prompts.prompting import PromptSet

TEXT, SUM, NORMALIZED = "text", "likelihood", "likelihood-normalized"
# How a choice is answered, and what that adds to the name of the system.
WAYS = {
    TEXT: "",
    SUM: "by likelihood",
    NORMALIZED: "by normalized likelihood",
}
# In a line: what is written for each option, in their order.
WRITTEN = "written"
# Between a prompt and what follows, as in lm-evaluation-harness.
JOINT = " "
DIGITS = 6


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


def as_reply(line: Mapping[str, Any], log_probabilities: Sequence[float]) -> str:
    rounded = (round(one, DIGITS) for one in log_probabilities)
    return json.dumps(dict(zip(line[WRITTEN], rounded, strict=True)), ensure_ascii=False)


def chosen(reply: str, line: Mapping[str, Any], way: str) -> tuple[str, ...]:
    """The option of the greatest log-probability, the first of equals; normalized, by character, as
    the harness's `acc_norm` (by byte is its `acc_bytes`)."""
    told: Mapping[str, float] = json.loads(reply)
    scores = [told[text] for text in line[WRITTEN]]
    if way == NORMALIZED:
        scores = [one / len(text) for one, text in zip(scores, line[WRITTEN], strict=True)]
    answers = line.get("labels") or line["options"]
    return (answers[scores.index(max(scores))],)
