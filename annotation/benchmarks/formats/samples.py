"""The sample of a task: what it asks, in a sentence, and an item to try before the consent. It is
written for that and in no set, so nobody who tried it has seen an item of the study."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeGuard

from annotation.kinds import answer_kind
from annotation.models.texts import is_text

# Its fields: texts, and lists of texts.
TEXTS = ("asks", "question", "explanation")
LISTS = ("text", "names", "options", "answer")
WANTED = (
    "an object with “asks”, a sentence, and an item to try: “text”, “question”, “answer”, where "
    "they apply “names”, “options” and “explanation”; lists for several texts, names or answers"
)


def is_sample(value: object) -> bool:
    if not isinstance(value, dict) or not value.keys() <= {*TEXTS, *LISTS}:
        return False
    texts = [value.get(name, "") for name in TEXTS]
    lists = [value.get(name, []) for name in LISTS]
    has_item = bool(value.get("text")) == ("answer" in value)
    return has_item and are_texts(texts) and all(map(are_texts, lists))


def are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) and is_text(one) for one in value)


def problem_of_sample(
    sample: Mapping[str, Any], kind: str, labels: Collection[str], contexts: Iterable[Any]
) -> str:
    """Why this item cannot be tried; empty if it can, or there is none."""
    text, answer, of_kind = sample.get("text"), sample.get("answer", []), answer_kind(kind)
    if not text:
        return ""
    names = sample.get("names", [])
    options = sample.get("options") or (labels if of_kind.takes_labels else names)
    is_offered = {*answer} <= {*options} and (len(answer) == 1 or of_kind.takes_sets)
    if of_kind.takes_options and not is_offered:
        return f"its answer must be one of {', '.join(options) or 'its names'}"
    if problem := of_kind.problem_of_alternative(answer, None):
        return problem
    pieces = [*names, *(answer if of_kind.takes_pieces else [])]
    missing = [piece for piece in pieces if not any(piece in segment for segment in text)]
    if missing:
        return f"“{missing[0]}” is not in its text"
    if any(list(context) == text for context in contexts):
        return "its text is that of an example: write one of its own"
    return ""
