"""Choice and candidate: one of the texts that are offered."""

from random import Random

import pytest

from annotation.kinds.base import AnswerKind
from annotation.kinds.candidate import KIND as CANDIDATE
from annotation.kinds.choice import KIND as CHOICE
from annotation.models.errors import BadInput
from annotation.models.frozen import FrozenExample
from tests.annotation.kinds.asked import content, example

TEXT = "Anna met Boris. Anna left."
LABELLED = example(TEXT, labels=("bad", "good"))
NAMED = example(TEXT, candidates=((0, 0, 4), (0, 9, 14), (0, 16, 20)))
BOTH = [(CHOICE, LABELLED), (CANDIDATE, NAMED)]


def test_offers_the_labels_or_each_entity_once() -> None:
    assert CHOICE.options(LABELLED) == ("bad", "good")
    assert CANDIDATE.options(NAMED) == ("Anna", "Boris")


@pytest.mark.parametrize(("kind", "shown"), BOTH)
def test_reads_the_option_of_a_number(kind: AnswerKind, shown: FrozenExample) -> None:
    answer = kind.read({"option": "1"}, shown, content(kind.name))
    assert answer.texts == (kind.options(shown)[1],)
    assert answer.spans == ()


@pytest.mark.parametrize(("kind", "shown"), BOTH)
@pytest.mark.parametrize("option", ["x", "-1", "1.0", "2", "²", "9" * 5000])
def test_refuses_what_is_no_option(kind: AnswerKind, shown: FrozenExample, option: str) -> None:
    with pytest.raises(BadInput, match="not among the choices"):
        kind.read({"option": option}, shown, content(kind.name))


@pytest.mark.parametrize(("kind", "shown"), BOTH)
@pytest.mark.parametrize("form", [{}, {"option": ""}, {"text": "good"}])
def test_asks_for_an_answer(kind: AnswerKind, shown: FrozenExample, form: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="Choose one answer"):
        kind.read(form, shown, content(kind.name))


@pytest.mark.parametrize(("kind", "shown"), BOTH)
def test_simulates_right_and_wrong_answers(kind: AnswerKind, shown: FrozenExample) -> None:
    about = content(kind.name)
    first, second = kind.options(shown)
    right = kind.right_form(shown, [first])
    wrong = kind.wrong_form(shown, [first], about, Random(1))
    assert kind.read(right, shown, about).texts == (first,)
    assert kind.read(wrong, shown, about).texts == (second,)
