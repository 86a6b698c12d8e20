from decimal import Decimal

import pytest

from annotation.models import Assignment, Study, Task, WorkSummary
from annotation.models.errors import Frozen
from annotation.models.frozen import batch_content, draft_content
from annotation.studies.drafting import expect_seconds
from annotation.studies.forms import BuilderForm
from annotation.studies.people import exclude
from annotation.work.estimating import (
    ASSUMED_SECONDS,
    ENOUGH_PEOPLE,
    costs,
    estimate,
    expected_seconds,
    usual_seconds,
    whose_pace,
    working_time,
)
from scoring.planning.designs import Assumptions
from scoring.planning.forms import SLIDERS
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> Task:
    return make.task(training=3, tests=7)


@pytest.fixture
def study(task: Task) -> Study:
    return make.study(
        task.benchmark, hourly_rate=12, item_cap_s=100, reading_cap_s=200, reveal_cap_s=10
    )


def test_multiplies_people_examples_and_seconds(study: Study, task: Task) -> None:
    batches = [make.batch(study, task, wanted=4)]
    found = estimate(study, batches, seconds=30)
    assert (found.batches, found.places, found.judgements) == (1, 4, 40)
    assert found.hours == pytest.approx(40 * 30 / 3600)
    assert found.cost == Decimal("4.00")


def test_costs_no_less_than_the_platform_itself_pays(study: Study, task: Task) -> None:
    batches = [make.batch(study, task, wanted=4)]
    study.outcome_rules.filter(outcome="completed").update(platform_pays=2)
    # Ten items of 30 seconds are worth 1.00.
    assert estimate(study, batches, seconds=30).cost == Decimal("8.00")
    assert estimate(study, batches, seconds=300).cost == Decimal("40.00")


def test_says_what_it_costs_if_all_paid_time_is_used(study: Study, task: Task) -> None:
    batches = [make.batch(study, task, wanted=2)]
    # The description and the page before the test, the answers, the reveals.
    seconds = 2 * (2 * 200 + 10 * 100 + 3 * 10)
    assert estimate(study, batches, seconds=1).most == Decimal("9.53")
    assert float(Decimal(seconds) / 3600 * 12) == pytest.approx(9.53, abs=0.005)


def test_counts_the_people_of_one_task_apart_and_of_two_together(study: Study, task: Task) -> None:
    other = make.task(task.benchmark)
    batches = [
        make.batch(study, task, wanted=3),
        make.batch(study, task, zero_shot=True, wanted=2),
        make.batch(study, other, wanted=4),
    ]
    found = estimate(study, batches, seconds=1)
    assert (found.places, found.people) == (9, 5)


def test_costs_at_most_no_less_than_about(study: Study, task: Task) -> None:
    study.outcome_rules.filter(outcome="completed").update(minimum=50)
    found = estimate(study, [make.batch(study, task, wanted=3)], seconds=1)
    assert found.cost == found.most == 150


def test_is_zero_without_batches(study: Study) -> None:
    found = estimate(study, [], seconds=20)
    assert (found.places, found.people, found.cost) == (0, 0, Decimal(0))


def test_takes_the_seconds_that_people_have_needed() -> None:
    batch = make.running_batch(training=0, zero_shot=True, tests=3)
    assert usual_seconds([batch.task]) == ASSUMED_SECONDS
    make.worked_through(batch)  # ten seconds per answer
    assert usual_seconds([batch.task]) == 10
    with make.unlocked():
        Assignment.objects.update(paid_ms=3 * 25_000)  # with reading what to do, say
    assert usual_seconds([batch.task]) == 25


def test_takes_no_pace_of_whoever_was_excluded() -> None:
    batch = make.running_batch(training=0, zero_shot=True, tests=3, wanted=9)
    made = [make.worked_through(batch) for _ in range(ENOUGH_PEOPLE)]
    content = [batch_content(batch.pk)]
    assert working_time(batch.study, content).is_measured
    with make.unlocked():
        Assignment.objects.filter(pk=made[0].pk).update(paid_ms=3 * 99_000)
    exclude(made[0], reason="asleep")
    assert usual_seconds([batch.task]) == 10
    assert not working_time(batch.study, content).is_measured


