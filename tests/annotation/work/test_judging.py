"""From the first example to the last answer."""

from datetime import datetime, timedelta

import pytest

from annotation.models import Assignment, Judgement, Kind, Outcome, Place, Role, WorkState
from annotation.models.errors import BadInput
from annotation.models.frozen import sequence
from annotation.work import judging
from annotation.work.finishing import withdraw
from annotation.work.judging import (
    begin,
    leave_reveal,
    notice_end,
    submit_answer,
)
from tests import make
from tests.together import at_once

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", Kind.values)
def test_works_a_whole_batch_through(kind: str) -> None:
    assignment = make.worked_through(make.running_batch(kind=kind))
    assert assignment.outcome == Outcome.COMPLETED
    assert assignment.judgements.of_training().count() == 3
    assert assignment.judgements.of_test().count() == 4
    assert assignment.training_score == 100
    assert Place.objects.get(holder=assignment).kept


def test_goes_straight_to_the_test_when_zero_shot() -> None:
    assignment = make.at_work(make.running_batch(zero_shot=True))
    make.answer(assignment)
    assert assignment.judgements.get().role == Role.TEST


def test_locks_a_training_answer_before_it_goes_on() -> None:
    assignment = make.at_work(make.running_batch())
    form = make.right_answer(assignment)
    submit_answer(assignment, step=0, form=form, times={}, at=make.NOON)
    assert assignment.state == WorkState.REVEALED
    assert Judgement.objects.get().answer


@pytest.mark.both_databases
def test_keeps_the_first_answer_when_a_step_comes_twice() -> None:
    assignment = make.at_work(make.running_batch())
    first = submit_answer(assignment, step=0, form={"option": "0"}, times={}, at=make.NOON)
    again = submit_answer(assignment, step=0, form={"option": "1"}, times={}, at=make.NOON)
    assert again == first
    assert Judgement.objects.get().answer == ["bad"]


@pytest.mark.both_databases
def test_keeps_the_first_answer_where_another_tab_has_not_seen_it() -> None:
    assignment = make.at_work(make.running_batch(zero_shot=True))
    unaware = Assignment.objects.get(pk=assignment.pk)
    first = submit_answer(assignment, step=0, form={"option": "0"}, times={}, at=make.NOON)
    assert submit_answer(unaware, step=0, form={"option": "1"}, times={}, at=make.NOON) == first
    assert Judgement.objects.get().answer == ["bad"]


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_keeps_one_of_ten_answers_to_a_step_that_come_at_once() -> None:
    pk = make.at_work(make.running_batch(zero_shot=True)).pk

    def submit(number: int) -> int | None:
        judgement = submit_answer(
            Assignment.objects.get(pk=pk),
            step=0,
            form={"option": str(number % 2)},
            times={},
            at=make.NOON,
        )
        return judgement.pk if judgement else None

    answers = at_once(submit, 10)
    assert set(answers) == {Judgement.objects.get().pk}
    assert Assignment.objects.get().step == 1


@pytest.mark.both_databases
def test_stores_nothing_for_an_assignment_that_ended_meanwhile() -> None:
    assignment = make.at_work(make.running_batch())
    stale = Assignment.objects.get(pk=assignment.pk)
    withdraw(assignment, at=make.NOON)
    submit_answer(stale, step=0, form={"option": "0"}, times={}, at=make.NOON)
    assert stale.outcome == Outcome.WITHDRAWN
    assert not Judgement.objects.exists()


@pytest.mark.both_databases
def test_takes_an_answer_back_when_the_assignment_ends_while_it_is_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assignment = make.at_work(make.running_batch())

    def withdraw_elsewhere(assignment: Assignment, at: datetime) -> bool:
        return withdraw(Assignment.objects.get(pk=assignment.pk), at=at)

    monkeypatch.setattr(judging, "_holds_place", withdraw_elsewhere)
    form = {"option": "0"}
    late = submit_answer(assignment, step=0, form=form, times={}, at=make.NOON)
    assert late is None
    assert not Judgement.objects.exists()


@pytest.mark.both_databases
def test_goes_no_further_without_a_place() -> None:
    batch = make.running_batch(wanted=1, lease_minutes=10)
    slow = make.joined(batch)
    later = make.NOON + timedelta(minutes=11)
    make.joined(batch, at=later)
    begin(Assignment.objects.get(pk=slow.pk), at=later)
    slow.refresh_from_db()
    assert (slow.state, slow.outcome) == (WorkState.FINISHED, Outcome.DISPLACED)


@pytest.mark.parametrize(("seconds", "paid"), [(25, 25_000), (500, 120_000)])
def test_pays_the_reading_of_the_description_up_to_its_cap(seconds: int, paid: int) -> None:
    assignment = make.joined(make.running_batch(reading_cap_s=120))
    begin(assignment, at=make.NOON + timedelta(seconds=seconds))
    assert Assignment.objects.get().paid_ms == paid


def test_tells_who_comes_back_late_before_any_more_work() -> None:
    batch = make.running_batch(wanted=1, lease_minutes=10)
    slow = make.at_work(batch)
    make.joined(batch, at=make.NOON + timedelta(minutes=11))
    back = Assignment.objects.get(pk=slow.pk)
    notice_end(back, at=make.NOON + timedelta(minutes=12))
    assert back.outcome == Outcome.DISPLACED


