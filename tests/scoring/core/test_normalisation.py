"""Normalisations, held to what the official scripts say of the same texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Normalisation
from scoring.core.normalisation import NORMALISATIONS, normalised, normalised_golds, squad


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Eiffel Tower!", "eiffel tower"),
        ("  a   cat, an owl\nand the dog ", "cat owl and dog"),
        ("U.S.A.", "usa"),
        ("Theatre", "theatre"),
        ("the", ""),
        ("it's", "its"),
        # The script takes ASCII's punctuation alone, and only then the articles.
        ("“The” end", "“ ” end"),
        ("the-end", "theend"),
        ("a–b", "–b"),
        ("ÉTÉ", "été"),
    ],
)
def test_squad_takes_case_punctuation_articles_and_space_away(text: str, expected: str) -> None:
    assert squad(text) == expected


@given(st.text())
def test_none_changes_nothing(text: str) -> None:
    assert normalised([text], "none") == [text]


@given(st.text())
def test_squad_gives_the_same_whatever_the_case_and_the_spaces(text: str) -> None:
    assert squad(f"  {text.lower()}\t") == squad(text)


def test_keeps_alternatives_apart() -> None:
    assert normalised_golds([["The cat"], []], "squad") == [["cat"], []]


def test_refuses_a_name_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="none, squad"):
        normalised(["cat"], "stemmed")


def test_knows_what_a_task_may_name() -> None:
    assert list(NORMALISATIONS) == Normalisation.values
