"""What is taken out of two texts before S1 compares them, by the name of a task's normalisation.

- `none`: nothing; texts are compared as they stand.
- `squad`: lower case, then without ASCII punctuation, then without the articles a, an and the,
  and white space collapsed: the rules of SQuAD's official evaluation script (Rajpurkar et al.
  2016, 2018). A text of which nothing is left counts as no answer, as there.

It is applied to answers and gold alike, before empty texts are dropped.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from string import punctuation

NONE = "none"

_PUNCTUATION = str.maketrans("", "", punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def squad(text: str) -> str:
    without_punctuation = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", without_punctuation).split())


NORMALISATIONS: dict[str, Callable[[str], str]] = {NONE: str, "squad": squad}


def normalised(texts: Iterable[str], normalisation: str) -> list[str]:
    """The texts as S1 compares them. Raises ValueError for a name that is not known."""
    if normalisation not in NORMALISATIONS:
        names = ", ".join(NORMALISATIONS)
        raise ValueError(f"The normalisation is {normalisation!r}; it must be one of {names}.")
    return list(map(NORMALISATIONS[normalisation], texts))


def normalised_golds(alternatives: Sequence[Iterable[str]], normalisation: str) -> list[list[str]]:
    """Every alternative of one gold as S1 compares it."""
    return [normalised(texts, normalisation) for texts in alternatives]
