"""A text in pieces, for a page that marks some of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

MARKS = ("mention", "right", "missed", "extra")
# Segment, start, end in code points, and the name of a mark.
Range = tuple[int, int, int, str]


@dataclass(frozen=True)
class Piece:
    """A stretch of a segment, and what is marked there: a candidate's mention while it is
    asked for, and how the annotator's answer compares once it is locked."""

    text: str
    # Of MARKS, with spaces between them.
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
        """In code points: tells the browser that it shows the text unchanged."""
        return sum(len(piece.text) for piece in self.pieces)


def marked(context: Sequence[str], ranges: Iterable[Range] = ()) -> list[Segment]:
    """The segments of a context, in pieces wherever a mark begins or ends."""
    kept = list(ranges)
    return [
        Segment(_pieces(text, [(a, b, what) for s, a, b, what in kept if s == segment]))
        for segment, text in enumerate(context)
    ]


def occurrences(context: Sequence[str], text: str) -> list[tuple[int, int, int]]:
    """Where a text occurs: as a whole word if it does so anywhere, else within words."""
    whole_words = _matches(context, rf"(?<!\w){re.escape(text)}(?!\w)")
    return whole_words or _matches(context, re.escape(text))


def _matches(context: Sequence[str], pattern: str) -> list[tuple[int, int, int]]:
    return [
        (segment, *match.span())
        for segment, text in enumerate(context)
        for match in re.finditer(pattern, text)
    ]


def _pieces(text: str, ranges: Sequence[tuple[int, int, str]]) -> list[Piece]:
    """Cut the text wherever a mark begins or ends, so that marks may overlap."""
    edges = sorted({0, len(text), *(edge for a, b, _what in ranges for edge in (a, b))})
    pieces = []
    for start, end in pairwise(edges):
        here = {what for a, b, what in ranges if a <= start and end <= b}
        pieces.append(Piece(text[start:end], " ".join(mark for mark in MARKS if mark in here)))
    return pieces
