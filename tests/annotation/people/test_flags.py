"""Flags: each is raised by what it names, and by nothing else."""

from dataclasses import asdict
from datetime import timedelta
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.access.rights import Right
from annotation.benchmarks.audit import audit_task
from annotation.models import Assignment, Batch, Task
from annotation.people.flags import ENOUGH_ANSWERS, MOST_NAMES, _median_of_others
from annotation.people.rows import chosen, rows
from annotation.people.views import table_of
from annotation.studies.lifecycle import start_study
from annotation.work.commenting import add_comment
from annotation.work.judging import begin, leave_reveal, submit_answer
from scoring.tables.arranging import arranged
from tests import make

pytestmark = pytest.mark.django_db

TESTS = 10


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(wanted=20, training=1, tests=TESTS)


def worked(batch: Batch, *, seconds: int = 10, wrong: int = 0, **times: Any) -> Assignment:
    """A whole assignment, so many seconds an answer, its first ones wrong."""
    assignment = make.at_work(batch)
    at = make.NOON
    for number in range(1 + TESTS):
        at += timedelta(seconds=seconds)
        form = (make.wrong_answer if number < wrong else make.right_answer)(assignment)
        step, browser = assignment.step, times
        submit_answer(assignment, step=step, form=form, times=browser, at=at)
        leave_reveal(assignment, step=step, at=at)
        begin(assignment, step=assignment.step, at=at)
    return assignment


def names(assignment: Assignment) -> set[str]:
    [row] = [row for row in rows(assignment.study) if row.person.pk == assignment.pk]
    return {flag.name for flag in row.flags}


def test_raises_none_for_ordinary_work(batch: Batch) -> None:
    # Not two: one in ten who gets the one test item with another gold wrong has all answers alike.
    everybody = [worked(batch, wrong=n) for n in (0, 1, 3, 4, 5)]
    assert [names(assignment) for assignment in everybody] == [set()] * 5


def test_sees_who_answers_far_faster_than_the_others(batch: Batch) -> None:
    for number in range(4):
        worked(batch, wrong=number)
    assert names(worked(batch, seconds=3, wrong=5)) == {"fast"}
    assert names(worked(batch, seconds=4, wrong=6)) == set()


def test_says_nothing_of_speed_among_few(batch: Batch) -> None:
    worked(batch, seconds=60)
    assert names(worked(batch, seconds=1, wrong=1)) == set()


def test_sees_answers_all_alike_unless_everybodys_are(batch: Batch) -> None:
    for number in range(3):
        worked(batch, wrong=number)
    assignment = make.at_work(batch)
    for _ in range(1 + TESTS):
        make.answer(assignment, {"option": "0"})
    assert "alike" in names(assignment)


def test_sees_equal_answers_that_are_not_all_right(batch: Batch) -> None:
    first = worked(batch, wrong=TESTS + 1)
    assert names(first) == set()
    assert names(worked(batch, wrong=TESTS + 1)) >= {"equal"}
    assert names(first) >= {"equal"}


def test_equal_answers_that_are_all_right_are_no_flag(batch: Batch) -> None:
    assert ENOUGH_ANSWERS <= TESTS
    assert [names(worked(batch)) for _ in range(2)] == [set()] * 2


def test_names_but_a_few_of_many_who_answered_the_same(batch: Batch) -> None:
    everybody = [worked(batch, wrong=TESTS + 1) for _ in range(MOST_NAMES + 2)]
    [row] = [row for row in rows(batch.study) if row.person.pk == everybody[1].pk]
    [told] = [flag.sentence for flag in row.flags if flag.name == "equal"]
    others = [everybody[0], *everybody[2 : MOST_NAMES + 1]]
    assert ", ".join(one.annotator.pseudonym for one in others) + "…," in told
    [flag] = [flag for flag in row.flags if flag.name == "equal"]
    assert [one.pk for one in flag.others] == [one.pk for one in others]


@given(st.lists(st.sampled_from([1, 2, 3, 7]) | st.integers(0, 99), min_size=2))
def test_finds_the_median_of_the_others(values: list[int]) -> None:
    ordered = sorted(values)
    for place, own in enumerate(ordered):
        assert _median_of_others(ordered, own) == median(ordered[:place] + ordered[place + 1 :])


