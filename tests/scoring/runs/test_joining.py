from collections.abc import Sequence

import pytest

from annotation.models import Example, ItemSet, Kind, Role
from scoring.runs.joining import ItemFinder, NoMatch
from tests import make

pytestmark = pytest.mark.django_db


def items(*rows: tuple[Sequence[str], str]) -> tuple[ItemFinder, list[int]]:
    """A test set of these contexts and questions, with ids "0", "1", …"""
    task = make.task(kind=Kind.SPANS, training=0, tests=0)
    examples = []
    for number, (context, question) in enumerate(rows):
        example = make.example(task, str(number))
        Example.objects.filter(pk=example.pk).update(context=list(context), question=question)
        examples.append(example)
    item_set: ItemSet = make.item_set(task, examples, name="more", role=Role.TEST)
    return ItemFinder(item_set), [example.pk for example in examples]


FILM = (["the film"], "good or bad?")
LONG = (["the film is long"], "good or bad?")
PEOPLE = (["In Belgrade :"], "List the people")
PLACES = (["In Belgrade :"], "List the places")
PAIR = (["A man sleeps.", "A man is awake."], "Does it follow?")


def test_believes_an_id_that_comes_alone() -> None:
    finder, keys = items(FILM, PEOPLE)
    assert finder.find("1") == keys[1]
    with pytest.raises(NoMatch, match="does not have this id"):
        finder.find("7")


def test_believes_an_id_whose_context_comes_along() -> None:
    finder, keys = items(PEOPLE, PLACES)
    assert finder.find("0", ["Read this: In  Belgrade : And answer."]) == keys[0]


def test_prefers_the_text_to_an_id_that_means_something_else() -> None:
    finder, keys = items(FILM, LONG)
    assert finder.find("0", ["the film is long"]) == keys[1]
    with pytest.raises(NoMatch, match="no example"):
        finder.find("0", ["a book"])
    finder, keys = items(PEOPLE, PLACES)
    assert finder.find("0", ["In Belgrade :", "List the places"]) == keys[1]


def test_tells_examples_of_one_context_by_their_question() -> None:
    finder, keys = items(PEOPLE, PLACES)
    assert finder.find(None, ["In Belgrade :", "List the places"]) == keys[1]
    with pytest.raises(NoMatch):
        finder.find(None, ["In Belgrade :"])


def test_does_not_take_a_documents_label_for_its_context() -> None:
    finder, keys = items((["good"], "good or bad?"), FILM)
    assert finder.find(None, ["the film", "good"]) == keys[1]


def test_takes_what_a_prompt_asks_last() -> None:
    finder, keys = items(FILM, LONG, PEOPLE, PLACES)
    shown = "the film\ngood or bad? good\n\n"
    assert finder.find(None, [shown + "the film is long\ngood or bad?"]) == keys[1]
    assert finder.find(None, ["the film is long\ngood or bad? bad\n\n" + shown]) == keys[0]
    asked = "In Belgrade : List the places. X\n\nIn Belgrade : List the people"
    assert finder.find(None, [asked]) == keys[2]


def test_does_not_take_a_word_of_the_question_for_a_context() -> None:
    finder, keys = items((["good"], "good or bad?"), LONG)
    assert finder.find(None, ["the film is long\ngood or bad?"]) == keys[1]


def test_asks_the_id_where_the_texts_leave_a_doubt() -> None:
    finder, keys = items(PEOPLE, PLACES)
    assert finder.find("1", ["Read: In Belgrade : What do you say?"]) == keys[1]


def test_does_not_join_a_prompt_that_asks_something_else() -> None:
    finder, _ = items(FILM)
    with pytest.raises(NoMatch):
        finder.find(None, ["I saw the film yesterday. Who directed it?"])


def test_joins_contexts_of_several_segments() -> None:
    finder, keys = items(PAIR, (["A man sleeps.", "A man dreams."], "Does it follow?"))
    assert finder.find(None, ["A man sleeps.", "A man is awake.", "no"]) == keys[0]
    assert finder.find(None, ["A man sleeps. A man dreams. Does it follow?"]) == keys[1]


def test_gives_equal_examples_to_records_one_by_one() -> None:
    finder, keys = items(FILM, FILM, LONG)
    texts = ["the film", "good or bad?"]
    assert [finder.find(None, texts) for _ in range(3)] == [keys[0], keys[1], keys[0]]
    again, keys = items(FILM, FILM, LONG)
    prompt = ["the film\ngood or bad?"]
    assert [again.find(name, prompt) for name in "xxyy"] == [keys[0], keys[0], keys[1], keys[1]]


def test_does_not_guess_between_different_examples() -> None:
    finder, _ = items(FILM, (["the book"], "good or bad?"))
    with pytest.raises(NoMatch):
        finder.find(None, ["the film", "the book", "good or bad?"])
