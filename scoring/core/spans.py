"""Pieces of a text: how two taps become a span, and whether a gold span can be reached that way.

Offsets are code points of the stored text, ends exclusive. A browser is told the tokens of a text,
and knows no rule of them.

The text is cut into tokens, each of which can be tapped:

- A word is a run of letters, digits and their marks. It goes on over an apostrophe (O'Brien,
  don't), an ampersand (AT&T), the dot of a name (example.com), and the dot, comma or colon of a
  number (1,200.5 or 10:30). It takes in the currency before or after a number, and its percent
  or degree sign ($5, US$5, 60%).
- An abbreviation keeps its dots: single letters or pairs of letters with dots between (U.N.,
  p.m., Ph.D.); a word whose dot is followed by a comma, semicolon, colon, hyphened word or 's
  (Jr., who); a short word with a capital whose dot is followed by a small letter (Corp. said).
- A possessive 's is a token of its own, and so is what stands before the apostrophe of a small
  letter and a capital (l'|Italie). Hyphens and dashes divide: Madrid|-|Barcelona.
- Scripts that are written without spaces (Han, kana, Thai, Lao, Burmese, Khmer) are cut into
  single characters with their marks, of which a browser may make words; an emoji or a keycap is
  one token.
- Every other visible character is a token by itself; dots and hyphens in a row are one.

Two taps take everything from the first token to the last, nothing less and nothing more: a full
stop or a bracket is taken when it is tapped itself, and left out when the tap was on the word
beside it. So two taps reach every span that begins and ends with a token.

What a drag takes is the browser's affair: see static/annotation/kinds/spans.js.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import category, normalize

from scoring.core.normalisation import in_one_form

# One class letter per code point; tokens are then found by a regular expression over the classes:
# u capital, l small letter, o other letter or number, d digit, c character of a script without
# spaces, m mark, j joiner, e symbol, r half of a flag, a apostrophe, q the apostrophe of 's,
# s space, n line break, p other punctuation, and . , : ; - & $ % for themselves.
_BY_CHARACTER = {
    **{character: character for character in ".,:;&"},
    **dict.fromkeys("%‰°", "%"),
    **dict.fromkeys("'’＇·׳״", "a"),
    **dict.fromkeys("`´", "p"),
    **dict.fromkeys("#@§", "e"),
    **dict.fromkeys("\u200d\u1039\u17d2", "j"),
    # The marks of half-width kana, which are letters to Unicode, are marks here.
    **dict.fromkeys("\u00ad\u200c\uff9e\uff9f", "m"),
    **dict.fromkeys("\n\r\v\f\x85\u2028\u2029", "n"),
}
_BY_CATEGORY = {"Lu": "u", "Lt": "u", "Ll": "l", "Nd": "d", "Sc": "$", "Pd": "-", "Pc": "o"}
_BY_CATEGORY |= {"Cc": "s", "Cf": "s"}
_BY_MAJOR_CATEGORY = {"M": "m", "P": "p", "S": "e", "Z": "s"}
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1980-\u19df\u1a20-\u1aaf\u2e80-\u2fdf"
    "\u3005-\u3007\u3021-\u3029\u3041-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_PARTS_OF_EMOJI = re.compile("[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")

_KEYCAP = re.compile("[0-9#*]\ufe0f?\u20e3")
_LETTER = "[ulo][mj]*"
_TOKEN = re.compile(
    # U.N.
    rf"(?:{_LETTER}){{1,2}}(?:\.(?:{_LETTER}){{1,2}})+\.?(?![ulod])"
    # Corp. said
    r"|u[mj]*(?:[ul][mj]*){0,4}\.(?=s+l)"
    # a word: what may stand before it, its parts with what joins them, its last part with its tail
    r"|(?:\$(?=d))?"
    r"(?:d[.,:](?=d)|l[mj]*a(?=[lod])|[uod][mj]*a(?=[ulod])|[ulod][mj]*&(?=[ulod])"
    r"|[ulo][mj]*\$(?=d)|[ulod][mj]*\.(?=l)|[ulod][mj]*)*"
    r"(?:d%|d\$(?!d)|l[mj]*a(?=u)|[ulo][mj]*\.(?=[,;:q]|-[ulod]|s+[,;:])|[ulod][mj]*)"
    # 's; characters of scripts without spaces; emoji; flags; everything else that can be seen
    r"|q[ul]|c(?:m|jc?)*|e(?:m|je?)*|rr?[mj]*|(?:\.+|-+|a+|[^sn])[mj]*"
)
# A character with what belongs to it: its marks, and the parts of an emoji or a flag.
_SINGLE = re.compile(r"c(?:m|jc?)*|e(?:m|je?)*|rr?[mj]*|.[mj]*")
_PUNCTUATION = frozenset(".,:;-&apq")


@dataclass(frozen=True)
class Token:
    start: int
    end: int
    is_punctuation: bool


@dataclass(frozen=True)
class Reach:
    """How many gold spans two taps reach, `by_words` without tapping punctuation; `absent` ones are
    not in their text and not in `spans`. `unspaced`: in scripts without spaces, of whose characters
    a browser makes words, so that some take a tap on single characters."""

    reached: int
    by_words: int
    spans: int
    absent: int
    unspaced: int
    missed: tuple[str, ...]

    @property
    def share(self) -> float:
        return self.reached / self.spans if self.spans else float("nan")


@cache
def _class_of(character: str) -> str:
    if character in _BY_CHARACTER:
        return _BY_CHARACTER[character]
    if _PARTS_OF_EMOJI.match(character):
        return "m"
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "r"
    kind = category(character)
    letter = _BY_CATEGORY.get(kind) or _BY_MAJOR_CATEGORY.get(kind[0], "o")
    return "c" if letter == "o" and _WITHOUT_SPACES.match(character) else letter


def _classes_of(text: str) -> str:
    classes = [_class_of(character) for character in text]
    for match in re.finditer("['’＇][sS]", text):
        after = classes[match.end()] if match.end() < len(text) else "s"
        if after not in "ulodmjc":
            classes[match.start()] = "q"
    for match in _KEYCAP.finditer(text):
        classes[match.start()] = "e"
    return "".join(classes)


@lru_cache(maxsize=256)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text, in order; what lies between them is space."""
    classes = _classes_of(text)
    return tuple(
        Token(match.start(), match.end(), _is_punctuation(match.group()))
        for match in _TOKEN.finditer(classes)
    )


