from datetime import timedelta
from decimal import Decimal

import pytest

from annotation.benchmarks.correcting import correct_gold
from annotation.models import (
    Annotator,
    Assignment,
    Batch,
    Channel,
    Exclusion,
    JoinAnswer,
    Kind,
    Outcome,
    OutcomeRule,
    Study,
)
from annotation.work.finishing import withdraw
from annotation.work.joining import count_answer
from scoring.report.facts import Facts
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def facts_of(batch: Batch) -> Facts:
    return Facts(Study.objects.get(pk=batch.study_id))


def test_counts_who_took_part_by_how_it_ended() -> None:
    batch = measured.cell([1, 2, 3])
    withdraw(make.at_work(batch), at=make.NOON + timedelta(minutes=1))
    make.at_work(batch)
    make.joined(batch)
    people = facts_of(batch).people
    assert (people.joined, people.persons, people.at_work) == (6, 6, 2)
    assert people.outcomes["completed"] == 3
    assert people.outcomes["withdrawn"] == 1
    assert people.counted == 3
    assert people.first == make.NOON


def test_counts_exclusions_and_their_rate_with_the_reasons() -> None:
    batch = measured.cell([1, 2, 3, 4])
    gone = make.at_work(batch)
    withdraw(gone, at=make.NOON)
    first, second, *_ = batch.assignments.completed()
    for assignment, reason in ((first, "too fast"), (second, "too fast"), (gone, "asked for it")):
        Exclusion.objects.create(assignment=assignment, reason=reason)
    people = facts_of(batch).people
    assert (people.excluded.count, people.excluded.total) == (2, 4)
    assert people.excluded.percent == 50
    assert people.reasons == {"too fast": 2}
    assert people.counted == 2


def test_tells_how_far_the_exclusions_moved_a_cell() -> None:
    batch = measured.cell([3, 3, 9], tests=6)
    worst = batch.assignments.last()
    Exclusion.objects.create(assignment=worst, reason="random answers")
    [cell] = facts_of(batch).results.cells
    assert cell.row.mean == pytest.approx(100)
    assert cell.with_excluded.mean == pytest.approx(200 / 3)
    assert facts_of(batch).results.moved_most == cell


def test_counts_the_training_and_who_was_screened_out() -> None:
    batch = make.running_batch(training=4, wanted=5, min_training_score=50)
    for wrong in (0, 1, 3):
        make.worked_through(batch, wrong=wrong)
    training = facts_of(batch).training
    assert training.finished == 3
    assert training.mean == pytest.approx((100 + 75 + 25) / 3)
    assert (training.screened_out.count, training.reasons) == (1, {"floor": 1})


def test_computes_pay_by_the_elapsed_and_by_the_paid_hour() -> None:
    batch = measured.cell([0, 1], tests=6, training=3)
    work = list(batch.assignments.order_by("pk"))
    # Half an hour and an hour from consent to the end, of which 20 and 30 minutes are paid.
    with make.unlocked():
        for assignment, elapsed, paid, amount in zip(work, (30, 60), (20, 30), (4, 6), strict=True):
            Assignment.objects.filter(pk=assignment.pk).update(
                consented_at=make.NOON,
                finished_at=make.NOON + timedelta(minutes=elapsed),
                paid_ms=paid * 60_000,
                amount=Decimal(amount),
            )
    pay = facts_of(batch).pay
    assert pay.total == Decimal(10)
    assert pay.paid_hours == pytest.approx(50 / 60)
    assert pay.medians == {str(batch.task): (45, Decimal(5))}
    assert pay.hourly == pytest.approx((8 + 6) / 2)
    assert pay.lowest_hourly == pytest.approx(6)
    assert pay.hourly_paid == pytest.approx(10 / (50 / 60))


def test_counts_who_was_due_nothing() -> None:
    batch = measured.cell([0])
    OutcomeRule.objects.filter(study=batch.study, outcome=Outcome.WITHDRAWN).update(pays_time=False)
    withdraw(make.joined(batch), at=make.NOON)
    assert facts_of(batch).pay.unpaid == {"withdrawn": 1}


def test_counts_the_joins_that_made_no_assignment() -> None:
    batch = measured.cell([0])
    for answer in (JoinAnswer.DECLINED, JoinAnswer.FULL, JoinAnswer.FULL):
        count_answer(batch.study, answer, at=make.NOON)
    people = facts_of(batch).people
    assert (people.joined, people.declined, people.found_full) == (1, 1, 2)


def test_tells_items_contexts_shots_and_splits() -> None:
    [first, *_] = measured.study_with_splits(splits=2, people=2, tests=6)
    [task] = facts_of(first).design.tasks
    assert (task.items, task.clustered, task.shots, task.splits) == (6, "", [3], 2)
    plan = facts_of(first).design
    assert (plan.wanted, plan.training_items, plan.splits) == (4, [3], [2])


def test_takes_every_figure_from_the_comparison() -> None:
    batch = measured.cell([3, 4, 5, 6, 7], tests=6)
    measured.run(batch.task, wrong=2)
    measured.run(batch.task, system="elsewhere", shots=30)
    make.closed(batch.study)
    results = facts_of(batch).results
    [cell] = results.cells
    assert (cell.row.kind, cell.row.n, cell.row.estimand) == ("human", 5, "new_items")
    assert 0 < cell.no_skill < 100
    [test] = results.tests
    assert test.system == "BERT-Base"
    assert results.runs == ["BERT-Base FT (1 run)"]
    assert test.p_holm == pytest.approx(test.p)
    assert test.difference == pytest.approx(0, abs=1e-9)
    assert (test.outcome, test.family) == ("open", 1)
    assert results.seconds_an_item == 10


def test_keeps_simulated_annotators_out_of_the_figures_of_people() -> None:
    batch = measured.cell([1, 2, 3])
    robots = Channel.objects.create(slug="robots", name="Robots", is_simulated=True)
    for assignment in batch.assignments.all()[:2]:
        Annotator.objects.filter(pk=assignment.annotator_id).update(channel=robots)
    facts = facts_of(batch)
    assert not facts.is_rehearsal
    assert facts.people.simulated == 2
    assert (facts.people.joined, facts.training.finished) == (1, 1)
    assert [cell.row.n for cell in facts.results.cells] == [1]


def test_takes_a_study_of_simulated_annotators_alone_as_a_rehearsal() -> None:
    batch = measured.cell([1, 2, 3])
    Channel.objects.filter(annotators__assignments__batch=batch).update(is_simulated=True)
    facts = facts_of(batch)
    assert facts.is_rehearsal
    assert (facts.people.joined, facts.training.finished) == (3, 3)
    assert [cell.row.kind for cell in facts.results.cells] == ["simulated"]


def test_lists_the_corrections_that_followed_the_start() -> None:
    batch = measured.cell([3], kind=Kind.CHOICE)
    example = batch.test_set.items.first().example
    other = next(c for c in batch.test_set.choices if c != measured.gold(example)[0])
    correct_gold(batch.task, {example.pk: [[other]]}, author=None, reason="The label was wrong.")
    [task] = facts_of(batch).design.tasks
    assert (task.shown_gold, task.scored_gold) == (1, 2)
    assert [correction.reason for correction in task.corrections] == ["The label was wrong."]
