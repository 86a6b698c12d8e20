"""From a kind's name to the kind, and what every kind must be able to tell."""

import pytest
from django.template.loader import get_template

from annotation.kinds import UnknownKind, answer_kind, answer_kinds
from annotation.kinds.base import EMPTY, AnswerKind
from annotation.models import Kind


def test_knows_the_kinds_by_their_names() -> None:
    assert [kind.name for kind in answer_kinds()] == Kind.values
    assert answer_kind("choice") is answer_kind(Kind.CHOICE)


@pytest.mark.parametrize("name", ["", "essay", "base", "Choice", "../text"])
def test_refuses_a_kind_that_nobody_registered(name: str) -> None:
    with pytest.raises(UnknownKind, match="There is no kind"):
        answer_kind(name)


@pytest.mark.parametrize("kind", answer_kinds(), ids=lambda kind: kind.name)
def test_has_every_part_of_its_template(kind: AnswerKind) -> None:
    assert list(kind.parts) == ["form", "reveal", "verdict", "keys", "more_keys", "gestures"]
    for part in kind.parts.values():
        assert get_template(part)


@pytest.mark.parametrize("kind", answer_kinds(), ids=lambda kind: kind.name)
def test_has_words_for_what_it_asks_and_for_its_floors(kind: AnswerKind) -> None:
    assert kind.in_words
    assert kind.missing
    assert kind.nothing
    assert kind.floors[0] is EMPTY
    assert len({floor.rule for floor in kind.floors}) == len(kind.floors)
