"""The kinds of answer. A kind is all that other code must know about its answers: one module each,
named after the kind, with the kind as `KIND`; and one template, with its parts. `base.py` says what
a kind provides, `gold.py` what single answers score, `pieces.py` cuts a text for its page.

Kinds know only the models and the numeric core; code that needs something from a kind asks it here,
and nothing else looks at a kind's name. Their names are listed with the models
(`annotation.models.Kind`), which registers them.
"""

from functools import cache
from importlib import import_module

from annotation.kinds.base import AnswerKind, Texts, asked
from annotation.models import Example, Kind


class UnknownKind(LookupError):
    """There is no kind of this name."""


@cache
def answer_kind(name: str) -> AnswerKind:
    """The kind of this name. Raises UnknownKind."""
    if name not in Kind.values:
        raise UnknownKind(f"There is no kind {name!r}; there are {', '.join(Kind.values)}.")
    kind: AnswerKind = import_module(f"annotation.kinds.{name}").KIND
    return kind


def answer_kinds() -> list[AnswerKind]:
    """All of them, in the order in which they are listed."""
    return [answer_kind(name) for name in Kind.values]


def in_full(answer: Texts, example: Example) -> list[str]:
    """An answer to an example, or its gold, as it reads to whoever looks at it."""
    return answer_kind(example.task.kind).in_full(answer, asked(example, ()))