def test_takes_no_pace_of_whoever_is_flagged() -> None:
    batch = make.running_batch(training=0, zero_shot=True, tests=3, wanted=9)
    fast, _usual = (make.worked_through(batch) for _ in range(2))
    with make.unlocked():
        Assignment.objects.filter(pk=fast.pk).update(paid_ms=3)
    WorkSummary.objects.update_or_create(
        assignment=fast, defaults={"is_flagged": True, "step": fast.step}
    )
    assert usual_seconds([batch.task]) == 10


def test_prefers_the_study_s_own_number_to_what_others_took() -> None:
    batch = make.running_batch(zero_shot=True, tests=3, expected_seconds=45, wanted=9)
    for _ in range(ENOUGH_PEOPLE):
        make.worked_through(batch)
    told = working_time(batch.study, [batch_content(batch.pk)])
    assert (told.most, told.is_measured) == (3 * 45, False)


def test_assumes_the_same_seconds_on_every_page(study: Study, task: Task) -> None:
    batch = make.batch(study, task, wanted=1)
    told = working_time(study, [draft_content(batch)])
    found = estimate(study, [batch], seconds=expected_seconds(study, [task]))
    assert told.most == 10 * ASSUMED_SECONDS == round(3600 * found.hours)
    assert BuilderForm(study=study).fields["seconds"].initial == ASSUMED_SECONDS
    planned = Assumptions()
    assert planned.item_s == planned.train_s == ASSUMED_SECONDS
    assert [SLIDERS[name].initial for name in ("item_s", "train_s")] == 2 * [ASSUMED_SECONDS]


def test_takes_the_seconds_that_the_researcher_expects(study: Study, task: Task) -> None:
    assert expected_seconds(study, [task]) == ASSUMED_SECONDS
    expect_seconds(study, 45)
    study.refresh_from_db()
    assert expected_seconds(study, [task]) == 45


def test_tells_annotators_the_time_that_the_researcher_expects() -> None:
    batch = make.running_batch(zero_shot=True, tests=7, expected_seconds=45)
    told = working_time(batch.study, [batch_content(batch.pk)])
    assert (told.least, told.most, told.is_measured) == (7 * 45, 7 * 45, False)


def test_expects_nothing_else_of_a_study_that_has_started() -> None:
    batch = make.running_batch()
    with pytest.raises(Frozen):
        expect_seconds(batch.study, 45)


def test_says_whose_pace_it_is() -> None:
    batch = make.running_batch(training=0, zero_shot=True, tests=3, wanted=9)
    study, tasks = batch.study, [batch.task]
    assert whose_pace(study, tasks) == "an assumption: nobody has worked on its tasks yet"
    made = [make.worked_through(batch) for _ in range(3)]
    exclude(made[0], reason="asleep")
    assert whose_pace(study, tasks) == "the pace of 2 people in this study"
    copy = make.study(batch.task.benchmark)
    assert whose_pace(copy, tasks) == "the pace of 2 people in 1 other study of its tasks"
    copy.expected_seconds = 45
    assert whose_pace(copy, tasks) == "as its settings expect"


def test_tells_one_cost_with_the_fee_and_the_most_on_the_same_basis(
    study: Study, task: Task
) -> None:
    study.platform_fee = Decimal("33.3")
    batches = [make.batch(study, task, wanted=4)]
    told = costs(study, batches)
    work, most = told["estimate"].cost, told["estimate"].most
    assert told["cost"] == work + told["fee"]
    assert told["fee"] == (work * Decimal("0.333")).quantize(Decimal("0.01"))
    assert told["most"] == most + (most * Decimal("0.333")).quantize(Decimal("0.01"))
