from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.benchmarks.correcting import correct_gold
from annotation.kinds.gold import gold_in_force
from annotation.models import Gold, GoldVersion, Kind, Task
from annotation.models.errors import BadInput
from annotation.work.qualifying import training_score
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def author() -> User:
    return User.objects.create_user("ada")


def gold_texts(task: Task, identity: str, version: int) -> list[list[str]]:
    pk = task.examples.get(identity=identity).pk
    return gold_in_force([pk], task.pk, version)[pk].alternative_texts()


@pytest.mark.both_databases
def test_adds_a_version_with_its_author_and_reason(author: User) -> None:
    task = make.task(kind=Kind.SPANS)
    before = gold_texts(task, "id:test 0", 1)
    version = correct_gold(task, {"id:test 0": [["Test 0"]]}, author=author, reason="Misread.")
    assert (version.number, version.reason, version.author) == (2, "Misread.", author)
    assert gold_texts(task, "id:test 0", 2) == [["Test 0"]]
    assert gold_texts(task, "id:test 0", 1) == before
    assert gold_texts(task, "id:test 1", 2) == gold_texts(task, "id:test 1", 1)
    assert version.golds.count() == 1


def test_takes_an_example_by_its_primary_key(author: User) -> None:
    task = make.task(kind=Kind.SPANS)
    pk = task.examples.get(identity="id:test 0").pk
    correct_gold(task, {pk: [["Test 0"], []]}, author=author, reason="Misread.")
    assert gold_texts(task, "id:test 0", 2) == [["Test 0"], []]


def test_keeps_the_position_of_a_piece(author: User) -> None:
    task = make.task(kind=Kind.SPANS)
    piece = {"text": "Boris", "segment": 0, "start": 9}
    version = correct_gold(task, {"id:test 0": [[piece]]}, author=author, reason="Misread.")
    assert version.golds.get().alternatives == [[piece]]


def test_numbers_versions_one_after_the_other(author: User) -> None:
    task = make.task(kind=Kind.SPANS)
    for number, text in [(2, "today"), (3, "Test 0")]:
        version = correct_gold(task, {"id:test 0": [[text]]}, author=author, reason="Again.")
        assert version.number == number
    assert gold_texts(task, "id:test 0", 2) == [["today"]]


def test_changes_nothing_of_a_study_that_has_started(author: User) -> None:
    batch = make.running_batch()
    done = make.worked_through(batch)
    score = training_score(done)
    name = batch.training_set.items.first().example.identity
    wrong = [[label] for label in make.LABELS if [label] != gold_texts(batch.task, name, 1)[0]]
    correct_gold(batch.task, {name: wrong}, author=author, reason="Misread.")
    batch.refresh_from_db()
    assert batch.gold_version.number == 1
    assert training_score(done) == score == 100


@pytest.mark.parametrize(
    ("kind", "alternatives", "sentence"),
    [
        (Kind.CHOICE, [["neither"]], "“neither” is not among the answers that can be given"),
        (Kind.CHOICE, [["good", "bad"]], "exactly one text where the kind is choice"),
        (Kind.CHOICE, [[]], "exactly one text where the kind is choice"),
        (Kind.CANDIDATE, [["Clara"]], "“Clara” is not among the answers that can be given"),
        (Kind.SPANS, [["Clara"]], "“Clara” is not among the answers that can be given"),
        (Kind.SPANS, [["Anna", "Anna"]], "give each text of an alternative once"),
        (Kind.SPANS, [[""]], "and no empty text"),
        (Kind.SPANS, [], "give at least one alternative"),
        (Kind.SPANS, [[{"start": 0}]], "each piece needs a text"),
        (Kind.SPANS, [[{"text": "Anna", "start": 1}]], "“Anna” does not stand at 1 of part 0"),
        (Kind.SPANS, [[{"text": "Anna", "start": "0"}]], "does not stand at"),
        (Kind.SPANS, [[{"text": "Anna", "segment": 1, "start": 0}]], "does not stand at"),
    ],
)
def test_rejects_an_answer_that_nobody_could_give(
    author: User, kind: str, alternatives: Any, sentence: str
) -> None:
    task = make.task(kind=kind)
    with pytest.raises(BadInput) as refusal:
        correct_gold(task, {"id:test 0": alternatives}, author=author, reason="Misread.")
    assert str(refusal.value).startswith("Example id:test 0: ")
    assert sentence in str(refusal.value)
    assert (GoldVersion.objects.count(), Gold.objects.count()) == (1, 7)


def test_rejects_more_pieces_than_the_task_allows(author: User) -> None:
    task = make.task(kind=Kind.SPANS, max_spans=1)
    with pytest.raises(BadInput, match="holds at most 1 in this task"):
        correct_gold(task, {"id:test 0": [["Boris", "today"]]}, author=author, reason="Misread.")


def test_accepts_a_text_that_the_gold_has_already(author: User) -> None:
    task = make.task(kind=Kind.SPANS)
    example = task.examples.get(identity="id:test 0")
    Gold.objects.filter(example=example).update(alternatives=[[{"text": "MOODY S"}]])
    correct_gold(task, {example.pk: [["MOODY S", "Anna"]]}, author=author, reason="One more.")
    assert gold_texts(task, "id:test 0", 2) == [["MOODY S", "Anna"]]


@pytest.mark.parametrize("reason", ["", "  ", "import"])
def test_rejects_a_correction_without_a_reason(author: User, reason: str) -> None:
    with pytest.raises(BadInput, match="Say why"):
        correct_gold(make.task(), {"id:test 0": [["good"]]}, author=author, reason=reason)


def test_rejects_a_correction_that_changes_nothing(author: User) -> None:
    task = make.task()
    same = gold_texts(task, "id:test 0", 1)
    same_or_nothing: list[dict[int | str, Any]] = [{"id:test 0": same}, {}]
    for corrections in same_or_nothing:
        with pytest.raises(BadInput, match="nothing to correct"):
            correct_gold(task, corrections, author=author, reason="Misread.")


def test_rejects_an_example_of_another_task(author: User) -> None:
    other = make.task().examples.first()
    for name in (other.pk, "id:nobody"):
        with pytest.raises(BadInput, match="has no example"):
            correct_gold(make.task(), {name: [["good"]]}, author=author, reason="Misread.")
