"""Spans: any number of pieces of the text, or up to a limit, or none."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.kinds import base
from annotation.kinds.pieces import Range, marked, occurrences
from annotation.kinds.replies import read_pieces
from annotation.models.errors import BadInput
from annotation.models.frozen import FrozenExample, TaskContent
from scoring.core.normalisation import in_one_form
from scoring.core.spans import check_spans, holds, in_any_form, joined_characters, tokens_of


class Spans(base.AnswerKind):
    name = "spans"
    template = "annotation/kinds/spans.html"
    styles = ("annotation/kinds/spans.css",)
    scripts = ("annotation/kinds/spans.js",)
    missing = gettext_lazy("Choose words in the text, or “None here”.")
    nothing = gettext_lazy("none here")
    none_button = gettext_lazy("None here")
    task = gettext_lazy("You read short texts and mark words in them.")
    in_words = "pieces of the text are selected, or none"
    takes_pieces = True

    def problem_of_alternative(self, texts: base.Texts, max_spans: int | None) -> str:
        if max_spans is None or len(texts) <= max_spans:
            return ""
        return f"an alternative holds at most {max_spans} in this task"

    def givable(self, texts: Collection[str], asked: base.Asked) -> set[str]:
        return {text for text in texts if any(holds(segment, text) for segment in asked.context)}

    def most_texts(self, max_spans: int | None) -> int | None:
        return max_spans

    def most_pieces(self, context: Sequence[str], max_spans: int | None) -> int:
        """Pieces do not overlap, so there are no more of them than words and signs."""
        return max_spans or sum(len(tokens_of(segment)) for segment in context)

    def shown(self, example: FrozenExample) -> base.Context:
        pairs = zip(marked(example.context), example.context, strict=True)
        return {"segments": [(segment, *boundaries(text)) for segment, text in pairs]}

    def read(self, form: base.Form, example: FrozenExample, content: TaskContent) -> base.Answer:
        none = form.get("none") == "1"
        typed = _find_typed(form.get("typed", ""), example.context)
        spans = [*_selected(form.get("spans", "")), *typed]
        if none and spans:
            raise BadInput(_("You chose “None here” and words in the text. Keep one of the two."))
        if not none and not spans:
            raise BadInput(self.missing)
        try:
            texts = check_spans(example.context, spans)
        except ValueError as error:
            raise BadInput(
                _("The selection does not match the text. Reload the page and select it again.")
            ) from error
        most = content.max_spans
        if most is not None and len(texts) > most:
            sentence = ngettext(
                "Choose at most %(count)d phrase.", "Choose at most %(count)d phrases.", most
            )
            raise BadInput(sentence % {"count": most})
        positions: list[Any] = spans
        unique = dict.fromkeys((s, start, end) for s, start, end in positions)
        return base.Answer(texts=tuple(dict.fromkeys(texts)), spans=tuple(unique))

    def revealed(self, example: FrozenExample, reveal: base.Reveal) -> base.Context:
        context, marks = example.context, reveal.marks
        texts = _in_order(context, reveal.spans, marks)
        ranges = list(_compared(context, reveal.spans, marks))
        near = _near(context, ranges)
        left = _told([(text, mark) for text, mark in texts if text not in {*near, *near.values()}])
        return {
            "segments": marked(context, ranges),
            "texts": texts,
            "near": near.items(),
            "told": left,
            "is_cut": any(more for _mark, _texts, more in left),
        }

    def answer_form(self, max_spans: int | None, *, lettered: bool = False) -> str:
        most = f"at most {max_spans} pieces"
        pieces = {None: "pieces", 1: "at most one piece"}.get(max_spans, most)
        return (
            f"Answer with a JSON list of {pieces} of the text, each exactly as it stands there, "
            "and nothing else; with [] if there are none."
        )

    def from_prompted(
        self, text: str, options: base.Texts, separator: str = "", labels: base.Texts = ()
    ) -> list[str]:
        """A JSON list of strings, as in the demonstrations, or one piece per line."""
        return read_pieces(text, separator)

    def cut_in_words(self, separator: str) -> str:
        cut = f"cut at “{separator}”" if separator else "one piece per line"
        return f"a JSON list of strings, else {cut}; white space around pieces dropped"

    def right_form(self, example: FrozenExample, gold: base.Texts) -> base.Form:
        return _form(_first_occurrences(example, gold))

    def wrong_form(
        self, example: FrozenExample, gold: base.Texts, content: TaskContent, chance: Random
    ) -> base.Form:
        slips = [_with_an_extra_word]
        if gold:
            slips.append(_with_a_piece_missed)
        positions = chance.choice(slips)(example, list(gold), chance)
        # As many pieces as the task allows: if there are too many, the last ones.
        return _form(positions if content.max_spans is None else positions[-content.max_spans :])


# Each [segment, start, end], as a form holds them.
Positions = list[list[int]]


def boundaries(text: str) -> tuple[str, str]:
    """What a browser must know to take a text by tokens or by characters: short texts of numbers,
    in code points, since a page's text is seldom much longer.

    Alternately the length of a gap and of the token after it, negative for punctuation; and the
    code points that belong to the character before them, each by its distance from the one before.
    """
    tokens: list[int] = []
    end = 0
    for token in tokens_of(text):
        length = token.end - token.start
        tokens += [token.start - end, -length if token.is_punctuation else length]
        end = token.end
    joined = [b - a for a, b in pairwise([0, *joined_characters(text)])]
    return " ".join(map(str, tokens)), " ".join(map(str, joined))


def _selected(text: str) -> list[object]:
    try:
        spans = json.loads(text or "[]")
    except (ValueError, RecursionError):
        spans = None
    if not isinstance(spans, list):
        raise BadInput(_("The selection could not be read. Reload the page and select it again."))
    return spans


def _find_typed(typed: str, context: Sequence[str]) -> list[object]:
    positions: list[object] = []
    for line in filter(None, (line.strip() for line in typed.splitlines())):
        position = _first_occurrence(line, context)
        if position is None:
            raise BadInput(
                _("“%(piece)s” is not in the text. Copy it exactly as it appears there.")
                % {"piece": line[:80]}
            )
        positions.append(position)
    return positions


def _first_occurrence(piece: str, context: Sequence[str]) -> list[int] | None:
    """Find it as it is written, else in other capitals, which phones put where a line begins."""
    for flags in (re.NOFLAG, re.IGNORECASE):
        for segment, text in enumerate(context):
            if match := re.search(in_any_form(piece), text, flags):
                return [segment, *match.span()]
    return None


# The bar below the text names this many texts of each mark; the list in the text has all.
MOST_TOLD = 3

# Of what is compared, each text with its mark.
Marked = Sequence[tuple[str, str]]


def _in_order(context: Sequence[str], spans: Positions, marks: Mapping[str, str]) -> Marked:
    """Sort by where each text was selected, else by where it occurs first."""
    selected = {
        in_one_form(context[segment][start:end]): (segment, start, end)
        for segment, start, end in sorted(spans, reverse=True)
    }

    def place(text: str) -> tuple[int, int, int]:
        nowhere = (len(context), 0, 0)
        return selected.get(text) or next(iter(occurrences(context, text)), nowhere)

    return sorted(marks.items(), key=lambda compared: place(compared[0]))


def _told(compared: Marked) -> list[tuple[str, list[str], int]]:
    """The texts missed, extra or right by mark, as many as the bar names, and how many more."""
    by_mark = (
        (mark, [text for text, its_mark in compared if its_mark == mark])
        for mark in ("missed", "extra", "right")
    )
    most = MOST_TOLD
    return [(mark, texts[:most], max(0, len(texts) - most)) for mark, texts in by_mark if texts]


def _compared(
    context: Sequence[str], spans: Positions, marks: Mapping[str, str]
) -> Iterator[Range]:
    """A text of the answer counts once, wherever it occurs: only the piece selected is marked."""
    for segment, start, end in spans:
        yield (segment, start, end, marks[in_one_form(context[segment][start:end])])
    for text in (text for text, mark in marks.items() if mark == "missed"):
        for segment, start, end in occurrences(context, text):
            yield (segment, start, end, "missed")


def _near(context: Sequence[str], ranges: Sequence[Range]) -> dict[str, str]:
    """The text of the gold that each text of the answer misses by its ends alone."""
    return {
        in_one_form(context[segment][a:b]): in_one_form(context[segment][c:d])
        for segment, a, b, mark in ranges
        for other, c, d, its_mark in ranges
        if (mark, its_mark) == ("extra", "missed") and segment == other and a < d and c < b
    }


def _first_occurrences(example: FrozenExample, texts: Iterable[str]) -> Positions:
    """A text that the context does not hold is left out."""
    positions = (_first_occurrence(text, example.context) for text in texts)
    return [position for position in positions if position is not None]


def _with_a_piece_missed(example: FrozenExample, gold: list[str], chance: Random) -> Positions:
    gold.pop(chance.randrange(len(gold)))
    return _first_occurrences(example, gold)


def _with_an_extra_word(example: FrozenExample, gold: list[str], chance: Random) -> Positions:
    segment = chance.randrange(len(example.context))
    words = [t for t in tokens_of(example.context[segment]) if not t.is_punctuation]
    if not words:
        return []
    word = chance.choice(words)
    positions = [[segment, word.start, word.end]]
    if gold and chance.random() < 0.5:
        positions = [*_first_occurrences(example, gold), *positions]
    return positions


def _form(positions: Positions) -> base.Form:
    return {"spans": json.dumps(positions), "none": "" if positions else "1"}


KIND = Spans()
