"""Labels: any number of those that the item set, or the example itself, offers; or none."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from random import Random

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.kinds import base
from annotation.kinds.choice import Choice, are_numbers
from annotation.kinds.naming import letter_of
from annotation.kinds.replies import read_labels
from annotation.models.errors import BadInput
from annotation.models.frozen import FrozenExample, TaskContent
from scoring.core.normalisation import in_one_form

# Of those of a set; no set offers so many.
MOST_LABELS = 10_000


class Labels(Choice):
    name = "labels"
    template = "annotation/kinds/labels.html"
    scripts = ("annotation/kinds/labels.js",)
    missing = gettext_lazy("Choose every answer that fits, or “None of these”.")
    nothing = gettext_lazy("none of these")
    none_button = gettext_lazy("None of these")
    task = gettext_lazy("You read short texts and choose, out of %(n)s answers, all that fit.")
    in_words = "every label that fits is chosen, or none"
    takes_sets = True
    # Every label at once is an answer here.
    floors = (*Choice.floors[:2], replace(Choice.floors[2], is_allowed=True))

    def problem_of_row(self, row: base.FileRow) -> str:
        known = {str(number) for number in range(len(row.options))}
        is_known = not known or {text for texts in row.gold_texts for text in texts} <= known
        return "" if is_known else "“answer” must name options of its row"

    def problem_of_alternative(self, texts: base.Texts, max_spans: int | None) -> str:
        return ""

    def most_texts(self, max_spans: int | None) -> int | None:
        return None

    def most_pieces(self, context: Sequence[str], max_spans: int | None) -> int:
        return MOST_LABELS

    def read(self, form: base.Form, example: FrozenExample, content: TaskContent) -> base.Answer:
        options = self.options(example)
        texts = tuple(text for number, text in enumerate(options) if form.get(_field(number)))
        is_none = form.get("none") == "1"
        if texts and is_none:
            raise BadInput(_("You chose “None of these” and other answers. Keep one of the two."))
        if not texts and not is_none:
            raise BadInput(self.missing)
        return base.Answer(texts=texts)

    def revealed(self, example: FrozenExample, reveal: base.Reveal) -> base.Context:
        shown = super().revealed(example, reveal)
        marked = (
            (mark, [(letter, text) for letter, text, its in shown["options"] if its == mark])
            for mark in ("missed", "extra", "right")
        )
        none = {(True, True): "right", (True, False): "missed", (False, True): "extra"}
        return {
            **shown,
            "told": [(mark, options) for mark, options in marked if options],
            "none": none.get((reveal.nothing_to_find, reveal.found_nothing), ""),
        }

    def as_shown(self, answer: base.Texts, *, lettered: bool = False) -> str:
        if not lettered:
            return self.as_text(answer)
        return ", ".join(letter_of(number) for number in answer) or "none"

    def answer_form(self, max_spans: int | None, *, lettered: bool = False) -> str:
        if lettered:
            return (
                "Answer with the letters of all options that are right, separated by commas, and "
                "nothing else; with none if no option is."
            )
        return (
            "Answer with a JSON list of all options that fit, each exactly as it is written there, "
            "and nothing else; with [] if none fits."
        )

    def from_prompted(
        self, text: str, options: base.Texts, separator: str = "", labels: base.Texts = ()
    ) -> list[str]:
        numbers = read_labels(text, options, lettered=are_numbers(labels))
        # What names no option is one wrong answer; without any it would be “none of these”.
        return [text] if numbers is None else [(labels or options)[number] for number in numbers]

    def cut_in_words(self, separator: str) -> str:
        return "all options that it names, by text or letter; else the whole text, which is wrong"

    def right_form(self, example: FrozenExample, gold: base.Texts) -> base.Form:
        return self._form(gold, example)

    def wrong_form(
        self, example: FrozenExample, gold: base.Texts, content: TaskContent, chance: Random
    ) -> base.Form:
        """One label too many, or one missed."""
        right = set(map(in_one_form, gold))
        return self._form(right ^ {in_one_form(chance.choice(self.options(example)))}, example)

    def _form(self, answer: Collection[str], example: base.Asked) -> base.Form:
        chosen, options = set(map(in_one_form, answer)), map(in_one_form, self.options(example))
        numbers = [number for number, option in enumerate(options) if option in chosen]
        return {_field(number): "1" for number in numbers} or {"none": "1"}


def _field(number: int) -> str:
    """A form's fields have one value each."""
    return f"option-{number}"


KIND = Labels()
