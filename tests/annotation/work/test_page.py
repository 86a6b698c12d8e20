"""How an answer and its gold are laid side by side for the reveal."""

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from annotation.kinds.base import Reveal
from annotation.kinds.gold import compare
from annotation.kinds.pieces import MARKS, Piece
from annotation.models import Gold, Judgement, Kind
from annotation.models.frozen import batch_content
from annotation.work.judging import submit_answer
from annotation.work.page import (
    PAGE,
    asked_html,
    next_item_html,
    page_context,
    page_frame,
    progress,
)
from tests import make
from tests.texts import Text, running_batch_of

pytestmark = pytest.mark.django_db


def compared(own: list[str], *alternatives: list[str], policy: str = "any") -> Reveal:
    gold = Gold(example_id=1, alternatives=[[{"text": t} for t in texts] for texts in alternatives])
    return compare(Judgement(answer=own), gold, policy, "none")


def marks(reveal: Reveal) -> dict[str, str]:
    return reveal.marks


def test_tells_right_missed_and_extra_apart() -> None:
    reveal = compared(["Rome", "Paris"], ["Rome", "Oslo"])
    assert marks(reveal) == {"Rome": "right", "Paris": "extra", "Oslo": "missed"}
    assert sorted(reveal.marks.values()) == ["extra", "missed", "right"]
    assert reveal.score == pytest.approx(0.5)


@pytest.mark.parametrize("gold", [[[]], []])
def test_finds_nothing_where_nothing_was_to_be_found(gold: list[list[str]]) -> None:
    reveal = compared([], *gold)
    assert (reveal.score, reveal.nothing_to_find, reveal.found_nothing) == (1, True, True)


def test_compares_with_the_nearest_of_several_alternatives() -> None:
    reveal = compared(["in Rome"], ["Rome"], ["in Rome"], [])
    assert marks(reveal) == {"in Rome": "right"}
    assert reveal.other_alternatives == [["Rome"], []]


def test_compares_with_the_union_where_the_score_does() -> None:
    reveal = compared(["in Rome"], ["Rome"], ["in Rome"], policy="set")
    assert marks(reveal) == {"in Rome": "right", "Rome": "missed"}
    assert reveal.score == pytest.approx(2 / 3)
    assert reveal.other_alternatives == []


@pytest.mark.parametrize(
    ("question", "html"),
    [
        ("Boats were built by @placeholder.", 'by <bdi class="blank">_____</bdi>.'),
        ("<b>@placeholder</b>", '&lt;b&gt;<bdi class="blank">_____</bdi>&lt;/b&gt;'),
    ],
)
def test_draws_a_blank_where_a_cloze_question_has_its_sign(question: str, html: str) -> None:
    text = Text("Ana met Bo.", question=question, gold=["Bo"], candidates=["Ana", "Bo"])
    batch = running_batch_of(Kind.CANDIDATE, tests=[text])
    page = asked_html(batch.pk, batch_content(batch.pk).test[0].pk, "en")
    assert html in page
    assert "@placeholder" not in page


def pieces_of(context: str, gold: list[str], own: list[list[int]]) -> list[tuple[str, str]]:
    """The marked pieces of the page that reveals the gold of a text."""
    batch = running_batch_of(Kind.SPANS, training=[Text(context, gold=gold)])
    assignment = make.at_work(batch)
    form = make.selection(*own)
    submit_answer(assignment, step=0, form=form, times={}, at=make.NOON)
    (segment,) = page_context(assignment)["shown"]["segments"]
    assert segment.length == len(context)
    return [
        (piece.text, " ".join(mark for mark in piece.marks.split() if mark in MARKS))
        for piece in segment.pieces
        if piece.marks
    ]


def test_marks_each_answer_where_it_was_selected() -> None:
    own = [[0, 9, 13], [0, 18, 22]]
    found = pieces_of("Rome and Rome and Oslo", gold=["Rome"], own=own)
    assert found == [("Rome", "right"), ("Oslo", "extra")]


def test_marks_what_was_missed_as_whole_words_where_it_can() -> None:
    assert pieces_of("USA, US, BUS", gold=["US"], own=[]) == [("US", "missed")]


def test_marks_what_was_missed_within_a_word_where_it_must() -> None:
    assert pieces_of("non-Romans", gold=["Roman"], own=[]) == [("Roman", "missed")]


def test_marks_what_overlaps_in_pieces() -> None:
    found = pieces_of("New York City", gold=["New York"], own=[[0, 4, 13]])
    assert found == [("New ", "missed"), ("York", "missed extra"), (" City", "extra")]


def test_writes_carriage_returns_so_that_a_browser_keeps_them() -> None:
    assert Piece("a\r\n<b>").html == "a&#13;\n&lt;b&gt;"


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", Kind.values)
def test_gives_everybody_an_item_as_its_template_would(kind: str, language: str) -> None:
    batch = make.running_batch(kind=kind, training=2, tests=3, title="50 % <off>")
    people = [make.at_work(batch), make.at_work(batch)]
    people[1].paid_ms, sent_to = 3_600_000, "/work/submit/"
    with translation.override(language):
        for step in range(5):
            for assignment in people:
                assignment.step = step
                context = {
                    **page_context(assignment),
                    **page_frame(assignment, at=make.NOON),
                    "request": {"htmx": True},
                    "csrf_token": "a<b",
                    "work": "f00",
                    "sent_to": sent_to,
                }
                rendered = render_to_string(f"{PAGE}#step", context)
                assert rendered.count("50 % &lt;off&gt;") == 1
                html = next_item_html(assignment, token="a<b", work="f00", sent_to=sent_to)
                assert html == rendered


def test_names_minutes_and_pay_that_fit() -> None:
    """Minutes and amount are both to the nearest."""
    batch = make.running_batch(zero_shot=True, hourly_rate=12)
    assignment, content = make.at_work(batch), batch_content(batch.pk)
    for paid_ms, told in (
        (0, "0 min · 0.00 USD"),
        (59_000, "1 min · 0.20 USD"),
        (62_000, "1 min · 0.21 USD"),
    ):
        assignment.paid_ms = paid_ms
        assert progress(assignment, content)["worked"].replace("\xa0", " ").startswith(told)
