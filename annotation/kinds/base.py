"""What every kind of answer provides, and what it is told: whoever writes a new kind reads this."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, ClassVar, Protocol

from django_stubs_ext import StrOrPromise

from annotation.kinds.pieces import marked
from annotation.models import Example
from annotation.models.frozen import FrozenExample, TaskContent
from scoring.core import s1 as core
from scoring.core.normalisation import NONE, in_one_form

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

    @property
    def options(self) -> Texts:
        """Those of this example alone; none where its set offers labels."""
        ...


class Asked(HasContext, Protocol):
    """What a kind must know about an example, whoever holds it."""

    @property
    def labels(self) -> Texts: ...


class FileRow(HasContext, Protocol):
    """A row of a benchmark's file."""

    @property
    def gold_texts(self) -> Sequence[Texts]: ...


@dataclass(frozen=True)
class AskedExample:
    """An example with the labels of its set."""

    context: Sequence[str]
    candidates: Sequence[Sequence[int]]
    labels: Texts
    options: Texts = ()


def asked(example: Example, labels: Texts) -> AskedExample:
    return AskedExample(example.context, example.candidates, labels, example.options)


def mentions(asked: Asked) -> list[str]:
    """The texts of the marked entities, as often as they are marked."""
    return [asked.context[segment][start:end] for segment, start, end in asked.candidates]


@dataclass(frozen=True)
class Reveal:
    """How an answer compares with the gold, once it is locked."""

    score: float
    # Texts as they were given and written.
    answer: list[str]
    expected: list[str]
    # Where the texts of the answer were selected.
    spans: list[list[int]]
    # How each text of the answer or the gold compares, in one form: `right`, `missed` or `extra`.
    marks: dict[str, str]
    other_alternatives: list[list[str]]
    explanation: str

    @property
    def nothing_to_find(self) -> bool:
        return not {"right", "missed"} & set(self.marks.values())

    @property
    def found_nothing(self) -> bool:
        return not {"right", "extra"} & set(self.marks.values())

    def mark_of(self, text: str) -> str:
        return self.marks.get(in_one_form(text), "")

    @property
    def is_right(self) -> bool:
        return self.score == 1

    @property
    def is_wrong(self) -> bool:
        return self.score == 0


# The alternatives of each test example's gold, as S1 compares them.
Golds = Sequence[Sequence[Texts]]


@dataclass(frozen=True)
class Floor:
    """One way to answer without looking at the question, and the S1 that it earns."""

    rule: str
    in_words: str
    # From the test examples of a task, their gold and the reference policy, in [0, 1].
    score: Callable[[Sequence[Asked], Golds, str], float]
    # Whether the answer form allows this answer.
    is_allowed: bool = True

    @property
    def label(self) -> str:
        """What stands before its figure in a table."""
        return f"No skill: {self.in_words}"


EMPTY = Floor(
    "empty",
    "no answer everywhere",
    lambda asked, golds, policy: core.empty_score(golds, references=policy),
)


def best_constant(rule: str, in_words: str) -> Floor:
    """The floor of the one answer that earns most if it is given everywhere."""
    return Floor(
        rule,
        in_words,
        lambda asked, golds, policy: core.best_constant_text(golds, references=policy)[1],
    )


class AnswerKind(ABC):
    """A kind of answer: what a module of this room provides, by one instance."""

    name: ClassVar[str]
    template: ClassVar[str]
    # The sentence for a form that was sent without an answer, and the word for an empty answer.
    missing: ClassVar[StrOrPromise]
    nothing: ClassVar[StrOrPromise]
    # The button for that answer, which a description names as {none}.
    none_button: ClassVar[StrOrPromise] = ""
    # What it asks, before the consent; with the number of options where it offers any.
    task: ClassVar[StrOrPromise]
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
    # Any number of its options is one answer, as is none.
    takes_sets: ClassVar[bool] = False
    # Where an answer is no position in a text, which then may be Markdown, and stand beside images.
    takes_markup: ClassVar[bool] = False
    # What its tasks may have taken out of answers and gold before S1 compares them; the first is
    # that of a task that names none.
    normalisations: ClassVar[tuple[str, ...]] = (NONE,)
    # Whether its tasks may name how far an answer may be from the gold.
    takes_tolerance: ClassVar[bool] = False

    @property
    def takes_one_label(self) -> bool:
        return self.takes_labels and not self.takes_sets

    def asks(self, options: str) -> str:
        return str(self.task) % {"n": options}

    def described(self, description: str) -> str:
        """The description as it is read, in the reader's language."""
        return description.replace("{none}", str(self.none_button) or "{none}")

    # ---- The data of a benchmark

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
        names = ("form", "reveal", "verdict", "keys", "more_keys", "gestures")
        return {name: f"{self.template}#{name}" for name in names}

    def options(self, asked: Asked) -> tuple[str, ...]:
        """What can be chosen, as answers hold it, in the file's order."""
        return ()

    def options_as_read(self, asked: Asked) -> tuple[str, ...]:
        """The same as it reads."""
        return self.options(asked)

    def in_full(self, answer: Texts, asked: Asked) -> list[str]:
        """An answer as it reads to whoever looks at it."""
        return list(answer)

    def meant(self, texts: Texts, asked: Asked) -> list[str]:
        """The answer that somebody wrote by hand, or a file that knows no numbers of options."""
        return list(texts)

    def shown(self, example: FrozenExample) -> Context:
        """What the form needs besides the example, as `shown` in its template."""
        return {"segments": marked(example.context), "options": self.options(example)}

    @abstractmethod
    def read(self, form: Form, example: FrozenExample, content: TaskContent) -> Answer:
        """The answer that a form holds, or BadInput with a sentence for the annotator."""

    @abstractmethod
    def revealed(self, example: FrozenExample, reveal: Reveal) -> Context:
        """What a locked answer's page needs besides the comparison, as `shown` in its template."""

    # ---- Models: prompts, and what they answered

    def as_text(self, answer: Texts) -> str:
        """A JSON list, as an import reads free text, where an answer may hold several texts."""
        if self.takes_sets or self.takes_pieces:
            return json.dumps(list(answer), ensure_ascii=False)
        return answer[0] if answer else ""

    def as_shown(self, answer: Texts, *, lettered: bool = False) -> str:
        """The answer of an example that a prompt shows, in the form that it asks for."""
        return self.as_text(answer)

    @abstractmethod
    def answer_form(self, max_spans: int | None, *, lettered: bool = False) -> str:
        """What a prompt says about the form of an answer; `lettered`: its options have letters."""

    @abstractmethod
    def from_prompted(
        self, text: str, options: Texts, separator: str = "", labels: Texts = ()
    ) -> list[str]:
        """The answer in a model's reply to a prompt, as a person would read it; `labels` are what
        the options of the prompt stand for, in their order; `separator` cuts pieces."""

    def cut_in_words(self, separator: str) -> str:
        return "the whole text is one answer, without a lead-in or a next example"

    # ---- Simulated annotators

    @abstractmethod
    def right_form(self, example: FrozenExample, gold: Texts) -> Form:
        """The form of a right answer, with as many texts as one answer may hold."""

    @abstractmethod
    def wrong_form(
        self, example: FrozenExample, gold: Texts, content: TaskContent, chance: Random
    ) -> Form:
        """An answer that a person could give, and that is not the gold."""
