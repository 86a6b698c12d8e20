"""Free text becomes a set of pieces, as a person would read it (annotation/kinds/replies.py), or by
the separator and the word for none that the importer gives. What cannot be read stays as it is.
"""

from collections.abc import Iterable, Sequence

from annotation.kinds import answer_kind


def pieces_of(
    text: str,
    kind: str,
    *,
    options: Sequence[str] = (),
    separator: str = "",
    none_word: str = "",
) -> tuple[str, ...]:
    if none_word and text.strip() == none_word:
        return ()
    pieces = answer_kind(kind).from_prompted(text, options, separator)
    stripped = (piece.strip() for piece in pieces)
    return distinct(piece for piece in stripped if not (none_word and piece == none_word))


def distinct(pieces: Iterable[str]) -> tuple[str, ...]:
    """Each non-empty piece once: what S1 compares."""
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def rule_in_words(kind: str, *, separator: str = "", none_word: str = "") -> str:
    """The rule as the report of an import shows it."""
    rule = f"free text: {answer_kind(kind).cut_in_words(separator)}"
    return f"{rule}; “{none_word}” means none" if none_word else rule
