"""Choice: exactly one of the labels that the item set offers."""

import re
from collections.abc import Collection, Sequence
from random import Random
from string import ascii_uppercase

from django.utils.translation import gettext_lazy as _

from annotation.kinds import base
from annotation.kinds.naming import letter_of, readings
from annotation.kinds.pieces import marked
from annotation.kinds.replies import read_label, read_option
from annotation.models.errors import BadInput
from annotation.models.frozen import FrozenExample, TaskContent
from scoring.core import s1 as core
from scoring.core.normalisation import in_one_form

# No option of ours has more digits than this.
MOST_DIGITS = 12


class OneOption(base.AnswerKind):
    template = "annotation/kinds/choice.html"
    missing = _("Choose one answer, then send it.")
    nothing = _("none here")
    task = _("You read short texts and choose one of %(n)s answers for each.")
    takes_options = True

    def problem_of_alternative(self, texts: base.Texts, max_spans: int | None) -> str:
        if len(texts) == 1:
            return ""
        return f"an alternative is exactly one text where the kind is {self.name}"

    def givable(self, texts: Collection[str], asked: base.Asked) -> set[str]:
        known = set(map(in_one_form, self.options(asked)))
        return {text for text in texts if in_one_form(text) in known}

    def read(self, form: base.Form, example: FrozenExample, content: TaskContent) -> base.Answer:
        number, options = form.get("option", ""), self.options(example)
        if not number:
            raise BadInput(self.missing)
        is_number = number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS
        if not is_number or int(number) >= len(options):
            raise BadInput(_("This answer is not among the choices. Choose one of them."))
        return base.Answer(texts=(options[int(number)],))

    def answer_form(self, max_spans: int | None, *, lettered: bool = False) -> str:
        if lettered:
            return "Answer with the letter of the right option and nothing else."
        return "Answer with one of the options, exactly as it is written there, and nothing else."

    def from_prompted(
        self, text: str, options: base.Texts, separator: str = "", labels: base.Texts = ()
    ) -> list[str]:
        are_own = are_numbers(labels)
        number = read_option(text, options, lettered=are_own)
        if number is not None:
            return [(labels or options)[number]]
        # What names none of an example's own options might read like the number of one.
        return [] if are_own else [kept] if (kept := read_label(text, options)) else []

    def cut_in_words(self, separator: str) -> str:
        return "the option that it names, by text or letter; else the whole text, which is wrong"

    def right_form(self, example: FrozenExample, gold: base.Texts) -> base.Form:
        options, right = [*map(in_one_form, self.options(example))], in_one_form(gold[0])
        return {"option": str(options.index(right) if right in options else 0)}

    def wrong_form(
        self, example: FrozenExample, gold: base.Texts, content: TaskContent, chance: Random
    ) -> base.Form:
        options, right = map(in_one_form, self.options(example)), [*map(in_one_form, gold)]
        wrong = [number for number, option in enumerate(options) if option not in right]
        return {"option": str(chance.choice(wrong or [0]))}


# Gold strings are labels where there are few of them and the context rarely holds them.
MOST_LABELS = 20


def label_of(row: base.FileRow) -> str | None:
    texts = row.gold_texts
    return texts[0][0] if len(texts) == 1 and len(texts[0]) == 1 else None


def are_labels(rows: Sequence[base.FileRow]) -> bool:
    """Whether the gold of all rows is a few labels that the contexts rarely name."""
    labels = [label for row in rows if (label := label_of(row)) is not None]
    if len(labels) < len(rows) or len(set(labels)) > MOST_LABELS:
        return False
    named = sum(_names(row.context, label) for row, label in zip(rows, labels, strict=True))
    return 2 * named <= len(rows)


def _names(context: Sequence[str], label: str) -> bool:
    """Whether the context holds the label as a word: the label "no" is not in "know"."""
    # ASCII: letters of scripts without spaces do not hide a word between them.
    word = re.compile(rf"(?<!\w){re.escape(label)}(?!\w)", re.ASCII)
    return any(word.search(segment) for segment in context)


