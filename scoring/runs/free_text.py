"""Free text becomes a set of pieces, by one written rule.

For a choice or a candidate, the stripped text is the one answer. For spans, a text that is a JSON
list of strings is that list; otherwise it is cut at the separator if one is given, else at its line
breaks. White space around a piece, empty pieces and pieces equal to the word for none are dropped.
Nothing else is normalised.
"""

import json
from collections.abc import Iterable

from annotation.models import Kind


def pieces_of(text: str, kind: str, *, separator: str = "", none_word: str = "") -> tuple[str, ...]:
    pieces = _cut(text.strip(), separator) if kind == Kind.SPANS else [text]
    stripped = (piece.strip() for piece in pieces)
    return distinct(piece for piece in stripped if not (none_word and piece == none_word))


def distinct(pieces: Iterable[str]) -> tuple[str, ...]:
    """Each non-empty piece once: what S1 compares."""
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def rule_in_words(kind: str, *, separator: str = "", none_word: str = "") -> str:
    """The rule as the report of an import shows it."""
    if kind == Kind.SPANS:
        cut = f"cut at “{separator}”" if separator else "one piece a line"
        rule = f"free text: a JSON list of strings, else {cut}; white space around pieces dropped"
    else:
        rule = "free text: the whole text is one answer; white space around it dropped"
    return f"{rule}; “{none_word}” means none" if none_word else rule


def _cut(text: str, separator: str) -> list[str]:
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list) and all(isinstance(piece, str) for piece in listed):
            return listed
    return text.split(separator) if separator else text.splitlines()
