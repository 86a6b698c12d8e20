import json
from collections.abc import Callable
from typing import Any

import pytest

from annotation.benchmarks.formats.flex import FlexChallenge
from annotation.models.errors import BadInput
from tests.annotation.benchmarks.flex_files import Challenge, Written, challenge, small


def lines_of(rows: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(row).encode() for row in rows]


def read(made: Challenge) -> FlexChallenge:
    return FlexChallenge(
        lines_of(made.rows), lines_of(made.answers), "challenge.jsonl", "answers.jsonl"
    )


def test_reads_the_episodes_of_each_data_set() -> None:
    flex = read(small())
    assert flex.datasets == ["subj", "snli"]
    zero, training, few = flex.sets("subj")
    assert [read_set.file.split("task_id ")[1] for read_set in (zero, training, few)] == [*"022"]
    assert [read_set.episode for read_set in (zero, training, few)] == [1, 2, 2]
    assert [example.label for example in zero.examples] == ["objective", "subjective"]
    assert training.choices == few.choices == ["subjective", "objective"]
    assert [example.label for example in training.examples] == ["subjective", "objective"]


def test_takes_the_checksum_over_the_questions_in_their_order() -> None:
    made = small()
    assert read(made).checksum == made.checksum
    made.rows.reverse()
    assert read(made).checksum == made.checksum != small().checksum


def test_knows_a_text_by_its_content_in_any_episode() -> None:
    zero, training, _few = read(small()).sets("subj")
    assert zero.examples[1].identity == training.examples[0].identity
    assert zero.examples[1].role != training.examples[0].role


def test_splits_a_pair_of_sentences_and_leaves_them_as_they_are() -> None:
    example = read(small()).sets("snli")[-1].examples[0]
    assert example.context == ("A dog runs. ", " An animal moves.")


def test_tells_equal_texts_of_one_episode_and_of_other_labels_apart() -> None:
    made = challenge(
        Written(test=[("Same.", 0), ("Same.", 0)]),
        Written(training=[("Same.", 0)], test=[("Same.", 1), ("Same.", 0)]),
    )
    first, *second = read(made).sets("subj")
    examples = [row for read_set in (first, *second) for row in read_set.examples]
    identities = [example.identity for example in examples]
    assert identities[0] == identities[2]
    assert identities[1] == identities[4]
    assert len(set(identities)) == 3
    assert len({example.content_hash for example in first.examples}) == 1


Spoil = Callable[[Challenge], Any]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda made: made.rows[0].pop("txt"), "challenge.jsonl, line 1: the field “txt” is"),
        (lambda made: made.rows[0].update(txt=" "), "line 1: “txt” is empty"),
        (lambda made: made.rows[0].update(is_train="no"), "“is_train” must be true or false"),
        (lambda made: made.rows[0].update(task_id=-1), "“task_id” must be a whole number"),
        (lambda made: made.rows[1].update(dataset="mr"), "line 2: the rows of the episode 0"),
        (
            lambda made: made.rows[1].update(question_id=made.rows[0]["question_id"]),
            "line 2: the question .* has been asked already",
        ),
        (lambda made: made.rows[3].update(label="7"), "line 4: the class 7 is none of"),
        (lambda made: made.rows[3].update(label=1), "“label” must be a class number"),
        (lambda made: made.rows[0].update(text_labels={"keys": ["a"]}), "the same number of each"),
        (lambda made: made.rows[0].update(labels=["0"]), "do not name the same classes"),
        (
            lambda made: made.rows[0].update(
                labels=["1", "2"], text_labels={"keys": ["a", "b"], "values": [1, 2]}
            ),
            "numbered from 0",
        ),
        (lambda made: made.answers.pop(), "line 6: the answer key does not have"),
        (
            lambda made: made.answers.append(made.answers[0]),
            "answers.jsonl, line 5: .*has been answered already",
        ),
        (lambda made: made.answers[0].update(is_distractor=True), "distractor"),
        (lambda made: made.rows.pop(), "episode 2 has no question"),
        (lambda made: made.rows.pop(0), "is not in the challenge"),
        (lambda made: made.rows.clear(), "challenge.jsonl is empty"),
    ],
)
def test_names_the_row_that_cannot_be_used(spoil: Spoil, sentence: str) -> None:
    made = small()
    spoil(made)
    with pytest.raises(BadInput, match=sentence):
        read(made)
