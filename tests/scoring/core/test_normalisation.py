"""Normalisations, held to what the official scripts say of the same texts."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Normalisation
from scoring.core.normalisation import (
    NORMALISATIONS,
    beyond_keyboards,
    normalised,
    normalised_golds,
    squad,
    typed,
)
from scoring.core.s1 import score_one


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
def test_none_changes_nothing_but_the_form_of_letters(text: str) -> None:
    assert normalised([text], "none") == [normalize("NFC", text)]


# By code points: an editor may change what looks the same.
DECOMPOSED = ["Besanc\u0327on", "une cre\u0302pe", "E\u0301ric", "\u1100\u1161", "\u0915\u093c"]


@pytest.mark.parametrize("name", list(NORMALISATIONS))
@pytest.mark.parametrize("gold", DECOMPOSED)
def test_letters_that_look_the_same_are_the_same(gold: str, name: str) -> None:
    composed = normalize("NFC", gold)
    assert normalised([gold], name) == normalised([composed], name) != [""]
    assert score_one([composed], normalised_golds([[gold]], "none"), references="any") == 1


@pytest.mark.parametrize(
    ("gold", "by_keyboard"),
    [
        ("beside the mayor\u2019s office", "Beside the mayor's office."),
        ("1914\u20131918", "1914-1918"),
        ("\u201chome\u201d", '"home"'),
        ("\u201chome\u201d", "home"),
        ("don\u2019t\u00a0eat", "don't  eat"),
        ("\u00ab Le Monde \u00bb", '"le monde"'),
        ("\u6771\u4eac\u3002", "\u6771\u4eac"),
        ("\u00bfD\u00f3nde?", "d\u00f3nde"),
        ("\u0646\u0639\u0645\u061f", "\u0646\u0639\u0645"),
        ("-5", "\u22125"),
    ],
)
def test_typed_takes_what_a_keyboard_gives_for_a_typographers_text(
    gold: str, by_keyboard: str
) -> None:
    assert typed(gold) == typed(by_keyboard)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(
            ("-5", "5"),
            (".5", "5"),
            ("50 %", "50"),
            ("C#", "C"),
            ("C++", "C"),
            ("?", ""),
            ("?", "!"),
        ),
        *(("the cat", "cat"), ("can't", "cant"), ("well-known", "well known"), ("a/b", "ab")),
    ],
)
def test_typed_keeps_apart_what_means_something_else(one: str, other: str) -> None:
    assert typed(one) != typed(other)


@given(st.text())
def test_typed_is_found_once_and_loses_no_text(text: str) -> None:
    found = typed(text)
    assert typed(found) == found
    assert bool(found) == bool(text.strip())


@pytest.mark.parametrize(
    ("text", "normalisation", "found"),
    [
        ("1914\u20131918", "squad", "\u2013"),
        ("1914\u20131918", "typed", ""),
        ("mayor\u2019s\u00a0office", "none", "\u2019\u00a0"),
        ("mayor\u2019s\u00a0office", "typed", ""),
        ("zero\u200bwidth", "typed", "\u200b"),
        ("E\u0301ric", "none", ""),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "none", ""),
    ],
)
def test_finds_what_no_keyboard_gives(text: str, normalisation: str, found: str) -> None:
    assert beyond_keyboards(text, normalisation) == found


@given(st.text())
def test_squad_gives_the_same_whatever_the_case_and_the_spaces(text: str) -> None:
    assert squad(f"  {text.lower()}\t") == squad(text)


def test_keeps_alternatives_apart() -> None:
    assert normalised_golds([["The cat"], []], "squad") == [["cat"], []]


def test_refuses_a_name_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="none, typed, squad"):
        normalised(["cat"], "stemmed")


def test_knows_what_a_task_may_name() -> None:
    assert list(NORMALISATIONS) == Normalisation.values
