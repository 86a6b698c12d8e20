"""Spans: pieces of the text, selected or copied, or none."""

import json
from itertools import accumulate
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.kinds.base import Answer
from annotation.kinds.spans import KIND as SPANS
from annotation.kinds.spans import boundaries
from annotation.models.errors import BadInput
from scoring.core.spans import joined_characters, tokens_of
from tests.annotation.kinds.asked import content, example

SHOWN = example("Anna met Boris.", "Anna left.")


def read(max_spans: int | None = None, **form: str) -> Answer:
    return SPANS.read(form, SHOWN, content("spans", max_spans=max_spans))


def test_reads_selected_pieces_and_where_they_stand() -> None:
    answer = read(spans="[[0,9,14],[1,0,4],[0,9,14]]")
    assert answer == Answer(("Boris", "Anna"), ((0, 9, 14), (1, 0, 4)))


def test_reads_pieces_that_were_typed_one_a_line() -> None:
    assert read(typed="Boris\r\n left \r\n").spans == ((0, 9, 14), (1, 5, 9))


@pytest.mark.parametrize("form", [{"none": "1"}, {"none": "1", "spans": "[]"}])
def test_reads_none(form: dict[str, Any]) -> None:
    assert read(**form) == Answer(())


@pytest.mark.parametrize("spans", ["{}", "nonsense", "3", "[" * 100_000])
def test_says_what_to_do_about_spans_that_cannot_be_read(spans: str) -> None:
    with pytest.raises(BadInput, match="select it again"):
        read(spans=spans)


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({}, "Choose words"),
        ({"none": ""}, "Choose words"),
        ({"none": "1", "spans": "[[0,0,4]]"}, "Keep one of the two"),
        ({"typed": "Clara"}, "“Clara” is not in the text"),
        ({"spans": "[[0,0,99]]"}, "does not match the text"),
        ({"spans": "[[0,0,4],[0,9,14]]"}, "at most 1 phrase"),
    ],
)
def test_refuses_with_a_sentence(form: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        read(max_spans=1, **form)


def test_counts_the_phrases_that_may_be_chosen() -> None:
    with pytest.raises(BadInput, match="at most 2 phrases"):
        read(max_spans=2, spans="[[0,0,4],[0,9,14],[0,5,8]]")


def test_simulates_no_more_pieces_than_the_task_allows() -> None:
    about = content("spans", max_spans=1)
    for seed in range(30):
        form = SPANS.wrong_form(SHOWN, ["Anna", "Boris"], about, Random(seed))
        assert len(json.loads(form["spans"])) <= 1
        SPANS.read(form, SHOWN, about)


@given(st.text())
def test_tells_a_browser_where_tokens_and_characters_begin_and_end(text: str) -> None:
    """Decoded as spans.js decodes it."""
    tokens_told, joined_told = boundaries(text)
    lengths = [int(number) for number in tokens_told.split()]
    ends = list(accumulate(map(abs, lengths)))
    tokens = [
        (start, end, length < 0)
        for start, end, length in zip(ends[::2], ends[1::2], lengths[1::2], strict=True)
    ]
    assert tokens == [(token.start, token.end, token.is_punctuation) for token in tokens_of(text)]
    assert list(accumulate(map(int, joined_told.split()))) == joined_characters(text)


def test_tells_it_in_code_points_and_few_bytes() -> None:
    assert boundaries("😀 cafe\u0301, so") == ("0 1 1 5 0 -1 1 2", "6")


def test_finds_what_is_typed_in_other_capitals() -> None:
    shown = example("The condenser cools the Steam.")
    answer = SPANS.read({"typed": "Condenser\nsteam"}, shown, content("spans"))
    assert answer.texts == ("condenser", "Steam")