def test_lets_who_holds_a_place_go_on() -> None:
    assignment = make.at_work(make.running_batch())
    notice_end(assignment, at=make.NOON)
    assert assignment.outcome == ""


def test_shows_everybody_the_examples_in_the_order_of_their_own_seed() -> None:
    batch = make.running_batch(zero_shot=True, tests=9)
    orders = set()
    for _ in range(2):
        assignment = make.worked_through(batch)
        order = list(assignment.judgements.order_by("step").values_list("example_id", flat=True))
        assert order == [e.pk for e in sequence(batch.pk, assignment.order_seed)]
        orders.add(tuple(order))
    assert len(orders) == 2


@pytest.mark.both_databases
def test_stores_when_an_answer_was_shown_and_sent_and_the_browsers_times() -> None:
    assignment = make.at_work(make.running_batch())
    later = make.NOON + timedelta(seconds=7)
    times = {"browser_ms": 6000, "first_action_ms": 2000, "active_ms": 5000}
    submit_answer(assignment, step=0, form={"option": "0"}, times=times, at=later)
    stored = Judgement.objects.get()
    assert (stored.shown_at, stored.submitted_at) == (make.NOON, later)
    assert (stored.browser_ms, stored.first_action_ms, stored.active_ms) == (6000, 2000, 5000)


def test_ignores_a_step_ahead_of_its_position() -> None:
    assignment = make.at_work(make.running_batch())
    late = submit_answer(assignment, step=2, form={"option": "0"}, times={}, at=make.NOON)
    assert late is None
    assert not Judgement.objects.exists()


def test_refuses_an_answer_that_is_none_of_the_choices() -> None:
    assignment = make.at_work(make.running_batch())
    with pytest.raises(BadInput, match="not among the choices"):
        submit_answer(assignment, step=0, form={"option": "2"}, times={}, at=make.NOON)
    assert assignment.state == WorkState.ANSWERING


@pytest.mark.both_databases
def test_leaves_a_reveal_once() -> None:
    assignment = make.at_work(make.running_batch())
    submit_answer(assignment, step=0, form={"option": "0"}, times={}, at=make.NOON)
    leave_reveal(assignment, step=0, at=make.NOON)
    leave_reveal(assignment, step=0, at=make.NOON)
    assert (assignment.step, assignment.state) == (1, WorkState.ANSWERING)


@pytest.mark.both_databases
def test_never_goes_back_when_an_old_request_comes_late() -> None:
    assignment = make.at_work(make.running_batch())
    submit_answer(assignment, step=0, form={"option": "0"}, times={}, at=make.NOON)
    late = Assignment.objects.get()
    leave_reveal(assignment, step=0, at=make.NOON)
    submit_answer(assignment, step=1, form={"option": "0"}, times={}, at=make.NOON)
    leave_reveal(late, step=0, at=make.NOON)
    stored = Assignment.objects.get()
    assert (stored.step, stored.state) == (1, WorkState.REVEALED)


def test_leaves_no_reveal_but_the_one_that_is_shown() -> None:
    assignment = make.at_work(make.running_batch())
    leave_reveal(assignment, step=0, at=make.NOON)
    assert (assignment.step, assignment.state) == (0, WorkState.ANSWERING)
    submit_answer(assignment, step=0, form={"option": "0"}, times={}, at=make.NOON)
    leave_reveal(assignment, step=1, at=make.NOON)
    assert (assignment.step, assignment.state) == (0, WorkState.REVEALED)


@pytest.mark.parametrize(("seconds", "paid"), [(4, 4_000), (500, 30_000)])
def test_pays_the_look_at_a_reveal_up_to_its_cap(seconds: int, paid: int) -> None:
    assignment = make.at_work(make.running_batch(reveal_cap_s=30))
    answered = make.NOON + timedelta(seconds=10)
    form = {"option": "0"}
    submit_answer(assignment, step=0, form=form, times={}, at=answered)
    leave_reveal(assignment, step=0, at=answered + timedelta(seconds=seconds))
    stored = Assignment.objects.get()
    assert (stored.reveal_ms, stored.paid_ms) == (paid, 10_000 + paid)


def test_pays_the_time_by_the_servers_clock_up_to_the_cap() -> None:
    batch = make.running_batch(zero_shot=True, item_cap_s=60)
    assignment = make.at_work(batch)
    make.answer(assignment, at=make.NOON + timedelta(seconds=20))
    make.answer(assignment, at=make.NOON + timedelta(seconds=1000))
    assert [j.paid_ms for j in assignment.judgements.order_by("step")] == [20_000, 60_000]
    assert assignment.paid_ms == 80_000


@pytest.mark.both_databases
def test_ends_as_displaced_when_a_join_took_the_lapsed_place() -> None:
    batch = make.running_batch(wanted=1, lease_minutes=10)
    slow = make.at_work(batch)
    later = make.NOON + timedelta(minutes=11)
    make.joined(batch, at=later)
    make.answer(slow, at=later)
    slow.refresh_from_db()
    assert slow.outcome == Outcome.DISPLACED
    assert not slow.judgements.exists()


@pytest.mark.both_databases
def test_takes_a_lapsed_place_back_when_nobody_took_it() -> None:
    batch = make.running_batch(wanted=1, lease_minutes=10)
    slow = make.at_work(batch)
    make.answer(slow, at=make.NOON + timedelta(minutes=11))
    assert slow.step == 1