def best_label(asked: Sequence[base.Asked], golds: base.Golds, policy: str) -> float:
    labels = sorted({in_one_form(label) for one in asked for label in KIND.options(one)}) or [""]
    return core.best_constant_label(golds, labels, references=policy)[1]


def every_label(asked: Sequence[base.Asked], golds: base.Golds, policy: str) -> float:
    offered = [[*map(in_one_form, KIND.options(example))] for example in asked]
    return core.every_candidate_score(golds, offered, references=policy)


# An example has so many options of its own: each has a letter.
FEWEST, MOST = 2, len(ascii_uppercase)


def _numbers(options: base.Texts) -> tuple[str, ...]:
    return tuple(map(str, range(len(options))))


def are_numbers(labels: base.Texts) -> bool:
    return bool(labels) and tuple(labels) == _numbers(labels)


def _option_meant(text: str, options: base.Texts) -> str:
    named = readings(text, options)
    if len({*named.values()}) > 1:
        first, second = list(named)[:2]
        raise BadInput(
            f"“{text}” is one option by its {first} and another by its {second}: write the letter "
            f"and the text, as “{letter_of(0)}. {options[0][:40]}”"
        )
    number = next(iter(named.values()), read_option(text, options, lettered=True))
    return text if number is None else str(number)


class Choice(OneOption):
    """One option of several. Where an example has options of its own, answers and gold are their
    numbers, from 0 in the file's order, so that two that read alike stay two; people and prompts
    see letters."""

    name = "choice"
    in_words = "one label is chosen"
    floors = (
        base.EMPTY,
        base.Floor("best_label", "the best single label everywhere", best_label),
        base.Floor("every_label", "every label at once", every_label, is_allowed=False),
    )
    takes_labels = True
    takes_markup = True

    def problem_of_row(self, row: base.FileRow) -> str:
        if row.options and not {text for texts in row.gold_texts for text in texts} <= {
            *_numbers(row.options)
        }:
            return "“answer” must be one of its options"
        return "" if label_of(row) is not None or row.options else "“answer” must be one label"

    def options(self, asked: base.Asked) -> tuple[str, ...]:
        return _numbers(asked.options) or tuple(asked.labels)

    def options_as_read(self, asked: base.Asked) -> tuple[str, ...]:
        return tuple(asked.options) or tuple(asked.labels)

    def in_full(self, answer: base.Texts, asked: base.Asked) -> list[str]:
        known = dict(zip(self.options(asked), asked.options, strict=False))
        return [f"{letter_of(name)}. {known[name]}" if name in known else name for name in answer]

    def as_shown(self, answer: base.Texts, *, lettered: bool = False) -> str:
        return letter_of(answer[0]) if lettered else self.as_text(answer)

    def meant(self, texts: base.Texts, asked: base.Asked) -> list[str]:
        """Raises BadInput where a text is one option by its place and another by its text."""
        if not asked.options:
            return list(texts)
        return [_option_meant(text, asked.options) for text in texts]

    def shown(self, example: FrozenExample) -> base.Context:
        return {"segments": marked(example.context), "options": self._in_order(example)}

    def revealed(self, example: FrozenExample, reveal: base.Reveal) -> base.Context:
        options = [
            (letter, text, reveal.mark_of(self.options(example)[number]))
            for number, letter, text in self._in_order(example)
        ]
        return {"segments": marked(example.context), "options": options}

    def _in_order(self, example: FrozenExample) -> list[tuple[int, str, str]]:
        """Number, letter and text of each, as this annotator sees them."""
        texts = self.options_as_read(example)
        order = example.options_order or range(len(texts))
        return [
            (number, letter_of(place) if example.options else "", texts[number])
            for place, number in enumerate(order)
        ]


KIND = Choice()
