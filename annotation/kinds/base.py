"""What every kind of answer must provide.

Kinds know only the models and the numeric core; code that needs something from a kind asks it here,
and nothing else looks at a kind's name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, ClassVar, Protocol

from django_stubs_ext import StrOrPromise

from annotation.kinds.scoring import Reveal
from annotation.models import Example, Judgement
from annotation.models.frozen import BatchContent, FrozenExample
from scoring.core import floors as core
from scoring.core.normalisation import NONE

# The fields of an answer's form by their names, as a browser sends them.
Form = Mapping[str, str]
# A template's context.
Context = dict[str, Any]
Texts = Sequence[str]


@dataclass(frozen=True)
class Answer:
    """The texts that S1 compares, and where in the context they stand if selected there."""

    texts: tuple[str, ...]
    spans: tuple[tuple[int, int, int], ...] = ()


class HasContext(Protocol):
    @property
    def context(self) -> Sequence[str]: ...
    @property
    def candidates(self) -> Sequence[Sequence[int]]:
        """The marked entities, each [segment, start, end]."""
        ...


class Asked(HasContext, Protocol):
    """What a kind must know about an example, whoever holds it."""

    @property
    def labels(self) -> Texts:
        """Those that its set offers."""
        ...


class FileRow(HasContext, Protocol):
    """A row of a benchmark's file."""

    @property
    def gold_texts(self) -> Sequence[Texts]:
        """Its alternatives."""
        ...


@dataclass(frozen=True)
class AskedExample:
    """An example with the labels of its set."""

    context: Sequence[str]
    candidates: Sequence[Sequence[int]]
    labels: Texts


def asked(example: Example, labels: Texts) -> AskedExample:
    return AskedExample(example.context, example.candidates, labels)


@dataclass(frozen=True)
class Tested:
    """The test examples of a task beside the alternatives of their gold, as S1 compares them."""

    asked: Sequence[Asked]
    golds: Sequence[Sequence[Texts]]


@dataclass(frozen=True)
class Floor:
    """One way to answer without looking at the question, and the S1 that it earns."""

    rule: str
    in_words: str
    # From the test examples and the reference policy, in [0, 1].
    score: Callable[[Tested, str], float]
    # Whether the answer form allows this answer.
    is_allowed: bool = True

    @property
    def label(self) -> str:
        """Before its figure in a table."""
        return f"No skill: {self.in_words}"


EMPTY = Floor(
    "empty",
    "no answer everywhere",
    lambda tested, policy: core.empty_score(tested.golds, references=policy),
)


@dataclass(frozen=True)
class Revealed:
    """A locked answer, and how it compares with the gold."""

    example: FrozenExample
    judgement: Judgement
    reveal: Reveal


class AnswerKind(ABC):
    name: ClassVar[str]
    template: ClassVar[str]
    # The sentence for a form that was sent without an answer, and the word for an empty answer.
    missing: ClassVar[StrOrPromise]
    nothing: ClassVar[StrOrPromise]
    # From the static folder.
    styles: ClassVar[tuple[str, ...]] = ()
    scripts: ClassVar[tuple[str, ...]] = ()
    # What an annotator does, as a methods section says it.
    in_words: ClassVar[str]
    floors: ClassVar[tuple[Floor, ...]] = (EMPTY,)
    # An answer is one of the labels of its set; one of the texts that its example offers; made of
    # pieces of the context; or else any text.
    takes_labels: ClassVar[bool] = False
    takes_options: ClassVar[bool] = False
    takes_pieces: ClassVar[bool] = False
    # What its tasks may have taken out of answers and gold before S1 compares them; the first is
    # that of a task that names none.
    normalisations: ClassVar[tuple[str, ...]] = (NONE,)

    # ---- The data of a benchmark

    @abstractmethod
    def fits(self, rows: Sequence[FileRow]) -> bool:
        """Whether rows of a file that names no kind are of this one. Exactly one kind
        fits; one that no rows give away never does, and has to be named."""

    def problem_of_row(self, row: FileRow) -> str:
        """What is wrong with a row for this kind; empty if nothing."""
        return ""

    @abstractmethod
    def problem_of_alternative(self, texts: Texts, max_spans: int | None) -> str:
        """What is wrong with a gold alternative, read or corrected; empty if nothing."""

    @abstractmethod
    def givable(self, texts: Collection[str], asked: Asked) -> set[str]:
        """Those of the texts that an answer to this example could hold."""

    def most_texts(self, max_spans: int | None) -> int | None:
        """How many texts one answer may hold; None: any number."""
        return 1

    def most_pieces(self, context: Sequence[str], max_spans: int | None) -> int:
        """A bound for the pieces of any gold of an example, from what everybody is shown: it says
        nothing about the gold."""
        return self.most_texts(max_spans) or 1

    # ---- The annotator's page

    @cached_property
    def parts(self) -> dict[str, str]:
        names = ("form", "reveal", "verdict", "keys", "more_keys")
        return {name: f"{self.template}#{name}" for name in names}

    def options(self, asked: Asked) -> tuple[str, ...]:
        """The texts to choose from, in the order in which they are offered."""
        return ()

    @abstractmethod
    def shown(self, example: FrozenExample) -> Context:
        """What the form needs besides the example, as `shown` in its template."""

    @abstractmethod
    def read(self, form: Form, example: FrozenExample, content: BatchContent) -> Answer:
        """The answer that a form holds, or BadInput with a sentence for the annotator."""

    @abstractmethod
    def revealed(self, revealed: Revealed) -> Context:
        """What the reveal needs besides the comparison, as `shown` in its template."""

    # ---- Models: prompts, and what they answered

    @abstractmethod
    def as_text(self, answer: Texts) -> str:
        """An answer as the one text that a model is shown, or gives."""

    def as_shown(self, answer: Texts) -> str:
        """The answer of an example that a prompt shows, in the form that it asks for."""
        return self.as_text(answer)

    @abstractmethod
    def answer_form(self, max_spans: int | None) -> str:
        """What a prompt says about the form of an answer."""

    @abstractmethod
    def from_prompted(self, text: str, options: Texts, separator: str = "") -> list[str]:
        """The answer in a model's reply to a prompt, as a person would read it; `separator` cuts
        pieces."""

    def cut_in_words(self, separator: str) -> str:
        return "the whole text is one answer, without a lead-in or a next example"

    # ---- Simulated annotators

    @abstractmethod
    def right_form(self, example: FrozenExample, gold: Texts, content: BatchContent) -> Form: ...

    @abstractmethod
    def wrong_form(
        self, example: FrozenExample, gold: Texts, content: BatchContent, chance: Random
    ) -> Form:
        """An answer that a person could give, and that is not the gold."""


def mentions(asked: Asked) -> list[str]:
    """The texts of the marked entities, as often as they are marked."""
    return [asked.context[segment][start:end] for segment, start, end in asked.candidates]
