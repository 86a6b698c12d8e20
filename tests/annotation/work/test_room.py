"""The room that a task's answers take, as its page is told it."""

import pytest

from annotation.models import Kind
from annotation.models.frozen import batch_content
from annotation.work.page import asked_html
from annotation.work.room import LONGEST_OPTION, room_for, room_of
from tests import make
from tests.texts import Text, running_batch_of


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["yes", "no", "perhaps", "so"], 8),
        (["contradict", "neutral", "entail", "unclear"], 10),
        # A longer option of short words has lines enough.
        (["no", "a lot of it", "so", "it is"], 4),
        # Few stand one under another, as do those whose words fit no column.
        (["yes", "no", "so"], 0),
        (["uncharacteristically", "no", "so", "on"], 0),
        # Wide letters count double.
        (["不確定です", "はい", "いいえ", "不明"], 10),
    ],
)
def test_puts_options_in_columns_as_their_longest_word_allows(
    options: list[str], words: int
) -> None:
    assert room_for(["Does it follow?"], [options, ["a"]]).words == words


def test_tells_shapes_and_no_words() -> None:
    room = room_for(["Who?", "Who is it?"], [["a boat", "日本 (x)"], ["no"], ["word " * 90]])
    assert room.question == "nnn nn nnn"
    assert set(room.option) == {"n", " "}
    assert len(room.option) == LONGEST_OPTION
    assert room_for(["誰？"], [["日本 (x)"]]).option == "口口 nnn"
    assert room.most == 2


@pytest.mark.parametrize(
    ("question", "options", "stays"),
    [("Who?", ["yes", "no", "so"], True), ("Who?", ["yes"] * 5, False),
     ("Who? " * 40, ["yes", "no", "so"], False), ("Who?", [], True)],
)  # fmt: skip
def test_keeps_few_answers_in_sight(question: str, options: list[str], stays: bool) -> None:
    assert room_for([question], [options]).stays == stays


@pytest.mark.django_db
def test_is_that_of_all_items_and_shows_no_other() -> None:
    texts = [
        Text("A boat.", "What?", ["0"], options=["boat", "car"]),
        Text("Cars.", "What do you see there?", ["0"], options=["a dark blue car", "no", "so"]),
    ]
    batch = running_batch_of(Kind.CHOICE, training=texts[:1], tests=texts[1:])
    content = batch_content(batch.pk)
    (trained,), (tested,) = content.training, content.test
    assert room_of(content, trained) is room_of(content, tested)
    page = asked_html(batch.pk, trained.pk, "en")
    assert 'data-like="n nnnn nnnn nnn"' in page
    assert 'data-like="nnnn nn nnn nnn nnnnnn"' in page
    assert "blue" not in page
    # The place of the third option is kept.
    assert page.count("option-like") == 2


@pytest.mark.django_db
def test_is_another_for_checks() -> None:
    content = batch_content(make.running_checked_batch(other=Kind.SPANS).pk)
    assert room_of(content, content.checks[0]).most == 0
    assert room_of(content, content.test[0]).most == len(make.LABELS)
