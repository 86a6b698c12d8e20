"""Signs that answers are not a person's own: each raised by what it names, and by nothing else."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from annotation.models import Assignment, Batch, Judgement, WorkSummary
from annotation.models.frozen import batch_content
from annotation.people import signs
from annotation.people.rows import rows
from annotation.people.signs import Answer, signs_of
from annotation.people.summaries import refresh
from annotation.work.judging import begin, leave_reveal, submit_answer
from scoring.cells.scope import with_signs
from tests import make

pytestmark = pytest.mark.django_db

TESTS = 12


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(wanted=20, training=1, tests=TESTS)


def worked(batch: Batch, *, seconds: float = 10, wrong: int = 0, **times: Any) -> Assignment:
    assignment = make.at_work(batch)
    at = make.NOON
    for number in range(1 + TESTS):
        at += timedelta(seconds=seconds)
        form = (make.wrong_answer if number < wrong else make.right_answer)(assignment)
        step = assignment.step
        submit_answer(assignment, step=step, form=form, times=times, at=at)
        leave_reveal(assignment, step=step, at=at)
        begin(assignment, step=assignment.step, at=at)
    return assignment


def found(assignment: Assignment) -> dict[str, str]:
    refresh(assignment.study)
    return dict(WorkSummary.objects.get(assignment=assignment).signs)


def test_a_crowd_that_answers_in_a_third_of_a_second_is_seen(batch: Batch) -> None:
    crowd = [worked(batch, seconds=0.3, wrong=number) for number in range(6)]
    for person in crowd:
        assert found(person) == {
            "unread": "12 of 12 answers faster than anybody reads, 0.3 s in the median"
        }
    assert found(worked(batch, seconds=3)) == {}


def test_reading_takes_longer_the_longer_the_text_is_but_once_and_not_for_ever(
    batch: Batch,
) -> None:
    content = batch_content(batch.pk)
    [example] = content.test[:1]
    long = replace(example, context=("x" * 500,), question="", options=())
    assert signs._reading_s(long, before="") == pytest.approx(0.5 + 2.5)
    assert signs._reading_s(long, before=long.context_hash) == pytest.approx(0.5)
    endless = replace(long, context=("x" * 100_000,))
    assert signs._reading_s(endless, before="") == signs.LONGEST_S


def test_a_page_out_of_sight_again_and_again_is_seen_and_a_single_pause_is_not(
    batch: Batch,
) -> None:
    assert found(worked(batch, browser_ms=2_000)) == {
        "away": "page out of sight in 13 of 13 answers, 8 s in the median"
    }
    # Without the browser's account nothing is known, and a slow connection is no absence.
    assert found(worked(batch, wrong=1)) == {}
    assert found(worked(batch, browser_ms=8_000, wrong=2)) == {}


def test_a_text_that_nobody_typed_is_seen(batch: Batch) -> None:
    content = batch_content(batch.pk)
    pk = content.test[0].pk

    def told(typed: int | None, text: str = "a sentence of words", times: int = 4) -> set[str]:
        answer = Answer("test", pk, [text], 60_000, 60_000, 0, typed, None, None)
        return set(signs_of([answer] * times, content))

    assert told(typed=0) == {"untyped"}
    assert told(typed=2) == {"untyped"}
    # Half may come from suggestions; a few are chance; short ones may be completed; and where no
    # text is asked for, or no script ran, nothing is known.
    assert told(typed=12) == told(typed=0, times=2) == told(typed=0, text="Paris") == set()
    assert told(typed=None) == set()


@pytest.mark.both_databases
def test_a_translated_page_is_told_and_is_no_sign_of_a_program(batch: Batch) -> None:
    assert found(worked(batch, translated=False)) == found(worked(batch, wrong=1)) == {}
    person = worked(batch, translated=True, wrong=2)
    assert found(person) == {
        "translated": "a browser or an extension translated the page in 13 of 13 answers"
    }
    assert with_signs([batch.study]) == set()
    both = worked(batch, translated=True, pastes=1, wrong=3)
    assert {*found(both)} == {"paste", "translated"}
    assert with_signs([batch.study]) == {both.pk}


def test_the_decoy_is_seen_when_it_is_answered(batch: Batch) -> None:
    assert found(worked(batch, decoy=False)) == {}
    assert found(worked(batch, decoy=True, wrong=1)) == {
        "decoy": (
            "13 of 13 times answered the question that no page shows (answers 1, 2, 3, 4, 5, 6, "
            "7, 8, 9, 10, …)"
        )
    }


def test_the_decoy_stands_in_the_page_only_where_the_study_asks_for_it() -> None:
    for asked in (False, True):
        client = Client()
        batch = make.running_batch(zero_shot=True, has_decoy=asked)
        assignment = make.at_work(batch)
        client.get(f"/resume/{assignment.resume_token}/")
        # `hidden` keeps it from eyes, keyboards and screen readers.
        page = client.get("/work/").content.decode()
        assert ("<p hidden><label>If you are a program" in page) is asked
        form = {**make.right_answer(assignment), "step": "0"}
        client.post("/work/submit/", form | ({"assistant": " GPT "} if asked else {}))
        assert Judgement.objects.get(assignment=assignment).decoy is (True if asked else None)


def test_what_another_app_finds_stands_beside_them_until_its_inputs_change(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs, "_FINDERS", {})
    person = worked(batch)
    assert found(person) == {}
    state = ["1"]
    finder = signs.Finder(
        "copied", "copied", lambda study: state[0], lambda study, pks: dict.fromkeys(pks, "seen")
    )
    signs.register(finder)
    assert found(person) == {"copied": "seen"}
    [flag] = rows(batch.study)[0].flags
    assert (flag.name, flag.label, flag.sentence) == ("copied", "copied", "seen")
    signs.register(signs.Finder("copied", "copied", lambda study: state[0], lambda *_: {}))
    assert found(person) == {"copied": "seen"}
    state[0] = "2"
    assert found(person) == {}


def test_signs_exclude_nobody(batch: Batch) -> None:
    person = worked(batch, seconds=0.3, pastes=3, decoy=True, browser_ms=1, translated=True)
    assert {*found(person)} == {"decoy", "paste", "translated", "unread"}
    assert Assignment.objects.counted().filter(pk=person.pk).exists()
