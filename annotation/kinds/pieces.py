"""A text in pieces, for a page that marks some of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

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