def joined_characters(text: str) -> list[int]:
    """The offsets of the code points that belong to the character before them, which whoever
    chooses single characters takes together."""
    ranges = (match.span() for match in _SINGLE.finditer(_classes_of(text)))
    return [offset for start, end in ranges for offset in range(start + 1, end)]


def _is_punctuation(classes: str) -> bool:
    return classes[0] in _PUNCTUATION and classes[:1] + classes[-1:] not in ("qu", "ql")


def take(text: str, first: int, last: int) -> tuple[int, int]:
    """The range that taps on the tokens with these two indexes choose, in either order."""
    tokens = tokens_of(text)
    return tokens[min(first, last)].start, tokens[max(first, last)].end


def reachable(text: str, start: int, end: int, *, by_words: bool = False) -> bool:
    """Whether two taps choose exactly this range; `by_words`: without tapping punctuation."""
    tokens = tokens_of(text)
    first = bisect_left(tokens, start, key=lambda token: token.start)
    last = bisect_right(tokens, end, key=lambda token: token.end) - 1
    if first > last or take(text, first, last) != (start, end):
        return False
    return not (by_words and (tokens[first].is_punctuation or tokens[last].is_punctuation))


def measure_reach(golds: Iterable[tuple[str, str, int | None]]) -> Reach:
    """How many of (text, gold string, its start or None) two taps reach, at any occurrence, as it
    is scored by its text. One not in its text is counted apart, an empty one not at all."""
    cases = [(text, gold, _occurrences(text, gold, start)) for text, gold, start in golds if gold]
    known = [(text, gold, places) for text, gold, places in cases if places]
    missed = [gold for text, gold, of in known if not any(reachable(text, *place) for place in of)]
    by_words = sum(
        any(reachable(text, *place, by_words=True) for place in places) for text, _, places in known
    )
    spans = len(known)
    unspaced = sum("c" in _classes_of(gold) for _, gold, _ in known)
    return Reach(spans - len(missed), by_words, spans, len(cases) - spans, unspaced, tuple(missed))


def _occurrences(text: str, gold: str, start: int | None) -> list[tuple[int, int]]:
    places = [match.span(1) for match in re.finditer(f"(?=({in_any_form(gold)}))", text)]
    return sorted(places, key=lambda place: place[0] != start)


def holds(text: str, piece: str) -> bool:
    return in_one_form(piece) in in_one_form(text)


def in_any_form(piece: str) -> str:
    """A regular expression for it, whether its accents are written with their letters or apart;
    so its place is one in the text as it is stored."""
    letters = "".join(map(_letter, in_one_form(piece)))
    return rf"(?:{re.escape(piece)}|{letters})(?![\u0300-\u036f])"


def _letter(letter: str) -> str:
    apart = normalize("NFD", letter)
    # Some keyboards type the last of several accents apart.
    forms = dict.fromkeys((letter, apart, in_one_form(apart[:-1]) + apart[-1]))
    return rf"(?:{'|'.join(map(re.escape, forms))})" if len(forms) > 1 else re.escape(letter)


def check_spans(segments: Sequence[str], spans: object) -> list[str]:
    """The texts of submitted spans, each [segment, start, end]; a span given twice counts once.
    Raises ValueError with one sentence for the first span that the segments do not have."""
    if not isinstance(spans, list | tuple):
        raise ValueError("The spans must be a list of [segment, start, end].")
    checked = [_check_span(segments, span) for span in spans]
    return [segments[segment][start:end] for segment, start, end in dict.fromkeys(checked)]


def _check_span(segments: Sequence[str], span: object) -> tuple[int, int, int]:
    if not isinstance(span, list | tuple) or len(span) != 3:
        raise ValueError(f"The span {span!r} must be a list of three: segment, start and end.")
    if not all(type(number) is int for number in span):
        raise ValueError(f"The span {span!r} must hold whole numbers alone.")
    segment, start, end = span
    if not 0 <= segment < len(segments):
        raise ValueError(
            f"The span {span!r} names segment {segment}, but there are {len(segments)}."
        )
    if start >= end:
        raise ValueError(f"The span {span!r} must end after its start.")
    if start < 0 or end > len(segments[segment]):
        raise ValueError(
            f"The span {span!r} reaches outside its segment of {len(segments[segment])} characters."
        )
    if not segments[segment][start:end].strip():
        raise ValueError(f"The span {span!r} holds nothing but space.")
    return segment, start, end
