"""Free text becomes a set of pieces, by the written rule of the task's kind.

White space around a piece, empty pieces and pieces equal to the word for none are dropped.
Nothing else is normalised.
"""

from collections.abc import Iterable

from annotation.kinds import answer_kind


def pieces_of(text: str, kind: str, *, separator: str = "", none_word: str = "") -> tuple[str, ...]:
    pieces = answer_kind(kind).cut(text.strip(), separator)
    stripped = (piece.strip() for piece in pieces)
    return distinct(piece for piece in stripped if not (none_word and piece == none_word))


def distinct(pieces: Iterable[str]) -> tuple[str, ...]:
    """Each non-empty piece once: what S1 compares."""
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def rule_in_words(kind: str, *, separator: str = "", none_word: str = "") -> str:
    """The rule as the report of an import shows it."""
    rule = f"free text: {answer_kind(kind).cut_in_words(separator)}"
    return f"{rule}; “{none_word}” means none" if none_word else rule
