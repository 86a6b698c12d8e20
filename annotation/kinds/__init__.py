"""The kinds of answer. A kind is all that other code must know about its answers: one module each,
named after the kind, with the kind as `KIND`; and one template, with its parts. Here stands what
every kind must provide, S1 of single judgements, by the core that scores people and models alike,
and a text in pieces, for a page that marks some of them.

Kinds know only the models and the numeric core; code that needs something from a kind asks it here,
and nothing else looks at a kind's name. Their names are listed with the models
(`annotation.models.Kind`), which registers them.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from itertools import pairwise
from random import Random
from typing import Any, ClassVar, Protocol

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django_stubs_ext import StrOrPromise

from annotation.models import Example, Gold, Judgement, Kind, ReferencePolicy
from annotation.models.frozen import BatchContent, FrozenExample, TaskContent
from scoring.core import s1 as core
from scoring.core.normalisation import NONE, as_compared, in_one_form, normalised, normalised_golds
from scoring.core.s1 import s1_score, score_one
from scoring.core.spans import in_any_form

MARKS = ("mention", "right", "missed", "extra")
CLASSES = tuple(f"{mark}{place}" for mark in MARKS for place in ("", "-first", "-last"))
# Segment, start, end in code points, and the name of a mark.
Range = tuple[int, int, int, str]


@dataclass(frozen=True)
class Piece:
    """A stretch of a segment, and what is marked there: a candidate's mention while it is
    asked for, and how the annotator's answer compares once it is locked."""

    text: str
    # Of MARKS, with spaces between them; and of each whether it begins or ends here, so that a mark
    # over several pieces can be drawn as one: `missed missed-first`.
    marks: str = ""

    @property
    def html(self) -> SafeString:
        """Escaped, including carriage returns: a browser drops bare ones, and every position after
        them would be off by one."""
        return mark_safe(escape(self.text).replace("\r", "&#13;"))


@dataclass(frozen=True)
class Segment:
    pieces: list[Piece]

    @property
    def length(self) -> int:
        """The length in code points, by which a browser knows that it shows the text unchanged."""
        return sum(len(piece.text) for piece in self.pieces)


def marked(context: Sequence[str], ranges: Iterable[Range] = ()) -> list[Segment]:
    """The segments of a context, in pieces wherever a mark begins or ends."""
    kept = list(ranges)
    return [
        Segment(_pieces(text, [(a, b, mark) for s, a, b, mark in kept if s == segment]))
        for segment, text in enumerate(context)
    ]


def occurrences(context: Sequence[str], text: str) -> list[tuple[int, int, int]]:
    """Find where a text occurs: as a whole word if it does so anywhere, else within words."""
    whole_words = _matches(context, rf"(?<!\w){in_any_form(text)}(?!\w)")
    return whole_words or _matches(context, in_any_form(text))


def _matches(context: Sequence[str], pattern: str) -> list[tuple[int, int, int]]:
    return [
        (segment, *match.span())
        for segment, text in enumerate(context)
        for match in re.finditer(pattern, text)
    ]


def _pieces(text: str, ranges: Sequence[tuple[int, int, str]]) -> list[Piece]:
    """Cut the text wherever a mark begins or ends, so that marks may overlap."""
    edges = sorted({0, len(text), *(edge for a, b, _mark in ranges for edge in (a, b))})
    pieces = []
    for start, end in pairwise(edges):
        covering = [(a, b, mark) for a, b, mark in ranges if a <= start and end <= b]
        classes = {mark for _a, _b, mark in covering}
        classes |= {f"{mark}-first" for a, _b, mark in covering if a == start}
        classes |= {f"{mark}-last" for _a, b, mark in covering if b == end}
        pieces.append(Piece(text[start:end], " ".join(name for name in CLASSES if name in classes)))
    return pieces


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


def in_full(answer: Texts, example: Example) -> list[str]:
    """An answer to an example, or its gold, as it reads to whoever looks at it."""
    return answer_kind(example.task.kind).in_full(answer, asked(example, ()))


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
    return Floor(
        rule,
        in_words,
        lambda asked, golds, policy: core.best_constant_text(golds, references=policy)[1],
    )


def gold_in_force(example_ids: Iterable[int], task_id: int, version: int) -> dict[int, Gold]:
    golds = (
        Gold.objects.filter(
            example_id__in=list(example_ids), version__task_id=task_id, version__number__lte=version
        )
        .select_related("version")
        .order_by("version__number")
    )
    return {gold.example_id: gold for gold in golds}


def golds_of(content: BatchContent) -> dict[int, Gold]:
    """The frozen gold of all that a batch shows and asks."""
    shown = [example.pk for example in (*content.training, *content.test)]
    golds = gold_in_force(shown, content.task_id, content.gold_version)
    if checked := content.check_task:
        of_checks = [example.pk for example in content.checks]
        golds |= gold_in_force(of_checks, checked.task_id, checked.gold_version)
    return golds


def answer_score(texts: Sequence[str], gold: Gold, policy: str, normalisation: str) -> float:
    """S1 of one answer, in [0, 1], under a reference policy and a task's normalisation."""
    answer, golds = as_compared(texts, gold.alternative_texts(), normalisation)
    return score_one(answer, golds, references=policy)


@dataclass(frozen=True)
class Reveal:
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


def compare(judgement: Judgement, gold: Gold, policy: str, normalisation: str) -> Reveal:
    """The answer beside what it was scored against: under the policy `set` the union of the
    alternatives, else the nearest of them."""
    answer, alternatives = judgement.answer, gold.alternative_texts() or [[]]
    right = normalised_golds(alternatives, normalisation)

    def compared(texts: Sequence[str]) -> dict[str, str]:
        keys = normalised(texts, normalisation, right)
        return {key: text for key, text in zip(keys, texts, strict=True) if key}

    answered = compared(answer)
    if policy == ReferencePolicy.SET:
        expected, others = [text for texts in alternatives for text in texts], []
    else:
        expected = max(alternatives, key=lambda texts: s1_score(answered, compared(texts)))
        others = [texts for texts in alternatives if texts != expected]
    golds, score = compared(expected), answer_score(answer, gold, policy, normalisation)
    marks = {
        in_one_form(text): "missed" if key not in answered else "right" if key in golds else "extra"
        # The annotator's words first, and a text that both have in the annotator's wording.
        for key, text in (answered | golds | answered).items()
    }
    return Reveal(score, list(answer), expected, judgement.spans, marks, others, gold.explanation)


class AnswerKind(ABC):
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


def mentions(asked: Asked) -> list[str]:
    """The texts of the marked entities, as often as they are marked."""
    return [asked.context[segment][start:end] for segment, start, end in asked.candidates]


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
