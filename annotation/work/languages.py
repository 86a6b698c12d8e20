"""Texts that a researcher wrote for several languages, of which a reader gets theirs."""

import re
from collections.abc import Mapping

from django.conf import settings
from django.utils.translation import get_language

# A line such as “[de]” begins the text for that language.
_LANGUAGE = re.compile(rf"^\[({'|'.join(dict(settings.LANGUAGES))})\][ \t]*$", re.MULTILINE)


def split_by_language(text: str) -> tuple[str, dict[str, str]]:
    """Split a text into the part that names no language, and the others by theirs."""
    first, *rest = (part.strip() for part in _LANGUAGE.split(text))
    return first, dict(zip(rest[::2], rest[1::2], strict=True))


def join_languages(first: str, texts: Mapping[str, str]) -> str:
    """Join several texts into one that `split_by_language` takes apart again."""
    return "\n\n".join([*filter(None, [first]), *(f"[{code}]\n{texts[code]}" for code in texts)])


def in_readers_language(text: str) -> str:
    """The part of a text that is for the reader's language; where there is none, the first."""
    first, by_code = split_by_language(text)
    return by_code.get(get_language() or "") or first or next(iter(by_code.values()), "")
