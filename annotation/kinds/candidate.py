"""Candidate: one of the entities marked in the context."""

from collections.abc import Callable, Iterable, Sequence

from django.utils.translation import gettext_lazy as _

from annotation.kinds import base
from annotation.kinds.choice import OneOption
from annotation.kinds.pieces import Piece, Range, marked
from annotation.models.frozen import FrozenExample
from scoring.core import s1 as core
from scoring.core.normalisation import in_one_form


def _floor(
    rule: str, in_words: str, score: Callable[..., float], *, is_allowed: bool = True
) -> base.Floor:
    return base.Floor(
        rule,
        in_words,
        lambda asked, golds, policy: score(
            golds, [[*map(in_one_form, base.mentions(one))] for one in asked], references=policy
        ),
        is_allowed,
    )


class Candidate(OneOption):
    name = "candidate"
    template = "annotation/kinds/candidate.html"
    scripts = ("annotation/kinds/candidate.js",)
    task = _("You read short texts and choose one of the names marked in each.")
    in_words = "one of the marked entities is chosen"
    floors = (
        base.EMPTY,
        _floor(
            "most_frequent_candidate",
            "the entity that is marked most often",
            core.most_frequent_candidate_score,
        ),
        _floor("first_candidate", "the entity that is marked first", core.first_candidate_score),
        _floor(
            "every_candidate", "every entity at once", core.every_candidate_score, is_allowed=False
        ),
    )

    def problem_of_row(self, row: base.FileRow) -> str:
        return "" if row.candidates else "“entities” must name some"

    def options(self, asked: base.Asked) -> tuple[str, ...]:
        """The distinct texts of the marked entities, in order of first mention."""
        first: dict[str, str] = {}
        for text in base.mentions(asked):
            first.setdefault(in_one_form(text), text)
        return tuple(first.values())

    def shown(self, example: FrozenExample) -> base.Context:
        options = self.options(example)
        return {"segments": _choosable(example, options), "options": options}

    def revealed(self, example: FrozenExample, reveal: base.Reveal) -> base.Context:
        segments = marked(example.context, _compared(example, reveal))
        options = [("", text, reveal.mark_of(text)) for text in self.options(example)]
        return {"options": options, "segments": segments}


# A piece of the text; the option that a tap on it chooses; and all that it is a mention of.
Choosable = tuple[Piece, int | None, str]


def _choosable(example: FrozenExample, options: Sequence[str]) -> list[list[Choosable]]:
    """The pieces of each segment. Where mentions overlap, a tap chooses the longest."""
    mentioned = [(segment, start, end, "mention") for segment, start, end in example.candidates]
    known = [*map(in_one_form, options)]
    segments = []
    for number, segment in enumerate(marked(example.context, mentioned)):
        pieces: list[Choosable] = []
        start = 0
        for piece in segment.pieces:
            end = start + len(piece.text)
            texts = [
                in_one_form(example.context[number][a:b])
                for s, a, b in example.candidates
                if s == number and a <= start and end <= b
            ]
            choices = [known.index(text) for text in sorted(texts, key=len, reverse=True)]
            pieces.append((piece, choices[0] if choices else None, " ".join(map(str, choices))))
            start = end
        segments.append(pieces)
    return segments


def _compared(example: FrozenExample, reveal: base.Reveal) -> Iterable[Range]:
    for segment, start, end in example.candidates:
        yield (segment, start, end, "mention")
        if mark := reveal.mark_of(example.context[segment][start:end]):
            yield (segment, start, end, mark)


KIND = Candidate()
