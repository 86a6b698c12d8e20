"""What the kinds that offer texts to choose exactly one from have in common."""

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from django.utils.translation import gettext as _

from annotation.kinds.base import Answer, AnswerKind, Asked, Context, Form, Revealed, Texts
from annotation.kinds.replies import read_label
from annotation.models.errors import BadInput
from annotation.models.frozen import BatchContent, FrozenExample

# No option of ours has more digits than this.
MOST_DIGITS = 12


@dataclass(frozen=True)
class ComparedOption:
    """An option as it was offered, and how it compares: `right`, `missed`, `extra`, or nothing."""

    text: str
    mark: str

    @property
    def own(self) -> bool:
        return self.mark in ("right", "extra")

    @property
    def gold(self) -> bool:
        return self.mark in ("right", "missed")


class OneOption(AnswerKind):
    template = "annotation/kinds/choice.html"
    takes_options = True

    def problem_of_alternative(self, texts: Texts, max_spans: int | None) -> str:
        if len(texts) == 1:
            return ""
        return f"an alternative is exactly one text where the kind is {self.name}"

    def givable(self, texts: Collection[str], asked: Asked) -> set[str]:
        return set(texts) & set(self.options(asked))

    @property
    def missing(self) -> str:
        return _("Choose one answer, then send it.")

    @property
    def nothing(self) -> str:
        return _("none here")

    def read(self, form: Form, example: FrozenExample, content: BatchContent) -> Answer:
        number, options = form.get("option", ""), self.options(example)
        if not number:
            raise BadInput(self.missing)
        is_number = number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS
        if not is_number or int(number) >= len(options):
            raise BadInput(_("This answer is not among the choices. Choose one of them."))
        return Answer(texts=(options[int(number)],))

    def revealed(self, revealed: Revealed) -> Context:
        marks = revealed.reveal.marks
        offered = self.options(revealed.example)
        return {"options": [ComparedOption(text, marks.get(text, "")) for text in offered]}

    def as_text(self, answer: Texts) -> str:
        return answer[0] if answer else ""

    def answer_form(self, max_spans: int | None) -> str:
        return "Answer with one of the options, exactly as it is written there, and nothing else."

    def from_prompted(self, text: str, options: Texts, separator: str = "") -> list[str]:
        label = read_label(text, options)
        return [label] if label else []

    def cut_in_words(self, separator: str) -> str:
        return "the option that it names, by text or letter; else the whole text, which is wrong"

    def right_form(self, example: FrozenExample, gold: Texts, content: BatchContent) -> Form:
        options = self.options(example)
        return {"option": str(options.index(gold[0]) if gold[0] in options else 0)}

    def wrong_form(
        self, example: FrozenExample, gold: Texts, content: BatchContent, chance: Random
    ) -> Form:
        options = self.options(example)
        others = [number for number, option in enumerate(options) if option not in gold]
        return {"option": str(chance.choice(others or [0]))}
