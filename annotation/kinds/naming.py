"""How an answer as it is written names one of an example's own options."""

import re
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase

from scoring.core.normalisation import in_one_form

# None where it is no such name of an option.
Way = Callable[[str, Sequence[str]], int | None]


def letter_of(number: int | str) -> str:
    return ascii_uppercase[int(number)]


def _by_index(answer: str, options: Sequence[str]) -> int | None:
    # Tables that hold an empty cell write whole numbers with a point.
    whole = answer.removesuffix(".0")
    is_index = whole.isascii() and whole.isdigit() and len(whole) <= 2
    return int(whole) if is_index and int(whole) < len(options) else None


def _by_number(answer: str, options: Sequence[str]) -> int | None:
    index = _by_index(answer, ["", *options])
    return index - 1 if index else None


# As in B, (B), B. and B) Oslo.
LETTERED = re.compile(r"[(\[]?([A-Za-z])(?:[)\].:]+\s*(.*))?", re.DOTALL)

MARKED = re.compile(r"[(\[]?([A-Za-z])[)\].:]")


def _by_letter(answer: str, options: Sequence[str]) -> int | None:
    match = LETTERED.fullmatch(answer.strip())
    if not match:
        return None
    marks = [mark[1].upper() for option in options if (mark := MARKED.match(option))]
    # As they are marked themselves, if they are, in whatever order.
    letters = marks if len({*marks}) == len(options) else [*ascii_uppercase[: len(options)]]
    if match[1].upper() not in letters:
        return None
    place = letters.index(match[1].upper())
    # With the text behind it, if it is this option's.
    return place if not match[2] or _by_text(match[2], options) == place else None


def _by_text(answer: str, options: Sequence[str]) -> int | None:
    text, offered = in_one_form(answer).strip(), [in_one_form(option).strip() for option in options]
    return offered.index(text) if offered.count(text) == 1 else None


WAYS: Mapping[str, Way] = {
    "index": _by_index,
    "number": _by_number,
    "letter": _by_letter,
    "text": _by_text,
}
# How those count that can be mistaken for one another.
IN_WORDS = {"index": "counted from 0", "number": "counted from 1", "letter": "", "text": ""}
# What an answer may name a place by, where nothing says it: numbers from 1 have to be told.
USUAL = ("index", "letter", "text")


def readings(answer: str, options: Sequence[str]) -> dict[str, int]:
    """The places that it may name, by the usual ways."""
    named = {name: WAYS[name](answer.strip(), options) for name in USUAL}
    return {name: place for name, place in named.items() if place is not None}
