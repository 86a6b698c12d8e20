import pytest

from annotation.models import Kind
from scoring.runs.storing import pieces_of, rule_in_words


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Belgrade", ("Belgrade",)),
        (" Belgrade \n\n Paris\n", ("Belgrade", "Paris")),
        ('["Belgrade", "Paris"]', ("Belgrade", "Paris")),
        ("[]", ()),
        ("", ()),
        (" \n", ()),
        ("Paris\nParis", ("Paris",)),
        ("[Belgrade]", ("[Belgrade]",)),
        ("[1, 2]", ("[1, 2]",)),
        ("Paris, France", ("Paris, France",)),
    ],
)
def test_makes_spans_of_a_list_or_of_lines(text: str, pieces: tuple[str, ...]) -> None:
    assert pieces_of(text, Kind.SPANS) == pieces


def test_cuts_at_the_separator_alone_where_one_is_given() -> None:
    assert pieces_of("Paris, France\n; Rome", Kind.SPANS, separator=";") == (
        "Paris, France",
        "Rome",
    )
    assert pieces_of('["Paris; Rome"]', Kind.SPANS, separator=";") == ("Paris; Rome",)


@pytest.mark.parametrize("kind", [Kind.CHOICE, Kind.CANDIDATE])
def test_takes_the_whole_text_as_one_answer_elsewhere(kind: str) -> None:
    assert pieces_of(" very\ngood ", kind, separator=";") == ("very\ngood",)
    assert pieces_of('["good"]', kind) == ('["good"]',)


def test_drops_the_word_for_none_and_nothing_like_it() -> None:
    assert pieces_of("None\nnone\nnone at all", Kind.SPANS, none_word="none") == (
        "None",
        "none at all",
    )


def test_says_the_rule() -> None:
    assert "cut at “;”" in rule_in_words(Kind.SPANS, separator=";")
    assert "“N/A” means none" in rule_in_words(Kind.CHOICE, none_word="N/A")
