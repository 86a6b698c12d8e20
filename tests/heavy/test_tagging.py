"""Which tokens of a text are tagged, and which pieces tagged tokens make."""

from importlib import import_module
from typing import Any

import pytest

pytestmark = pytest.mark.models

# A question of two tokens, and “Ann Lee met Ann” with a token for each word.
PLACES = (None, None, (0, 3), (4, 7), (8, 11), (12, 15), None)
IGNORED, OUTSIDE, BEGIN, INSIDE = -100, 0, 1, 2


@pytest.fixture
def tagging() -> Any:
    return import_module("scoring.tuning.pieces")


@pytest.fixture
def window() -> Any:
    made = import_module("scoring.tuning.pieces").Window
    return made(example=0, inputs={}, places=PLACES, nothing=0)


def test_tags_each_place_of_an_answer_but_none_within_a_longer_one(
    tagging: Any, window: Any
) -> None:
    spans = tagging.tagged_spans(["Ann", "Ann Lee"], "Ann Lee met Ann")
    assert spans == [(0, 7), (12, 15)]
    assert tagging.tags_of(window, spans) == (
        *(IGNORED, IGNORED, BEGIN, INSIDE, OUTSIDE, BEGIN, IGNORED),
    )


def test_makes_pieces_of_tags(tagging: Any, window: Any) -> None:
    def scored(tag: int, surety: float = 1) -> list[float]:
        return [surety if number == tag else 0 for number in range(3)]

    tags = [BEGIN, BEGIN, BEGIN, INSIDE, INSIDE, BEGIN, INSIDE]
    scores = [scored(tag) for tag in tags]
    pieces = tagging.pieces_in(window, scores)
    assert [piece[:2] for piece in pieces] == [(0, 11), (12, 15)]
    # An inside without a begin is no piece.
    scores = [scored(tag) for tag in (OUTSIDE, OUTSIDE, INSIDE, OUTSIDE, OUTSIDE, BEGIN, OUTSIDE)]
    assert [piece[:2] for piece in tagging.pieces_in(window, scores)] == [(12, 15)]


def test_keeps_the_surest_in_the_order_of_the_text(tagging: Any) -> None:
    text = "Ann met Bo and Cy"
    pieces = [
        (0, 3, 2.0),
        (8, 10, 1.0),
        (15, 17, 3.0),
        (0, 3, 0.5),
    ]
    assert tagging.surest(pieces, text, None) == ("Ann", "Bo", "Cy")
    assert tagging.surest(pieces, text, 2) == ("Ann", "Cy")
    assert tagging.surest(pieces, text, 1) == ("Cy",)