def test_sees_a_practice_at_the_level_of_no_skill(batch: Batch) -> None:
    with make.unlocked():
        Task.objects.filter(pk=batch.task_id).update(audit=_audit(batch.task))
    assert "no_skill" in names(worked(batch, wrong=1))
    assert "no_skill" not in names(worked(batch))


def _audit(task: Task) -> list[dict[str, Any]]:
    return [asdict(finding) for finding in audit_task(task)]


def test_sees_a_long_absence(batch: Batch) -> None:
    assert names(worked(batch, seconds=599)) == set()
    assert names(worked(batch, seconds=600, wrong=1)) == {"absent"}


def test_sees_what_was_pasted(batch: Batch) -> None:
    assert names(worked(batch, pastes=0)) == set()
    assert names(worked(batch, pastes=2, wrong=1)) == {"paste"}


def test_sees_reported_problems(batch: Batch) -> None:
    assignment = make.at_work(batch)
    add_comment(assignment, text="Typo.", step=0, at=make.NOON)
    assert names(assignment) == {"problems"}


@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT", "REJECTED"])
def test_sees_finished_work_that_the_platform_takes_for_none(batch: Batch, status: str) -> None:
    assignment = worked(batch)
    make.entered_by(assignment, status=status)
    assert names(assignment) == {"platform"}


def test_is_renewed_when_somebody_moves_on(batch: Batch) -> None:
    assignment = make.at_work(batch)
    assert names(assignment) == set()
    at = make.NOON + timedelta(minutes=11)
    submit_answer(
        assignment,
        step=0,
        form=make.right_answer(assignment),
        times={"pastes": 1},
        at=at,
    )
    assert names(assignment) == {"absent", "paste"}


def test_stands_beside_the_score_and_changes_nothing(batch: Batch) -> None:
    assignment = worked(batch, pastes=3)
    before = Assignment.objects.values().get(pk=assignment.pk)
    assert names(assignment) == {"paste"}
    assert Assignment.objects.values().get(pk=assignment.pk) == before
    assert Assignment.objects.counted().filter(pk=assignment.pk).exists()


def test_filters_and_sorts(batch: Batch) -> None:
    quiet, pasting = worked(batch), worked(batch, pastes=1, wrong=1)
    working = make.at_work(batch)
    everybody = rows(batch.study)
    assert [row.person.pk for row in chosen(everybody, flag="any")] == [pasting.pk]
    assert [row.person.pk for row in chosen(everybody, flag="fast")] == []
    assert [row.person.pk for row in chosen(everybody, state="working")] == [working.pk]
    assert {row.person.pk for row in chosen(everybody, state="nonsense")} == {
        quiet.pk,
        pasting.pk,
        working.pk,
    }
    listed = arranged(table_of(batch.study, everybody, frozenset(Right)), sort="people:-flags")
    first = listed.lines[0].cell(listed.columns[0])
    assert first.value == pasting.annotator.pseudonym


def test_compares_time_with_the_median_of_those_who_finished(batch: Batch) -> None:
    for _ in range(3):
        worked(batch, seconds=10)
    slow = make.at_work(batch)
    make.answer(slow, at=make.NOON + timedelta(seconds=40))
    [row] = [row for row in rows(batch.study) if row.person.pk == slow.pk]
    assert (row.done, row.items) == (1, 1 + TESTS)
    assert row.pace == pytest.approx(4, rel=0.01)


def test_leaves_out_simulated_people(batch: Batch) -> None:
    assignment = make.joined(batch)
    assignment.annotator.channel = make.channel("simulated")
    assignment.annotator.save()
    assert rows(batch.study) == []


def test_starts_no_study() -> None:
    """A draft has nobody, and its pages open all the same."""
    bench = make.benchmark()
    made = make.batch(make.study(bench), make.task(bench))
    assert rows(made.study) == []
    start_study(made.study, at=make.NOON)
    assert rows(made.study) == []
